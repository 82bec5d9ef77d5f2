//! Reading a log behind one another's lines, whether it is being written, was sealed, or is sealed meanwhile.

use domain::{Error, Result, pipelines::logs::LogLine};
use store::{
    Store,
    pipelines::{StoredJob, StoredLog},
};

/// How often a log is read again that is sealed just then.
const TRIES_MAX: usize = 3;

/// A log that is read.
pub(super) struct LogReader {
    store: Store,
    job: StoredJob,
    log: Option<StoredLog>,
}

impl LogReader {
    /// The log of a job, as it is now.
    pub(super) async fn open(store: &Store, job: &StoredJob) -> Result<Self> {
        let log = store.job_log(job.id).await?;
        Ok(Self { store: store.clone(), job: job.clone(), log })
    }

    /// How many lines it has.
    pub(super) fn lines(&self) -> u64 {
        self.log.as_ref().map_or(0, |log| log.head.lines)
    }

    /// How many lines came behind its limit.
    pub(super) fn dropped(&self) -> u64 {
        self.log.as_ref().map_or(0, |log| log.head.dropped)
    }

    /// Looks what has come since.
    pub(super) async fn refresh(&mut self) -> Result<()> {
        self.log = self.store.job_log(self.job.id).await?;
        Ok(())
    }

    /// The job, as it is now; as it was where it is gone.
    pub(super) async fn job(&self) -> Result<StoredJob> {
        Ok(self.store.job(self.job.no, self.job.id).await?.unwrap_or_else(|| self.job.clone()))
    }

    /// Some lines from this one on; none behind the last.
    pub(super) async fn lines_from(&mut self, line: u64) -> Result<Vec<LogLine>> {
        for _ in 0..TRIES_MAX {
            let Some(log) = &self.log else { return Ok(Vec::new()) };
            if let Some(lines) = self.store.job_log_lines(log, line).await? {
                return Ok(lines);
            }
            self.refresh().await?;
        }
        Err(Error::internal("lines of a log are missing"))
    }
}
