//! Items by their keys: reading what a write decides on, and writing it.

use domain::{
    Timestamp,
    databases::{IndexChange, ReadBytes, RowKey},
};
use sea_orm::Value;

use super::{FoundItem, KeptTable};
use crate::{
    Change, Expect, Store, StoreError,
    change::{Form, RowStatement},
    reader::row,
    sql::Sql,
};

/// An item as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredItem {
    /// Where it lies.
    pub row: RowKey,
    /// Another one with every write.
    pub version: i64,
    /// Its JSON in normal form.
    pub text: String,
    /// Its bytes, as DynamoDB counts them.
    pub size: i32,
    /// When it expires, as the attribute said that its table had for that when it was written.
    pub expires_at: Option<Timestamp>,
}

/// An item that is to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemDraft {
    /// One that the item has never had.
    pub version: i64,
    /// Its JSON in normal form.
    pub text: String,
    /// Its bytes, as DynamoDB counts them.
    pub size: i32,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
}

row! {
    struct ItemRow {
        pk: Vec<u8>,
        sk: Vec<u8>,
        version: i64,
        size: i32,
        expires_at: Option<i64>,
        item: String,
    }
}

row! {
    struct KeyRow {
        pk: Vec<u8>,
        sk: Vec<u8>,
    }
}

row! {
    struct DueRow {
        expires_at: i64,
    }
}

impl From<ItemRow> for StoredItem {
    fn from(row: ItemRow) -> Self {
        let ItemRow { pk, sk, version, size, expires_at, item } = row;
        Self { row: RowKey { pk, sk }, version, text: item, size, expires_at: expires_at.map(Timestamp) }
    }
}

/// How large an item is that a page reads.
pub(super) fn read_bytes(size: i32, text: &str) -> ReadBytes {
    ReadBytes { counted: usize::try_from(size).unwrap_or_default(), text: text.len() }
}

/// Reads these columns of the items that lie at some rows: each is looked up, whatever the planner thinks of many.
fn at_rows(columns: &str, table_no: i64, rows: &[RowKey]) -> Sql {
    let mut values: Vec<Value> = vec![table_no.into()];
    let mut keys = Vec::with_capacity(rows.len());
    for row in rows {
        let place = values.len();
        keys.push(format!("(${}/*as bytes*/, ${}/*as bytes*/)", place + 1, place + 2));
        values.extend([row.pk.clone().into(), row.sk.clone().into()]);
    }
    let keys = keys.join(", ");
    let text = format!(
        "WITH k(pk, sk) AS (VALUES {keys}) SELECT i.pk AS pk, i.sk AS sk{columns} FROM k CROSS JOIN kv_items AS i \
         WHERE i.table_no = $1 AND i.pk = k.pk AND i.sk = k.sk"
    );
    Sql::new(text, values)
}

/// What is read of an item beside its key.
const BESIDE_KEY: &str = ", i.version AS version, i.size AS size, i.expires_at AS expires_at, i.item AS item";

impl Store {
    /// The items that lie at these rows, of which there are a hundred or two.
    pub async fn items_at(&self, table_no: i64, rows: &[RowKey]) -> Result<Vec<StoredItem>, StoreError> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let found: Vec<ItemRow> = self.reader().rows(&at_rows(BESIDE_KEY, table_no, rows)).await?;
        Ok(found.into_iter().map(StoredItem::from).collect())
    }

    /// Those of these rows at which items lie.
    pub async fn rows_taken(&self, table_no: i64, rows: &[RowKey]) -> Result<Vec<RowKey>, StoreError> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let found: Vec<KeyRow> = self.reader().rows(&at_rows("", table_no, rows)).await?;
        Ok(found.into_iter().map(|row| RowKey { pk: row.pk, sk: row.sk }).collect())
    }

    /// Items of a table that have expired by now, up to `limit`.
    pub async fn items_expired(
        &self,
        table_no: i64,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<StoredItem>, StoreError> {
        let text = format!(
            "SELECT pk, sk, version, size, expires_at, item FROM kv_items \
             WHERE table_no = $1 AND expires_at IS NOT NULL AND expires_at <= $2 ORDER BY expires_at LIMIT {limit}"
        );
        let found: Vec<ItemRow> = self.reader().rows(&Sql::new(text, [table_no.into(), now.0.into()])).await?;
        Ok(found.into_iter().map(StoredItem::from).collect())
    }

    /// When the next item of a table expires, or has.
    pub async fn items_expire_next(&self, table_no: i64) -> Result<Option<Timestamp>, StoreError> {
        let text = "SELECT expires_at FROM kv_items WHERE table_no = $1 AND expires_at IS NOT NULL \
                    ORDER BY expires_at LIMIT 1";
        let found: Option<DueRow> = self.reader().row(&Sql::new(text, [table_no.into()])).await?;
        Ok(found.map(|row| Timestamp(row.expires_at)))
    }

    /// The item that lies at this row.
    pub async fn item_at(&self, table_no: i64, row: &RowKey) -> Result<Option<StoredItem>, StoreError> {
        Ok(self.items_at(table_no, std::slice::from_ref(row)).await?.into_iter().next())
    }
}

