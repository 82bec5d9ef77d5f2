//! Secrets at rest: cells of the database that must be read again, and that nobody reads without the server's keys.
//!
//! A cell is sealed with AES-256-GCM under the first key of `secrets.keys`, and opened with whichever of them sealed it: the
//! key's id stands in the cell. The table, the column and the row's key are authenticated with it, so that a cell which
//! somebody moves to another row or column doesn't open there. Callers see none of that: an area seals where it writes a row
//! ([`Change::sealed`](crate::Change)), opens where it reads one, and lists its column in [`columns::SEALED`], from where
//! it is sealed anew ([`Store::secrets_rekey`](crate::Store::secrets_rekey)).
//!
//! What is only compared, such as tokens, passwords and codes, is kept as a hash instead. What is looked up by its value has
//! a hash beside it.

mod columns;
mod keys;
mod rekey;
#[cfg(test)]
mod tests;

pub use self::{
    keys::{KEY_LEN, SecretKeys},
    rekey::{Rekeyed, SecretsError},
};
use crate::{CommitError, StoreError};

/// Which cell of the database a secret stands in.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    /// The table.
    pub table: &'static str,
    /// The column.
    pub column: &'static str,
    /// The row's primary key, column by column.
    pub row: &'a [&'a str],
}

impl Cell<'_> {
    /// What is authenticated with the secret: no two cells have the same.
    fn associated_data(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for part in [self.table, self.column].iter().chain(self.row) {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes
    }
}

/// Why a cell was not sealed or opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The cell holds something else than a sealed secret.
    #[error("a secret is not sealed")]
    NotSealed,
    /// The cell was sealed under a key that isn't there.
    #[error("a secret is sealed under the key {0}, which `secrets.keys` does not have")]
    UnknownKey(String),
    /// The cell was changed, or belongs elsewhere.
    #[error("a sealed secret was changed, or belongs to another row")]
    Damaged,
    /// There is no randomness.
    #[error("a secret could not be sealed")]
    Failed,
}

impl From<SecretError> for StoreError {
    fn from(error: SecretError) -> Self {
        Self::corrupt(error)
    }
}

impl From<SecretError> for CommitError {
    fn from(error: SecretError) -> Self {
        Self::Failed(error.to_string())
    }
}
