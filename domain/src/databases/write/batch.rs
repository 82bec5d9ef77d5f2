//! Keys of many items in one request.

use std::{collections::HashSet, ops::RangeInclusive};

use crate::{
    databases::{Item, KeySchema, RowKey, key_twice},
    error::{Error, Result},
};

/// Keys in one request that deletes items (contract C 4.5).
pub const KEYS_PER_REQUEST: RangeInclusive<usize> = 1..=100;

/// The rows of the items with these keys, each of which is named once.
pub fn batch_check(schema: &KeySchema, keys: &[Item]) -> Result<Vec<RowKey>> {
    if !KEYS_PER_REQUEST.contains(&keys.len()) {
        return Err(Error::invalid("keys", "Send 1 to 100 keys."));
    }
    let rows: Vec<_> = keys.iter().map(|key| Ok(schema.key(key)?.row())).collect::<Result<_>>()?;
    distinct_check(rows.iter())?;
    Ok(rows)
}

/// Passes where no row is there twice.
pub(super) fn distinct_check<'r>(rows: impl Iterator<Item = &'r RowKey>) -> Result<()> {
    let mut seen = HashSet::new();
    for row in rows {
        if !seen.insert(row) {
            return Err(key_twice());
        }
    }
    Ok(())
}
