//! What waits for runners, of all organizations.

use domain::{Timestamp, pipelines::queue::WaitingJobs};

use crate::{Store, StoreError, json, reader::row, sql::Sql};

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

/// None where nothing waits.
fn waiting(jobs: i64, since: Option<i64>) -> Option<WaitingJobs> {
    let count = u64::try_from(jobs).unwrap_or_default();
    since.map(|since| WaitingJobs { count, since: Timestamp(since) })
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
}
