//! A look over a Yjs update before anything decodes it.
//!
//! The bytes come from a client. yrs decodes what is well formed and refuses much of what isn't, but it reserves memory
//! for as many parts as an update claims to have, and follows nested values as deep as they go: a message of a few bytes
//! could take all of the machine's memory, and one of a few thousand its stack. So each update is walked first, without
//! allocating: every count must be covered by bytes that are there, nesting has a limit, and clocks must not overflow.

/// How deep values may be nested.
const DEPTH_MAX: u32 = 64;
/// The largest client id: what JavaScript counts exactly.
const CLIENT_MAX: u64 = (1 << 53) - 1;
/// Bit of a block's head: it names the block to its left.
const HAS_LEFT: u8 = 0x80;
/// Bit of a block's head: it names the block to its right.
const HAS_RIGHT: u8 = 0x40;
/// Bit of a block's head: it stands under a key of a map.
const HAS_KEY: u8 = 0x20;

/// The bytes are no update that can be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a Yjs update")]
pub struct Malformed;

type Prescanned<T> = Result<T, Malformed>;

/// What can be said of an update without decoding it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prescan {
    /// Whether it says nothing at all.
    pub is_empty: bool,
    /// Bytes of text in it, at most all of which a shared text can grow by.
    pub text_len: usize,
}

/// Looks over an update (format 1).
pub fn prescan_update(bytes: &[u8]) -> Prescanned<Prescan> {
    let mut reader = Reader { bytes };
    let mut text_len = 0;
    let clients = reader.count(2)?;
    for _ in 0..clients {
        let blocks = reader.count(1)?;
        reader.client()?;
        let mut clock = reader.number()?;
        for _ in 0..blocks {
            clock = clock.checked_add(reader.block(&mut text_len)?).ok_or(Malformed)?;
        }
    }
    let deleting = reader.count(2)?;
    for _ in 0..deleting {
        reader.client()?;
        for _ in 0..reader.count(2)? {
            let clock = reader.number()?;
            clock.checked_add(reader.number()?).ok_or(Malformed)?;
        }
    }
    if reader.bytes.is_empty() { Ok(Prescan { is_empty: clients + deleting == 0, text_len }) } else { Err(Malformed) }
}

/// Looks over a state vector.
pub fn prescan_state_vector(bytes: &[u8]) -> Prescanned<()> {
    let mut reader = Reader { bytes };
    for _ in 0..reader.count(2)? {
        reader.client()?;
        reader.number()?;
    }
    if reader.bytes.is_empty() { Ok(()) } else { Err(Malformed) }
}

