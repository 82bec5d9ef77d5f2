//! Throwing away what nobody reads any more, a bounded number of rows at a time.
//!
//! What is over is found by an index, counted with a limit, and deleted with the same limit: no statement holds the
//! database's lock for longer than so many rows take, however much has gathered.

use sea_orm::Value;

use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

/// Rows that one statement throws away.
pub const PURGE_ROWS_MAX: u32 = 1_000;

/// Rows of one table that are over. Each area says which of its own these are.
#[derive(Clone, Debug)]
pub struct Purge {
    /// What the rows are, for logs.
    pub what: &'static str,
    table: &'static str,
    /// The columns of the primary key.
    key: &'static str,
    /// What holds for the rows that are over, by a bound `$1`.
    is_over: &'static str,
    bound: Value,
}

row! {
    struct CountRow {
        count: i64,
    }
}

impl Purge {
    /// The rows of `table`, with this primary key, for which `is_over` holds of the bound.
    pub(crate) fn new(what: &'static str, [table, key, is_over]: [&'static str; 3], bound: impl Into<Value>) -> Self {
        Self { what, table, key, is_over, bound: bound.into() }
    }

    fn values(&self, limit: u32) -> [Value; 2] {
        [self.bound.clone(), i64::from(limit).into()]
    }

    fn count(&self, limit: u32) -> Sql {
        let Self { table, is_over, .. } = self;
        let text = format!("SELECT COUNT(*) AS count FROM (SELECT 1 FROM {table} WHERE {is_over} LIMIT $2) AS gone");
        Sql::new(text, self.values(limit))
    }

    fn delete(&self, limit: u32) -> Sql {
        let Self { table, key, is_over, .. } = self;
        let text = format!("DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {is_over} LIMIT $2)");
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
    /// Throws away at most `limit` of these rows in a commit of their own; answers how many there were. Fewer than
    /// `limit` were all.
    pub async fn purge(&self, purge: &Purge, limit: u32) -> Result<u32, StoreError> {
        let counted: Option<CountRow> = self.reader().row(&purge.count(limit)).await?;
        let count = counted.map_or(0, |row| u32::try_from(row.count).unwrap_or(limit));
        if count > 0 {
            let mut change = Change::new();
            change.purge(purge, limit);
            self.commit(change).await?;
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests;
