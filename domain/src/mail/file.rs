//! Where the bytes of a file stand in a message, so that one is sent without reading the message whole.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// How the bytes of a file are written in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileEncoding {
    /// As they are.
    Plain,
    /// In base64 (RFC 2045 6.8).
    Base64,
}

/// Where the bytes of a file stand in a message as it came, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePlace {
    /// The first of them.
    pub start: u64,
    /// The one behind the last.
    pub end: u64,
    /// How they are written.
    pub encoding: FileEncoding,
}

impl FilePlace {
    /// The place `bytes` of `raw`, where a file of `contents` is written there so; none where reading it gives anything else.
    pub fn of(raw: &[u8], bytes: Range<usize>, encoding: FileEncoding, contents: &[u8]) -> Option<Self> {
        let written = raw.get(bytes.clone())?;
        let is_same = match encoding {
            FileEncoding::Plain => written == contents,
            FileEncoding::Base64 => FileDecoder::new(encoding).decode(written) == contents,
        };
        let (start, end) = (u64::try_from(bytes.start).ok()?, u64::try_from(bytes.end).ok()?);
        is_same.then_some(Self { start, end, encoding })
    }
}

/// As what a file is sent that says to be of this type: what browsers would run is nothing but bytes.
pub fn sent_type(stated: &str) -> &str {
    let runs = ["html", "xml", "svg", "script"].iter().any(|word| stated.to_ascii_lowercase().contains(word));
    if runs { "application/octet-stream" } else { stated }
}

/// Reads the bytes of a file piece by piece.
#[derive(Debug)]
pub struct FileDecoder {
    encoding: FileEncoding,
    /// Bits that don't make a byte yet.
    bits: u32,
    count: u32,
}

impl FileDecoder {
    /// One at the beginning of a file.
    pub const fn new(encoding: FileEncoding) -> Self {
        Self { encoding, bits: 0, count: 0 }
    }

    /// The bytes of the file that the next piece of the message gives. What is no letter of base64 is passed over.
    pub fn decode(&mut self, piece: &[u8]) -> Vec<u8> {
        if self.encoding == FileEncoding::Plain {
            return piece.to_vec();
        }
        let mut bytes = Vec::with_capacity(piece.len() / 4 * 3 + 3);
        for letter in piece {
            if *letter == b'=' {
                (self.bits, self.count) = (0, 0);
            }
            let Some(value) = value_of(*letter) else { continue };
            self.bits = ((self.bits << 6) | u32::from(value)) & 0x3fff;
            self.count += 6;
            if self.count >= 8 {
                self.count -= 8;
                bytes.push(self.bits.wrapping_shr(self.count).to_le_bytes()[0]);
            }
        }
        bytes
    }
}

/// What a letter of base64 stands for.
const fn value_of(letter: u8) -> Option<u8> {
    match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_place_is_noted_only_where_it_gives_the_same_bytes() {
        let raw = b"head\r\n\r\naGVsbG8=\r\n";
        let place = FilePlace::of(raw, 8..16, FileEncoding::Base64, b"hello").expect("a place");
        assert_eq!((place.start, place.end), (8, 16));
        assert_eq!(FilePlace::of(raw, 8..16, FileEncoding::Base64, b"hallo"), None);
        assert_eq!(FilePlace::of(raw, 8..99, FileEncoding::Base64, b"hello"), None);
        assert!(FilePlace::of(raw, 0..4, FileEncoding::Plain, b"head").is_some());
        assert_eq!(FilePlace::of(raw, 0..4, FileEncoding::Plain, b"hear"), None);
    }

    #[test]
    fn what_browsers_run_is_sent_as_bytes() {
        for runs in ["text/html", "image/svg+xml", "Text/HTML", "application/xhtml+xml", "text/javascript", "text/xml"]
        {
            assert_eq!(sent_type(runs), "application/octet-stream");
        }
        for stays in ["image/png", "application/pdf", "text/plain"] {
            assert_eq!(sent_type(stays), stays);
        }
    }

    proptest! {
        #[test]
        fn bytes_are_the_same_however_they_come(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            line in 1_usize..80,
            piece in 1_usize..50,
        ) {
            let letters = STANDARD.encode(&bytes).into_bytes();
            let written: Vec<u8> = letters.chunks(line).flat_map(|line| [line, b"\r\n"].concat()).collect();
            let mut decoder = FileDecoder::new(FileEncoding::Base64);
            let read: Vec<u8> = written.chunks(piece).flat_map(|piece| decoder.decode(piece)).collect();
            prop_assert_eq!(read, bytes);
        }
    }
}
