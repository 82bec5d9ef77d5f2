//! Items, the rows of their indexes, and what is counted of them.

use std::collections::BTreeMap;

use domain::databases::{Direction, IndexStatus, Item};

use super::{LINES_MAX, check};
use crate::{
    Store, StoreError,
    databases::{ItemPlace, ItemRange, KeptTable},
    reader::row,
    sql::Sql,
};

/// Items that are read at once.
const ITEMS: u32 = 1_000;

row! {
    struct OrgRow {
        org_id: String,
    }
}

row! {
    struct SlotRow {
        slot: i32,
        epoch: i64,
        items: i64,
        bytes: i64,
    }
}

row! {
    struct IndexCount {
        index_no: i32,
        rows: i64,
    }
}

/// What is wrong in databases: items that aren't under their keys, slots that count other items than lie in them, and rows of
/// indexes that aren't those of a rebuild.
pub async fn databases(store: &Store) -> Result<Vec<String>, StoreError> {
    let mut wrong = check(store, &of_rows()).await?;
    let orgs: Vec<OrgRow> = store.reader().rows_of_many(&Sql::new("SELECT DISTINCT org_id FROM kv_tables", [])).await?;
    for org in orgs {
        let org_id = org.org_id.parse().map_err(|_| StoreError::corrupt("kv_tables.org_id"))?;
        for table in store.kept_tables(org_id).await? {
            wrong.extend(of_table(store, &table).await?);
        }
    }
    Ok(wrong)
}

fn of_rows() -> Vec<(&'static str, String)> {
    let lost = |table: &str| {
        format!("SELECT table_no AS line FROM {table} WHERE table_no NOT IN (SELECT table_no FROM kv_tables)")
    };
    vec![
        ("an item is of no table", lost("kv_items")),
        ("a row of an index is of no table", lost("kv_index")),
        ("a slot is of no table", lost("kv_slots")),
        (
            "a table has no record",
            "SELECT id AS line FROM kv_tables WHERE id NOT IN (SELECT id FROM resources WHERE type = 'database')"
                .to_owned(),
        ),
    ]
}

async fn of_table(store: &Store, table: &KeptTable) -> Result<Vec<String>, StoreError> {
    let (mut wrong, mut slots) = (Vec::new(), BTreeMap::<i32, (i64, i64)>::new());
    // How many rows each index has to have.
    let mut rows: BTreeMap<i32, i64> = BTreeMap::new();
    let mut after: Option<ItemPlace> = None;
    loop {
        let found = store.items_in(&range(table, None, after.as_ref())).await?;
        let Some(last) = found.last() else { break };
        after = Some(last.place.clone());
        for found in found {
            let item = read(&found.text)?;
            let row = found.place.table;
            if table.schema.key_of(&item).map(|key| key.row()).ok().as_ref() != Some(&row) {
                wrong.push(format!("an item of table {} isn't under its key", table.no));
            }
            let counted = slots.entry(i32::from(row.slot())).or_default();
            counted.0 += 1;
            counted.1 += i64::try_from(item.size()).map_err(StoreError::corrupt)?;
            for index in table.indexes.iter().filter(|kept| kept.index.row_of(&item).is_some()) {
                *rows.entry(index.no).or_default() += 1;
            }
        }
    }
    wrong.extend(of_slots(store, table, &slots).await?);
    wrong.extend(of_indexes(store, table, &rows).await?);
    wrong.truncate(LINES_MAX);
    Ok(wrong)
}

fn range<'r>(table: &KeptTable, index_no: Option<i32>, after: Option<&'r ItemPlace>) -> ItemRange<'r> {
    ItemRange { table_no: table.no, index_no, query: None, direction: Direction::Forward, after, limit: ITEMS }
}

fn read(text: &str) -> Result<Item, StoreError> {
    Item::from_text(text).map_err(StoreError::corrupt)
}

async fn of_slots(
    store: &Store,
    table: &KeptTable,
    found: &BTreeMap<i32, (i64, i64)>,
) -> Result<Vec<String>, StoreError> {
    let select = "SELECT slot, epoch, items, bytes FROM kv_slots WHERE table_no = $1 ORDER BY slot";
    let said: Vec<SlotRow> = store.reader().rows(&Sql::new(select, [table.no.into()])).await?;
    let mut wrong = Vec::new();
    if said.len() != usize::from(domain::databases::SLOTS) || said.iter().any(|slot| slot.epoch != table.epoch) {
        wrong.push(format!("table {} hasn't all its slots in its epoch", table.no));
    }
    for slot in said {
        let found = found.get(&slot.slot).copied().unwrap_or_default();
        if (slot.items, slot.bytes) != found {
            let said = (slot.items, slot.bytes);
            wrong.push(format!("slot {} of table {} counts {said:?} of {found:?}", slot.slot, table.no));
        }
    }
    Ok(wrong)
}

async fn of_indexes(store: &Store, table: &KeptTable, wanted: &BTreeMap<i32, i64>) -> Result<Vec<String>, StoreError> {
    let select = "SELECT index_no, COUNT(*) AS rows FROM kv_index WHERE table_no = $1 GROUP BY index_no";
    let there: Vec<IndexCount> = store.reader().rows_of_many(&Sql::new(select, [table.no.into()])).await?;
    let there: BTreeMap<_, _> = there.into_iter().map(|row| (row.index_no, row.rows)).collect();
    let mut wrong = Vec::new();
    for (index_no, rows) in &there {
        if !table.indexes.iter().any(|kept| kept.no == *index_no) {
            wrong.push(format!("{rows} rows are left of index {index_no} of table {}, which is gone", table.no));
        }
    }
    for kept in &table.indexes {
        let (wanted, there) = [wanted, &there].map(|rows| rows.get(&kept.no).copied().unwrap_or_default()).into();
        let is_whole = if kept.status == IndexStatus::Active { there == wanted } else { there <= wanted };
        if !is_whole {
            wrong.push(format!("index {} of table {} has {there} rows of {wanted}", kept.no, table.no));
        }
        // Each names an item that has it: as many as there have to be are all of them.
        let mut named = 0;
        let mut after: Option<ItemPlace> = None;
        loop {
            let found = store.items_in(&range(table, Some(kept.no), after.as_ref())).await?;
            let Some(last) = found.last() else { break };
            after = Some(last.place.clone());
            for found in found {
                named += 1;
                if kept.index.row_of(&read(&found.text)?) != found.place.index {
                    wrong.push(format!("a row of index {} of table {} isn't its item's", kept.no, table.no));
                }
            }
        }
        if named != there {
            wrong.push(format!("{} rows of index {} of table {} name no item", there - named, kept.no, table.no));
        }
    }
    Ok(wrong)
}
