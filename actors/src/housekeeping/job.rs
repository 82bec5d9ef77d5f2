//! The job that throws away what is over.

use std::{sync::Arc, time::Duration};

use actors_base::{
    Services, Settings,
    work::{
        clearing::Cleared,
        job::{Halt, Handler, Job, Topic},
    },
};
use domain::Timestamp;
use store::{Change, PURGE_ROWS_MAX, Permits, Purge};

use crate::areas::AREAS;

/// The job, of which there is one at a time.
pub const HOUSEKEEPING: Topic = Topic { permits: Permits::shared(1), ..Topic::new("housekeeping") };
/// How long a live message is kept for sockets that reconnect (decisions, "Sockets").
const LIVE_KEPT: Duration = Duration::from_hours(1);
/// How long a revocation is kept; caches forget within a second.
const REVOCATIONS_KEPT: Duration = Duration::from_hours(24);
/// How long dead letters are kept, counted from when the work was added.
const GIVEN_UP_KEPT: Duration = Duration::from_hours(30 * 24);
/// How long messages that were kept instead of sent are kept.
const KEPT_MESSAGES_KEPT: Duration = Duration::from_hours(30 * 24);

/// Throws away what is over when the job runs.
#[derive(Clone, Debug)]
pub struct HousekeepingJob {
    settings: Arc<Settings>,
}

impl HousekeepingJob {
    /// The job of a node with these services.
    pub(crate) fn new(services: &Services) -> Self {
        Self { settings: Arc::clone(&services.settings) }
    }
}

impl Handler for HousekeepingJob {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let mut cleared = Cleared::of(job)?;
        let mut failure = None;
        let mut comes_again = |what: &str, error: String| {
            tracing::warn!(what, error, "what is over could not be thrown away; it comes again");
            failure = Some(format!("{what}: {error}"));
        };
        for purge in purges(job.store().now(), self.settings.audit_kept) {
            match cleared.clear(job, std::slice::from_ref(&purge)).await {
                Ok(()) => {}
                // What can't be thrown away keeps nothing else.
                Err(Halt::Later(error)) => comes_again(purge.what, error),
                Err(halt) => return Err(halt),
            }
        }
        match sweep_raw_mail(&mut cleared, job).await {
            Ok(()) => {}
            Err(Halt::Later(error)) => comes_again("bytes of messages", error),
            Err(halt) => return Err(halt),
        }
        match sweep_contents(&mut cleared, job).await {
            Ok(()) => {}
            Err(Halt::Later(error)) => comes_again("contents", error),
            Err(halt) => return Err(halt),
        }
        failure.map_or_else(|| Ok(Change::new()), |error| Err(Halt::Later(error)))
    }
}

/// Deletes contents that nothing refers to any more, a step at a time.
async fn sweep_contents(cleared: &mut Cleared, job: &Job) -> Result<(), Halt> {
    loop {
        let batch = job.store().contents_sweep_next(PURGE_ROWS_MAX).await?;
        if batch.rows.is_empty() {
            return Ok(());
        }
        cleared.step(job, batch.change, &batch.rows).await?;
    }
}

/// Deletes messages that were set aside and whose dead letters are gone, and bytes of messages that nothing names any more, a step
/// at a time. Before contents, which delete their blobs.
async fn sweep_raw_mail(cleared: &mut Cleared, job: &Job) -> Result<(), Halt> {
    loop {
        let mut batch = job.store().mail_set_aside_sweep_next(PURGE_ROWS_MAX).await?;
        if batch.rows.is_empty() {
            batch = job.store().mail_raw_sweep_next(PURGE_ROWS_MAX).await?;
        }
        if batch.rows.is_empty() {
            return Ok(());
        }
        cleared.step(job, batch.change, &batch.rows).await?;
    }
}

/// What is over at `now`, of all areas and of what they share. The audit trail is kept for as long as operators say, or for
/// ever.
fn purges(now: Timestamp, audit_kept: Option<Duration>) -> Vec<Purge> {
    let mut purges = vec![
        Purge::live_messages(now.before(LIVE_KEPT)),
        Purge::idempotency_keys(now.before(store::idempotency::KEPT_FOR)),
        Purge::revocations(now.before(REVOCATIONS_KEPT)),
        Purge::dead_letters(now.before(GIVEN_UP_KEPT)),
        Purge::kept_messages(now.before(KEPT_MESSAGES_KEPT)),
        Purge::blob_holds(now),
    ];
    purges.extend(AREAS.iter().flat_map(|area| (area.purges)(now)));
    purges.extend(audit_kept.map(|kept| Purge::audit(now.before(kept))));
    purges
}
