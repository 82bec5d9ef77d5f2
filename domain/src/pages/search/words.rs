//! Words of texts and questions.

use std::{collections::BTreeSet, fmt::Write as _};

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::{TEXT_BYTES_MAX, beginning};

/// Characters of a word that count; two that begin alike for so long are one.
const WORD_LEN: usize = 64;
/// A word of fewer characters has no stem.
const STEM_LEN_MIN: usize = 3;
/// Stands behind a word in its exact form. No stem is taken of what ends in a digit, and each tokenizer leaves it there.
const EXACT: char = '0';

/// A word, and where it stands in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// In lower case and without accents.
    pub folded: String,
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// The words of a text: runs of letters and digits; of scripts that leave no spaces between words, each character.
pub(super) fn words(text: &str) -> impl Iterator<Item = Word> {
    let mut characters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = characters.by_ref().find(|(_, character)| character.is_alphanumeric())?;
        let mut end = start + first.len_utf8();
        if !stands_alone(first) {
            while let Some((at, character)) = characters
                .next_if(|(_, next)| (next.is_alphanumeric() || is_combining_mark(*next)) && !stands_alone(*next))
            {
                end = at + character.len_utf8();
            }
        }
        Some(Word { folded: folded(&text[start..end]), start, end })
    })
    .filter(|word| !word.folded.is_empty())
}

/// Whether a character is a word: ideographs and kana.
const fn stands_alone(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn folded(word: &str) -> String {
    if word.is_ascii() {
        let mut word = word.to_ascii_lowercase();
        word.truncate(WORD_LEN);
        return word;
    }
    let plain = word.nfkd().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase);
    plain.flat_map(without_stroke).take(WORD_LEN).collect()
}

/// Letters that are written without their stroke, or as two, where a keyboard lacks them.
fn without_stroke(letter: char) -> impl Iterator<Item = char> {
    let written: [Option<char>; 2] = match letter {
        'ß' => [Some('s'), Some('s')],
        'æ' => [Some('a'), Some('e')],
        'œ' => [Some('o'), Some('e')],
        'ø' => [Some('o'), None],
        'đ' | 'ð' => [Some('d'), None],
        'ł' => [Some('l'), None],
        'ı' => [Some('i'), None],
        other => [Some(other), None],
    };
    written.into_iter().flatten()
}

/// What is indexed of a text: its words, and behind them the exact form of each that may have a stem.
pub fn indexed(text: &str) -> String {
    let text = beginning(text, TEXT_BYTES_MAX);
    let mut indexed = String::with_capacity(text.len());
    let mut exact = BTreeSet::new();
    for word in words(text) {
        // A ligature may be many letters.
        if indexed.len() + word.folded.len() >= TEXT_BYTES_MAX {
            break;
        }
        indexed.push_str(&word.folded);
        indexed.push(' ');
        if has_stem(&word.folded) {
            exact.insert(word.folded);
        }
    }
    for word in exact {
        let _ = write!(indexed, "{word}{EXACT} ");
    }
    indexed.pop();
    indexed
}

fn has_stem(word: &str) -> bool {
    word.len() >= STEM_LEN_MIN && word.ends_with(|last: char| last.is_ascii_alphabetic())
}

/// What somebody looks for: pages with all of these words, the last of which may be the beginning of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    words: Vec<String>,
}

impl Question {
    /// The words of a question; nothing where it has none.
    pub fn parse(text: &str) -> Option<Self> {
        let mut kept: Vec<String> = Vec::new();
        for word in words(text) {
            // What is asked twice counts where it stands last, because the last one may go on.
            kept.retain(|other| *other != word.folded);
            kept.push(word.folded);
        }
        (!kept.is_empty()).then_some(Self { words: kept })
    }

    /// The words, in lower case and without accents; letters and digits only.
    pub fn words(&self) -> &[String] {
        &self.words
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str) -> Vec<String> {
        words(text).map(|word| word.folded).collect()
    }

    #[test]
    fn words_are_runs_of_letters_and_digits_without_case_and_accents() {
        assert_eq!(of("# Héllo, *Wörld*! x2_y"), ["hello", "world", "x2", "y"]);
        assert_eq!(of("STRASSE Straße Łódź ﬁne I\u{301}"), ["strasse", "strasse", "lodz", "fine", "i"]);
        assert_eq!(of("--- ** \u{0} \u{301}"), [""; 0]);
    }

    #[test]
    fn scripts_without_spaces_are_found_by_each_character() {
        assert_eq!(of("東京tower"), ["東", "京", "tower"]);
    }

    #[test]
    fn what_is_indexed_has_exact_forms_once() {
        assert_eq!(indexed("Running, runs; running 42 it"), "running runs running 42 it running0 runs0");
        assert_eq!(indexed("** --"), "");
    }

    #[test]
    fn a_question_has_each_word_once_and_where_it_stands_last() {
        let asked = |text: &str| Question::parse(text).map(|question| question.words);
        assert_eq!(asked("to be or not to be"), Some(vec!["or".into(), "not".into(), "to".into(), "be".into()]));
        assert_eq!(asked("\"' ) OR * :"), Some(vec!["or".into()]));
        assert_eq!(asked("\"' ) * :"), None);
    }

    #[test]
    fn only_so_much_of_a_text_is_indexed() {
        assert!(indexed(&"é ".repeat(TEXT_BYTES_MAX)).len() <= TEXT_BYTES_MAX);
        assert!(indexed(&"ﷺ ".repeat(TEXT_BYTES_MAX)).len() <= TEXT_BYTES_MAX);
    }

    proptest! {
        #[test]
        fn words_are_letters_and_digits_wherever_they_stand(text in any::<String>()) {
            for word in words(&text) {
                prop_assert!(word.folded.chars().all(char::is_alphanumeric), "{:?}", word);
                prop_assert!(word.folded.chars().count() <= WORD_LEN);
                prop_assert!(text.get(word.start..word.end).is_some());
            }
        }
    }
}
