//! What a write of items does, to the items, to the rows of indexes and to the counts: decided here for all of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::{
    Timestamp,
    databases::{Item, RowKey, expires_at},
    id::new_uuid,
};
use store::{
    Change,
    databases::{ItemDraft, SlotCount},
};

use super::open::{KnownItem, OpenTable};
use crate::expiry::{look_at, looked_at};

/// Writes of items that are committed together.
pub(crate) struct Writes<'t> {
    open: &'t OpenTable,
    now: Timestamp,
    /// By row, slot and time, in the order in which all commits write: two that write in other orders would wait for each
    /// other.
    rows: BTreeMap<RowKey, Change>,
    /// What becomes of the rows of indexes, behind all items: so the writer makes few statements of both.
    indexed: BTreeMap<RowKey, Change>,
    counts: BTreeMap<u8, SlotCount>,
    expiring: BTreeSet<Timestamp>,
    /// What lies at the rows afterwards.
    after: HashMap<RowKey, Option<KnownItem>>,
}

impl<'t> Writes<'t> {
    pub fn new(open: &'t OpenTable, now: Timestamp) -> Self {
        Self {
            open,
            now,
            rows: BTreeMap::new(),
            indexed: BTreeMap::new(),
            counts: BTreeMap::new(),
            expiring: BTreeSet::new(),
            after: HashMap::new(),
        }
    }

    /// Has the item at `row`, which is `old` now, become `new`.
    pub fn write(&mut self, row: &RowKey, old: Option<&KnownItem>, new: Option<&Item>) {
        let OpenTable { kept, .. } = self.open;
        let draft = new.map(|new| self.draft(new));
        let count = self.counts.entry(row.slot()).or_default();
        count.items += i64::from(draft.is_some()) - i64::from(old.is_some());
        count.bytes +=
            draft.as_ref().map_or(0, |draft| i64::from(draft.size)) - old.map_or(0, |old| i64::from(old.size));
        if let Some(at) = draft.as_ref().and_then(|draft| draft.expires_at) {
            self.expiring.insert(looked_at(at, self.now));
        }
        let after = new.zip(draft.as_ref()).map(|(item, draft)| KnownItem {
            item: item.clone(),
            version: draft.version,
            size: draft.size,
        });
        self.after.insert(row.clone(), after);
        let written = self.rows.entry(row.clone()).or_default();
        match (old, draft) {
            (None, None) => {}
            (None, Some(draft)) => written.item_add(kept, row.clone(), draft),
            (Some(old), Some(draft)) => written.item_replace(kept, row.clone(), old.version, draft),
            (Some(old), None) => written.item_delete(kept, row.clone(), old.version),
        }
        // After the item, on which a backfill that adds it to an index is waited for: its row is seen here then.
        for index in &kept.indexes {
            let change = index.index.change(old.map(|old| &old.item), new);
            self.indexed.entry(row.clone()).or_default().index_change(kept, index.no, row, change);
        }
    }

    /// Has the item at `row`, which is there in `version`, expire at another time, or never.
    pub fn expire(&mut self, row: &RowKey, version: i64, at: Option<Timestamp>) {
        self.expiring.extend(at.map(|at| looked_at(at, self.now)));
        self.counts.entry(row.slot()).or_default();
        self.rows.entry(row.clone()).or_default().item_expiry(&self.open.kept, row.clone(), version, at);
    }

    fn draft(&self, item: &Item) -> ItemDraft {
        let attribute = self.open.table.settings.ttl_attribute.as_deref();
        ItemDraft {
            version: fresh_version(self.now),
            text: item.to_text(),
            // An item has 400 KB at most.
            size: i32::try_from(item.size()).unwrap_or(i32::MAX),
            expires_at: attribute.and_then(|attribute| expires_at(item, attribute, self.now)),
        }
    }

    /// All of it as one change, which is stale where the table's epoch has been raised.
    pub fn into_change(self) -> Change {
        self.into_parts().0
    }

    /// The same, and what lies at the rows that were written afterwards.
    pub fn into_parts(self) -> (Change, HashMap<RowKey, Option<KnownItem>>) {
        let OpenTable { kept, .. } = self.open;
        let mut change = Change::new();
        for written in self.rows.into_values().chain(self.indexed.into_values()) {
            change.append(written);
        }
        for at in self.expiring {
            look_at(&mut change, (kept.org_id, kept.id), at, self.now);
        }
        for (slot, count) in self.counts {
            change.slot_count(kept, slot, count);
        }
        (change, self.after)
    }
}

/// A version that no item has had: an item that is deleted and comes again isn't taken for the one that was.
fn fresh_version(now: Timestamp) -> i64 {
    const RANDOM: u128 = (1 << 62) - 1;
    i64::try_from(new_uuid(now).as_u128() & RANDOM).unwrap_or_default()
}
