//! Indexes that come and go while their table is in use.
//!
//! A new index raises the table's epoch, so that every write from then on keeps it, and none that doesn't know of it is
//! committed. The items from before are added by a job, each in the version in which it was read. Where that job is given up or
//! cancelled, the index has failed: nobody reads it, and making an index of its name takes its place. Writes keep it until then,
//! so that its job can go on when operators repeat it. An index that is deleted is out of use at once; its rows, whose number no
//! index has again, are deleted by a job.

use actors_base::{
    Services,
    resources::{ResourceChange, ResourceKind},
    work::{
        clearing::Cleared,
        job::{Halt, Handler, Job, Stepped, Topic},
    },
};
use domain::{
    Error, Result, Tenant,
    databases::{Direction, Index, IndexStatus, Item, RowKey},
    id::{OrgId, ResourceId},
    resource::Resource,
};
use serde::{Deserialize, Serialize};
use store::{
    Change, NewWork, Permits, Store,
    databases::{FoundItem, ItemPlace, ItemRange, KeptIndex, KeptTable, SlotCount, TableRows},
};

use super::{TABLES, removal::clear, slot::OpenTable};

/// The job that adds the items of a table to a new index.
pub(crate) const INDEX_BACKFILL: Topic =
    Topic { permits: Permits::with_spare(1, 3), ..Topic::new("databases.index_backfill") };

/// The job that deletes the rows of an index that is gone.
pub(crate) const INDEX_REMOVAL: Topic = Topic {
    permits: Permits::with_spare(1, 3),
    goes_on_because: Some("This index is deleted; what is left of it can't be kept."),
    ..Topic::new("databases.index_removal")
};

/// Items that one commit adds to an index: each may be 400 KB.
const ITEMS_AT_ONCE: u32 = 25;

/// An index of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct IndexOf {
    table: ResourceId,
    table_no: i64,
    index_no: i32,
}

impl IndexOf {
    const fn new(kept: &KeptTable, index_no: i32) -> Self {
        Self { table: kept.id, table_no: kept.no, index_no }
    }
}

/// Adds a global index to a table.
#[derive(Clone, Debug)]
pub struct CreateIndex {
    /// The table.
    pub id: ResourceId,
    /// The index.
    pub index: Index,
}

impl ResourceChange for CreateIndex {
    const COMMAND: &'static str = "create_index";
    const KIND: ResourceKind = TABLES;
    const ACT: &'static str = "index_created";

    fn id(&self) -> ResourceId {
        self.id
    }

    async fn decide(&self, services: &Services, resource: &mut Resource) -> Result<Change> {
        let OpenTable { mut kept, mut table, .. } = OpenTable::load(&services.store, resource.org_id, self.id).await?;
        let mut change = Change::new();
        let has_failed = |kept: &KeptIndex| kept.status == IndexStatus::Failed && kept.index.name == self.index.name;
        if let Some(place) = kept.indexes.iter().position(has_failed) {
            table = table.without_index(self.index.name.as_str())?;
            remove(&mut change, services, &mut kept, place);
        }
        table.with_index(self.index.clone())?;
        kept.indexes_made += 1;
        let no = kept.indexes_made;
        kept.indexes.push(KeptIndex { index: self.index.clone(), no, status: IndexStatus::Creating });
        change.table_update(&kept);
        let work = NewWork::new(INDEX_BACKFILL.name, resource.org_id, &IndexOf::new(&kept, no));
        change.work_add(services.store.now(), work);
        Ok(change)
    }
}

/// Deletes a global index of a table.
#[derive(Clone, Debug)]
pub struct DeleteIndex {
    /// The table.
    pub id: ResourceId,
    /// What the index is called.
    pub name: String,
}

impl ResourceChange for DeleteIndex {
    const COMMAND: &'static str = "delete_index";
    const KIND: ResourceKind = TABLES;
    const ACT: &'static str = "index_deleted";

    fn id(&self) -> ResourceId {
        self.id
    }

    async fn decide(&self, services: &Services, resource: &mut Resource) -> Result<Change> {
        let OpenTable { mut kept, table, .. } = OpenTable::load(&services.store, resource.org_id, self.id).await?;
        let place = kept.indexes.iter().position(|kept| kept.index.name.as_str() == self.name);
        let place = place.ok_or_else(|| Error::not_found("Index not found."))?;
        table.without_index(&self.name)?;
        let mut change = Change::new();
        remove(&mut change, services, &mut kept, place);
        change.table_update(&kept);
        Ok(change)
    }
}

/// Takes an index out of its table, and has its rows be deleted by a job.
fn remove(change: &mut Change, services: &Services, kept: &mut KeptTable, place: usize) {
    let gone = kept.indexes.remove(place);
    let work = NewWork::new(INDEX_REMOVAL.name, kept.org_id, &IndexOf::new(kept, gone.no));
    change.work_add(services.store.now(), work);
}

