//! A look at the heads of a client's frames, before anything gathers what they announce.
//!
//! The codec behind this waits until a frame is whole before it says that it is too large, so that a frame that announces
//! a terabyte would be gathered as long as it comes. Here each head is read as it passes: a frame that is too large, or that
//! no client may send (RFC 6455, 5), ends the socket before its payload comes in.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use actix_web::{dev::Payload, error::PayloadError};
use bytes::Bytes;
use futures::Stream;

/// The longest head of a frame: two bytes, a length in eight, a mask in four.
const HEAD_LEN_MAX: usize = 14;
/// What a control frame may carry, at most, in bytes.
const CONTROL_LEN_MAX: u64 = 125;
const FINAL: u8 = 0x80;
const RESERVED: u8 = 0x70;
const OPCODE: u8 = 0x0f;
/// From this opcode on, frames control the connection.
const CONTROL: u8 = 8;
const MASKED: u8 = 0x80;
const LENGTH: u8 = 0x7f;
/// In the place of a length: it follows in two bytes, or in eight.
const LENGTH_IN_TWO: u8 = 126;
const LENGTH_IN_EIGHT: u8 = 127;

/// Why a frame is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadFrame {
    /// It announces more than a client may send at once.
    #[error("a frame is too large")]
    TooLarge,
    /// It is not what a client may send.
    #[error("this is no frame of a client")]
    Malformed,
}

/// What comes over a socket, frame by frame.
pub(super) struct Frames {
    payload: Payload,
    heads: Heads,
}

impl Frames {
    /// Lets messages of at most `len_max` bytes through, whole or in pieces.
    pub(super) fn new(payload: Payload, len_max: u64) -> Self {
        Self { payload, heads: Heads::new(len_max) }
    }
}

impl Stream for Frames {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let next = Pin::new(&mut this.payload).poll_next(context);
        next.map(|next| {
            next.map(|bytes| {
                let bytes = bytes?;
                this.heads.pass(&bytes).map_err(|bad| PayloadError::Io(io::Error::other(bad)))?;
                Ok(bytes)
            })
        })
    }
}

/// Where in the frames the bytes that came so far end.
struct Heads {
    len_max: u64,
    /// The head that is coming in, and how much of it is there.
    head: [u8; HEAD_LEN_MAX],
    len: usize,
    /// How much of a frame's payload is still to come.
    rest: u64,
    /// What the pieces of the message announced so far.
    message_len: u64,
}

impl Heads {
    const fn new(len_max: u64) -> Self {
        Self { len_max, head: [0; HEAD_LEN_MAX], len: 0, rest: 0, message_len: 0 }
    }

    fn pass(&mut self, mut bytes: &[u8]) -> Result<(), BadFrame> {
        while !bytes.is_empty() {
            let payload = usize::try_from(self.rest).unwrap_or(usize::MAX).min(bytes.len());
            self.rest -= payload as u64;
            bytes = &bytes[payload..];
            if let Some((byte, behind)) = bytes.split_first() {
                self.head[self.len] = *byte;
                self.len += 1;
                bytes = behind;
                self.look()?;
            }
        }
        Ok(())
    }

    /// Looks at as much of a head as is there, and is done with it when it is whole.
    fn look(&mut self) -> Result<(), BadFrame> {
        let (first, second) = (self.head[0], self.head[1]);
        if self.len < 2 {
            return if first & RESERVED == 0 { Ok(()) } else { Err(BadFrame::Malformed) };
        }
        let is_control = first & OPCODE >= CONTROL;
        let is_long = u64::from(second & LENGTH) > CONTROL_LEN_MAX;
        if second & MASKED == 0 || is_control && (first & FINAL == 0 || is_long) {
            return Err(BadFrame::Malformed);
        }
        let length_len = match second & LENGTH {
            LENGTH_IN_TWO => 2,
            LENGTH_IN_EIGHT => 8,
            _ => 0,
        };
        if self.len < 2 + length_len + 4 {
            return Ok(());
        }
        let length = match length_len {
            0 => u64::from(second & LENGTH),
            _ => self.head[2..2 + length_len].iter().fold(0, |length, byte| length << 8 | u64::from(*byte)),
        };
        if !is_control {
            self.message_len = self.message_len.saturating_add(length);
            if self.message_len > self.len_max {
                return Err(BadFrame::TooLarge);
            }
            if first & FINAL != 0 {
                self.message_len = 0;
            }
        }
        (self.len, self.rest) = (0, length);
        Ok(())
    }
}

