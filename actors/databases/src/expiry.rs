//! Deleting items that have expired, as jobs: one for each minute in which items of a table expire.
//!
//! The commit that writes such an item adds the minute's entry, unless it is there. Until its job has run, an item can be read
//! although it has expired. What was written anew meanwhile stays: an item is deleted in the version that was found.

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    Error, Tenant, Timestamp,
    id::{OrgId, ResourceId},
};
use serde::{Deserialize, Serialize};
use store::{Change, NewWork, Permits, Store};

use super::slot::{OpenTable, Writes};

/// The job that deletes what has expired in a table.
pub(crate) const TABLE_EXPIRY: Topic = Topic { permits: Permits::with_spare(1, 3), ..Topic::new("databases.expiry") };

/// Items that one commit deletes.
const ITEMS_AT_ONCE: u32 = 250;
/// How far apart two jobs of a table are: what has expired is gone within this time.
const MINUTE_MS: i64 = 60_000;

/// Which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Expiry {
    table: ResourceId,
}

/// Has an item that expires at this time be deleted after it.
pub(crate) fn expire_after(change: &mut Change, (org_id, table): (OrgId, ResourceId), at: Timestamp, now: Timestamp) {
    // What has expired already waits for the minute that is under way: no job of it has begun, which could be about to end.
    let minute = at.max(now).as_millis().div_euclid(MINUTE_MS).saturating_add(1);
    let due = Timestamp(minute.saturating_mul(MINUTE_MS));
    let work = NewWork::new(TABLE_EXPIRY.name, org_id, &Expiry { table }).with_key(format!("{table}/{minute}"));
    change.work_add(now, work.not_before(due));
}

/// How many items the job has deleted.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Expired {
    items: usize,
}

/// Deletes what has expired in a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableExpiry;

impl Handler for TableExpiry {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let Tenant::Org(org_id) = job.tenant() else {
            return Err(Halt::Refused("it names no organization".to_owned()));
        };
        let Expiry { table } = job.payload()?;
        let mut done: Expired = job.progress()?.unwrap_or_default();
        while let Some((change, items)) = next(job.store(), org_id, table).await? {
            done.items += items;
            job.step(change, &done).await?;
        }
        Ok(Change::new())
    }
}

/// What deletes the next items that have expired, and how many these are.
async fn next(store: &Store, org_id: OrgId, table: ResourceId) -> Result<Option<(Change, usize)>, Halt> {
    let open = match OpenTable::load(store, org_id, table).await {
        Ok(open) => open,
        // The table is gone or going, and its items with it.
        Err(Error::NotFound { .. } | Error::Conflict { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let expired = store.items_expired(open.kept.no, store.now(), ITEMS_AT_ONCE).await?;
    if expired.is_empty() {
        return Ok(None);
    }
    let (count, mut writes) = (expired.len(), Writes::new(&open, store.now()));
    for item in expired {
        let row = item.row.clone();
        writes.write(&row, Some(&item.try_into()?), None);
    }
    Ok(Some((writes.into_change(), count)))
}
