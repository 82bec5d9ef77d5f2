//! A repository: its refs, who was granted a part in it, and when it is deleted for good.
//!
//! Nothing of it is kept in memory. What a command decides on is read in its turn, and the commit names the version that was
//! read, so that a change of the repository's settings by the organization's book is never overtaken.

use actors_base::Services;
use domain::{
    Result, Scope, Timestamp,
    git::{AccessLevel, GRANTS_MAX, Principal, grant_not_found, repository_deleted, too_many_grants},
    id::{OrgId, ResourceId},
    resource::ResourceStatus,
};
use kernel::{Command, Handle, Resource, TimerFired, Turn};
use serde_json::json;
use store::{
    Change, Store,
    audit::{AuditEntry, AuditTarget},
    git::{REPOSITORY_KIND, StoredRepository, Waiting},
};

use crate::{
    events::AccessChanged,
    pulls::{pull_of_timer, wake},
    removal,
    resource::{found, no_such, reaches},
    web::upload_of_timer,
};

/// The name of the timer that deletes a repository for good.
pub(crate) const PURGE: &str = "purge";

/// A repository.
#[derive(Debug)]
pub struct Repository;

impl Resource for Repository {
    type Key = ResourceId;
    type Services = Services;

    const KIND: &'static str = REPOSITORY_KIND;

    async fn load(_: &ResourceId, _: &Services) -> Result<Self> {
        Ok(Self)
    }
}

/// Grants somebody a part in the repository, or another one than before.
#[derive(Clone, Copy, Debug)]
pub struct GrantAccess {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Whom.
    pub principal: Principal,
    /// What they may do.
    pub level: AccessLevel,
}

/// Takes back what somebody was granted.
#[derive(Clone, Copy, Debug)]
pub struct WithdrawAccess {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Whom.
    pub principal: Principal,
}

/// A change of a grant that is being decided.
struct Granting {
    repository: StoredRepository,
    principal: Principal,
    before: Option<AccessLevel>,
}

impl Granting {
    async fn read(turn: &Turn<'_, Repository>, org_id: OrgId, principal: Principal) -> Result<Self> {
        let store = &turn.services().store;
        let authority = turn.authority(org_id).await?;
        authority.require(Scope::GitAdmin)?;
        let repository = found(store, org_id, *turn.key()).await?;
        reaches(store, &authority, &repository, AccessLevel::Admin).await?;
        if repository.resource.status == ResourceStatus::Deleting {
            return Err(repository_deleted());
        }
        let before = store.repository_grant(repository.no, principal).await?;
        Ok(Self { repository, principal, before })
    }

    /// What is written whatever changes, but for the grant itself.
    async fn change(&self, turn: &Turn<'_, Repository>, after: Option<AccessLevel>) -> Result<Change> {
        let resource = &self.repository.resource;
        let mut change = Change::new();
        change.repository_set(&self.repository);
        wake(&mut change, &self.repository, Waiting::All, turn.now());
        let levels = (self.before.map(AccessLevel::as_str), after.map(AccessLevel::as_str));
        let target = AuditTarget::new("repository", resource.id).labelled(&resource.name);
        let entry = AuditEntry::new(turn.context(), "repository.access_changed", target).in_org(resource.org_id);
        let about = json!({ "principal": self.principal.to_string(), "from": levels.0, "to": levels.1 });
        change.audit_add(turn.now(), entry.with_metadata(about));
        let changed = AccessChanged { resource, principal: Some(self.principal), before: levels.0, after: levels.1 };
        changed.emit(&mut change, turn.services()).await?;
        Ok(change)
    }
}

impl Command for GrantAccess {
    type Reply = ();

    const NAME: &'static str = "grant_access";
}

impl Handle<GrantAccess> for Repository {
    async fn handle(&mut self, command: &GrantAccess, turn: &mut Turn<'_, Self>) -> Result<()> {
        let GrantAccess { org_id, principal, level } = *command;
        let granting = Granting::read(turn, org_id, principal).await?;
        is_there(&turn.services().store, org_id, principal).await?;
        if granting.before == Some(level) {
            return Ok(());
        }
        let no = granting.repository.no;
        let is_new = granting.before.is_none();
        if is_new && turn.services().store.repository_grants(no).await?.len() as u64 >= GRANTS_MAX {
            return Err(too_many_grants());
        }
        let by = turn.authority(org_id).await?.on_behalf_of()?;
        let mut change = granting.change(turn, Some(level)).await?;
        change.repository_grant_put((no, org_id), (principal, level), by, turn.now());
        turn.commit(change).await
    }
}

/// 404 for who has no part in the organization.
async fn is_there(store: &Store, org_id: OrgId, principal: Principal) -> Result<()> {
    let is_there = match principal {
        Principal::Person(user_id) => store.membership(org_id, user_id).await?.is_some(),
        Principal::Team(id) => store.team(org_id, id).await?.is_some(),
    };
    if is_there { Ok(()) } else { Err(no_such(principal)) }
}

impl Command for WithdrawAccess {
    type Reply = ();

    const NAME: &'static str = "withdraw_access";
}

impl Handle<WithdrawAccess> for Repository {
    async fn handle(&mut self, command: &WithdrawAccess, turn: &mut Turn<'_, Self>) -> Result<()> {
        let granting = Granting::read(turn, command.org_id, command.principal).await?;
        if granting.before.is_none() {
            return Err(grant_not_found());
        }
        let mut change = granting.change(turn, None).await?;
        change.repository_grant_remove(granting.repository.no, command.principal);
        turn.commit(change).await
    }
}

impl Handle<TimerFired> for Repository {
    async fn handle(&mut self, fired: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        if let Some(upload) = upload_of_timer(&fired.name) {
            return self.end_upload(upload, turn).await;
        }
        match pull_of_timer(&fired.name) {
            Some(number) => self.look_for_merge(number, turn).await,
            None => self.purge(turn).await,
        }
    }
}

impl Repository {
    /// Deletes the repository for good, unless it was restored.
    async fn purge(&self, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (store, now) = (&turn.services().store, turn.now());
        let mut change = Change::new();
        if let Some(org_id) = store.repository_org(*turn.key()).await?
            && let Some(mut repository) = store.repository(org_id, *turn.key()).await?
            && repository.purge_at.is_some_and(|at| at <= now)
        {
            repository.purge_at = Some(Timestamp(0));
            change.repository_set(&repository);
            removal::delete_after(&mut change, org_id, now);
        }
        turn.commit(change).await
    }
}
