//! Throwing rows away, as jobs do it: at most 1,000 a step, until nothing is over.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use store::{Change, PURGE_ROWS_MAX, Purge};

use super::job::{Halt, Job};

/// What a job has thrown away so far, which is its progress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cleared {
    /// Commits.
    pub steps: u64,
    /// Rows, by what they are.
    pub rows: BTreeMap<String, u64>,
}

impl Cleared {
    /// What the job's earlier steps threw away.
    pub fn of(job: &Job) -> Result<Self, Halt> {
        Ok(job.progress()?.unwrap_or_default())
    }

    /// Throws away what is over of `purges`, a step at a time.
    pub async fn clear(&mut self, job: &Job, purges: &[Purge]) -> Result<(), Halt> {
        while self.clear_next(job, purges).await? {}
        Ok(())
    }

    /// Throws away the next of what is over of `purges`; whether there was any.
    pub async fn clear_next(&mut self, job: &Job, purges: &[Purge]) -> Result<bool, Halt> {
        let batch = job.store().purge_next(purges, PURGE_ROWS_MAX).await?;
        if batch.rows.is_empty() {
            return Ok(false);
        }
        self.step(job, batch.change, &batch.rows).await?;
        Ok(true)
    }

    /// Commits a step that throws these rows away.
    pub async fn step(&mut self, job: &Job, change: Change, rows: &[(&'static str, u32)]) -> Result<(), Halt> {
        let mut after = Self { steps: self.steps + 1, rows: self.rows.clone() };
        for (what, count) in rows {
            *after.rows.entry((*what).to_owned()).or_default() += u64::from(*count);
        }
        job.step(change, &after).await?;
        *self = after;
        Ok(())
    }
}
