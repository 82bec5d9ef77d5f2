//! Throwing away what is over, and what an organization that is deleted leaves.

use std::time::Duration;

use actors_base::work::{
    clearing::Cleared,
    job::{Halt, Handler, Job, Topic},
};
use domain::{
    Timestamp,
    id::OrgId,
    issues::{limits::TRASH_KEPT, mailing::HOOKED_KEPT},
    tenant::Tenant,
};
use store::{Change, NewWork, Permits, Purge};

use super::bulk::UNDO_KEPT;

/// How much longer than it can be brought back what was thrown away is there: nodes' clocks may differ by seconds.
const TRASH_MARGIN: Duration = Duration::from_mins(1);
/// How long a call of an import may be repeated.
const IMPORTS_KEPT: Duration = Duration::from_hours(30 * 24);

/// The job that deletes what an organization had of issue tracking.
pub(crate) const ISSUES_REMOVAL: Topic = Topic {
    permits: Permits::with_spare(1, 3),
    goes_on_because: Some("Their organization is deleted; its issues can't be kept."),
    ..Topic::new("issues.removal")
};

/// The rows that are over.
pub(crate) fn purges(now: Timestamp) -> Vec<Purge> {
    let mut purges = Purge::issues_thrown_away(now.before(TRASH_KEPT + TRASH_MARGIN));
    purges.push(Purge::issue_imports(now.before(IMPORTS_KEPT)));
    purges.push(Purge::issue_mail_seen(now.before(HOOKED_KEPT)));
    purges.extend(Purge::issue_jobs(now.before(UNDO_KEPT + TRASH_MARGIN)));
    purges
}

/// Has the issues of an organization that the change deletes be deleted after it.
pub(crate) fn delete_issues_after(change: &mut Change, org_id: OrgId, now: Timestamp) {
    change.work_add(now, NewWork::new(ISSUES_REMOVAL.name, org_id, &()));
}

/// Deletes what a deleted organization had of issue tracking.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IssuesRemoval;

impl Handler for IssuesRemoval {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let Tenant::Org(org_id) = job.tenant() else {
            return Err(Halt::Refused("it names no organization".to_owned()));
        };
        Cleared::of(job)?.clear(job, &Purge::issues_of_organization(org_id)).await?;
        Ok(Change::new())
    }
}
