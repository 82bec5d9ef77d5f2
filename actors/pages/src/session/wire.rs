//! The y-websocket protocol: what clients say, and what they are told.
//!
//! A message is a number that names its kind and what follows; numbers and lengths are lib0's. Sync messages (0) have a
//! step: 0 is "this is what I have", a state vector; 1 answers it with what is missing; 2 is an update. Awareness (1) is
//! who is there; 3 asks for it. 2 is a refusal.

use bytes::{BufMut, Bytes, BytesMut};

use super::prescan::{Malformed, Reader};

const SYNC: u8 = 0;
const AWARENESS: u8 = 1;
const AUTH: u8 = 2;
const QUERY_AWARENESS: u8 = 3;
const STEP_1: u8 = 0;
const STEP_2: u8 = 1;
const UPDATE: u8 = 2;
/// Under [`AUTH`].
const PERMISSION_DENIED: u8 = 0;
/// Bytes before the body of a message, at most.
const HEAD_LEN_MAX: usize = 12;

/// What a client said. The bytes are parts of its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// The client has this much: a state vector.
    Has(Bytes),
    /// An update, or what the server was missing.
    Update(Bytes),
    /// States of awareness, without their head.
    Awareness(Bytes),
    /// Who is there?
    WhoIsThere,
    /// Something that later clients may say, and that this server has no use for.
    Other,
}

/// Reads a message.
pub(super) fn read(message: &Bytes) -> Result<Said, Malformed> {
    let mut reader = Reader { bytes: message };
    let said = match kind(&mut reader)? {
        SYNC => match kind(&mut reader)? {
            STEP_1 => Said::Has(message.slice_ref(reader.buffer()?)),
            STEP_2 | UPDATE => Said::Update(message.slice_ref(reader.buffer()?)),
            _ => return Err(Malformed),
        },
        AWARENESS => Said::Awareness(message.slice_ref(reader.buffer()?)),
        QUERY_AWARENESS => Said::WhoIsThere,
        _ => return Ok(Said::Other),
    };
    if reader.bytes.is_empty() { Ok(said) } else { Err(Malformed) }
}

fn kind(reader: &mut Reader<'_>) -> Result<u8, Malformed> {
    Ok(u8::try_from(reader.number()?).unwrap_or(u8::MAX))
}

/// "This is what the server has."
pub(super) fn has(state_vector: &[u8]) -> Bytes {
    message(&[SYNC, STEP_1], state_vector)
}

/// "This is what you are missing."
pub(super) fn missing(update: &[u8]) -> Bytes {
    message(&[SYNC, STEP_2], update)
}

/// "You are missing nothing": an update that says nothing.
pub(super) fn missing_nothing() -> Bytes {
    Bytes::from_static(&[SYNC, STEP_2, 2, 0, 0])
}

/// An update.
pub(super) fn update(update: &[u8]) -> Bytes {
    message(&[SYNC, UPDATE], update)
}

/// States of awareness.
pub(super) fn awareness(states: &[u8]) -> Bytes {
    message(&[AWARENESS], states)
}

/// "You may not write here."
pub(super) fn permission_denied() -> Bytes {
    message(&[AUTH, PERMISSION_DENIED], b"permission denied")
}

fn message(head: &[u8], body: &[u8]) -> Bytes {
    let mut message = BytesMut::with_capacity(HEAD_LEN_MAX + body.len());
    message.put_slice(head);
    put_number(&mut message, body.len() as u64);
    message.put_slice(body);
    message.freeze()
}

/// Writes a number, seven bits to a byte.
pub(super) fn put_number(target: &mut impl BufMut, mut number: u64) {
    while number >= 0x80 {
        target.put_u8(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    target.put_u8(number.to_le_bytes()[0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_reads_as_what_it_is() {
        let body = Bytes::from(vec![7; 300]);
        assert_eq!(read(&has(&body)), Ok(Said::Has(body.clone())));
        assert_eq!(read(&missing(&body)), Ok(Said::Update(body.clone())));
        assert_eq!(read(&missing_nothing()), Ok(Said::Update(Bytes::from_static(&[0, 0]))));
        assert_eq!(read(&update(&body)), Ok(Said::Update(body.clone())));
        assert_eq!(read(&awareness(&body)), Ok(Said::Awareness(body)));
        assert_eq!(read(&Bytes::from_static(&[3])), Ok(Said::WhoIsThere));
        assert_eq!(read(&permission_denied()), Ok(Said::Other));
        assert_eq!(read(&Bytes::from_static(&[100, 1, 2])), Ok(Said::Other));
    }

    #[test]
    fn what_is_cut_off_or_goes_on_is_malformed() {
        let whole = update(&[1, 2, 3]);
        for len in 0..whole.len() {
            assert_eq!(read(&whole.slice(..len)), Err(Malformed), "{len}");
        }
        let mut longer = whole.to_vec();
        longer.push(0);
        assert_eq!(read(&longer.into()), Err(Malformed));
        assert_eq!(read(&Bytes::from_static(&[0, 9, 0])), Err(Malformed));
    }

    #[test]
    fn a_refusal_reads_as_stock_clients_expect_it() {
        let mut expected = vec![2, 0, 17];
        expected.extend(b"permission denied");
        assert_eq!(permission_denied(), expected);
    }
}
