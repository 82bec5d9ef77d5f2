//! What waits for runners, and which runners there are for it.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    id::{JobId, OrgId, RunId, RunnerId},
    pipelines::{queue::WaitingJobs, run::JobPlace},
};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{
    JobStage, StoredJob,
    jobs::{Column, Entity},
};
use crate::{
    Store, StoreError, json,
    reader::{Reads, row},
    sql::Sql,
};

row! {
    struct WaitingRow {
        jobs: i64,
        since: Option<i64>,
    }
}

row! {
    struct SetRow {
        labels: String,
        jobs: i64,
        since: Option<i64>,
    }
}

row! {
    struct AheadRow {
        jobs: i64,
    }
}

row! {
    struct BusyRow {
        runner_id: String,
        started_at: Option<i64>,
    }
}

row! {
    struct RunnersRow {
        registered: i64,
        paused: i64,
        asked: i64,
    }
}

/// Where a job stands in the queue of its organization: those that wait longest come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceInQueue {
    /// Since when runners may take the job.
    pub queued_at: Timestamp,
    /// The job.
    pub id: JobId,
}

impl PlaceInQueue {
    /// Where this job stands, or would.
    pub fn of(job: &StoredJob) -> Self {
        Self { queued_at: job.queued_at.unwrap_or(job.created_at), id: job.id }
    }
}

/// How many runners there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunnerCounts {
    /// All that are registered.
    pub registered: u64,
    /// Those that are given no jobs.
    pub paused: u64,
    /// Those that asked for a job lately.
    pub asked: u64,
}

fn count(rows: i64) -> u64 {
    u64::try_from(rows).unwrap_or_default()
}

/// None where nothing waits.
fn waiting(jobs: i64, since: Option<i64>) -> Option<WaitingJobs> {
    since.map(|since| WaitingJobs { count: count(jobs), since: Timestamp(since) })
}

impl Store {
    /// The jobs that runners may take, of all organizations; none where there are none.
    pub async fn waiting_jobs(&self) -> Result<Option<WaitingJobs>, StoreError> {
        let statement = "SELECT COUNT(*) AS jobs, MIN(queued_at) AS since FROM jobs WHERE stage = 'queued'";
        let found = self.reader().row::<WaitingRow>(&Sql::new(statement, [])).await?;
        Ok(found.and_then(|row| waiting(row.jobs, row.since)))
    }

    /// The same by the sets of labels that they ask for, those that most ask for first.
    pub async fn waiting_jobs_by_labels(&self, limit: u64) -> Result<Vec<(Vec<String>, WaitingJobs)>, StoreError> {
        let statement = "SELECT labels, COUNT(*) AS jobs, MIN(queued_at) AS since FROM jobs WHERE stage = 'queued' \
                         GROUP BY labels ORDER BY COUNT(*) DESC, labels LIMIT $1";
        let rows: Vec<SetRow> = self.reader().rows(&Sql::new(statement, [limit.cast_signed().into()])).await?;
        let mut sets = Vec::with_capacity(rows.len());
        for SetRow { labels, jobs, since } in rows {
            if let Some(waiting) = waiting(jobs, since) {
                sets.push((json::read("jobs.labels", &labels)?, waiting));
            }
        }
        Ok(sets)
    }

    /// The jobs of an organization that runners may take and that stand behind this place, those that wait longest first.
    pub async fn queued_jobs_behind(
        &self,
        org_id: OrgId,
        place: Option<PlaceInQueue>,
        limit: u64,
    ) -> Result<Vec<StoredJob>, StoreError> {
        let mut select = Entity::find()
            .filter(Column::OrgId.eq(org_id.to_string()))
            .filter(Column::Stage.eq(JobStage::Queued.name()));
        if let Some(PlaceInQueue { queued_at, id }) = place {
            let is_behind = Condition::any().add(Column::QueuedAt.gt(queued_at.0)).add(Column::Id.gt(id.to_string()));
            select = select.filter(Column::QueuedAt.gte(queued_at.0)).filter(is_behind);
        }
        let select = select.order_by_asc(Column::QueuedAt).order_by_asc(Column::Id).limit(limit);
        select.read_list(self.reader()).await?.into_iter().map(StoredJob::try_from).collect()
    }

    /// How many jobs of an organization runners are offered before the one at this place; none where they are more than `most`.
    pub async fn queued_jobs_before(
        &self,
        org_id: OrgId,
        place: PlaceInQueue,
        most: u64,
    ) -> Result<Option<u64>, StoreError> {
        let statement = "SELECT COUNT(*) AS jobs FROM (SELECT 1 FROM jobs WHERE org_id = $1 AND stage = 'queued' \
                         AND (queued_at, id) < ($2, $3) LIMIT $4) AS ahead";
        let values = [
            org_id.to_string().into(),
            place.queued_at.0.into(),
            place.id.to_string().into(),
            most.saturating_add(1).cast_signed().into(),
        ];
        let found: Option<AheadRow> = self.reader().row(&Sql::new(statement, values)).await?;
        Ok(Some(found.map_or(0, |row| count(row.jobs))).filter(|jobs| *jobs <= most))
    }

    /// The runners of an organization that do jobs now, and when each started the last of those.
    pub async fn runners_with_jobs(&self, org_id: OrgId) -> Result<BTreeMap<RunnerId, Timestamp>, StoreError> {
        // The jobs that are under way have an index, which is found by the same words.
        let statement = "SELECT runner_id, MAX(started_at) AS started_at FROM jobs WHERE org_id = $1 \
                         AND stage IN ('running', 'cancelling') AND runner_id IS NOT NULL GROUP BY runner_id";
        let rows: Vec<BusyRow> = self.reader().rows(&Sql::new(statement, [org_id.to_string().into()])).await?;
        let read = |BusyRow { runner_id, started_at }| {
            let id = runner_id.parse().map_err(|_| StoreError::corrupt("jobs.runner_id"))?;
            Ok((id, Timestamp(started_at.unwrap_or_default())))
        };
        rows.into_iter().map(read).collect()
    }

    /// The job at this place of a run, of the newest attempt in which it ran.
    pub async fn job_at(&self, run_id: RunId, place: JobPlace) -> Result<Option<StoredJob>, StoreError> {
        let small = |number: usize| i32::try_from(number).unwrap_or(i32::MAX);
        let select = Entity::find()
            .filter(Column::RunId.eq(run_id.to_string()))
            .filter(Column::Node.eq(small(place.node)))
            .filter(Column::Place.eq(small(place.index)))
            .order_by_desc(Column::Attempt)
            .limit(1);
        select.read_one(self.reader()).await?.map(StoredJob::try_from).transpose()
    }

    /// How many runners there are, of all organizations; those asked lately that did since this moment.
    pub async fn runner_counts(&self, since: Timestamp) -> Result<RunnerCounts, StoreError> {
        let statement = "SELECT COUNT(*) AS registered, COUNT(CASE WHEN paused THEN 1 END) AS paused, \
                         COUNT(CASE WHEN seen_at >= $1 THEN 1 END) AS asked FROM runners";
        let found: Option<RunnersRow> = self.reader().row(&Sql::new(statement, [since.0.into()])).await?;
        let counts = found.map(|RunnersRow { registered, paused, asked }| RunnerCounts {
            registered: count(registered),
            paused: count(paused),
            asked: count(asked),
        });
        Ok(counts.unwrap_or_default())
    }
}
