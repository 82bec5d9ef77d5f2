//! Deleting what is left of repositories that are deleted for good, as a job.
//!
//! Each of them adds an entry of its own to the work queue; of several, the first one does the work of all.

use actors_base::work::{
    clearing::Cleared,
    job::{Halt, Handler, Job, Topic},
};
use domain::{Tenant, Timestamp, id::OrgId};
use store::{Change, NewWork, Permits};

/// The job that deletes an organization's repositories, one at a time for each organization.
pub(crate) const REPOSITORY_REMOVAL: Topic = Topic {
    permits: Permits::with_spare(1, 3),
    goes_on_because: Some("These repositories are deleted; what is left of them can't be kept."),
    ..Topic::new("git.removal")
};

/// Has what the change deletes for good be taken away after it.
pub(crate) fn delete_after(change: &mut Change, org_id: OrgId, now: Timestamp) {
    change.work_add(now, NewWork::new(REPOSITORY_REMOVAL.name, org_id, &()));
}

/// Has the repositories of an organization that the change deletes be deleted after it.
pub(crate) fn delete_repositories_after(change: &mut Change, org_id: OrgId, now: Timestamp) {
    change.repositories_end(org_id);
    delete_after(change, org_id, now);
}

/// Deletes what is left of an organization's repositories.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RepositoryRemoval;

impl Handler for RepositoryRemoval {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let Tenant::Org(org_id) = job.tenant() else {
            return Err(Halt::Refused("it names no organization".to_owned()));
        };
        let mut cleared = Cleared::of(job)?;
        while let Some(rest) = job.store().repository_rest(org_id).await? {
            let batch = job.store().repository_rows_next(rest).await?;
            if batch.rows.is_empty() {
                let mut change = Change::new();
                change.repository_remove(rest);
                cleared.step(job, change, &[("repositories", 1)]).await?;
            } else {
                cleared.step(job, batch.change, &batch.rows).await?;
            }
        }
        Ok(Change::new())
    }
}