/// How far a backfill is: the item that was added last, in the order of the table's rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Backfilled {
    items: usize,
    after: Option<(Vec<u8>, Vec<u8>)>,
}

impl Backfilled {
    /// So many items further, up to this one.
    fn with(&self, items: usize, last: &FoundItem) -> Self {
        let row = &last.place.table;
        Self { items: self.items + items, after: Some((row.pk.clone(), row.sk.clone())) }
    }
}

/// Adds the items of a table to a new index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexBackfill;

impl Handler for IndexBackfill {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let (org_id, of) = (organization(job)?, job.payload::<IndexOf>()?);
        let mut done: Backfilled = job.progress()?.unwrap_or_default();
        let mut at_once = ITEMS_AT_ONCE;
        loop {
            let Some((open, place)) = find(job.store(), org_id, of).await? else { return Ok(Change::new()) };
            let found = next(job.store(), of.table_no, &done, at_once).await?;
            let Some(last) = found.last() else { return Ok(turned(open.kept, place, IndexStatus::Active)) };
            let further = done.with(found.len(), last);
            match job.try_step(added(&open, place, &found)?, &further).await? {
                Stepped::Done => at_once = ITEMS_AT_ONCE.min(at_once * 2),
                // One by one, until it is known which.
                Stepped::TooLong(_) if found.len() > 1 => {
                    at_once = 1;
                    continue;
                }
                // An index has what can be its own; the item stays without it.
                Stepped::TooLong(_) => job.step(added(&open, place, &[])?, &further).await?,
            }
            done = further;
        }
    }

    async fn cancelled(&self, job: &Job) -> Result<Change, Halt> {
        failed(job).await
    }

    async fn given_up(&self, job: &Job) -> Result<Change, Halt> {
        failed(job).await
    }
}

/// What has the index be one that could not be made, where it is still there.
async fn failed(job: &Job) -> Result<Change, Halt> {
    // What can't be read names no index.
    let (Ok(org_id), Ok(of)) = (organization(job), job.payload::<IndexOf>()) else { return Ok(Change::new()) };
    let found = find(job.store(), org_id, of).await?;
    Ok(found.map_or_else(Change::new, |(open, place)| turned(open.kept, place, IndexStatus::Failed)))
}

fn organization(job: &Job) -> Result<OrgId, Halt> {
    match job.tenant() {
        Tenant::Org(org_id) => Ok(org_id),
        Tenant::Person(_) | Tenant::System => Err(Halt::Refused("it names no organization".to_owned())),
    }
}

/// The table, and the place of its index; none where either is gone or going.
async fn find(store: &Store, org_id: OrgId, of: IndexOf) -> Result<Option<(OpenTable, usize)>, Halt> {
    let open = match OpenTable::load(store, org_id, of.table).await {
        Ok(open) => open,
        Err(Error::NotFound { .. } | Error::Conflict { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let place = open.kept.indexes.iter().position(|kept| kept.no == of.index_no);
    Ok(place.map(|place| (open, place)))
}

/// The next items of the table.
async fn next(store: &Store, table_no: i64, done: &Backfilled, limit: u32) -> Result<Vec<FoundItem>, Halt> {
    let after = done.after.clone().map(|(pk, sk)| ItemPlace { index: None, table: RowKey { pk, sk } });
    let direction = Direction::Forward;
    let range = ItemRange { table_no, index_no: None, query: None, direction, after: after.as_ref(), limit };
    Ok(store.items_in(&range).await?)
}

/// What adds items to the index, which is stale where the table's epoch has been raised.
fn added(open: &OpenTable, place: usize, items: &[FoundItem]) -> Result<Change, Halt> {
    let (mut change, kept) = (Change::new(), &open.kept.indexes[place]);
    for found in items {
        let row = kept.index.row_of(&Item::from_text(&found.text)?);
        if let Some(index_row) = row {
            change.index_backfill(&open.kept, kept.no, found, index_row);
        }
    }
    let slot = items.first().map_or(0, |found| found.place.table.slot());
    change.slot_count(&open.kept, slot, SlotCount::default());
    Ok(change)
}

/// What has the index be that far.
fn turned(mut kept: KeptTable, place: usize, status: IndexStatus) -> Change {
    kept.indexes[place].status = status;
    let mut change = Change::new();
    change.table_update(&kept);
    change
}

/// Deletes the rows of an index that is gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexRemoval;

impl Handler for IndexRemoval {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let of: IndexOf = job.payload()?;
        let mut cleared = Cleared::of(job)?;
        clear(&mut cleared, job, of.table_no, TableRows::Index(of.index_no)).await?;
        Ok(Change::new())
    }
}
