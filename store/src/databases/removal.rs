//! Deleting tables: out of sight in one small commit, and what lies in them afterwards, a batch at a time.

use domain::{
    id::OrgId,
    resource::{ResourceStatus, ResourceType},
};

use super::KeptTable;
use crate::{Change, Expect, PURGE_ROWS_MAX, PurgeBatch, Store, StoreError, reader::row, sql::Sql};

/// Items that one commit deletes: each may be 400 KB.
const ITEMS_AT_ONCE: u32 = 250;

impl Change {
    /// Has the tables of an organization that is gone be on their way out too, and lets no more writes into them.
    pub fn tables_close(&mut self, org_id: OrgId) {
        for statement in [
            "UPDATE kv_slots SET epoch = epoch + 1 \
             WHERE table_no IN (SELECT table_no FROM kv_tables WHERE org_id = $1)",
            "UPDATE kv_tables SET epoch = epoch + 1 WHERE org_id = $1",
        ] {
            self.run_statement(Sql::new(statement, [org_id.to_string().into()]), Expect::Any);
        }
        let values = [
            org_id.to_string(),
            ResourceType::Database.as_str().to_owned(),
            ResourceStatus::Deleting.as_str().to_owned(),
        ];
        let [org_id, database, deleting] = values.map(sea_orm::Value::from);
        let statement = "UPDATE resources SET status = $3, version = version + 1 WHERE org_id = $1 AND type = $2";
        self.run_statement(Sql::new(statement, [org_id.clone(), database.clone(), deleting]), Expect::Any);
        // Nothing is left of these but their records.
        let statement = "DELETE FROM resources WHERE org_id = $1 AND type = $2 \
                         AND id NOT IN (SELECT id FROM kv_tables WHERE org_id = $1)";
        self.run_statement(Sql::new(statement, [org_id, database]), Expect::Any);
    }

    /// Deletes what is kept of a table in which nothing is left, and its record.
    pub fn table_remove(&mut self, table: &KeptTable) {
        for statement in ["DELETE FROM kv_slots WHERE table_no = $1", "DELETE FROM kv_tables WHERE table_no = $1"] {
            self.run_statement(Sql::new(statement, [table.no.into()]), Expect::Any);
        }
        self.resource_remove(table.id);
    }
}

/// Rows of a table that are deleted a batch at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableRows {
    /// Its items.
    Items,
    /// The rows of all its indexes.
    Indexes,
    /// The rows of the index with this number.
    Index(i32),
}

row! {
    struct ItemKey {
        pk: Vec<u8>,
        sk: Vec<u8>,
    }
}

row! {
    struct IndexKey {
        index_no: i32,
        ipk: Vec<u8>,
        isk: Vec<u8>,
        pk: Vec<u8>,
        sk: Vec<u8>,
    }
}

/// A batch of so many rows, where there are any: those of the table up to the last one.
fn batch(what: &'static str, count: usize, delete: Sql) -> PurgeBatch {
    let mut change = Change::new();
    change.run_statement(delete, Expect::Any);
    PurgeBatch { change, rows: vec![(what, u32::try_from(count).unwrap_or(u32::MAX))] }
}

impl Store {
    /// What deletes the next rows of a table into which nothing is written any more, in the order of their keys: found by
    /// their keys alone, and deleted as one range, however many there are.
    pub async fn table_rows_next(&self, table_no: i64, rows: TableRows) -> Result<PurgeBatch, StoreError> {
        match rows {
            TableRows::Items => self.items_next(table_no).await,
            TableRows::Indexes => self.index_rows_next(table_no, None).await,
            TableRows::Index(index_no) => self.index_rows_next(table_no, Some(index_no)).await,
        }
    }

    async fn items_next(&self, table_no: i64) -> Result<PurgeBatch, StoreError> {
        let select = format!("SELECT pk, sk FROM kv_items WHERE table_no = $1 ORDER BY pk, sk LIMIT {ITEMS_AT_ONCE}");
        let mut found: Vec<ItemKey> = self.reader().rows(&Sql::new(select, [table_no.into()])).await?;
        let count = found.len();
        let Some(last) = found.pop() else { return Ok(PurgeBatch::default()) };
        let values = [table_no.into(), last.pk.into(), last.sk.into()];
        let delete = "DELETE FROM kv_items WHERE table_no = $1 AND (pk, sk) <= ($2, $3)";
        Ok(batch("items", count, Sql::new(delete, values)))
    }

    async fn index_rows_next(&self, table_no: i64, index_no: Option<i32>) -> Result<PurgeBatch, StoreError> {
        let which = if index_no.is_some() { "table_no = $1 AND index_no = $2" } else { "table_no = $1" };
        let select = format!(
            "SELECT index_no, ipk, isk, pk, sk FROM kv_index WHERE {which} \
             ORDER BY index_no, ipk, isk, pk, sk LIMIT {PURGE_ROWS_MAX}"
        );
        let values = std::iter::once(table_no.into()).chain(index_no.map(Into::into));
        let mut found: Vec<IndexKey> = self.reader().rows(&Sql::new(select, values)).await?;
        let count = found.len();
        let Some(last) = found.pop() else { return Ok(PurgeBatch::default()) };
        let from = index_no.unwrap_or_default();
        let values = [
            table_no.into(),
            from.into(),
            last.index_no.into(),
            last.ipk.into(),
            last.isk.into(),
            last.pk.into(),
            last.sk.into(),
        ];
        let delete = "DELETE FROM kv_index WHERE table_no = $1 AND index_no >= $2 \
                      AND (index_no, ipk, isk, pk, sk) <= ($3, $4, $5, $6, $7)";
        Ok(batch("index rows", count, Sql::new(delete, values)))
    }

    /// A table of the organization that is being deleted, if there is any.
    pub async fn table_deleting_next(&self, org_id: OrgId) -> Result<Option<KeptTable>, StoreError> {
        for table in self.kept_tables(org_id).await? {
            let resource = self.resource(org_id, ResourceType::Database, table.id).await?;
            if resource.is_none_or(|resource| resource.status == ResourceStatus::Deleting) {
                return Ok(Some(table));
            }
        }
        Ok(None)
    }
}
