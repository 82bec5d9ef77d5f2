//! An mbox: messages one behind the other, each behind a line that begins with `From `. It is read in little memory, however large
//! it and its lines are, and written as mboxrd: what such a line would be taken for has a `>` before it.

use std::io::{self, BufRead};

use memchr::memchr;

use super::super::MESSAGE_BYTES_MAX;
use crate::Timestamp;

/// Bytes that are looked at at once.
const PIECE_LEN: usize = 8 * 1024;
/// What the line before a message begins with.
const FROM: &[u8] = b"From ";
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A message of an mbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MboxMessage {
    /// When it came, as the line before it says.
    pub came_at: Option<Timestamp>,
    /// The bytes, with CR LF; none of one that is longer than a message may be.
    pub bytes: Option<Vec<u8>>,
    /// Where what follows begins.
    pub end: u64,
}

/// Reads an mbox, from the beginning or from where a message ends.
#[derive(Debug, Default)]
pub struct MboxReader {
    /// How many bytes were read.
    at: u64,
    piece: Vec<u8>,
    /// The line before the next message, once it was read.
    begun: Option<FromLine>,
}

/// A line before a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FromLine {
    came_at: Option<Timestamp>,
}

impl MboxReader {
    /// One that goes on where so many bytes were read before.
    pub fn behind(at: u64) -> Self {
        Self { at, ..Self::default() }
    }

    /// The next message; none behind the last one. `InvalidData` for what is no mbox.
    ///
    /// # Errors
    /// When the source can't be read, and when no line stands before the first message.
    pub fn next(&mut self, source: &mut impl BufRead) -> io::Result<Option<MboxMessage>> {
        let begun = match self.begun.take() {
            Some(begun) => Some(begun),
            None => self.begin(source)?,
        };
        let Some(FromLine { came_at }) = begun else { return Ok(None) };
        let mut lines = Lines::default();
        let (mut begins_line, mut is_behind_empty) = (true, false);
        loop {
            let start = self.at;
            if !self.read_piece(source)? {
                return Ok(Some(MboxMessage { came_at, bytes: lines.end(), end: start }));
            }
            if begins_line
                && is_behind_empty
                && let Some(next) = from_line(&self.piece)
            {
                self.begun = Some(next);
                return Ok(Some(MboxMessage { came_at, bytes: lines.end(), end: start }));
            }
            lines.add(&self.piece, begins_line);
            is_behind_empty = begins_line && matches!(self.piece.as_slice(), b"\n" | b"\r\n");
            begins_line = self.piece.ends_with(b"\n");
        }
    }

    /// Reads the line before the first message; none where there is nothing.
    fn begin(&mut self, source: &mut impl BufRead) -> io::Result<Option<FromLine>> {
        loop {
            if !self.read_piece(source)? {
                return Ok(None);
            }
            if self.piece.trim_ascii().is_empty() {
                continue;
            }
            if !self.piece.starts_with(FROM) {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "This is no mbox."));
            }
            return Ok(Some(from_line(&self.piece).unwrap_or(FromLine { came_at: None })));
        }
    }

    /// Reads a line, or so much of a long one; `false` at the end.
    fn read_piece(&mut self, source: &mut impl BufRead) -> io::Result<bool> {
        self.piece.clear();
        while self.piece.len() < PIECE_LEN && !self.piece.ends_with(b"\n") {
            let buffer = match source.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                break;
            }
            let room = buffer.len().min(PIECE_LEN - self.piece.len());
            let taken = memchr(b'\n', &buffer[..room]).map_or(room, |place| place + 1);
            self.piece.extend_from_slice(&buffer[..taken]);
            source.consume(taken);
        }
        self.at += self.piece.len() as u64;
        Ok(!self.piece.is_empty())
    }
}

/// The lines of a message so far.
#[derive(Default)]
struct Lines {
    bytes: Vec<u8>,
    is_too_long: bool,
}

impl Lines {
    fn add(&mut self, piece: &[u8], begins_line: bool) {
        if self.is_too_long {
            return;
        }
        let piece = if begins_line { unquoted(piece) } else { piece };
        match piece.strip_suffix(b"\n") {
            Some(line) => {
                self.bytes.extend_from_slice(line);
                if self.bytes.ends_with(b"\r") {
                    self.bytes.pop();
                }
                self.bytes.extend_from_slice(b"\r\n");
            }
            None => self.bytes.extend_from_slice(piece),
        }
        // The empty line behind it isn't known to be one yet.
        if self.bytes.len() as u64 > MESSAGE_BYTES_MAX + 2 {
            (self.bytes, self.is_too_long) = (Vec::new(), true);
        }
    }

