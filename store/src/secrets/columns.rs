//! The columns whose cells are sealed, and how one walks through them.

use sea_orm::Value;

use super::{Cell, SecretError, SecretKeys};
use crate::{reader, sql::Sql};

/// Key columns that a table of these has at most.
pub(super) const KEYS_MAX: usize = 4;

/// A column whose cells are sealed.
pub(super) struct SealedColumn {
    pub table: &'static str,
    /// The primary key; texts.
    pub key: &'static [&'static str],
    pub column: &'static str,
    pub kind: Kind,
}

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bytes,
    Text,
}

/// Every column whose cells are sealed.
pub(super) const SEALED: &[SealedColumn] = &[
    SealedColumn { table: "people", key: &["id"], column: "otp_secret", kind: Kind::Bytes },
    SealedColumn { table: "people", key: &["id"], column: "otp_pending", kind: Kind::Bytes },
    SealedColumn { table: "push_devices", key: &["user_id", "device_id", "app"], column: "token", kind: Kind::Text },
    SealedColumn {
        table: "live_activities",
        key: &["user_id", "install_id", "app", "activity_id"],
        column: "token",
        kind: Kind::Text,
    },
    SealedColumn { table: "pipeline_secrets", key: &["scope", "scope_id", "name"], column: "value", kind: Kind::Bytes },
    SealedColumn { table: "mail_dkim_keys", key: &["domain_id", "selector"], column: "private", kind: Kind::Bytes },
    SealedColumn { table: "job_secrets", key: &["job_id"], column: "value", kind: Kind::Bytes },
];

reader::row! {
    /// A cell with the key of its row.
    pub(super) struct CellRow {
        k0: String,
        k1: String,
        k2: String,
        k3: String,
        bytes: Option<Vec<u8>>,
        text: Option<String>,
    }
}

/// A cell as it is.
#[derive(Clone, PartialEq)]
pub(super) enum Content {
    Bytes(Vec<u8>),
    Text(String),
}

impl From<&Content> for Value {
    fn from(content: &Content) -> Self {
        match content {
            Content::Bytes(bytes) => bytes.clone().into(),
            Content::Text(text) => text.clone().into(),
        }
    }
}

/// A cell that was found, with the key of its row.
pub(super) struct Found {
    pub key: Vec<String>,
    pub content: Content,
}

impl SealedColumn {
    /// The next `limit` cells, after the row with the key `after`, that the first key did not seal.
    pub fn others(&self, keys: &SecretKeys, after: &[String], limit: u32) -> Sql {
        let Self { table, column, .. } = self;
        let (prefix, len, cell) = match self.kind {
            Kind::Bytes => {
                let prefix = keys.prefix();
                (Value::from(prefix.clone()), prefix.len(), format!("{column} AS bytes, CAST(NULL AS text) AS text"))
            }
            Kind::Text => {
                let prefix = keys.text_prefix();
                let len = prefix.len();
                (Value::from(prefix), len, format!("CAST(NULL AS bytea) AS bytes, {column} AS text"))
            }
        };
        let key = self.key.join(", ");
        let named: Vec<String> = (0..KEYS_MAX)
            .map(|place| format!("{} AS k{place}", self.key.get(place).copied().unwrap_or("''")))
            .collect();
        let values: Vec<String> = (0..self.key.len()).map(|place| format!("${}", place + 2)).collect();
        let text = format!(
            "SELECT {named}, {cell} FROM {table} WHERE {column} IS NOT NULL AND substr({column}, 1, {len}) <> $1 \
             AND ({key}) > ({values}) ORDER BY {key} LIMIT {limit}",
            named = named.join(", "),
            values = values.join(", "),
        );
        let after = (0..self.key.len()).map(|place| Value::from(after.get(place).cloned().unwrap_or_default()));
        Sql::new(text, std::iter::once(prefix).chain(after))
    }

    /// Writes `new` over the cell, unless it is something else by now.
    pub fn replace(&self, found: &Found, new: &Content) -> Sql {
        let Self { table, column, .. } = self;
        let is_row: Vec<String> =
            self.key.iter().enumerate().map(|(place, key)| format!("{key} = ${}", place + 3)).collect();
        let text = format!("UPDATE {table} SET {column} = $1 WHERE {column} = $2 AND {}", is_row.join(" AND "));
        let key = found.key.iter().map(|part| Value::from(part.clone()));
        Sql::new(text, [Value::from(new), Value::from(&found.content)].into_iter().chain(key))
    }

    /// The cell of a row that was selected.
    pub fn found(&self, row: CellRow) -> Option<Found> {
        let key = [row.k0, row.k1, row.k2, row.k3].into_iter().take(self.key.len()).collect();
        let content = row.bytes.map(Content::Bytes).or(row.text.map(Content::Text))?;
        Some(Found { key, content })
    }

    /// The cell's content under the first key. What is `plain` may be not sealed at all.
    pub fn reseal(&self, keys: &SecretKeys, found: &Found, plain: Plain) -> Result<Content, SecretError> {
        let row: Vec<&str> = found.key.iter().map(String::as_str).collect();
        let cell = Cell { table: self.table, column: self.column, row: &row };
        match &found.content {
            Content::Bytes(bytes) => {
                let opened = plain.or_opened(keys.open(&cell, bytes), bytes)?;
                keys.seal(&cell, &opened).map(Content::Bytes)
            }
            Content::Text(text) => {
                let opened = plain.or_opened(keys.open_text(&cell, text), text)?;
                keys.seal_text(&cell, &opened).map(Content::Text)
            }
        }
    }
}

/// What becomes of cells that were never sealed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Plain {
    /// They are of before there were keys, and are sealed.
    Sealed,
    /// Nobody of ours wrote them.
    Refused,
}

impl Plain {
    fn or_opened<T: ?Sized + ToOwned>(
        self,
        opened: Result<T::Owned, SecretError>,
        cell: &T,
    ) -> Result<T::Owned, SecretError> {
        match opened {
            Err(SecretError::NotSealed) if self == Self::Sealed => Ok(cell.to_owned()),
            opened => opened,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_table_has_a_longer_key_than_fits() {
        assert!(SEALED.iter().all(|column| (1..=KEYS_MAX).contains(&column.key.len())));
    }
}
