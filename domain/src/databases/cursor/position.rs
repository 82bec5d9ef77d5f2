//! The row that a page ended with.

use sha2::{Digest, Sha256};

use crate::{
    databases::{RowKey, invalid_page_cursor},
    error::Result,
};

/// Bytes of the hash of an index's row.
const HASH_LEN: usize = 16;

const IN_TABLE: u8 = 0;
const IN_INDEX: u8 = 1;
const IN_INDEX_BY_HASH: u8 = 2;

/// The row that a page ended with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// A row of the table.
    Table(RowKey),
    /// A row of an index, and the row of its item in the table.
    Index {
        /// In the index.
        index: RowKey,
        /// In the table.
        table: RowKey,
    },
    /// The same where both are too long for a cursor: the row in the index is the one that the item has there, if it still
    /// has the one with this hash.
    IndexByHash {
        /// Of the row in the index.
        hash: [u8; HASH_LEN],
        /// In the table.
        table: RowKey,
    },
}

impl Position {
    /// The row of the item in the table.
    pub const fn table_row(&self) -> &RowKey {
        match self {
            Self::Table(table) | Self::Index { table, .. } | Self::IndexByHash { table, .. } => table,
        }
    }

    /// The row in the index, where `now` is the one that the item has there now; 400 where that is needed and has changed,
    /// and for a position that is in no index.
    pub fn index_row(&self, now: Option<RowKey>) -> Result<RowKey> {
        match self {
            Self::Table(_) => Err(invalid_page_cursor()),
            Self::Index { index, .. } => Ok(index.clone()),
            Self::IndexByHash { hash, .. } => now.filter(|row| row_hash(row) == *hash).ok_or_else(invalid_page_cursor),
        }
    }

    /// The shorter form of a position in an index.
    pub(super) fn shortened(&self) -> Self {
        match self {
            Self::Index { index, table } => Self::IndexByHash { hash: row_hash(index), table: table.clone() },
            other => other.clone(),
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let (kind, parts): (u8, Vec<&[u8]>) = match self {
            Self::Table(table) => (IN_TABLE, vec![&table.pk, &table.sk]),
            Self::Index { index, table } => (IN_INDEX, vec![&index.pk, &index.sk, &table.pk, &table.sk]),
            Self::IndexByHash { hash, table } => (IN_INDEX_BY_HASH, vec![hash, &table.pk, &table.sk]),
        };
        let mut bytes = vec![kind];
        for part in parts {
            // Keys have 2,052 bytes at most.
            bytes.extend_from_slice(&u16::try_from(part.len()).unwrap_or(u16::MAX).to_be_bytes());
            bytes.extend_from_slice(part);
        }
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (kind, mut rest) = bytes.split_first()?;
        let mut part = || -> Option<Vec<u8>> {
            let (len, after) = rest.split_first_chunk::<2>()?;
            let (part, after) = after.split_at_checked(usize::from(u16::from_be_bytes(*len)))?;
            rest = after;
            Some(part.to_vec())
        };
        let position = match *kind {
            IN_TABLE => Self::Table(RowKey { pk: part()?, sk: part()? }),
            IN_INDEX => {
                let index = RowKey { pk: part()?, sk: part()? };
                Self::Index { index, table: RowKey { pk: part()?, sk: part()? } }
            }
            IN_INDEX_BY_HASH => {
                let hash = part()?.try_into().ok()?;
                Self::IndexByHash { hash, table: RowKey { pk: part()?, sk: part()? } }
            }
            _ => return None,
        };
        rest.is_empty().then_some(position)
    }
}

fn row_hash(row: &RowKey) -> [u8; HASH_LEN] {
    let digest = Sha256::new().chain_update((row.pk.len() as u64).to_be_bytes()).chain_update(&row.pk);
    let digest = digest.chain_update(&row.sk).finalize();
    std::array::from_fn(|place| digest[place])
}
