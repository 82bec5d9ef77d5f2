//! What `~` looks for in texts.

use crate::pages::search::words;

/// Words of a text are compared by their stems; which stem a word has, the index of the store says.
pub type Stem = fn(&str) -> String;

/// A word as it is, for whoever has no stems.
pub fn unstemmed(word: &str) -> String {
    word.to_owned()
}

/// What a text must have: all of one of these groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextQuestion {
    /// The groups that OR stands between.
    pub any: Vec<Vec<Term>>,
}

/// One thing that a text has or hasn't.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// What is looked for.
    pub sought: Sought,
    /// Whether a text must not have it.
    pub is_excluded: bool,
}

/// A word, the beginning of one, or several in a row; in lower case and without accents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sought {
    /// These words, one behind the other.
    Phrase(Vec<String>),
    /// A word that begins so.
    Beginning(String),
}

impl TextQuestion {
    /// What a text operand asks; nothing where it has no words to look for.
    pub fn parse(text: &str) -> Option<Self> {
        let mut reading = Reading { any: vec![Vec::new()], is_excluded: false };
        for (at, part) in text.split('"').enumerate() {
            if at % 2 == 1 {
                reading.add(Sought::Phrase(folded(part)));
            } else {
                part.split_whitespace().for_each(|word| reading.word(word));
            }
        }
        let any: Vec<_> = reading.any.into_iter().filter(|all| all.iter().any(|term| !term.is_excluded)).collect();
        (!any.is_empty()).then_some(Self { any })
    }

    /// Whether a document has what is asked.
    pub fn holds(&self, document: &str, stem: Stem) -> bool {
        let exact = folded(document);
        let stems: Vec<String> = exact.iter().map(|word| stem(word)).collect();
        let has = |sought: &Sought| match sought {
            Sought::Beginning(start) => exact.iter().any(|word| word.starts_with(start.as_str())),
            Sought::Phrase(words) => {
                let words: Vec<String> = words.iter().map(|word| stem(word)).collect();
                stems.windows(words.len()).any(|row| row == words)
            }
        };
        self.any.iter().any(|all| all.iter().all(|term| has(&term.sought) != term.is_excluded))
    }
}

struct Reading {
    any: Vec<Vec<Term>>,
    is_excluded: bool,
}

impl Reading {
    fn word(&mut self, word: &str) {
        match word {
            "AND" | "&&" => {}
            "OR" | "||" => self.any.push(Vec::new()),
            "NOT" => self.is_excluded = true,
            _ => {
                let (is_excluded, rest) = match word.strip_prefix(['-', '!']) {
                    Some(rest) => (true, rest),
                    None => (false, word.strip_prefix('+').unwrap_or(word)),
                };
                self.is_excluded |= is_excluded;
                self.weighed(rest);
            }
        }
    }

    /// A word; how near or how heavy it shall be (`~2`, `^2`) is passed over.
    fn weighed(&mut self, word: &str) {
        let word = word.split(['~', '^']).next().unwrap_or_default();
        let is_beginning = word.ends_with(['*', '?']);
        let mut parts = folded(word);
        let last = if is_beginning { parts.pop() } else { None };
        let is_excluded = self.is_excluded;
        if !parts.is_empty() {
            self.add(Sought::Phrase(parts));
        }
        if let Some(last) = last {
            self.is_excluded = is_excluded;
            self.add(Sought::Beginning(last));
        }
    }

    fn add(&mut self, sought: Sought) {
        let is_excluded = std::mem::take(&mut self.is_excluded);
        let is_empty = matches!(&sought, Sought::Phrase(words) if words.is_empty());
        if let Some(all) = self.any.last_mut().filter(|_| !is_empty) {
            all.push(Term { sought, is_excluded });
        }
    }
}

fn folded(text: &str) -> Vec<String> {
    words(text).map(|word| word.folded.into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_phrases_beginnings_and_signs() {
        let holds = |asked: &str, text: &str| TextQuestion::parse(asked).expect("words").holds(text, unstemmed);
        for (asked, text, expected) in [
            ("printer fire", "Fire in the printer!", true),
            ("printer fire", "printer", false),
            ("\"the printer\"", "Fire in the printer!", true),
            ("\"printer the\"", "Fire in the printer!", false),
            ("print*", "Printers", true),
            ("print?", "Printers", true),
            ("a OR b c", "c b", true),
            ("a OR b c", "c", false),
            ("a || b", "b", true),
            ("a NOT b", "a b", false),
            ("a -b", "a c", true),
            ("+a && c", "c a", true),
            ("roam~2 x^4", "x roam", true),
            ("foo-bar", "the foo bar", true),
            ("foo-bar", "bar foo", false),
            ("café", "CAFE", true),
        ] {
            assert_eq!(holds(asked, text), expected, "{asked} in {text}");
        }
        for nothing in ["", "***", "-a", "NOT a", "\"\"", "OR"] {
            assert_eq!(TextQuestion::parse(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn stems_are_the_stores() {
        let stem = |word: &str| word.trim_end_matches('s').to_owned();
        assert!(TextQuestion::parse("printers").expect("a word").holds("a printer", stem));
    }
}
