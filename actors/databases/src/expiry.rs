//! Deleting items that have expired, as jobs: one for each minute in which a table has to be looked at.
//!
//! The commit that writes such an item adds the minute's entry, unless it is there. Until its job has run, an item can be read
//! although it has expired. What was written anew meanwhile stays: an item is deleted in the version that was found. So does
//! what wouldn't expire by what the table says now.
//!
//! Nothing waits for years: where an item expires later than in a month or so, the table is looked at by then, and again. The
//! end of each job adds the entry for what expires next, and that of a table that is gone adds none.

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    Error, Tenant, Timestamp,
    databases::{Item, expires_at},
    id::{OrgId, ResourceId},
};
use serde::{Deserialize, Serialize};
use store::{Change, NewWork, Permits, Store};

use super::slot::{KnownItem, OpenTable, Writes};

/// The job that deletes what has expired in a table.
pub(crate) const TABLE_EXPIRY: Topic = Topic { permits: Permits::with_spare(1, 3), ..Topic::new("databases.expiry") };

/// Items that one commit deletes: each may be 400 KB.
const ITEMS_AT_ONCE: u32 = 25;
/// How far apart two jobs of a table are.
const MINUTE_MS: i64 = 60_000;
/// How far apart they are where nothing expires for a month.
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
/// For how long an entry waits, and a day at most.
const WAITS_MAX_MS: i64 = 30 * DAY_MS;

/// Which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Expiry {
    table: ResourceId,
}

/// When to look at a table in which an item that is written `now` expires `at` this time: behind the minute in which it does,
/// and a whole minute after this one. So no job has begun that could be about to end, unless the commit takes that long.
pub(crate) fn looked_at(at: Timestamp, now: Timestamp) -> Timestamp {
    let now = now.as_millis();
    let latest = now.saturating_add(WAITS_MAX_MS).div_euclid(DAY_MS).saturating_add(1).saturating_mul(DAY_MS);
    let minute = at.as_millis().max(now.saturating_add(MINUTE_MS)).div_euclid(MINUTE_MS).saturating_add(1);
    Timestamp(minute.saturating_mul(MINUTE_MS).min(latest))
}

/// Has a table be looked at for what has expired.
pub(crate) fn look_at(change: &mut Change, (org_id, table): (OrgId, ResourceId), at: Timestamp, now: Timestamp) {
    let minute = at.as_millis().div_euclid(MINUTE_MS);
    let work = NewWork::new(TABLE_EXPIRY.name, org_id, &Expiry { table }).with_key(format!("{table}/{minute}"));
    change.work_add(now, work.not_before(at));
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
        while let Some(open) = find(job.store(), org_id, table).await? {
            let Some((change, items)) = next(job.store(), &open).await? else {
                return ended(job.store(), &open).await;
            };
            done.items += items;
            job.step(change, &done).await?;
        }
        Ok(Change::new())
    }
}

/// The table; none where it is gone or going, and its items with it.
async fn find(store: &Store, org_id: OrgId, table: ResourceId) -> Result<Option<OpenTable>, Halt> {
    match OpenTable::load(store, org_id, table).await {
        Ok(open) => Ok(Some(open)),
        Err(Error::NotFound { .. } | Error::Conflict { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What deletes the next items that have expired, and how many these are.
async fn next(store: &Store, open: &OpenTable) -> Result<Option<(Change, usize)>, Halt> {
    let now = store.now();
    let expired = store.items_expired(open.kept.no, now, ITEMS_AT_ONCE).await?;
    if expired.is_empty() {
        return Ok(None);
    }
    let (mut count, mut writes) = (0, Writes::new(open, now));
    for found in expired {
        let (row, was) = (found.row.clone(), found.expires_at);
        let known = KnownItem::try_from(found)?;
        if was.is_some_and(|was| expiry(open, &known.item, was) == Some(was)) {
            count += 1;
            writes.write(&row, Some(&known), None);
        } else {
            // The table goes by another attribute by now, or by none.
            writes.expire(&row, known.version, expiry(open, &known.item, now));
        }
    }
    Ok(Some((writes.into_change(), count)))
}

/// When an item that is written `now` expires, by what the table says.
fn expiry(open: &OpenTable, item: &Item, now: Timestamp) -> Option<Timestamp> {
    open.table.settings.ttl_attribute.as_deref().and_then(|attribute| expires_at(item, attribute, now))
}

/// What ends a job behind which something expires still.
async fn ended(store: &Store, open: &OpenTable) -> Result<Change, Halt> {
    let (mut change, now) = (Change::new(), store.now());
    if let Some(at) = store.items_expire_next(open.kept.no).await? {
        look_at(&mut change, (open.kept.org_id, open.kept.id), looked_at(at, now), now);
    }
    Ok(change)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_looked_at_behind_what_expires_and_within_a_month() {
        let at = |at: i64, now: i64| looked_at(Timestamp(at), Timestamp(now)).as_millis();
        assert_eq!(at(10 * MINUTE_MS, 0), 11 * MINUTE_MS);
        assert_eq!(at(11 * MINUTE_MS - 1, 0), 11 * MINUTE_MS);
        // Not while a job of this minute may be about to end.
        for past in [i64::MIN, 0, 5 * MINUTE_MS, 5 * MINUTE_MS + 7] {
            assert_eq!(at(past, 5 * MINUTE_MS + 7), 7 * MINUTE_MS, "{past}");
        }
        // Items of years to come share one entry a day.
        for far in [40 * DAY_MS, 4_000 * DAY_MS, i64::MAX] {
            assert_eq!(at(far, 0), 31 * DAY_MS);
            assert_eq!(at(far, DAY_MS - 1), 31 * DAY_MS);
        }
    }
}
