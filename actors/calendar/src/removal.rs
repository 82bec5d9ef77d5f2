//! Deleting what lies in calendars that are out of sight, as a job.

use actors_base::work::{
    clearing::Cleared,
    job::{Halt, Handler, Job, Topic},
};
use domain::{
    Timestamp,
    id::{CalendarId, OrgId},
};
use store::{Change, NewWork, Permits, Purge};

/// The job that empties a calendar that is out of sight.
pub(crate) const CALENDAR_REMOVAL: Topic = Topic {
    permits: Permits::with_spare(1, 3),
    goes_on_because: Some("This calendar is deleted; what is left in it can't be kept."),
    ..Topic::new("calendar.removal")
};

/// Has the calendar that the change takes out of sight be emptied after it.
pub(crate) fn delete_after(change: &mut Change, org_id: OrgId, id: CalendarId, now: Timestamp) {
    change.work_add(now, NewWork::new(CALENDAR_REMOVAL.name, org_id, &id));
}

/// Empties a calendar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CalendarRemoval;

impl Handler for CalendarRemoval {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let id: CalendarId = job.payload()?;
        Cleared::of(job)?.clear(job, &Purge::calendar_remains(id)).await?;
        Ok(Change::new())
    }
}
