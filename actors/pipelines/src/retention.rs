//! Runs that are kept long enough go, with their jobs, logs and artifacts. Caches belong to refs, and stay.

use std::time::Duration;

use domain::{Result, Timestamp, id::OrgId};
use kernel::{Resource, Turn};
use store::Change;

use crate::workflows::Workflows;

/// What the names of timers begin with.
const TIMER: &str = "retention:";
/// How often it is looked.
const EVERY: Duration = Duration::from_hours(24);
/// When the next go where more are over.
const NEXT_PART: Duration = Duration::from_secs(10);
/// Runs that go in one turn.
const PART_MAX: u64 = 20;

/// Whether a timer is one of these.
pub(crate) fn is_retention(timer: &str) -> bool {
    timer.starts_with(TIMER)
}

/// Has it looked tomorrow what is kept long enough; however often that is said in a day, it is looked once.
pub(crate) fn look_tomorrow(change: &mut Change, (org_id, key): (OrgId, &str), now: Timestamp) {
    let every = i64::try_from(EVERY.as_millis()).unwrap_or(i64::MAX);
    let day = now.0.div_euclid(every) + 1;
    let due = Timestamp(day.saturating_mul(every));
    change.timer_set_for(org_id, Workflows::KIND, key, &format!("{TIMER}{day}"), due);
}

/// Throws away the next runs that are kept long enough.
pub(crate) async fn clear(timer: &str, turn: &mut Turn<'_, Workflows>) -> Result<()> {
    let (services, now, key) = (turn.services().services.clone(), turn.now(), turn.key().to_string());
    let (store, settings) = (&services.store, &services.settings);
    let Some(org_id) = store.repository_org(*turn.key()).await? else { return Ok(()) };
    let Some(repository) = store.repository(org_id, *turn.key()).await? else { return Ok(()) };
    let over = match settings.runs_kept {
        Some(kept) => store.runs_over(repository.no, now.before(kept), PART_MAX).await?,
        None => Vec::new(),
    };
    // The first commit settles the timer that came: whatever else is to be done has another one by then.
    let mut change = Change::new();
    if over.len() as u64 >= PART_MAX {
        change.timer_set_for(org_id, Workflows::KIND, &key, &format!("{timer}+"), now.after(NEXT_PART));
    } else if store.has_runs(repository.no).await? {
        look_tomorrow(&mut change, (org_id, &key), now);
    }
    turn.commit(change).await?;
    for run in over {
        loop {
            let batch = store.run_files_next(org_id, run.id).await?;
            if batch.rows.is_empty() {
                break;
            }
            turn.commit(batch.change).await?;
        }
        let mut change = Change::new();
        change.run_remove(&run);
        turn.commit(change).await?;
    }
    Ok(())
}