/// What is left to read, in lib0's encoding.
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn byte(&mut self) -> Prescanned<u8> {
        let (first, rest) = self.bytes.split_first().ok_or(Malformed)?;
        self.bytes = rest;
        Ok(*first)
    }

    pub(super) fn take(&mut self, len: usize) -> Prescanned<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(len).ok_or(Malformed)?;
        self.bytes = rest;
        Ok(taken)
    }

    /// A number of up to 53 bits, seven to a byte.
    pub(super) fn long(&mut self) -> Prescanned<u64> {
        let mut number = 0;
        for shift in (0..56).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return if number <= CLIENT_MAX { Ok(number) } else { Err(Malformed) };
            }
        }
        Err(Malformed)
    }

    /// A number of up to 32 bits.
    pub(super) fn number(&mut self) -> Prescanned<u32> {
        u32::try_from(self.long()?).map_err(|_| Malformed)
    }

    /// How many parts follow, each at least `len_min` bytes long.
    pub(super) fn count(&mut self, len_min: usize) -> Prescanned<usize> {
        let count = self.number()? as usize;
        if count.checked_mul(len_min).is_some_and(|len| len <= self.bytes.len()) { Ok(count) } else { Err(Malformed) }
    }

    /// Bytes with their length before them.
    pub(super) fn buffer(&mut self) -> Prescanned<&'a [u8]> {
        let len = self.number()? as usize;
        self.take(len)
    }

    /// Text with its length before it.
    pub(super) fn text(&mut self) -> Prescanned<&'a str> {
        std::str::from_utf8(self.buffer()?).map_err(|_| Malformed)
    }

    fn client(&mut self) -> Prescanned<()> {
        self.long().map(drop)
    }

    fn id(&mut self) -> Prescanned<()> {
        self.client()?;
        self.number().map(drop)
    }

    /// A block; how many clocks it takes.
    fn block(&mut self, text_len: &mut usize) -> Prescanned<u32> {
        let head = self.byte()?;
        if matches!(head, 0 | 10) {
            let len = self.number()?;
            return if len == 0 { Err(Malformed) } else { Ok(len) };
        }
        if head & HAS_LEFT != 0 {
            self.id()?;
        }
        if head & HAS_RIGHT != 0 {
            self.id()?;
        }
        if head & (HAS_LEFT | HAS_RIGHT) == 0 {
            match self.number()? {
                1 => drop(self.text()?),
                _ => self.id()?,
            }
            if head & HAS_KEY != 0 {
                self.text()?;
            }
        }
        self.content(head & 0x0f, text_len)
    }

    fn content(&mut self, kind: u8, text_len: &mut usize) -> Prescanned<u32> {
        match kind {
            // Deleted.
            1 => return self.number(),
            // Bytes; an embedded value, as JSON.
            3 => drop(self.buffer()?),
            5 => drop(self.text()?),
            4 => {
                let text = self.text()?;
                *text_len += text.len();
                return u32::try_from(text.encode_utf16().count()).map_err(|_| Malformed);
            }
            // A format: its name, and its value as JSON.
            6 => {
                self.text()?;
                self.text()?;
            }
            // A shared type; elements have a name.
            7 => match self.byte()? {
                0..=2 | 4..=6 | 9 | 15 => {}
                3 => drop(self.text()?),
                _ => return Err(Malformed),
            },
            8 => {
                let values = self.count(1)?;
                for _ in 0..values {
                    self.value(0)?;
                }
                return u32::try_from(values).map_err(|_| Malformed);
            }
            // A document in the document.
            9 => {
                self.text()?;
                self.value(0)?;
            }
            // 2 is what Yjs wrote before 2020, which yrs can't read back.
            _ => return Err(Malformed),
        }
        Ok(1)
    }

    fn value(&mut self, depth: u32) -> Prescanned<()> {
        if depth > DEPTH_MAX {
            return Err(Malformed);
        }
        match self.byte()? {
            // Nothing, and yes and no.
            120 | 121 | 126 | 127 => {}
            125 => while self.byte()? >= 0x80 {},
            124 => drop(self.take(4)?),
            122 | 123 => drop(self.take(8)?),
            119 => drop(self.text()?),
            116 => drop(self.buffer()?),
            118 => {
                for _ in 0..self.count(2)? {
                    self.text()?;
                    self.value(depth + 1)?;
                }
            }
            117 => {
                for _ in 0..self.count(1)? {
                    self.value(depth + 1)?;
                }
            }
            _ => return Err(Malformed),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use yrs::{
        Any, Array, Doc, Map, ReadTxn, StateVector, Text, Transact, XmlElementPrelim, XmlFragment, types::Attrs,
    };

    use super::*;

    fn state(doc: &Doc) -> Vec<u8> {
        doc.transact().encode_state_as_update_v1(&StateVector::default())
    }

    #[test]
    fn what_yrs_writes_is_taken_whole() {
        let doc = Doc::new();
        let text = doc.get_or_insert_text("text");
        let map = doc.get_or_insert_map("map");
        let array = doc.get_or_insert_array("array");
        let xml = doc.get_or_insert_xml_fragment("xml");
        let mut transaction = doc.transact_mut();
        text.insert(&mut transaction, 0, "grüße 🎉");
        text.insert_with_attributes(&mut transaction, 2, "bold", Attrs::from([("bold".into(), true.into())]));
        text.insert_embed(&mut transaction, 1, Any::from(1.5));
        text.remove_range(&mut transaction, 0, 1);
        map.insert(
            &mut transaction,
            "key",
            Any::from_json(r#"{"a":[1,2.5,null,true,"x",{"b":-9007199254740991}]}"#).unwrap(),
        );
        map.insert(&mut transaction, "bytes", Any::Buffer(vec![1, 2, 3].into()));
        array.insert_range(&mut transaction, 0, [1_i64, -2, 300_000]);
        array.remove(&mut transaction, 1);
        xml.insert(&mut transaction, 0, XmlElementPrelim::empty("p"));
        drop(transaction);
        let prescan = prescan_update(&state(&doc)).unwrap();
        assert!(!prescan.is_empty);
        assert!(prescan.text_len >= "grüße 🎉bold".len() - 1);
    }

    #[test]
    fn an_update_that_says_nothing_is_told_apart() {
        assert_eq!(prescan_update(&[0, 0]), Ok(Prescan { is_empty: true, text_len: 0 }));
        assert_eq!(prescan_update(&state(&Doc::new())), Ok(Prescan { is_empty: true, text_len: 0 }));
    }

    #[test]
    fn claims_that_no_bytes_cover_are_refused() {
        // So many clients; so many blocks of one client; so many values; so many deletions.
        let claims: [&[u8]; 5] = [
            &[0xff, 0xff, 0xff, 0xff, 0x0f, 0],
            &[1, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 0, 0],
            &[1, 1, 1, 0, 8, 1, 1, b'a', 0xff, 0xff, 0xff, 0xff, 0x0f, 0],
            &[0, 0xff, 0xff, 0xff, 0xff, 0x0f],
            &[1, 1, 1, 0, 8, 1, 1, b'a', 1, 118, 0xff, 0xff, 0xff, 0x7a, 0],
        ];
        for claim in claims {
            assert_eq!(prescan_update(claim), Err(Malformed), "{claim:?}");
        }
        assert_eq!(prescan_state_vector(&[0xff, 0xff, 0xff, 0xff, 0x0f]), Err(Malformed));
    }

    #[test]
    fn values_may_be_nested_but_not_without_end() {
        let nested = |depth: usize| {
            let mut update = vec![1, 1, 1, 0, 8, 1, 1, b'a', 1];
            update.extend([117, 1].repeat(depth));
            update.extend([126, 0]);
            update
        };
        assert!(prescan_update(&nested(DEPTH_MAX as usize)).is_ok());
        assert_eq!(prescan_update(&nested(DEPTH_MAX as usize + 1)), Err(Malformed));
        assert_eq!(prescan_update(&nested(500_000)), Err(Malformed));
    }

    #[test]
    fn no_damaged_byte_brings_anything_down() {
        let doc = Doc::new();
        let text = doc.get_or_insert_text("text");
        text.insert(&mut doc.transact_mut(), 0, "some text to be damaged");
        text.remove_range(&mut doc.transact_mut(), 3, 4);
        let whole = state(&doc);
        for at in 0..whole.len() {
            for value in 0..=u8::MAX {
                let mut damaged = whole.clone();
                damaged[at] = value;
                let _ = prescan_update(&damaged);
            }
            assert_eq!(prescan_update(&whole[..at]), Err(Malformed), "cut at {at}");
        }
    }
}
