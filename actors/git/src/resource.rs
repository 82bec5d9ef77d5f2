//! Making, changing, deleting and restoring repositories, in the turn of the organization's book of resources.

use actors_base::{
    Services,
    resources::{NewResource, ResourceChange, ResourceCreate, ResourceKind},
};
use domain::{
    Authority, Error, Result, Scope,
    git::{
        AccessLevel, BranchName, GRANTS_MAX, Principal, REPOSITORIES_MAX, RESTORABLE_FOR, RepositoryDraft,
        RepositoryPatch, Visibility, level_of, repository_deleted, repository_exists, repository_not_deleted,
        repository_not_found, too_many_grants, too_many_repositories,
    },
    id::{OrgId, ResourceId, UserId},
    resource::{Resource, ResourceStatus, ResourceType},
};
use kernel::Resource as _;
use serde_json::{Value, json};
use store::{
    Change, Store,
    git::{FirstCommit, StoredRepository},
};

use crate::{Repository, events::AccessChanged, lost::end_alarm, repository::PURGE, triggers::default_branch_trigger};

/// Repositories, as resources.
pub(crate) const REPOSITORY: ResourceKind = ResourceKind {
    resource_type: ResourceType::Repository,
    audited_as: "repository",
    count_max: |_| REPOSITORIES_MAX,
    exists: repository_exists,
    too_many: too_many_repositories,
    not_found: repository_not_found,
};

/// The organization's repository, unless it is deleted for good.
pub(crate) async fn found(store: &Store, org_id: OrgId, id: ResourceId) -> Result<StoredRepository> {
    let repository = store.repository(org_id, id).await?;
    repository.filter(|repository| !repository.is_gone()).ok_or_else(repository_not_found)
}

/// What the caller may do in the repository; nothing where they have no part in it.
pub(crate) async fn level_in(
    store: &Store,
    authority: &Authority,
    repository: &StoredRepository,
) -> Result<Option<AccessLevel>> {
    let granted = match authority.on_behalf_of() {
        Ok(user_id) => store.repository_granted(repository.no, authority.org_id(), user_id).await?,
        Err(_) => None,
    };
    Ok(level_of(authority, repository.settings.visibility, granted))
}

/// The same for a member whom no request stands for; nothing for who isn't one.
pub(crate) async fn level_of_member(
    store: &Store,
    repository: &StoredRepository,
    user_id: UserId,
) -> Result<Option<AccessLevel>> {
    match store.authority_of_person(repository.resource.org_id, user_id).await {
        Ok(authority) => level_in(store, &authority, repository).await,
        Err(Error::NotFound { .. }) => Ok(None),
        Err(other) => Err(other),
    }
}

/// 404 for who has no part in the repository, 403 for whose part is smaller.
pub(crate) async fn reaches(
    store: &Store,
    authority: &Authority,
    repository: &StoredRepository,
    wanted: AccessLevel,
) -> Result<AccessLevel> {
    let level = level_in(store, authority, repository).await?.ok_or_else(repository_not_found)?;
    level.require(wanted).map(|()| level)
}

async fn admit(services: &Services, authority: &Authority, id: ResourceId) -> Result<()> {
    let repository = found(&services.store, authority.org_id(), id).await?;
    reaches(&services.store, authority, &repository, AccessLevel::Admin).await.map(drop)
}

/// Makes a repository.
#[derive(Clone, Debug)]
pub struct CreateRepository {
    /// What it is to be.
    pub draft: RepositoryDraft,
    /// What its default branch begins with; it is empty without.
    pub first: Option<FirstCommit>,
}

impl ResourceCreate for CreateRepository {
    const COMMAND: &'static str = "create_repository";
    const KIND: ResourceKind = REPOSITORY;
    const SCOPE: Scope = Scope::GitWrite;

    fn draft(&self) -> NewResource {
        let name = &self.draft.name;
        NewResource { name_key: name.key(), ..NewResource::named(name.as_str()) }
    }

    async fn rows(&self, _: &Services, resource: &Resource) -> Result<Change> {
        let (mut change, settings) = (Change::new(), &self.draft.settings);
        change.repository_add(resource, settings);
        if let Some(first) = &self.first {
            let made = (resource.created_by, resource.created_at);
            change.repository_begin((resource.id, &settings.default_branch), first, made);
        }
        change.repository_former_name_remove(resource.org_id, &resource.name_key);
        if settings.visibility == Visibility::Restricted {
            change.repository_maker_grant(resource);
        }
        Ok(change)
    }
}

/// Changes a repository's name, settings or visibility.
#[derive(Clone, Debug)]
pub struct ChangeRepository {
    /// Which one.
    pub id: ResourceId,
    /// What is to be changed.
    pub patch: RepositoryPatch,
    /// In whose name: they administer it, also once it is restricted.
    pub by: UserId,
}

impl ResourceChange for ChangeRepository {
    const COMMAND: &'static str = "change_repository";
    const KIND: ResourceKind = REPOSITORY;
    const ACT: &'static str = "changed";
    const SCOPE: Scope = Scope::GitAdmin;

    fn id(&self) -> ResourceId {
        self.id
    }

    async fn admit(&self, services: &Services, authority: &Authority) -> Result<()> {
        admit(services, authority, self.id).await
    }

