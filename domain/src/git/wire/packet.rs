//! Packets: four hexadecimal digits of length, and what they are the length of.

/// Bytes of a packet, its length among them.
pub const PACKET_MAX: usize = 65_520;
/// The packet that ends a section.
pub const FLUSH: &[u8] = b"0000";
/// Bytes of a packet's length.
const LENGTH_LEN: usize = 4;

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet<'b> {
    /// What a section consists of.
    Data(&'b [u8]),
    /// The end of a section.
    Flush,
    /// What stands between a command's capabilities and its arguments.
    Delimiter,
    /// The end of an answer.
    ResponseEnd,
}

/// Why something isn't what git says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WireError(pub &'static str);

impl Packet<'_> {
    /// The first packet of `bytes` and how many of them it is; none where more has to come.
    pub fn first(bytes: &[u8]) -> Result<Option<(Packet<'_>, usize)>, WireError> {
        let Some(length) = bytes.get(..LENGTH_LEN) else { return Ok(None) };
        let digit = |len: usize, byte: &u8| match char::from(*byte).to_digit(16) {
            Some(digit) => Ok(len * 16 + digit as usize),
            None => Err(WireError("A packet's length isn't a number.")),
        };
        match length.iter().try_fold(0, digit)? {
            0 => Ok(Some((Packet::Flush, LENGTH_LEN))),
            1 => Ok(Some((Packet::Delimiter, LENGTH_LEN))),
            2 => Ok(Some((Packet::ResponseEnd, LENGTH_LEN))),
            len @ LENGTH_LEN..=PACKET_MAX => Ok(bytes.get(LENGTH_LEN..len).map(|data| (Packet::Data(data), len))),
            _ => Err(WireError("A packet has a length that there can't be.")),
        }
    }

    /// The line that it is, without the line feed at its end.
    pub fn line(self) -> Option<Self> {
        match self {
            Self::Data(data) => Some(Self::Data(data.strip_suffix(b"\n").unwrap_or(data))),
            _ => None,
        }
    }
}

/// The packets of a whole body.
pub fn packets(mut bytes: &[u8]) -> impl Iterator<Item = Result<Packet<'_>, WireError>> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let next = match Packet::first(bytes) {
            Ok(Some((packet, len))) => {
                bytes = &bytes[len..];
                return Some(Ok(packet));
            }
            Ok(None) => WireError("A packet breaks off."),
            Err(error) => error,
        };
        bytes = &[];
        Some(Err(next))
    })
}

/// Appends a packet of `parts`, one after another.
pub fn packet(out: &mut Vec<u8>, parts: &[&[u8]]) {
    let len = LENGTH_LEN + parts.iter().map(|part| part.len()).sum::<usize>();
    debug_assert!(len <= PACKET_MAX, "a packet of {len} bytes");
    out.extend_from_slice(format!("{len:04x}").as_bytes());
    for part in parts {
        out.extend_from_slice(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_read_as_they_are_written() {
        let mut bytes = Vec::new();
        packet(&mut bytes, &[b"want ", b"it\n"]);
        bytes.extend_from_slice(b"0001");
        packet(&mut bytes, &[]);
        bytes.extend_from_slice(b"00020000");
        let read: Vec<_> = packets(&bytes).map(Result::unwrap).collect();
        let data = Packet::Data(b"want it\n");
        assert_eq!(read, [data, Packet::Delimiter, Packet::Data(b""), Packet::ResponseEnd, Packet::Flush]);
        assert_eq!(data.line(), Some(Packet::Data(b"want it")));
        assert_eq!(&bytes[..4], b"000c");
    }

    #[test]
    fn what_has_no_length_that_there_can_be_is_refused() {
        for bad in ["zzzz", "0003", "fff1", "ffff", "-001", "+004"] {
            assert!(Packet::first(bad.as_bytes()).is_err(), "{bad}");
        }
        assert_eq!(Packet::first(b"fff0"), Ok(None));
        for short in ["", "0", "000", "0005", "0009abcd"] {
            assert_eq!(Packet::first(short.as_bytes()), Ok(None), "{short}");
        }
        assert!(packets(b"00000009abcd").any(|packet| packet.is_err()));
    }
}
