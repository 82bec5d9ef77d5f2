//! What is shown of what a step wrote.

use std::{borrow::Cow, ops::RangeInclusive};

use super::LOG_LINE_LEN_MAX;

const ESCAPE: char = '\u{1b}';
const ESCAPE_BYTE: u8 = 0x1b;
const BELL: u8 = 0x7;

/// What is kept of a line: colours and tabs stay, every other control character goes. Of what was written over with carriage
/// returns, as progress is, the last state stays.
pub fn shown(text: &str) -> Cow<'_, str> {
    let text = text.trim_end_matches(['\r', '\n']);
    let text = text.rsplit('\r').next().unwrap_or_default();
    if text.chars().any(|character| character != '\t' && character.is_control()) {
        Cow::Owned(without_controls(text))
    } else {
        Cow::Borrowed(text)
    }
}

/// A line that a program wrote, as text. Bytes that are no UTF-8 are shown as U+FFFD.
pub fn line_of_bytes(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    cut(shown(&text)).into_owned()
}

/// As many characters as a line has at most.
pub(super) fn cut(text: Cow<'_, str>) -> Cow<'_, str> {
    let end = text.char_indices().nth(LOG_LINE_LEN_MAX).map(|(end, _)| end);
    match (end, text) {
        (None, text) => text,
        (Some(end), Cow::Borrowed(text)) => Cow::Borrowed(&text[..end]),
        (Some(end), Cow::Owned(mut text)) => {
            text.truncate(end);
            Cow::Owned(text)
        }
    }
}

fn without_controls(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let behind = &rest[character.len_utf8()..];
        rest = match character {
            ESCAPE => {
                let length = escape_len(behind.as_bytes());
                let (sequence, after) = behind.split_at(length);
                if is_colour(sequence) {
                    kept.push(ESCAPE);
                    kept.push_str(sequence);
                }
                after
            }
            '\n' => {
                kept.push(' ');
                behind
            }
            '\t' => {
                kept.push('\t');
                behind
            }
            _ if character.is_control() => behind,
            _ => {
                kept.push(character);
                behind
            }
        };
    }
    kept
}

/// Whether what follows an escape character sets a colour or a style: `[1;31m`.
fn is_colour(sequence: &str) -> bool {
    let parameters = sequence.strip_prefix('[').and_then(|rest| rest.strip_suffix('m'));
    parameters.is_some_and(|all| all.bytes().all(|byte| byte.is_ascii_digit() || byte == b';' || byte == b':'))
}

/// How many bytes of what follows an escape character belong to its sequence (ECMA-48).
fn escape_len(behind: &[u8]) -> usize {
    let count = |bytes: &[u8], kind: RangeInclusive<u8>| bytes.iter().take_while(|byte| kind.contains(byte)).count();
    match behind {
        [b'[', rest @ ..] => {
            let parameters = count(rest, 0x20..=0x3f);
            let ends = rest.get(parameters).is_some_and(|byte| (0x40..=0x7e).contains(byte));
            1 + parameters + usize::from(ends)
        }
        // Texts for the terminal end with a bell or with `ESC \`; one that doesn't end takes the line with it.
        [b']' | b'P' | b'X' | b'^' | b'_', ..] => {
            let end = (0..behind.len()).find_map(|at| match &behind[at..] {
                [BELL, ..] => Some(at + 1),
                [ESCAPE_BYTE, b'\\', ..] => Some(at + 2),
                _ => None,
            });
            end.unwrap_or(behind.len())
        }
        [0x20..=0x7e, ..] => {
            let between = count(behind, 0x20..=0x2f);
            let ends = behind.get(between).is_some_and(|byte| (0x30..=0x7e).contains(byte));
            between + usize::from(ends)
        }
        _ => 0,
    }
}

/// The length of what isn't read as text at the beginning of these bytes: a sequence for the terminal, or a control character that
/// doesn't part words.
fn unread_len(bytes: &[u8]) -> usize {
    match bytes {
        [ESCAPE_BYTE, behind @ ..] => 1 + escape_len(behind),
        [b'\t' | b'\n' | b'\r', ..] => 0,
        [0..=0x1f | 0x7f, ..] => 1,
        [0xc2, 0x80..=0x9f, ..] => 2,
        _ => 0,
    }
}

/// The bytes of a line that are read as text, and where each stands in it; none where all are.
pub(super) fn read_as_text(line: &[u8]) -> Option<(Vec<u8>, Vec<usize>)> {
    // The first byte of two is that of signs like `©`, too.
    let is_unread = |byte: &u8| matches!(byte, 0..=0x8 | 0xb | 0xc | 0xe..=0x1f | 0x7f | 0xc2);
    line.iter().any(is_unread).then(|| {
        let (mut text, mut places) = (Vec::with_capacity(line.len()), Vec::with_capacity(line.len()));
        let mut at = 0;
        while let Some(byte) = line.get(at) {
            let unread = unread_len(&line[at..]);
            if unread == 0 {
                text.push(*byte);
                places.push(at);
            }
            at += unread.max(1);
        }
        (text, places)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn colours_and_tabs_stay_and_other_controls_go() {
        for (written, kept) in [
            ("plain", "plain"),
            ("\u{1b}[1;31mred\u{1b}[0m", "\u{1b}[1;31mred\u{1b}[0m"),
            ("\u{1b}[38:5:1mred\u{1b}[m", "\u{1b}[38:5:1mred\u{1b}[m"),
            ("a\tb", "a\tb"),
            ("a\u{0}b\u{7}c\u{8}d\u{9b}e", "abcde"),
            ("\u{1b}[2K\u{1b}[1Ggone", "gone"),
            ("\u{1b}]0;a title\u{7}text", "text"),
            ("\u{1b}]8;;https://example.com\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]0;no end", ""),
            ("\u{1b}(Btext\u{1b}=", "text"),
            ("\u{1b}", ""),
            ("\u{1b}[31", ""),
            ("\u{1b}é", "é"),
            ("two\nlines", "two lines"),
        ] {
            assert_eq!(shown(written), kept, "{written:?}");
        }
    }

    #[test]
    fn of_progress_the_last_state_stays() {
        assert_eq!(shown("10%\r20%\r100%"), "100%");
        assert_eq!(shown("10%\r20%\r"), "20%");
        assert_eq!(shown("windows\r\n"), "windows");
        assert_eq!(shown("\r\r\n"), "");
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_such() {
        assert_eq!(line_of_bytes(b"caf\xe9 \xff"), "caf\u{fffd} \u{fffd}");
        assert_eq!(line_of_bytes("café".as_bytes()), "café");
    }

    #[test]
    fn a_line_has_at_most_so_many_characters() {
        for (length, kept) in
            [(LOG_LINE_LEN_MAX - 1, LOG_LINE_LEN_MAX - 1), (LOG_LINE_LEN_MAX, LOG_LINE_LEN_MAX), (200_001, 200_000)]
        {
            let line = line_of_bytes("é".repeat(length).as_bytes());
            assert_eq!(line.chars().count(), kept);
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_has_no_controls_but_colours_and_is_shown_again_as_it_is(text in "(\\PC|[\\x00-\\x1f\u{1b}\u{9b}]|\u{1b}\\[){0,40}") {
            let once = shown(&text).into_owned();
            prop_assert!(once.chars().all(|it| !it.is_control() || it == '\t' || it == ESCAPE));
            prop_assert_eq!(shown(&once), once.as_str());
        }
    }
}
