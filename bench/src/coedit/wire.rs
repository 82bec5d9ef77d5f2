//! As much of the Yjs protocols as the load takes: text that is typed, and what of it an update carries.

use crate::report::Result;

/// The shared text that everybody types into; Troupe searches and exports this one.
pub const TEXT: &str = "markdown";

const MESSAGE_SYNC: u64 = 0;
const STEP_ONE: u64 = 0;
const STEP_TWO: u64 = 1;
const UPDATE: u64 = 2;

const STRUCT_GC: u8 = 0;
const STRUCT_STRING: u8 = 4;
const STRUCT_SKIP: u8 = 10;
const KIND_BITS: u8 = 0x1f;
const HAS_ORIGIN: u8 = 0x80;
const HAS_RIGHT_ORIGIN: u8 = 0x40;
const HAS_PARENT_SUB: u8 = 0x20;

/// Asks for all that the server has, as a client without a document does.
pub fn ask_for_all(out: &mut Vec<u8>) {
    // A state vector of nobody: one byte, zero.
    out.extend([0, 0, 1, 0]);
}

/// Answers the server's question with nothing: no structs, nothing deleted.
pub fn have_nothing(out: &mut Vec<u8>) {
    out.extend([0, 1, 2, 0, 0]);
}

/// The message with which `client` types `text` (ASCII) behind what it typed before; it has typed `clock` characters.
pub fn typed(out: &mut Vec<u8>, client: u64, clock: u32, text: &str) {
    let mut update = Vec::with_capacity(40 + text.len());
    for number in [1, 1, client, clock.into()] {
        put_number(&mut update, number);
    }
    if let Some(before) = clock.checked_sub(1) {
        update.push(STRUCT_STRING | HAS_ORIGIN);
        put_number(&mut update, client);
        put_number(&mut update, before.into());
    } else {
        update.extend([STRUCT_STRING, 1]);
        put_bytes(&mut update, TEXT.as_bytes());
    }
    put_bytes(&mut update, text.as_bytes());
    // Nothing deleted.
    update.push(0);
    out.extend([0, 2]);
    put_bytes(out, &update);
}

/// A number as lib0 writes it: seven bits a byte, the lowest first.
pub fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// Bytes behind their number.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// What a server says.
#[derive(Debug, PartialEq, Eq)]
pub enum Said<'a> {
    /// It asks what the client has.
    Question,
    /// The answer to the client's question.
    All(&'a [u8]),
    /// What somebody has changed since.
    Update(&'a [u8]),
    /// Awareness, acknowledgements and the like.
    Other,
}

/// Reads a message behind its prefix.
pub fn said(message: &[u8]) -> Result<Said<'_>> {
    let mut reader = Reader(message);
    if reader.number()? != MESSAGE_SYNC {
        return Ok(Said::Other);
    }
    Ok(match reader.number()? {
        STEP_ONE => Said::Question,
        STEP_TWO => Said::All(reader.bytes()?),
        UPDATE => Said::Update(reader.bytes()?),
        kind => return Err(format!("a sync message of kind {kind}").into()),
    })
}

/// Calls `found` with each client of an update and the range of its characters that the update carries.
pub fn ranges(update: &[u8], mut found: impl FnMut(u64, u32, u32) -> Result<()>) -> Result<()> {
    let mut reader = Reader(update);
    for _ in 0..reader.number()? {
        let structs = reader.number()?;
        let client = reader.number()?;
        let mut clock = u32::try_from(reader.number()?)?;
        for _ in 0..structs {
            let (kind, len) = reader.one_struct()?;
            let end = clock.checked_add(len).ok_or("a clock that overflows")?;
            if kind == STRUCT_STRING {
                found(client, clock, end)?;
            }
            clock = end;
        }
    }
    Ok(())
}

