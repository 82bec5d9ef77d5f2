//! Deleting what is left of an organization that is gone, as a job.
//!
//! An organization is gone for everybody once its row is: whatever asks about a member or a key asks for the row with it. Its
//! members, of which there may be thousands, are deleted afterwards, and what areas have of it by jobs of their own
//! ([`DeletesOrganization`]).

use actors_base::work::{
    clearing::Cleared,
    job::{Halt, Handler, Job, Topic},
};
use domain::{Result, Tenant, Timestamp, id::OrgId};
use kernel::{Handle, TimerFired, Turn};
use store::{Change, NewWork, Permits, Purge};

use super::Organization;

/// The job that deletes what is left of an organization.
pub const ORGANIZATION_REMOVAL: Topic = Topic {
    permits: Permits::with_spare(1, 3),
    goes_on_because: Some("This organization is deleted; what is left of it can't be kept."),
    ..Topic::new("organization.removal")
};

/// Adds to the change that deletes an organization what an area does then: it deletes its own things of that organization, or
/// has a job delete them afterwards.
pub type DeletesOrganization = fn(&mut Change, OrgId, Timestamp);

/// Has everything of the organization that the change removes be deleted after it.
pub(super) fn delete_after(change: &mut Change, turn: &Turn<'_, Organization>) {
    change.work_add(turn.now(), NewWork::new(ORGANIZATION_REMOVAL.name, *turn.key(), &()));
    for delete in turn.services().deletes {
        delete(change, *turn.key(), turn.now());
    }
}

/// Deletes what is left of an organization.
#[derive(Clone, Copy, Debug)]
pub struct OrganizationRemoval;

impl Handler for OrganizationRemoval {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let Tenant::Org(org_id) = job.tenant() else {
            return Err(Halt::Refused("it names no organization".to_owned()));
        };
        Cleared::of(job)?.clear(job, &Purge::organization_remains(org_id)).await?;
        Ok(Change::new())
    }
}

/// The one timer that an organization ever had, which a release before this one set for the same purpose: its turn adds the
/// job. A node of that release may still run beside this one.
impl Handle<TimerFired> for Organization {
    async fn handle(&mut self, _: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        let mut change = Change::new();
        change.work_add(turn.now(), NewWork::new(ORGANIZATION_REMOVAL.name, *turn.key(), &()));
        turn.commit(change).await
    }
}
