//! Search (contract B 4.6): the words of texts and of questions, and the part of a text that shows a hit.
//!
//! Texts and questions are cut into the same words here, for both databases. Those find words by their stems; the exact
//! form of each word stands beside it in what is indexed ([`indexed`]), so that a word that is still being typed finds
//! what it is the beginning of.

mod snippet;
mod words;

pub(crate) use words::words;

pub use snippet::{MARK_END, MARK_START, snippet};
pub use words::{Question, indexed};

/// Characters of a question (contract B 4.6).
pub const QUESTION_LEN_MAX: usize = 200;
/// Pages that a search answers.
pub const RESULTS_MAX: usize = 50;
/// Pages that are weighed against each other where more have the words: those made last.
pub const WEIGHED_MAX: usize = 1_000;
/// Bytes of a text that are searched.
pub const TEXT_BYTES_MAX: usize = 256 * 1024;
/// Bytes of the index of a text, which PostgreSQL keeps below a megabyte.
const INDEX_BYTES_MAX: usize = 1_000_000;
/// Characters that the beginning of a word has at least.
const BEGINNING_LEN_MIN: usize = 2;

/// The beginning of `text` of at most `bytes_max` bytes.
fn beginning(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}