/// Bytes as they come over a socket, for fuzzing; the first says how they come apart. Cut anywhere they come to the same, and
/// of what passes, the codec behind this never gathers more than one message.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzzing(bytes: &[u8]) {
    const LEN_MAX: u64 = 1_000;
    let Some((cut, bytes)) = bytes.split_first() else { return };
    let mut whole = Heads::new(LEN_MAX);
    let at_once = whole.pass(bytes);
    let mut parts = Heads::new(LEN_MAX);
    let in_parts = bytes.chunks(usize::from(*cut).max(1)).try_for_each(|part| parts.pass(part));
    assert_eq!(at_once, in_parts);
    assert!(whole.len <= HEAD_LEN_MAX && whole.message_len <= LEN_MAX || at_once.is_err());
    if at_once.is_err() {
        return;
    }
    let mut gathered = bytes::BytesMut::from(bytes);
    loop {
        match actix_http::ws::Parser::parse(&mut gathered, true, 1_000) {
            Ok(Some(_)) => {}
            Ok(None) => return assert!(gathered.len() <= 1_000 + HEAD_LEN_MAX),
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN_MAX: u64 = 1_000;

    fn heads() -> Heads {
        Heads::new(LEN_MAX)
    }

    /// What a frame with this head and this length comes to, and one byte at a time too.
    fn passed(first: u8, second: u8, length: &[u8], payload_len: usize) -> Result<(), BadFrame> {
        let mut frame = vec![first, second];
        frame.extend_from_slice(length);
        frame.extend_from_slice(&[0; 4]);
        frame.resize(frame.len() + payload_len, 0xff);
        // Twice, so that it shows when the second one is not found where it begins.
        let twice = [&frame[..], &frame].concat();
        let (at_once, mut slowly) = (heads().pass(&twice), heads());
        assert_eq!(twice.iter().try_for_each(|byte| slowly.pass(&[*byte])), at_once);
        at_once
    }

    #[test]
    fn whatever_a_client_may_send_passes() {
        assert_eq!(passed(0x81, 0x80, &[], 0), Ok(()));
        assert_eq!(passed(0x02, 0xfd, &[], 125), Ok(()));
        assert_eq!(passed(0x00, 0xfe, &500_u16.to_be_bytes(), 500), Ok(()));
        assert_eq!(passed(0x80, 0xfe, &[0x01, 0x00], 256), Ok(()));
        assert_eq!(passed(0x82, 0xff, &1_000_u64.to_be_bytes(), 1_000), Ok(()));
        assert_eq!(passed(0x89, 0xfd, &[], 125), Ok(()));
    }

    #[test]
    fn a_frame_that_announces_too_much_is_refused_before_it_comes() {
        assert_eq!(passed(0x82, 0xff, &1_001_u64.to_be_bytes(), 0), Err(BadFrame::TooLarge));
        assert_eq!(passed(0x82, 0xff, &u64::MAX.to_be_bytes(), 0), Err(BadFrame::TooLarge));
        assert_eq!(passed(0x82, 0xfe, &u16::MAX.to_be_bytes(), 0), Err(BadFrame::TooLarge));
        assert_eq!(passed(0x00, 0xfe, &501_u16.to_be_bytes(), 501), Err(BadFrame::TooLarge), "in two pieces");
    }

    #[test]
    fn what_no_client_may_send_is_refused() {
        for (first, second, length) in [
            (0xc1, 0x80, &[][..]),
            (0xa1, 0x80, &[]),
            (0x91, 0x80, &[]),
            (0x81, 0x00, &[]),
            (0x09, 0x80, &[]),
            (0x89, 0xfe, &[0, 126]),
            (0x88, 0xff, &[0, 0, 0, 0, 0, 0, 0, 1]),
        ] {
            assert_eq!(passed(first, second, length, 0), Err(BadFrame::Malformed), "{first:#x} {second:#x}");
        }
    }
}