    fn audited(&self, before: &Resource) -> (&'static str, Option<Value>) {
        let patch = &self.patch;
        let name = patch.name.as_ref().filter(|name| name.as_str() != before.name);
        let act = match (name, patch.visibility) {
            (Some(_), _) => "renamed",
            (None, Some(_)) => "access_changed",
            (None, None) => Self::ACT,
        };
        let about = json!({
            "name": name.map(|name| json!({ "from": before.name, "to": name.as_str() })),
            "description": patch.description,
            "defaultBranch": patch.default_branch.as_ref().map(BranchName::as_str),
            "visibility": patch.visibility,
            "secretScan": patch.allow_secrets_by.map(|by| json!({ "allowBy": by })),
        });
        (act, Some(about))
    }

    async fn decide(&self, services: &Services, resource: &mut Resource) -> Result<Change> {
        let mut repository = found(&services.store, resource.org_id, self.id).await?;
        if resource.status == ResourceStatus::Deleting {
            return Err(repository_deleted());
        }
        let (before, default_before) = (repository.settings.visibility, repository.settings.default_branch.clone());
        repository.settings = self.patch.apply(&repository.settings);
        let after = repository.settings.visibility;
        let mut change = Change::new();
        change.repository_set(&repository);
        if repository.settings.default_branch != default_before {
            default_branch_trigger(&mut change, services.store.now(), &repository, self.by);
        }
        if let Some(name) = &self.patch.name {
            if name.key() != resource.name_key {
                change.repository_former_name_put(&repository);
                change.repository_former_name_remove(resource.org_id, &name.key());
            }
            name.as_str().clone_into(&mut resource.name);
            resource.name_key = name.key();
        }
        if before == after {
            return Ok(change);
        }
        if after == Visibility::Restricted {
            self.keep_admin(&mut change, services, &repository).await?;
        }
        let changed =
            AccessChanged { resource, principal: None, before: Some(before.as_str()), after: Some(after.as_str()) };
        changed.emit(&mut change, services).await?;
        Ok(change)
    }
}

impl ChangeRepository {
    /// Grants who restricts a repository the administration of it.
    async fn keep_admin(&self, change: &mut Change, services: &Services, repository: &StoredRepository) -> Result<()> {
        let (store, principal) = (&services.store, Principal::Person(self.by));
        let is_new = store.repository_grant(repository.no, principal).await?.is_none();
        if is_new && store.repository_grants(repository.no).await?.len() as u64 >= GRANTS_MAX {
            return Err(too_many_grants());
        }
        let at = (repository.no, repository.resource.org_id);
        change.repository_grant_put(at, (principal, AccessLevel::Admin), self.by, store.now());
        Ok(())
    }
}

/// Deletes a repository. It can be restored for seven days.
#[derive(Clone, Copy, Debug)]
pub struct DeleteRepository(pub ResourceId);

impl ResourceChange for DeleteRepository {
    const COMMAND: &'static str = "delete_repository";
    const KIND: ResourceKind = REPOSITORY;
    const ACT: &'static str = "deleted";
    const SCOPE: Scope = Scope::GitAdmin;

    fn id(&self) -> ResourceId {
        self.0
    }

    async fn admit(&self, services: &Services, authority: &Authority) -> Result<()> {
        admit(services, authority, self.0).await
    }

    async fn decide(&self, services: &Services, resource: &mut Resource) -> Result<Change> {
        if resource.status == ResourceStatus::Deleting {
            return Err(repository_deleted());
        }
        let mut repository = found(&services.store, resource.org_id, self.0).await?;
        let purge_at = services.store.now().after(RESTORABLE_FOR);
        repository.purge_at = Some(purge_at);
        let mut change = Change::new();
        change.repository_set(&repository);
        end_alarm(&mut change, services, resource);
        resource.status_reason = None;
        change.timer_set_for(resource.org_id, Repository::KIND, &self.0.to_string(), PURGE, purge_at);
        let status = move_to(resource, ResourceStatus::Deleting);
        status.emit(&mut change, services).await?;
        Ok(change)
    }
}

/// Restores a deleted repository as it was.
#[derive(Clone, Copy, Debug)]
pub struct RestoreRepository(pub ResourceId);

impl ResourceChange for RestoreRepository {
    const COMMAND: &'static str = "restore_repository";
    const KIND: ResourceKind = REPOSITORY;
    const ACT: &'static str = "restored";
    const SCOPE: Scope = Scope::GitAdmin;

    fn id(&self) -> ResourceId {
        self.0
    }

    async fn admit(&self, services: &Services, authority: &Authority) -> Result<()> {
        admit(services, authority, self.0).await
    }

    async fn decide(&self, services: &Services, resource: &mut Resource) -> Result<Change> {
        let mut repository = found(&services.store, resource.org_id, self.0).await?;
        if repository.purge_at.take().ok_or_else(repository_not_deleted)? <= services.store.now() {
            return Err(repository_not_found());
        }
        let mut change = Change::new();
        change.repository_set(&repository);
        change.timer_cancel(Repository::KIND, &self.0.to_string(), PURGE);
        let status = move_to(resource, ResourceStatus::Active);
        status.emit(&mut change, services).await?;
        Ok(change)
    }
}

fn move_to(resource: &mut Resource, status: ResourceStatus) -> AccessChanged<'_> {
    let before = std::mem::replace(&mut resource.status, status);
    AccessChanged { resource, principal: None, before: Some(before.as_str()), after: Some(status.as_str()) }
}

/// 404: nothing was granted to who isn't there.
pub(crate) fn no_such(principal: Principal) -> Error {
    match principal {
        Principal::Person(_) => Error::not_found("Member not found."),
        Principal::Team(_) => Error::not_found("Team not found."),
    }
}
