//! Throwing away what nobody reads any more, a bounded number of rows at a time.
//!
//! What is over is found by an index, counted with a limit, and deleted with the same limit: no statement holds the
//! database's lock for longer than so many rows take, however much has gathered. Jobs of the work queue throw it away, a
//! [`PurgeBatch`] a step.

use sea_orm::Value;

use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

/// Rows that one commit throws away.
pub const PURGE_ROWS_MAX: u32 = 1_000;

/// Rows of one table that are over. Each area says which of its own these are.
#[derive(Clone, Debug)]
pub struct Purge {
    /// What the rows are, for logs and for operators.
    pub what: &'static str,
    table: &'static str,
    /// The columns of the primary key, or of another that is unique.
    key: &'static str,
    /// What holds for the rows that are over, by bounds `$1`, `$2`, …
    is_over: &'static str,
    bounds: Vec<Value>,
    /// How many rows one commit throws away, at most.
    rows_max: u32,
}

/// What one commit throws away.
#[derive(Debug, Default)]
pub struct PurgeBatch {
    /// Throws the rows away.
    pub change: Change,
    /// How many rows these are, by what they are; nothing when nothing is over.
    pub rows: Vec<(&'static str, u32)>,
}

row! {
    struct CountRow {
        count: i64,
    }
}

impl Purge {
    /// The rows of `table`, with this primary key, for which `is_over` holds of the bound.
    pub(crate) fn new(what: &'static str, names: [&'static str; 3], bound: impl Into<Value>) -> Self {
        Self::within(what, names, vec![bound.into()])
    }

    /// The same of several bounds.
    pub(crate) fn within(what: &'static str, [table, key, is_over]: [&'static str; 3], bounds: Vec<Value>) -> Self {
        Self { what, table, key, is_over, bounds, rows_max: PURGE_ROWS_MAX }
    }

    /// The same rows, which are large: one commit throws at most so many of them away.
    pub(crate) fn at_once(self, rows_max: u32) -> Self {
        Self { rows_max, ..self }
    }

    fn values(&self, limit: u32) -> Vec<Value> {
        let limit: Value = i64::from(limit).into();
        self.bounds.iter().cloned().chain([limit]).collect()
    }

    /// Which of the statement's values says how many rows it may meet.
    fn limit(&self) -> usize {
        self.bounds.len() + 1
    }

    fn count(&self, limit: u32) -> Sql {
        let (Self { table, is_over, .. }, place) = (self, self.limit());
        let text =
            format!("SELECT COUNT(*) AS count FROM (SELECT 1 FROM {table} WHERE {is_over} LIMIT ${place}) AS gone");
        Sql::new(text, self.values(limit))
    }

    fn delete(&self, limit: u32) -> Sql {
        let (Self { table, key, is_over, .. }, place) = (self, self.limit());
        let text =
            format!("DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {is_over} LIMIT ${place})");
        Sql::new(text, self.values(limit))
    }
}

impl Change {
    /// Throws away at most `limit` of these rows.
    pub fn purge(&mut self, purge: &Purge, limit: u32) {
        self.run_statement(purge.delete(limit), Expect::Any);
    }
}

impl Store {
    /// The next of what is over, at most `limit` rows altogether, those of the first purges first.
    pub async fn purge_next(&self, purges: &[Purge], limit: u32) -> Result<PurgeBatch, StoreError> {
        let (mut batch, mut left) = (PurgeBatch::default(), limit);
        for purge in purges {
            let count = if left > 0 { self.purge_count(purge, left.min(purge.rows_max)).await? } else { 0 };
            if count > 0 {
                left -= count;
                batch.change.purge(purge, count);
                batch.rows.push((purge.what, count));
            }
        }
        Ok(batch)
    }

    /// How many of these rows there are, counted to `most`.
    async fn purge_count(&self, purge: &Purge, most: u32) -> Result<u32, StoreError> {
        let counted: Option<CountRow> = self.reader().row(&purge.count(most)).await?;
        Ok(counted.map_or(0, |row| u32::try_from(row.count).unwrap_or(most)))
    }
}

#[cfg(test)]
mod tests;
