//! Deleting tables: out of sight in one small commit, and what lies in them afterwards, a batch at a time.

use domain::{
    id::OrgId,
    resource::{ResourceStatus, ResourceType},
};

use super::KeptTable;
use crate::{Change, Expect, Purge, Store, StoreError, sql::Sql};

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
        let statement = "UPDATE resources SET status = $3, version = version + 1 WHERE org_id = $1 AND type = $2";
        self.run_statement(Sql::new(statement, values.map(Into::into)), Expect::Any);
    }

    /// Deletes what is kept of a table in which nothing is left, and its record.
    pub fn table_remove(&mut self, table: &KeptTable) {
        for statement in ["DELETE FROM kv_slots WHERE table_no = $1", "DELETE FROM kv_tables WHERE table_no = $1"] {
            self.run_statement(Sql::new(statement, [table.no.into()]), Expect::Any);
        }
        self.resource_remove(table.id);
    }
}

impl Purge {
    /// What lies in a table that is being deleted.
    pub fn table_contents(table: &KeptTable) -> [Self; 2] {
        let index_key = "table_no, index_no, ipk, isk, pk, sk";
        [
            Self::new("index rows", ["kv_index", index_key, "table_no = $1"], table.no),
            Self::new("items", ["kv_items", "table_no, pk, sk", "table_no = $1"], table.no).at_once(ITEMS_AT_ONCE),
        ]
    }
}

impl Purge {
    /// What is left of an index that is gone.
    pub fn index_rows(table_no: i64, index_no: i32) -> Self {
        let names = ["kv_index", "table_no, index_no, ipk, isk, pk, sk", "table_no = $1 AND index_no = $2"];
        Self::within("index rows", names, vec![table_no.into(), index_no.into()])
    }
}

impl Store {
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
