//! Lines of a log as bytes, before they are compressed: for each the time (how much later than the one before), the step and
//! the text.

use super::{LOG_CHUNK_LEN_MAX, LogLine};

/// Lines that follow one another, as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogRecords {
    /// The number of the first.
    pub first: u64,
    /// How many they are.
    pub lines: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// When the last was written.
    last_t: i64,
}

/// The bytes are no lines of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not lines of a log")]
pub struct MalformedRecords;

impl LogRecords {
    /// None yet, of which the first will have this number.
    pub fn beginning(first: u64) -> Self {
        Self { first, ..Self::default() }
    }

    /// The number behind the last.
    pub const fn next(&self) -> u64 {
        self.first + self.lines
    }

    /// Whether a line has to begin other records.
    pub fn is_full_for(&self, line: &LogLine) -> bool {
        self.lines > 0 && self.bytes.len() + line.m.len() > LOG_CHUNK_LEN_MAX
    }

    /// Adds a line.
    pub fn push(&mut self, line: &LogLine) {
        let later = line.t.wrapping_sub(self.last_t);
        varint(&mut self.bytes, (later.cast_unsigned() << 1) ^ (later >> 63).cast_unsigned());
        varint(&mut self.bytes, line.step.map_or(0, |step| u64::from(step) + 1));
        varint(&mut self.bytes, line.m.len() as u64);
        self.bytes.extend_from_slice(line.m.as_bytes());
        self.last_t = line.t;
        self.lines += 1;
    }

    /// Records of these lines, each within the bounds of a chunk.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a LogLine>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for line in lines {
            if let Some(last) = all.last_mut().filter(|last| !last.is_full_for(line)) {
                last.push(line);
            } else {
                let mut next = Self::beginning(line.n);
                next.push(line);
                all.push(next);
            }
        }
        all
    }
}

/// The lines, of which the first has this number.
pub fn log_records_read(first: u64, mut bytes: &[u8]) -> Result<Vec<LogLine>, MalformedRecords> {
    let (mut lines, mut last_t, mut n) = (Vec::new(), 0_i64, first);
    while !bytes.is_empty() {
        let later = take_varint(&mut bytes)?;
        let t = last_t.wrapping_add((later >> 1).cast_signed() ^ -(later & 1).cast_signed());
        let step = match take_varint(&mut bytes)? {
            0 => None,
            step => Some(u32::try_from(step - 1).map_err(|_| MalformedRecords)?),
        };
        let length = usize::try_from(take_varint(&mut bytes)?).map_err(|_| MalformedRecords)?;
        let (text, rest) = bytes.split_at_checked(length).ok_or(MalformedRecords)?;
        let m = std::str::from_utf8(text).map_err(|_| MalformedRecords)?.to_owned();
        lines.push(LogLine { n, t, step, m });
        (bytes, last_t, n) = (rest, t, n + 1);
    }
    Ok(lines)
}

fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push((value & 0x7f) as u8);
}

fn take_varint(bytes: &mut &[u8]) -> Result<u64, MalformedRecords> {
    let mut value = 0_u64;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or(MalformedRecords)?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        if part << shift >> shift != part {
            return Err(MalformedRecords);
        }
        value |= part << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(MalformedRecords)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(n: u64, length: usize) -> LogLine {
        LogLine { n, t: 0, step: None, m: "x".repeat(length) }
    }

    #[test]
    fn records_have_a_bound_unless_a_line_is_longer() {
        let lines = [line(0, LOG_CHUNK_LEN_MAX / 2), line(1, LOG_CHUNK_LEN_MAX), line(2, 1), line(3, 1)];
        let all = LogRecords::of(&lines);
        let shape: Vec<_> = all.iter().map(|records| (records.first, records.lines)).collect();
        assert_eq!(shape, [(0, 1), (1, 1), (2, 2)]);
        assert_eq!(all[2].next(), 4);
    }

    #[test]
    fn other_bytes_are_refused() {
        for bytes in [&[0x80][..], &[0, 0], &[0, 0, 2, b'a'], &[0, 0, 1, 0xff], &[0xff; 11]] {
            assert_eq!(log_records_read(0, bytes), Err(MalformedRecords), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(lines in prop::collection::vec((any::<i64>(), any::<Option<u32>>(), ".{0,20}"), 0..30), first in 0_u64..1_000_000) {
            let lines: Vec<LogLine> =
                (first..).zip(lines).map(|(n, (t, step, m))| LogLine { n, t, step, m }).collect();
            let mut read = Vec::new();
            for records in LogRecords::of(&lines) {
                read.extend(log_records_read(records.first, &records.bytes).unwrap());
            }
            prop_assert_eq!(read, lines);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = log_records_read(0, &bytes);
        }
    }
}
