//! Words of texts and questions, and what is shown of a hit.

use crate::{
    Timestamp,
    mail::{Asked, MailQuestion, Step},
    notify::Zone,
    pages::search::{MARK_END, MARK_START, QUESTION_LEN_MAX, Question, TEXT_BYTES_MAX, indexed, snippet},
};

/// Bytes of a snippet, at most: 400 of the text, each written as an entity, and marks around 24 words.
const SNIPPET_BYTES_MAX: usize = 400 * 6 + 24 * 13 + 16;
/// Bytes of what is indexed, at most: the words, and those of three and more letters again with two more bytes.
const INDEXED_BYTES_MAX: usize = TEXT_BYTES_MAX / 4 * 9;

/// The first line asks, the others are the text.
pub fn search(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (asked, text) = text.split_once('\n').unwrap_or((text, ""));
    let words = indexed(text);
    assert!(words.split(' ').all(|word| word.chars().all(char::is_alphanumeric)), "{words}");
    // What grows when it is indexed must not grow without end.
    if words.len() > 3 * text.len() {
        let long = text.repeat(TEXT_BYTES_MAX / text.len().max(1) + 1);
        assert!(indexed(&long).len() <= INDEXED_BYTES_MAX);
    }
    let asked: String = asked.chars().take(QUESTION_LEN_MAX).collect();
    mail(&asked);
    let Some(question) = Question::parse(&asked) else { return };
    assert!(question.words().iter().all(|word| !word.is_empty() && word.chars().all(char::is_alphanumeric)));
    let Some(shown) = snippet(text, &question) else { return };
    assert!(shown.len() <= SNIPPET_BYTES_MAX, "{} bytes", shown.len());
    let plain = shown.replace(MARK_START, "").replace(MARK_END, "");
    assert!(!plain.contains(['<', '>', '"', '\'']), "{shown}");
}

/// What a query of mail asks of words is words, and its steps are worked off to one thing.
fn mail(asked: &str) {
    let Ok(Some(question)) = MailQuestion::parse(asked, &Zone::UTC, Timestamp(1_800_000_000_000)) else { return };
    let mut left = 0_usize;
    for step in question.steps() {
        match step {
            Step::Asked(Asked::Words(asked)) => {
                let is_word = |word: &String| !word.is_empty() && word.chars().all(char::is_alphanumeric);
                assert!(!asked.words.is_empty() && asked.words.iter().all(is_word), "{asked:?}");
                left += 1;
            }
            Step::Asked(_) => left += 1,
            Step::Joined(how, count) => {
                assert!((1..=left).contains(count), "{how:?} of {count} where there are {left}");
                left -= count - 1;
            }
        }
    }
    assert!(left == 1 || question.is_empty(), "{left} things are left");
}
