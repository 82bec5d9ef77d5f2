//! What whoever watches a log is told: frames as they are sent to all of them, over the hub. One that is missed is read from
//! the store.

use bytes::{BufMut, Bytes, BytesMut};
use domain::{id::JobId, pipelines::logs::LogLine};
use gateways::hub::Hub;
use serde::Serialize;

/// Stands for a line in the message that a job is over.
const ENDED: u64 = u64::MAX;
/// Bytes before the text: the number of the first line, and of the one behind the last.
const HEAD_LEN: usize = 16;

/// What is heard of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogSignal {
    /// Lines have come.
    Lines {
        /// The number of the first.
        from: u64,
        /// The number behind the last.
        next: u64,
        /// The frame: `{from, lines}`, as UTF-8.
        text: Bytes,
    },
    /// The job is over.
    Ended,
}

#[derive(Serialize)]
struct Line<'a> {
    n: u64,
    t: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
    m: &'a str,
}

#[derive(Serialize)]
struct Frame<'a> {
    from: u64,
    lines: Vec<Line<'a>>,
}

/// The channel on which a log is heard.
pub fn log_channel(job_id: JobId) -> String {
    format!("log:{job_id}")
}

/// These lines as a message, which carries the frame that is sent.
pub fn log_frame(lines: &[LogLine]) -> Bytes {
    let from = lines.first().map_or(0, |line| line.n);
    let mut message = BytesMut::with_capacity(HEAD_LEN);
    message.put_u64(from);
    message.put_u64(from + lines.len() as u64);
    let lines = lines.iter().map(|LogLine { n, t, step, m }| Line { n: *n, t: *t, step: *step, m });
    let frame = Frame { from, lines: lines.collect() };
    // Numbers and texts can always be written.
    message.extend_from_slice(&serde_json::to_vec(&frame).unwrap_or_default());
    message.freeze()
}

/// Tells whoever watches that the job is over.
pub fn log_ended(hub: &Hub, job_id: JobId) {
    let mut message = BytesMut::with_capacity(HEAD_LEN);
    message.put_u64(ENDED);
    message.put_u64(ENDED);
    hub.publish(&log_channel(job_id), message.freeze());
}

impl LogSignal {
    /// Reads a message; none of one that isn't of a log.
    pub fn read(message: &Bytes) -> Option<Self> {
        let (head, _) = message.split_at_checked(HEAD_LEN)?;
        let (from, next) = head.split_at_checked(HEAD_LEN / 2)?;
        let from = u64::from_be_bytes(from.try_into().ok()?);
        let next = u64::from_be_bytes(next.try_into().ok()?);
        if from == ENDED {
            return Some(Self::Ended);
        }
        Some(Self::Lines { from, next, text: message.slice(HEAD_LEN..) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_says_which_lines_it_has() {
        let line = |n: u64, step| LogLine { n, t: 7, step, m: format!("line \"{n}\"") };
        let read = LogSignal::read(&log_frame(&[line(3, None), line(4, Some(1))]));
        let text = r#"{"from":3,"lines":[{"n":3,"t":7,"m":"line \"3\""},{"n":4,"t":7,"step":1,"m":"line \"4\""}]}"#;
        assert_eq!(read, Some(LogSignal::Lines { from: 3, next: 5, text: Bytes::from_static(text.as_bytes()) }));
        assert_eq!(LogSignal::read(&Bytes::from_static(b"short")), None);
    }
}
