//! The lines of a file (RFC 5545, 3.1).

use std::fmt::Write as _;

use super::super::recurrence::Wall;
use crate::Timestamp;

/// Octets of a line, without its end (RFC 5545, 3.1).
const LINE_LEN_MAX: usize = 75;

/// Lines, each folded and ended as RFC 5545 wants it.
#[derive(Default)]
pub(super) struct Lines(String);

impl Lines {
    pub fn into_text(self) -> String {
        self.0
    }

    pub fn add(&mut self, name: &str, value: &str) {
        let line = format!("{name}:{value}");
        let mut room = LINE_LEN_MAX;
        for letter in line.chars() {
            if letter.len_utf8() > room {
                self.0.push_str("\r\n ");
                room = LINE_LEN_MAX - 1;
            }
            self.0.push(letter);
            room -= letter.len_utf8();
        }
        self.0.push_str("\r\n");
    }

    pub fn some(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.add(name, value);
        }
    }
}

/// A name as a parameter; it can't hold quotes or what ends a line (RFC 5545, 3.2).
pub(super) fn named(name: Option<&str>) -> String {
    let mut text = String::new();
    if let Some(name) = name {
        let kept: String = name.chars().filter(|it| !it.is_control()).collect();
        let _ = write!(text, ";CN=\"{}\"", kept.replace('"', "'"));
    }
    text
}

/// Without what stands between the parts of a date and of a time.
pub(super) fn basic(text: &str) -> String {
    text.replace(['-', ':'], "")
}

/// A wall as `YYYYMMDDTHHMMSS`.
pub(super) fn basic_wall(wall: Wall) -> String {
    basic(&wall.to_string())
}

/// An instant in universal time.
pub(super) fn universal(at: Timestamp) -> String {
    format!("{}Z", basic_wall(Wall(at.0.div_euclid(1000))))
}

/// A text with what has a meaning of its own escaped (RFC 5545, 3.3.11).
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | ';' | ',' => escaped.extend(['\\', letter]),
            '\n' => escaped.push_str("\\n"),
            '\r' => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_folded_between_letters() {
        let mut lines = Lines::default();
        lines.add("SUMMARY", &"é".repeat(100));
        for line in lines.0.split("\r\n") {
            assert!(line.len() <= LINE_LEN_MAX, "{line}");
        }
        assert_eq!(lines.0.replace("\r\n ", ""), format!("SUMMARY:{}\r\n", "é".repeat(100)));
    }

    #[test]
    fn texts_can_not_begin_a_line() {
        assert_eq!(escaped("a\r\nATTENDEE:b;c,d\\"), "a\\nATTENDEE:b\\;c\\,d\\\\");
        assert_eq!(named(Some("A \"B\"\r\nX:y")), ";CN=\"A 'B'X:y\"");
    }

    #[test]
    fn instants_are_written_in_universal_time() {
        assert_eq!(universal(Timestamp(1_767_225_600_000)), "20260101T000000Z");
    }
}
