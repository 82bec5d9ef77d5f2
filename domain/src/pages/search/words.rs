//! Words of texts and questions.

use std::{borrow::Cow, collections::BTreeSet, fmt::Write as _};

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::{BEGINNING_LEN_MIN, INDEX_BYTES_MAX, TEXT_BYTES_MAX, beginning};

/// Characters of a word that count; two that begin alike for so long are one.
const WORD_LEN: usize = 64;
/// A word of fewer characters has no stem.
const STEM_LEN_MIN: usize = 3;
/// Stands behind a word in its exact form. No stem is taken of what ends in a digit, and each tokenizer leaves it there.
const EXACT: char = '0';
/// Bytes of a form of a word in PostgreSQL's index, beside its own: eight letters of an organization, [`EXACT`], the count
/// of its places, and one that may stand between.
const FORM_BYTES: usize = 8 + 1 + 2 + 1;
/// Bytes of a place where a word stands.
const PLACE_BYTES: usize = 2;

/// A word, and where it stands in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// In lower case and without accents.
    pub folded: Cow<'a, str>,
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// The words of a text: runs of letters and digits; of scripts that leave no spaces between words, each character.
pub(crate) fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
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

fn folded(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        let word = &word[..word.len().min(WORD_LEN)];
        let is_folded = !word.bytes().any(|byte| byte.is_ascii_uppercase());
        return if is_folded { word.into() } else { word.to_ascii_lowercase().into() };
    }
    let plain = word.nfkd().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase);
    plain.flat_map(without_stroke).take(WORD_LEN).collect::<String>().into()
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

/// What is indexed of a text: its words, and behind them the exact form of each that may have a stem. One space stands
/// between two of them.
pub fn indexed(text: &str) -> String {
    let text = beginning(text, TEXT_BYTES_MAX);
    let mut indexed = String::with_capacity(text.len());
    let mut known = BTreeSet::new();
    let mut bytes = 0;
    for word in words(text) {
        bytes += if known.contains(&word.folded) { PLACE_BYTES } else { index_bytes(&word.folded) };
        // A ligature may be many letters.
        if bytes > INDEX_BYTES_MAX || indexed.len() + word.folded.len() >= TEXT_BYTES_MAX {
            break;
        }
        indexed.push_str(&word.folded);
        indexed.push(' ');
        known.insert(word.folded);
    }
    for word in known.into_iter().filter(|word| has_stem(word)) {
        let _ = write!(indexed, "{word}{EXACT} ");
    }
    indexed.pop();
    indexed
}

/// At most what PostgreSQL's index takes for a word that it doesn't know yet: the word and its exact form, each behind the
/// letters of its organization and with its place.
fn index_bytes(word: &str) -> usize {
    let forms = 1 + usize::from(has_stem(word));
    forms * (word.len() + FORM_BYTES + PLACE_BYTES)
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
            kept.push(word.folded.into_owned());
        }
        (!kept.is_empty()).then_some(Self { words: kept })
    }

    /// The words, in lower case and without accents; letters and digits only.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether the last word may go on. One letter is no beginning of a word: too many words have it.
    pub fn is_beginning(&self) -> bool {
        self.words.last().is_some_and(|word| word.chars().count() >= BEGINNING_LEN_MIN)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str) -> Vec<String> {
        words(text).map(|word| word.folded.into_owned()).collect()
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

    #[test]
    fn a_text_of_ever_new_words_is_indexed_as_far_as_the_index_takes_it() {
        let text = (0..TEXT_BYTES_MAX).map(|number| format!("{number:x}z")).collect::<Vec<_>>().join(" ");
        let indexed = indexed(&text);
        let distinct: BTreeSet<_> = indexed.split(' ').collect();
        let bytes: usize = distinct.iter().map(|word| word.len() + FORM_BYTES - 1 + PLACE_BYTES).sum();
        assert!((INDEX_BYTES_MAX * 9 / 10..=INDEX_BYTES_MAX).contains(&bytes), "{bytes}");
    }

    #[test]
    fn one_letter_is_no_beginning() {
        let is_beginning = |text: &str| Question::parse(text).is_some_and(|question| question.is_beginning());
        assert!(!is_beginning("a") && !is_beginning("plan é"));
        assert!(is_beginning("ab") && is_beginning("a plan"));
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
