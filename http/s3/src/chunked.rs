//! Bodies in AWS's chunks, before `s3s` reads them: it keeps a whole chunk in memory, which may say that it has 4 GiB.

use bytes::{Buf, Bytes, BytesMut};
use futures::{StreamExt, TryStreamExt};
use http_body_util::{BodyDataStream, StreamBody};
use hyper::body::Frame;
use s3s::{Body, StdError};

use crate::arriving::Arriving;

/// Bytes of a chunk that carries a signature of its own, which can't be cut.
const SIGNED_CHUNK_MAX: u64 = 16 * 1_024 * 1_024;
/// Bytes of the line before a chunk.
const LINE_MAX: usize = 1_024;

/// The body, cut into chunks that fit into memory, as far as they aren't signed.
pub(crate) fn cut(body: Arriving, is_signed: bool) -> Body {
    let mut cutter = Cutter { at: At::Line(Vec::new()), is_signed };
    let pieces = BodyDataStream::new(body)
        .map(move |piece| piece.map_err(StdError::from).and_then(|piece| cutter.feed(piece)))
        .map_ok(Frame::data);
    Body::http_body_unsync(StreamBody::new(pieces))
}

struct Cutter {
    at: At,
    is_signed: bool,
}

/// What comes next.
enum At {
    /// The line before a chunk, of which this has come.
    Line(Vec<u8>),
    /// So many bytes of a chunk.
    Chunk(u64),
    /// The line's end behind a chunk, of which so many bytes have come.
    End(usize),
    /// What follows the last chunk.
    Trailer,
}

impl Cutter {
    fn feed(&mut self, mut piece: Bytes) -> Result<Bytes, StdError> {
        let mut cut = BytesMut::with_capacity(piece.len() + 32);
        while !piece.is_empty() {
            match &mut self.at {
                At::Trailer => cut.extend_from_slice(&piece.split_off(0)),
                At::Line(line) => {
                    let byte = piece.get_u8();
                    line.push(byte);
                    if line.len() > LINE_MAX {
                        return Err("the line before a chunk is too long".into());
                    }
                    if byte != b'\n' {
                        continue;
                    }
                    let size = size_of(line).ok_or("the line before a chunk has no size")?;
                    if self.is_signed && size > SIGNED_CHUNK_MAX {
                        return Err("a signed chunk has at most 16 MiB".into());
                    }
                    if self.is_signed || size == 0 {
                        cut.extend_from_slice(line);
                    }
                    self.at = if size == 0 { At::Trailer } else { At::Chunk(size) };
                }
                At::Chunk(left) => {
                    let len = usize::try_from(*left).unwrap_or(usize::MAX).min(piece.len());
                    let bytes = piece.split_to(len);
                    if self.is_signed {
                        cut.extend_from_slice(&bytes);
                    } else {
                        cut.extend_from_slice(format!("{len:x}\r\n").as_bytes());
                        cut.extend_from_slice(&bytes);
                        cut.extend_from_slice(b"\r\n");
                    }
                    *left -= len as u64;
                    if *left == 0 {
                        self.at = At::End(0);
                    }
                }
                At::End(come) => {
                    let byte = piece.get_u8();
                    if b"\r\n".get(*come) != Some(&byte) {
                        return Err("a chunk is longer than it says".into());
                    }
                    if self.is_signed {
                        cut.extend_from_slice(&[byte]);
                    }
                    *come += 1;
                    if *come == 2 {
                        self.at = At::Line(Vec::new());
                    }
                }
            }
        }
        Ok(cut.freeze())
    }
}

/// A body that is fed piece by piece; what is cut holds no more than it did.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzzing(body: &[u8]) {
    for is_signed in [false, true] {
        let mut cutter = Cutter { at: At::Line(Vec::new()), is_signed };
        let mut cut = 0;
        for piece in body.chunks(7) {
            let Ok(fed) = cutter.feed(Bytes::copy_from_slice(piece)) else { break };
            cut += fed.len();
        }
        // Each piece of a chunk has a line of its own where it isn't signed.
        assert!(cut <= if is_signed { body.len() } else { body.len() * 8 + LINE_MAX }, "{cut}");
    }
}

/// The size that the line before a chunk says.
fn size_of(line: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(line).ok()?;
    u64::from_str_radix(text.split([';', '\r', '\n']).next()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of `body`, which comes in pieces of `len` bytes.
    fn fed(body: &[u8], len: usize, is_signed: bool) -> Result<Vec<u8>, StdError> {
        let mut cutter = Cutter { at: At::Line(Vec::new()), is_signed };
        let mut all = Vec::new();
        for piece in body.chunks(len) {
            all.extend_from_slice(&cutter.feed(Bytes::copy_from_slice(piece))?);
        }
        Ok(all)
    }

    /// What the chunks hold, and what follows the last one.
    fn held(mut body: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let mut bytes = Vec::new();
        loop {
            let end = body.windows(2).position(|two| two == b"\r\n").unwrap();
            let size = usize::try_from(size_of(&body[..end]).unwrap()).unwrap();
            body = &body[end + 2..];
            if size == 0 {
                return (bytes, body.to_vec());
            }
            bytes.extend_from_slice(&body[..size]);
            body = &body[size + 2..];
        }
    }

    #[test]
    fn unsigned_chunks_are_cut_and_hold_the_same() {
        let body = b"b\r\nhello world\r\n3;x=y\r\nabc\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n";
        for len in [1, 2, 5, 7, body.len()] {
            let cut = fed(body, len, false).unwrap();
            assert_eq!(held(&cut), held(body), "{len}");
        }
    }

    #[test]
    fn signed_chunks_stay_as_they_are() {
        let body = b"b;chunk-signature=00\r\nhello world\r\n0;chunk-signature=11\r\n\r\n";
        for len in [1, 3, body.len()] {
            assert_eq!(fed(body, len, true).unwrap(), body, "{len}");
        }
    }

    #[test]
    fn a_chunk_that_lies_ends_the_body() {
        for body in [&b"z\r\n"[..], b"1\r\nab\r\n", b"\r\n", &[b'0'; LINE_MAX + 1]] {
            assert!(fed(body, 4, false).is_err());
        }
        assert!(fed(b"1000000\r\n", 16, true).is_ok());
        assert!(fed(b"1000001\r\n", 16, true).is_err());
        assert!(fed(b"ffffffff\r\n", 16, false).is_ok());
    }
}
