//! The rows that items lie at: `pk` and `sk`, as bytes.
//!
//! `pk` is the beginning of the partition key's hash, and then the partition key: items are spread evenly, an order of their
//! own, which is DynamoDB's, and a slot is a range of rows.

use md5::{Digest, Md5};

use super::{KeyRange, KeyValue};

/// What is hashed before the partition key, as DynamoDB does.
const HASH_PREFIX: &[u8] = b"Outliers";
/// Bytes of the hash.
const HASH_LEN: usize = 4;
/// Slots of a table, each of which writes the items whose hash begins with its four bits.
pub const SLOTS: u8 = 16;

/// The row of an item. Rows sort as items do: by the hash of the partition key, by the partition key, by the sort key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowKey {
    /// The partition, with its hash before it.
    pub pk: Vec<u8>,
    /// The sort key; empty where the schema has none, and only there.
    pub sk: Vec<u8>,
}

impl RowKey {
    /// The row of the item with this key.
    pub fn new(partition: &KeyValue, sort: Option<&KeyValue>) -> Self {
        Self { pk: partition.pk(), sk: sort.map(KeyValue::bytes).unwrap_or_default() }
    }

    /// The slot that writes the row.
    pub fn slot(&self) -> u8 {
        self.pk.first().map_or(0, |first| first >> 4)
    }
}

impl KeyValue {
    /// The `pk` of the partition with this key.
    pub fn pk(&self) -> Vec<u8> {
        let bytes = self.bytes();
        let hash = Md5::new().chain_update(HASH_PREFIX).chain_update(&bytes).finalize();
        let mut pk = Vec::with_capacity(HASH_LEN + bytes.len());
        pk.extend_from_slice(&hash[..HASH_LEN]);
        pk.extend_from_slice(&bytes);
        pk
    }
}

/// The values of `pk` that belong to a slot.
pub fn slot_range(slot: u8) -> KeyRange {
    let slot = slot % SLOTS;
    let until = (slot + 1 < SLOTS).then(|| vec![(slot + 1) << 4]);
    KeyRange { from: vec![slot << 4], until }
}