    /// The message, without the empty line that stands behind each.
    fn end(mut self) -> Option<Vec<u8>> {
        if self.is_too_long {
            return None;
        }
        if self.bytes.ends_with(b"\r\n\r\n") {
            self.bytes.truncate(self.bytes.len() - 2);
        } else if !self.bytes.is_empty() && !self.bytes.ends_with(b"\r\n") {
            self.bytes.extend_from_slice(b"\r\n");
        }
        (self.bytes.len() as u64 <= MESSAGE_BYTES_MAX).then_some(self.bytes)
    }
}

/// A line without the `>` that keeps it from being taken for one before a message.
fn unquoted(line: &[u8]) -> &[u8] {
    let quotes = line.iter().take_while(|byte| **byte == b'>').count();
    if quotes > 0 && line[quotes..].starts_with(FROM) { &line[1..] } else { line }
}

/// A line that stands before a message; none where it is no such line. One whose date can't be read must name nothing but a sender.
fn from_line(line: &[u8]) -> Option<FromLine> {
    let rest = line.strip_prefix(FROM)?;
    let words = String::from_utf8_lossy(rest);
    let words: Vec<&str> = words.split_ascii_whitespace().collect();
    if let Some(at) = words.iter().position(|word| DAYS.contains(word)).and_then(|place| moment(&words[place + 1..])) {
        return Some(FromLine { came_at: Some(at) });
    }
    let is_sender = |word: &str| word.contains('@') || word == "-" || word == "MAILER-DAEMON";
    matches!(words.as_slice(), [only] if is_sender(only)).then_some(FromLine { came_at: None })
}

/// The moment of `Jan 15 12:00:00 2027`, with or without a zone; without one it is universal time (RFC 4155).
fn moment(words: &[&str]) -> Option<Timestamp> {
    let [month, day, time, rest @ ..] = words else { return None };
    let month = MONTHS.iter().position(|name| name == month)? + 1;
    let mut clock = time.split(':').map(str::parse::<i8>);
    let (hour, minute, second) = (clock.next()?.ok()?, clock.next()?.ok()?, clock.next().unwrap_or(Ok(0)).ok()?);
    let is_year = |word: &&&str| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    let year: i16 = rest.iter().take(3).find(is_year)?.parse().ok()?;
    let offset = rest.iter().take(3).find_map(|word| offset(word)).unwrap_or(jiff::tz::Offset::UTC);
    let month = i8::try_from(month).ok()?;
    let wall = jiff::civil::DateTime::new(year, month, day.parse().ok()?, hour, minute, second, 0).ok()?;
    Some(Timestamp(offset.to_timestamp(wall).ok()?.as_millisecond()))
}

/// The offset `+0100`.
fn offset(word: &str) -> Option<jiff::tz::Offset> {
    let sign = if word.starts_with('-') { -1 } else { 1 };
    let digits = word.strip_prefix(['+', '-']).filter(|digits| digits.len() == 4)?;
    let number: i32 = digits.parse().ok()?;
    jiff::tz::Offset::from_seconds(sign * (number / 100 * 3_600 + number % 100 * 60)).ok()
}

/// A message as an mbox has it: behind its line, with `fields` before its own, and an empty line behind it.
pub fn mbox_entry(sender: &str, at: Timestamp, fields: &str, raw: &[u8]) -> Vec<u8> {
    let is_plain = !sender.is_empty() && sender.bytes().all(|byte| byte.is_ascii_graphic());
    let sender = if is_plain { sender } else { "MAILER-DAEMON" };
    let moment = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    let mut entry = format!("From {sender} {}\n", moment.strftime("%a %b %e %H:%M:%S %Y")).into_bytes();
    entry.reserve(fields.len() + raw.len() + 64);
    for line in lines_of(fields.as_bytes()).chain(lines_of(raw)) {
        let quotes = line.iter().take_while(|byte| **byte == b'>').count();
        if line[quotes..].starts_with(FROM) {
            entry.push(b'>');
        }
        entry.extend_from_slice(line);
        entry.push(b'\n');
    }
    entry.push(b'\n');
    entry
}

