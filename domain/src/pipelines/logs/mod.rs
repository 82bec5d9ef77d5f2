//! Logs of jobs: what becomes of the lines that a runner sends, and how they are kept.
//!
//! A runner numbers what it sends from 0, its own [words](marker) among them. What readers see is numbered from 0, too, without
//! gaps, and without those words.

mod head;
mod marker;
mod mask;
mod record;
mod text;

pub use self::{
    head::{LogHead, LogRules, SentLine, log_gap},
    marker::{RunnerWord, StepBorder},
    mask::{MASK, Masks},
    record::{LogRecords, MalformedRecords, log_records_read},
    text::{line_of_bytes, shown},
};

/// Characters of a line (contract C 4.1).
pub const LOG_LINE_LEN_MAX: usize = 200_000;
/// Lines that a runner sends at once (contract C 4.1).
pub const LOG_LINES_SENT_MAX: usize = 20_000;
/// Bytes of a request that sends lines.
pub const LOG_BODY_LEN_MAX: usize = 16 * 1024 * 1024;
/// Bytes that a chunk of a log has before it is compressed, unless its only line is longer.
pub const LOG_CHUNK_LEN_MAX: usize = 256 * 1024;
/// Lines of one answer.
pub const LOG_LINES_LISTED_MAX: u64 = 5_000;
/// Lines of one answer where nobody says how many.
pub const LOG_LINES_LISTED: u64 = 1_000;

/// A line of a log, as readers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// The line's number, from 0.
    pub n: u64,
    /// When it was written, in milliseconds since the Unix epoch, as the runner says.
    pub t: i64,
    /// The step that wrote it, where one was under way.
    pub step: Option<u32>,
    /// The text.
    pub m: String,
}
