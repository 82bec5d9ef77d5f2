//! How many items tables have, and how large they are: exact at every moment, because each write counts in its own commit.

use std::collections::HashMap;

use domain::id::{OrgId, ResourceId};

use sea_orm::Value;

use super::KeptTable;
use crate::{
    Change, Expect, Store, StoreError,
    change::{Form, RowStatement},
    reader::row,
    sql::Sql,
};

/// Table, slot; epoch; items and bytes that are added.
static COUNT: RowStatement = RowStatement {
    tables: &["kv_slots"],
    text: "UPDATE kv_slots SET items = kv_slots.items + new.column4, bytes = kv_slots.bytes + new.column5 \
           FROM (/*rows*/) AS new WHERE kv_slots.table_no = new.column1 AND kv_slots.slot = new.column2 \
           AND kv_slots.epoch = new.column3",
    form: Form::Summed(3),
    key: 2,
    expect: Expect::Rows(1),
};

/// What a write adds to a slot of its table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotCount {
    /// Items; below zero where it takes some away.
    pub items: i64,
    /// Bytes, as DynamoDB counts them.
    pub bytes: i64,
}

/// How much is in a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableCount {
    /// Items.
    pub items: u64,
    /// Bytes, as DynamoDB counts them.
    pub bytes: u64,
}

row! {
    struct CountRow {
        id: String,
        items: i64,
        bytes: i64,
    }
}

impl Change {
    /// Counts what a write of items adds to a slot; stale where the table's epoch has been raised since the write was decided.
    pub fn slot_count(&mut self, table: &KeptTable, slot: u8, count: SlotCount) {
        let place: [Value; 3] = [table.no.into(), i32::from(slot).into(), table.epoch.into()];
        self.row(&COUNT, place.into_iter().chain([count.items.into(), count.bytes.into()]));
    }
}

impl Store {
    /// How much is in each of the organization's tables, or in one of them.
    pub async fn table_counts(
        &self,
        org_id: OrgId,
        id: Option<ResourceId>,
    ) -> Result<HashMap<ResourceId, TableCount>, StoreError> {
        const SUMS: &str = "SELECT kv_tables.id AS id, CAST(SUM(kv_slots.items) AS BIGINT) AS items, \
                            CAST(SUM(kv_slots.bytes) AS BIGINT) AS bytes FROM kv_tables \
                            JOIN kv_slots ON kv_slots.table_no = kv_tables.table_no WHERE kv_tables.org_id = $1";
        let sql = match id {
            None => Sql::new(format!("{SUMS} GROUP BY kv_tables.id"), [org_id.to_string().into()]),
            Some(id) => Sql::new(
                format!("{SUMS} AND kv_tables.id = $2 GROUP BY kv_tables.id"),
                [org_id.to_string().into(), id.to_string().into()],
            ),
        };
        let rows: Vec<CountRow> = self.reader().rows(&sql).await?;
        let counts = rows.into_iter().map(|row| {
            let id = row.id.parse().map_err(|_| StoreError::corrupt("kv_tables.id"))?;
            let whole = |count: i64| u64::try_from(count).map_err(|_| StoreError::corrupt("kv_slots"));
            Ok((id, TableCount { items: whole(row.items)?, bytes: whole(row.bytes)? }))
        });
        counts.collect()
    }
}
