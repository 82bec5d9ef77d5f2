//! Logs of jobs. A log's owner takes what the runner sends, a commit for each request: `ok` means that it is on the disk.
//!
//! What isn't full is the open chunk: its row is written anew with each request until it is. Once the job is over, a
//! [job](seal) makes one content of all chunks. Whoever watches is told each line in the words that all of them are told
//! ([`live`]).

mod live;
mod seal;
mod write;

use std::{sync::Arc, time::Instant};

use actors_base::Services;
use domain::{
    Result, Tenant, Timestamp,
    id::{JobId, OrgId},
    pipelines::logs::{LogRecords, LogRules, SentLine},
};
use kernel::{Command, CpuKind, Handle, Resource, Turn};
use store::{Change, git::RepositoryNo, pipelines::StoredLog};

pub(crate) use self::seal::{LOG_SEALING, LogSealing};
use self::write::Written;
pub use self::{
    live::{LogSignal, log_channel, log_ended, log_frame},
    seal::seal_log,
};
use crate::run::SEEN_EVERY;

/// The log of a job.
#[derive(Debug)]
pub struct JobLog {
    /// How far it is written; none before the first line.
    log: Option<StoredLog>,
    /// The lines of the open chunk.
    open: LogRecords,
    /// When it was written down last that the job's runner was heard of; none before that.
    seen_at: Option<Timestamp>,
}

impl Resource for JobLog {
    type Key = JobId;
    type Services = Services;

    const KIND: &'static str = "job_log";

    async fn load(key: &JobId, services: &Services) -> Result<Self> {
        let Some(log) = services.store.job_log(*key).await? else {
            return Ok(Self { log: None, open: LogRecords::default(), seen_at: None });
        };
        let mut open = LogRecords::beginning(log.head.lines);
        if let Some(lines) = services.store.job_log_last_chunk(&log).await? {
            open = LogRecords::of(&lines).pop().unwrap_or(open);
        }
        Ok(Self { log: Some(log), open, seen_at: None })
    }
}

/// Whether a job goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogPhase {
    /// The job is under way.
    Open,
    /// The job is over; what comes now comes late.
    Late,
}

/// Takes lines that a job's runner sends. Answers the number of the line that is to come next.
#[derive(Clone, Debug)]
pub struct AppendLog {
    /// Whose job it is.
    pub org_id: OrgId,
    /// The repository's number.
    pub no: RepositoryNo,
    /// Whether the job goes on.
    pub phase: LogPhase,
    /// The number of the first line; without it, the lines follow what has come.
    pub first: Option<u64>,
    /// When the lines had come.
    pub came_at: Instant,
    /// The lines.
    pub lines: Arc<[SentLine]>,
    /// What holds for the log.
    pub rules: Arc<LogRules>,
}

impl Command for AppendLog {
    type Reply = u64;

    const NAME: &'static str = "append_log";
}

impl Handle<AppendLog> for JobLog {
    async fn handle(&mut self, command: &AppendLog, turn: &mut Turn<'_, Self>) -> Result<u64> {
        let AppendLog { org_id, no, phase, first, came_at, lines, rules } = command.clone();
        let log = self.log.clone().unwrap_or_else(|| StoredLog::empty(*turn.key(), org_id, no));
        let (head, open) = (log.head, self.open.clone());
        let writing = move || Written::of(head, open, (first, &lines), &rules);
        let written = turn.processor().run(Tenant::Org(org_id), CpuKind::Log, writing).await??;
        if written.head.received == head.received {
            return Ok(head.received);
        }
        let after = StoredLog { head: written.head, ..log };
        let mut change = Change::new();
        change.job_log_put(&after, &written.chunks);
        let now = turn.now();
        let is_seen = phase == LogPhase::Open && self.seen_at.is_none_or(|at| now.since(at) >= SEEN_EVERY);
        if phase == LogPhase::Late {
            seal_log(&mut change, org_id, *turn.key(), now);
        }
        if is_seen {
            change.job_seen(*turn.key(), now);
        }
        turn.commit(change).await?;
        if is_seen {
            self.seen_at = Some(now);
        }
        metrics::histogram!("troupe_pipeline_log_lag_seconds").record(came_at.elapsed());
        for frame in written.frames {
            turn.services().hub.publish(&log_channel(*turn.key()), frame);
        }
        let next = after.head.received;
        self.open = written.open;
        self.log = Some(StoredLog { version: after.version + 1, ..after });
        Ok(next)
    }
}

/// When lines that come late are expected to have come.
fn settled(now: Timestamp) -> Timestamp {
    now.after(seal::LATE_LINES_GATHER)
}
