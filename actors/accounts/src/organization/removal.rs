//! Deleting what is left of an organization that is gone, as a job.
//!
//! An organization is gone for everybody once its row is: whatever asks about a member or a key asks for the row with it. Its
//! members, of which there may be thousands, are told and deleted afterwards, and what areas have of it is deleted by jobs of
//! their own ([`DeletesOrganization`](actors_base::DeletesOrganization)).

use actors_base::work::{
    clearing::Cleared,
    job::{Halt, Handler, Job, Topic},
};
use domain::{Result, Tenant, id::OrgId};
use kernel::{Handle, TimerFired, Turn};
use store::{Change, NewWork, Permits, Purge, RevocationKind};

use super::Organization;

/// The job that deletes what is left of an organization.
pub const ORGANIZATION_REMOVAL: Topic = Topic {
    permits: Permits::with_spare(1, 3),
    goes_on_because: Some("This organization is deleted; what is left of it can't be kept."),
    ..Topic::new("organization.removal")
};

/// Members who are told in one step: each is a revocation and the entry of the queue that tells of it.
const MEMBERS_PER_STEP: u64 = 500;

/// Has everything of the organization that the change removes be deleted after it.
pub(super) fn delete_after(change: &mut Change, turn: &Turn<'_, Organization>) {
    change.work_add(turn.now(), NewWork::new(ORGANIZATION_REMOVAL.name, *turn.key(), &()));
    for area in turn.services().areas {
        (area.deletes_organization)(change, *turn.key(), turn.now());
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
        let mut cleared = Cleared::of(job)?;
        revoke_members(&mut cleared, job, org_id).await?;
        cleared.clear(job, &Purge::organization_remains(org_id)).await?;
        Ok(Change::new())
    }
}

/// Has every node look again what the members may do, so that their sockets leave the organization. After a crash this
/// begins anew, with the members that are still there; looking twice does no harm.
async fn revoke_members(cleared: &mut Cleared, job: &Job, org_id: OrgId) -> Result<(), Halt> {
    let mut after = None;
    loop {
        let members = job.store().members(org_id, after, MEMBERS_PER_STEP).await?;
        let Some(last) = members.last() else { return Ok(()) };
        after = Some(last.user_id);
        let mut change = Change::new();
        for member in &members {
            change.revoke(job.store().now(), RevocationKind::User, &member.user_id);
        }
        cleared.step(job, change, &[]).await?;
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
