//! What is written of the lines of one request.

use bytes::Bytes;
use domain::{
    Result,
    pipelines::logs::{LogHead, LogLine, LogRecords, LogRules, SentLine},
};
use store::pipelines::LogChunk;

use super::log_frame;

/// Bytes from which on a chunk is written no more, and the next line begins another. Its row is written anew with each request
/// until then, and sealing makes larger ones of them.
const OPEN_LEN_MAX: usize = 64 * 1024;

/// What comes of a request.
pub(super) struct Written {
    pub(super) head: LogHead,
    /// The open chunk.
    pub(super) open: LogRecords,
    /// The chunks that are new or have more lines.
    pub(super) chunks: Vec<LogChunk>,
    /// What whoever watches is told.
    pub(super) frames: Vec<Bytes>,
}

impl Written {
    /// Takes these lines behind a head and its open chunk.
    pub(super) fn of(
        mut head: LogHead,
        mut open: LogRecords,
        (first, sent): (Option<u64>, &[SentLine]),
        rules: &LogRules,
    ) -> Result<Self> {
        let lines = head.take(first, sent, rules)?;
        let mut chunks = Vec::new();
        let mut is_packed = true;
        for line in &lines {
            if open.bytes.len() >= OPEN_LEN_MAX || open.is_full_for(line) {
                if !is_packed {
                    chunks.push(LogChunk::pack(&open)?);
                }
                open = LogRecords::beginning(line.n);
            }
            if open.lines == 0 {
                open.first = line.n;
            }
            open.push(line);
            is_packed = false;
        }
        if !is_packed {
            chunks.push(LogChunk::pack(&open)?);
        }
        Ok(Self { head, open, chunks, frames: frames(&lines) })
    }
}

/// The lines, in frames of the size of a chunk.
fn frames(lines: &[LogLine]) -> Vec<Bytes> {
    let mut frames = Vec::new();
    let mut rest = lines;
    for records in LogRecords::of(lines) {
        let count = usize::try_from(records.lines).unwrap_or(rest.len()).min(rest.len());
        let (some, others) = rest.split_at(count);
        frames.push(log_frame(some));
        rest = others;
    }
    frames
}

#[cfg(test)]
mod tests {
    use domain::pipelines::logs::Masks;

    use super::*;

    fn sent(count: usize, length: usize) -> Vec<SentLine> {
        (0..count).map(|_| SentLine { t: 0, m: "x".repeat(length) }).collect()
    }

    #[test]
    fn a_chunk_is_written_until_it_is_full() {
        let rules = LogRules { marker: "m".to_owned(), len_max: u64::MAX, masks: Masks::none() };
        let (mut head, mut open) = (LogHead::default(), LogRecords::default());
        let mut firsts = Vec::new();
        for _ in 0..30 {
            let written = Written::of(head, open, (None, &sent(10, 1_000)), &rules).unwrap();
            firsts.push(written.chunks.iter().map(|chunk| (chunk.first, chunk.lines)).collect::<Vec<_>>());
            (head, open) = (written.head, written.open);
        }
        // 66 lines are more than 64 KiB.
        assert_eq!(firsts[0], [(0, 10)]);
        assert_eq!(firsts[5], [(0, 60)]);
        assert_eq!(firsts[6], [(0, 66), (66, 4)]);
        assert_eq!(firsts[7], [(66, 14)]);
        let ends: Vec<u64> =
            firsts.iter().filter_map(|chunks| chunks.last()).map(|(first, lines)| first + lines).collect();
        assert_eq!(ends, (1..=30).map(|at| at * 10).collect::<Vec<u64>>());
    }
}