/// Reads what lib0 wrote.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// A number of at most 64 bits.
    pub fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err("a number that does not end".into())
    }

    /// Bytes behind their number.
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let len = usize::try_from(self.number()?)?;
        let (bytes, rest) = self.0.split_at_checked(len).ok_or("a message that is cut off")?;
        self.0 = rest;
        Ok(bytes)
    }

    fn byte(&mut self) -> Result<u8> {
        let (&byte, rest) = self.0.split_first().ok_or("a message that is cut off")?;
        self.0 = rest;
        Ok(byte)
    }

    /// Kind and length of the struct that comes next.
    fn one_struct(&mut self) -> Result<(u8, u32)> {
        let info = self.byte()?;
        let kind = info & KIND_BITS;
        let len = match kind {
            STRUCT_GC | STRUCT_SKIP => self.number()?,
            STRUCT_STRING => {
                self.place(info)?;
                self.bytes()?.len() as u64
            }
            kind => return Err(format!("an update with a struct of kind {kind}, which nobody made").into()),
        };
        Ok((kind, u32::try_from(len)?))
    }

    /// Where an item belongs: behind, before, or else in which shared type.
    fn place(&mut self, info: u8) -> Result<()> {
        for _ in 0..(info & HAS_ORIGIN).count_ones() + (info & HAS_RIGHT_ORIGIN).count_ones() {
            self.number()?;
            self.number()?;
        }
        if info & (HAS_ORIGIN | HAS_RIGHT_ORIGIN) != 0 {
            return Ok(());
        }
        if self.number()? == 1 {
            self.bytes()?;
        } else {
            self.number()?;
            self.number()?;
        }
        if info & HAS_PARENT_SUB != 0 {
            self.bytes()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use yrs::{Doc, GetString, ReadTxn, StateVector, Text, Transact, Update, updates::decoder::Decode};

    use super::*;

    fn carried(update: &[u8]) -> Vec<(u64, u32, u32)> {
        let mut all = Vec::new();
        ranges(update, |client, from, to| {
            all.push((client, from, to));
            Ok(())
        })
        .expect("an update");
        all.sort_unstable();
        all
    }

    #[test]
    fn what_is_typed_is_an_update_that_yrs_reads() {
        let doc = Doc::new();
        let text = doc.get_or_insert_text(TEXT);
        for (clock, typing) in [(0, "hello"), (5, " "), (6, "world")] {
            let mut message = Vec::new();
            typed(&mut message, 3_000_000_001, clock, typing);
            let Said::Update(update) = said(&message).expect("a message") else { panic!("no update") };
            doc.transact_mut().apply_update(Update::decode_v1(update).expect("an update")).expect("applied");
        }
        assert_eq!(text.get_string(&doc.transact()), "hello world");
        let all = doc.transact().encode_state_as_update_v1(&StateVector::default());
        assert_eq!(carried(&all), [(3_000_000_001, 0, 11)]);
    }

    #[test]
    fn an_update_of_yrs_is_read_by_client_and_range() {
        let doc = Doc::with_client_id(7);
        let text = doc.get_or_insert_text(TEXT);
        let other = Doc::with_client_id(9);
        text.push(&mut doc.transact_mut(), "abc");
        let seen = doc.transact().encode_state_as_update_v1(&StateVector::default());
        let copy = other.get_or_insert_text(TEXT);
        other.transact_mut().apply_update(Update::decode_v1(&seen).expect("an update")).expect("applied");
        copy.insert(&mut other.transact_mut(), 1, "in between");
        let all = other.transact().encode_state_as_update_v1(&StateVector::default());
        let lens = |id: u64| carried(&all).iter().filter(|range| range.0 == id).map(|range| range.2 - range.1).sum();
        let (old, new): (u32, u32) = (lens(7), lens(9));
        assert_eq!((old, new), (3, 10));
    }

    #[test]
    fn a_message_that_is_cut_off_is_an_error() {
        let mut message = Vec::new();
        typed(&mut message, 1, 0, "hello");
        let Said::Update(update) = said(&message).expect("a message") else { panic!("no update") };
        assert!(ranges(&update[..update.len() - 4], |_, _, _| Ok(())).is_err());
        assert!(said(&message[..message.len() - 1]).is_err());
    }
}