/// Table, partition key, sort key; version, size, expiry, text.
static ADD: RowStatement = RowStatement {
    tables: &["kv_items"],
    text: "INSERT INTO kv_items (table_no, pk, sk, version, size, expires_at, item) /*rows*/ ON CONFLICT DO NOTHING",
    form: Form::Listed,
    key: 3,
    expect: Expect::Rows(1),
};
/// Table, partition key, sort key; the version that is there; version, size, expiry, text.
static REPLACE: RowStatement = RowStatement {
    tables: &["kv_items"],
    text: "UPDATE kv_items SET version = new.column5, size = new.column6, expires_at = new.column7, item = new.column8 \
           FROM (/*rows*/) AS new WHERE kv_items.table_no = new.column1 AND kv_items.pk = new.column2 \
           AND kv_items.sk = new.column3 AND kv_items.version = new.column4",
    form: Form::Listed,
    key: 3,
    expect: Expect::Rows(1),
};
/// Table, partition key, sort key; the version that is there; expiry.
static EXPIRE: RowStatement = RowStatement {
    tables: &["kv_items"],
    text: "UPDATE kv_items SET expires_at = new.column5 FROM (/*rows*/) AS new WHERE kv_items.table_no = new.column1 \
           AND kv_items.pk = new.column2 AND kv_items.sk = new.column3 AND kv_items.version = new.column4",
    form: Form::Listed,
    key: 3,
    expect: Expect::Rows(1),
};
static DELETE: RowStatement = RowStatement {
    tables: &["kv_items"],
    text: "DELETE FROM kv_items WHERE /*rows*/",
    form: Form::Matching(&["table_no", "pk", "sk", "version"]),
    key: 3,
    expect: Expect::Rows(1),
};
static INDEX_DELETE: RowStatement = RowStatement {
    tables: &["kv_index"],
    text: "DELETE FROM kv_index WHERE /*rows*/",
    form: Form::Matching(&["table_no", "index_no", "ipk", "isk", "pk", "sk"]),
    key: 6,
    expect: Expect::Any,
};
static INDEX_ADD: RowStatement = RowStatement {
    tables: &["kv_index"],
    text: "INSERT INTO kv_index (table_no, index_no, ipk, isk, pk, sk) /*rows*/ ON CONFLICT DO NOTHING",
    form: Form::Listed,
    key: 6,
    expect: Expect::Any,
};

fn place_of(table: &KeptTable, row: RowKey) -> [Value; 3] {
    [table.no.into(), row.pk.into(), row.sk.into()]
}

impl From<ItemDraft> for [Value; 4] {
    fn from(item: ItemDraft) -> Self {
        let expires_at = item.expires_at.map(Timestamp::as_millis);
        [item.version.into(), item.size.into(), expires_at.into(), item.text.into()]
    }
}

impl Change {
    /// Adds an item where none lies; stale where one does by now.
    pub fn item_add(&mut self, table: &KeptTable, row: RowKey, item: ItemDraft) {
        self.row(&ADD, place_of(table, row).into_iter().chain(<[Value; 4]>::from(item)));
    }

    /// Puts an item in the place of the one that lies there in `version`; stale where that is another one by now.
    pub fn item_replace(&mut self, table: &KeptTable, row: RowKey, version: i64, item: ItemDraft) {
        let there = place_of(table, row).into_iter().chain([version.into()]);
        self.row(&REPLACE, there.chain(<[Value; 4]>::from(item)));
    }

    /// Writes when the item expires that lies there in `version`; stale where that is another one by now.
    pub fn item_expiry(&mut self, table: &KeptTable, row: RowKey, version: i64, at: Option<Timestamp>) {
        let expiry = [version.into(), at.map(Timestamp::as_millis).into()];
        self.row(&EXPIRE, place_of(table, row).into_iter().chain(expiry));
    }

    /// Deletes the item that lies there in `version`; stale where that is another one by now.
    pub fn item_delete(&mut self, table: &KeptTable, row: RowKey, version: i64) {
        self.row(&DELETE, place_of(table, row).into_iter().chain([version.into()]));
    }

    /// Adds an item that was found to an index where it has this row, if it still lies there in the version that was found.
    pub fn index_backfill(&mut self, table: &KeptTable, index_no: i32, found: &FoundItem, index_row: RowKey) {
        let RowKey { pk, sk } = found.place.table.clone();
        let values = [
            table.no.into(),
            index_no.into(),
            index_row.pk.into(),
            index_row.sk.into(),
            pk.into(),
            sk.into(),
            found.version.into(),
        ];
        let statement = "INSERT INTO kv_index (table_no, index_no, ipk, isk, pk, sk) \
                         SELECT table_no, $2, $3, $4, pk, sk FROM kv_items \
                         WHERE table_no = $1 AND pk = $5 AND sk = $6 AND version = $7 /*row stays*/ \
                         ON CONFLICT DO NOTHING";
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }

    /// Writes what becomes of an index when the item at `row` changes.
    pub fn index_change(&mut self, table: &KeptTable, index_no: i32, row: &RowKey, change: IndexChange) {
        let key = |index_row: RowKey| -> [Value; 6] {
            let RowKey { pk, sk } = row.clone();
            [table.no.into(), index_no.into(), index_row.pk.into(), index_row.sk.into(), pk.into(), sk.into()]
        };
        if let Some(gone) = change.delete {
            self.row(&INDEX_DELETE, key(gone));
        }
        if let Some(come) = change.insert {
            self.row(&INDEX_ADD, key(come));
        }
    }
}

#[cfg(test)]
mod tests;
