//! What is over goes: artifacts by their time, caches that nobody uses, uploads that nobody committed.

use std::time::Duration;

use domain::{Result, Timestamp, id::OrgId, pipelines::artifacts::ARTIFACT_UPLOAD_LASTS};
use kernel::{Handle, Resource, TimerFired, Turn};
use store::Change;

use super::JobFiles;

/// What the names of timers begin with.
const TIMER: &str = "sweep:";
/// How often it is looked.
const EVERY: Duration = Duration::from_hours(24);
/// When the next are thrown away where more are over.
const NEXT_PART: Duration = Duration::from_secs(10);
/// Artifacts, and caches, that one commit throws away.
const PART_MAX: u64 = 200;

impl JobFiles {
    /// Has what is over by tomorrow go then; however often that is said in a day, it is looked once.
    pub(super) fn sweep_tomorrow(change: &mut Change, turn: &Turn<'_, Self>, org_id: OrgId) {
        let every = i64::try_from(EVERY.as_millis()).unwrap_or(i64::MAX);
        let day = turn.now().0.div_euclid(every) + 1;
        let due = Timestamp(day.saturating_mul(every));
        change.timer_set_for(org_id, Self::KIND, &turn.key().to_string(), &format!("{TIMER}{day}"), due);
    }
}

impl Handle<TimerFired> for JobFiles {
    async fn handle(&mut self, fired: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (store, now) = (&turn.services().store, turn.now());
        let mut change = Change::new();
        if let Some(org_id) = store.repository_org(*turn.key()).await?
            && let Some(repository) = store.repository(org_id, *turn.key()).await?
        {
            let begun_before = now.before(ARTIFACT_UPLOAD_LASTS);
            let artifacts = store.artifacts_over(repository.no, begun_before, PART_MAX).await?;
            let caches = store.caches_over(repository.no, begun_before, PART_MAX).await?;
            for artifact in &artifacts {
                change.artifact_remove(now, artifact);
            }
            for cache in &caches {
                change.cache_remove(now, cache);
            }
            if artifacts.len().max(caches.len()) as u64 >= PART_MAX {
                let key = turn.key().to_string();
                change.timer_set_for(org_id, Self::KIND, &key, &format!("{}+", fired.name), now.after(NEXT_PART));
            } else if store.has_job_files(repository.no).await? {
                Self::sweep_tomorrow(&mut change, turn, org_id);
            }
        }
        turn.commit(change).await
    }
}