/// Lines without their CR LF.
fn lines_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(|line| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line.strip_suffix(b"\r").unwrap_or(line)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(mbox: &[u8]) -> Vec<MboxMessage> {
        let (mut reader, mut source, mut all) = (MboxReader::default(), mbox, Vec::new());
        while let Some(message) = reader.next(&mut source).expect("an mbox") {
            all.push(message);
        }
        all
    }

    fn texts(mbox: &str) -> Vec<String> {
        let text = |it: MboxMessage| String::from_utf8(it.bytes.expect("bytes")).expect("text");
        read(mbox.as_bytes()).into_iter().map(text).collect()
    }

    #[test]
    fn messages_are_told_apart_by_their_lines_and_quotes_are_taken_off() {
        let mbox = "From a@b Fri Jan 15 12:00:00 2027\nSubject: 1\n\n>From here\n>>From there\nFrom within\n\n\
                    From the hills we came at 10:30:00 in 2020\n\nFrom MAILER-DAEMON Fri Jan 15 12:00:01 2027\r\n\
                    Subject: 2\r\n\r\nbody";
        let first = "Subject: 1\r\n\r\nFrom here\r\n>From there\r\nFrom within\r\n\r\n\
                     From the hills we came at 10:30:00 in 2020\r\n";
        assert_eq!(texts(mbox), [first, "Subject: 2\r\n\r\nbody\r\n"]);
        assert_eq!(texts(""), [""; 0]);
        assert_eq!(texts("\n\nFrom -\nA: 1\n\n"), ["A: 1\r\n"]);
        let mut nothing = MboxReader::default();
        assert!(nothing.next(&mut &b"Subject: 1\n\nbody"[..]).is_err());
    }

    #[test]
    fn lines_say_when_messages_came() {
        for (line, is_line, at) in [
            ("From a@b Fri Jan 15 12:00:00 2027\n", true, Some(1_800_014_400_000)),
            ("From - Fri Jan 15 12:00:00 2027\n", true, Some(1_800_014_400_000)),
            ("From 12@xxx Fri Jan 15 13:00:00 +0100 2027\r\n", true, Some(1_800_014_400_000)),
            ("From a Fri Jan 15 07:00 -0500 2027", true, Some(1_800_014_400_000)),
            ("From a@b Fri Feb 30 12:00:00 2027\n", false, None),
            ("From a@b\n", true, None),
            ("From a b\n", false, None),
            ("From Fri\n", false, None),
            (">From a@b\n", false, None),
        ] {
            let found = from_line(line.as_bytes());
            assert_eq!(found.is_some(), is_line, "{line}");
            assert_eq!(found.and_then(|it| it.came_at), at.map(Timestamp), "{line}");
        }
    }

    #[test]
    fn what_is_longer_than_a_message_is_told_and_the_next_one_is_read() {
        let most = usize::try_from(MESSAGE_BYTES_MAX).expect("a length");
        for (len, is_kept) in [(most - 2, true), (most - 1, false)] {
            let mbox = format!("From a@b\n{}\n\nFrom a@b\nSubject: 2\n\n", "x".repeat(len));
            let all = read(mbox.as_bytes());
            assert_eq!((all.len(), all[0].bytes.is_some(), all[1].bytes.is_some()), (2, is_kept, true));
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again_from_any_place(
            bodies in prop::collection::vec("([>a ]{0,3}(From |x)?[ -~]{0,9}\r\n){0,5}", 1..6),
            skipped in 0_usize..6,
        ) {
            let raw = |body: &String| format!("Subject: 1\r\n\r\n{body}").into_bytes();
            let at = Timestamp(1_800_014_400_000);
            let mbox: Vec<u8> = bodies.iter().flat_map(|body| mbox_entry("a@b", at, "X: 1\r\n", &raw(body))).collect();
            let all = read(&mbox);
            let expected: Vec<Vec<u8>> = bodies.iter().map(|body| [b"X: 1\r\n".to_vec(), raw(body)].concat()).collect();
            let found: Vec<Vec<u8>> = all.iter().map(|it| it.bytes.clone().expect("bytes")).collect();
            prop_assert_eq!(&found, &expected);
            prop_assert!(all.iter().all(|it| it.came_at == Some(at)));
            let from = skipped.min(all.len() - 1);
            let place = all[from].end;
            let mut reader = MboxReader::behind(place);
            let mut source = &mbox[usize::try_from(place).expect("a place")..];
            let mut rest = Vec::new();
            while let Some(message) = reader.next(&mut source).expect("an mbox") {
                rest.push(message);
            }
            prop_assert_eq!(rest.as_slice(), &all[from + 1..]);
        }
    }
}
