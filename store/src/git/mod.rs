//! Git repositories: what each has beside its resource's record, who was granted a part in it, its refs, packs and pushes
//! (contract C 4.3).

mod access;
mod address;
mod clones;
mod first_commit;
mod former_names;
mod lfs;
mod lfs_address;
mod list;
mod lost;
mod owners;
mod packs;
mod pulls;
mod pushes;
mod refs;
mod removal;
mod row;
mod rules;
mod secrets;
mod statuses;
mod upload_address;
mod uploads;

use domain::{
    Timestamp,
    git::{RepositoryName, RepositorySettings},
    id::{OrgId, ResourceId},
    resource::{Resource, ResourceType},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};

use self::row::{Column, Entity};
pub use self::{
    access::RepositoryGrant,
    address::{GitFile, GitFileAddress, GitFileQuery},
    clones::Cloner,
    first_commit::FirstCommit,
    lfs::{LfsLockList, LfsObject},
    lfs_address::{LfsAct, LfsAddress, LfsQuery},
    list::{ListedBy, RepositoryList},
    lost::PACKS_LOST,
    owners::{OwnersWanted, PULL_OWNERS},
    packs::{NewPack, StoredPack},
    pulls::{MERGE_TIMER, MERGES_WANTED, MergeWanted, PullList, REPOSITORY_KIND, ThreadList, Waiting},
    pushes::{PushList, PushedRef, StoredPush},
    removal::RepositoryRest,
    secrets::{SecretList, SecretPlace},
    upload_address::{GitUploadAddress, GitUploadQuery},
    uploads::UploadedFile,
};
use crate::{Change, Expect, Store, StoreError, reader::Reads, sql::Sql};

/// The number by which rows name their repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepositoryNo(pub(crate) i64);

impl std::fmt::Display for RepositoryNo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A repository.
#[derive(Clone, Debug)]
pub struct StoredRepository {
    /// Its record.
    pub resource: Resource,
    /// Its number.
    pub no: RepositoryNo,
    /// What people set of it.
    pub settings: RepositorySettings,
    /// Counts the commits that decide on it.
    pub version: i64,
    /// Counts those that move refs.
    pub refs_version: i64,
    /// Counts those that change which packs there are.
    pub packs_version: i64,
    /// Bytes of its packs, with their indexes.
    pub size: u64,
    /// Bytes of its large files.
    pub lfs_size: u64,
    /// When its refs last moved by a push.
    pub pushed_at: Option<Timestamp>,
    /// Until when it can be restored, where it is deleted; 0 once it can't.
    pub purge_at: Option<Timestamp>,
}

impl StoredRepository {
    /// Its id.
    pub const fn id(&self) -> ResourceId {
        self.resource.id
    }

    /// Whether it is deleted for good: only what is left of its rows is still there.
    pub fn is_gone(&self) -> bool {
        self.purge_at == Some(Timestamp(0))
    }
}

impl Store {
    /// The organization's repository of this name, regardless of case.
    pub async fn repository_named(
        &self,
        org_id: OrgId,
        name: &RepositoryName,
    ) -> Result<Option<StoredRepository>, StoreError> {
        match self.resource_named(org_id, ResourceType::Repository, &name.key()).await? {
            Some(resource) => self.repository_with(resource).await,
            None => Ok(None),
        }
    }

    /// The organization's repository with this id.
    pub async fn repository(&self, org_id: OrgId, id: ResourceId) -> Result<Option<StoredRepository>, StoreError> {
        match self.resource(org_id, ResourceType::Repository, id).await? {
            Some(resource) => self.repository_with(resource).await,
            None => Ok(None),
        }
    }

    /// Whose repository this is, where it is there.
    pub async fn repository_org(&self, id: ResourceId) -> Result<Option<OrgId>, StoreError> {
        let found = Entity::find().filter(Column::Id.eq(id.to_string())).read_one(self.reader()).await?;
        found.map(|row| row.org_id.parse().map_err(|_| StoreError::corrupt("repositories.org_id"))).transpose()
    }

    async fn repository_with(&self, resource: Resource) -> Result<Option<StoredRepository>, StoreError> {
        let found = Entity::find().filter(Column::Id.eq(resource.id.to_string())).read_one(self.reader()).await?;
        found.map(|row| row::read(row, resource)).transpose()
    }
}

impl Change {
    /// Adds what a new repository has beside its record.
    pub fn repository_add(&mut self, resource: &Resource, settings: &RepositorySettings) {
        self.insert(row::ActiveModel {
            id: Set(resource.id.to_string()),
            org_id: Set(resource.org_id.to_string()),
            description: Set(settings.description.clone()),
            default_branch: Set(settings.default_branch.as_str().to_owned()),
            visibility: Set(settings.visibility.as_str().to_owned()),
            secrets_allow_by: Set(settings.allow_secrets_by.as_str().to_owned()),
            version: Set(1),
            refs_version: Set(0),
            packs_version: Set(0),
            size: Set(0),
            lfs_size: Set(0),
            purge_at: Set(None),
            ..Default::default()
        });
    }

    /// Writes what people set of a repository, and until when it can be restored; stale where it isn't in the version that
    /// was read.
    pub fn repository_set(&mut self, repository: &StoredRepository) {
        let StoredRepository { no, settings, version, purge_at, .. } = repository;
        let values = [
            no.0.into(),
            (*version).into(),
            settings.description.as_str().into(),
            settings.default_branch.as_str().into(),
            settings.visibility.as_str().into(),
            purge_at.map(|at| at.0).into(),
            settings.allow_secrets_by.as_str().into(),
        ];
        let statement = "UPDATE repositories SET description = $3, default_branch = $4, visibility = $5, purge_at = $6, \
                         secrets_allow_by = $7, version = version + 1 WHERE repo_no = $1 AND version = $2";
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Counts a commit that changes refs which nobody pushes; stale where the repository isn't in the version that was read.
    pub fn repository_refs_changed(&mut self, repository: &StoredRepository) {
        let statement = "UPDATE repositories SET version = version + 1, refs_version = refs_version + 1 \
                         WHERE repo_no = $1 AND version = $2";
        let values = [repository.no.0.into(), repository.version.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Counts a push that moves refs of a repository, and the pack that came with it; stale where it isn't in the version that was
    /// read.
    pub fn repository_pushed(&mut self, now: Timestamp, repository: &StoredRepository, pack: Option<&NewPack>) {
        let StoredRepository { no, version, settings, .. } = repository;
        let size = pack.map_or(0, NewPack::size);
        let values = [
            no.0.into(),
            (*version).into(),
            settings.default_branch.as_str().into(),
            i64::from(pack.is_some()).into(),
            i64::try_from(size).unwrap_or(i64::MAX).into(),
            now.0.into(),
        ];
        let statement = "UPDATE repositories SET version = version + 1, refs_version = refs_version + 1, \
                         default_branch = $3, packs_version = packs_version + $4, size = size + $5, pushed_at = $6 \
                         WHERE repo_no = $1 AND version = $2";
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
