//! Sealing what was not sealed under the first key: once for a database that is older than the keys, and whenever an operator
//! puts another key first.
//!
//! `secret_keys` names the keys that cells may be sealed under. A server that doesn't have each of them does not start:
//! otherwise secrets would be found unreadable one by one, long after the key was lost.

use super::{
    SecretKeys,
    columns::{CellRow, Plain, SEALED, SealedColumn},
};
use crate::{Change, Expect, Store, StoreError, reader, sql::Sql};

/// Cells that are sealed anew in one transaction.
const BATCH: u32 = 500;

/// Why secrets can't be read.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// A key is missing.
    #[error(
        "secrets of this database are sealed under the key {0}, which this server does not have: put it back into \
         `secrets.keys`, or the file secrets.keys into the data folder, from a back-up or another node"
    )]
    MissingKey(String),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What came of sealing anew.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rekeyed {
    /// Cells that are sealed under the first key now, and were not before.
    pub sealed: u64,
    /// Cells that can't be opened, and stay as they are: table, column, key, reason.
    pub unreadable: Vec<String>,
}

reader::row! {
    /// A key that cells may be sealed under.
    struct KeyRow {
        id: String,
        is_complete: bool,
    }
}

impl Store {
    /// The keys that seal and open secrets.
    pub(crate) fn secrets(&self) -> &SecretKeys {
        &self.parts.secrets
    }

    /// Fails when a key is missing that secrets of the database are sealed under.
    pub async fn secrets_check(&self) -> Result<(), SecretsError> {
        let missing = self.secret_keys().await?.into_iter().find(|key| !self.secrets().has(&key.id));
        missing.map_or(Ok(()), |key| Err(SecretsError::MissingKey(key.id)))
    }

    /// Makes the database ready for the keys: fails as [`secrets_check`](Self::secrets_check) does, notes the key that seals,
    /// and seals the secrets of a database that is older than its keys.
    pub async fn secrets_prepare(&self) -> Result<(), SecretsError> {
        self.secrets_check().await?;
        let is_complete = self.secret_keys().await?.iter().any(|key| key.is_complete);
        self.secret_key_note(is_complete).await?;
        // Another node may have noted another key at the same moment.
        self.secrets_check().await?;
        if !is_complete {
            let mut rekeyed = Rekeyed::default();
            for column in SEALED {
                self.reseal(column, Plain::Sealed, &mut rekeyed).await?;
            }
            if rekeyed.sealed > 0 {
                tracing::info!(cells = rekeyed.sealed, "secrets of an older database were sealed");
            }
            self.secret_key_note(true).await?;
        }
        Ok(())
    }

    /// Seals every secret under the first key that isn't yet. What is done stays done when it is broken off; the next run
    /// goes on. Once every cell is done, the other keys are no longer needed.
    pub async fn secrets_rekey(&self) -> Result<Rekeyed, StoreError> {
        let mut rekeyed = Rekeyed::default();
        for column in SEALED {
            self.reseal(column, Plain::Refused, &mut rekeyed).await?;
        }
        if rekeyed.unreadable.is_empty() {
            let mut change = Change::new();
            let others = "DELETE FROM secret_keys WHERE id <> $1";
            change.run_statement(Sql::new(others, [self.secrets().sealing_id().into()]), Expect::Any);
            self.commit(change).await?;
        }
        Ok(rekeyed)
    }

    async fn secret_keys(&self) -> Result<Vec<KeyRow>, StoreError> {
        self.reader().rows(&Sql::new("SELECT id, is_complete FROM secret_keys ORDER BY id", [])).await
    }

    /// Notes the key that seals; `is_complete` when nothing in the database is plain.
    async fn secret_key_note(&self, is_complete: bool) -> Result<(), StoreError> {
        let mut change = Change::new();
        let note = "INSERT INTO secret_keys (id, is_complete, created_at) VALUES ($1, $2, $3) \
                    ON CONFLICT (id) DO UPDATE SET is_complete = excluded.is_complete OR secret_keys.is_complete";
        let values = [self.secrets().sealing_id().into(), is_complete.into(), self.now().0.into()];
        change.run_statement(Sql::new(note, values), Expect::Any);
        Ok(self.commit(change).await?)
    }

    async fn reseal(&self, column: &SealedColumn, plain: Plain, rekeyed: &mut Rekeyed) -> Result<(), StoreError> {
        let mut after: Vec<String> = Vec::new();
        loop {
            let rows: Vec<CellRow> = self.reader().rows(&column.others(self.secrets(), &after, BATCH)).await?;
            let cells: Vec<_> = rows.into_iter().filter_map(|row| column.found(row)).collect();
            let Some(last) = cells.last() else { return Ok(()) };
            after.clone_from(&last.key);
            let mut change = Change::new();
            for cell in &cells {
                match column.reseal(self.secrets(), cell, plain) {
                    Ok(content) => {
                        change.run_statement(column.replace(cell, &content), Expect::Any);
                        rekeyed.sealed += 1;
                    }
                    Err(error) => {
                        let (table, column, key) = (column.table, column.column, cell.key.join(" "));
                        rekeyed.unreadable.push(format!("{table}.{column} of {key}: {error}"));
                    }
                }
            }
            self.commit(change).await?;
        }
    }
}
