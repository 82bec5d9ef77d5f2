//! What the path names, loaded, as an argument: holding it proves that it is there, and whose it is.
//!
//! An `Owned` stands behind the argument that proves the owner: behind an [`Org`](crate::org::Org) for what belongs to an
//! organization, behind a repository for what belongs to one, behind a [`Person`](crate::caller::Person) for what belongs to people. It also stands behind the query
//! and the body, so that a malformed request costs no read. What is another's reads as what is not there.

use std::ops::Deref;

use domain::{
    Caller, Error,
    git::{Pull, PullNumber, rules::BranchRule},
    id::{
        BranchRuleId, EscalationId, JobId, NoticeId, OrgId, PageId, PageImportId, ProtocolId, RotaId, RunId, TeamId,
        UserId,
    },
    notify::{Protocol, Rota},
    pages::{Page, import::PageImport},
    pipelines::environments::EnvironmentName,
    storage::BucketAddress,
};
use store::{
    Notice, Store, StoreError,
    accounts::{Organization, Team},
    databases::Database,
    git::RepositoryNo,
    notify::escalations::Escalation,
    pipelines::{StoredEnvironment, StoredJob, StoredRun},
    storage::StoredBucket,
};

use crate::{
    argument::Argument,
    call::Call,
    error::Result,
    facts::Facts,
    path::{DatabaseId, Path, PathParameter},
};

/// The row that the path names, which belongs to whom the arguments before it have proven.
pub struct Owned<T: OwnedRow>(pub T);

/// A row that belongs to somebody. The message of the 404 for one that doesn't is its id's.
pub trait OwnedRow: Sized + 'static {
    /// Who has such rows: organizations, repositories or people.
    type Owner: Owner;
    /// What the path names it by.
    type Id: PathParameter;

    /// The owner's row with this id.
    fn load(store: &Store, owner: Self::Owner, id: Self::Id) -> impl Future<Output = Result<Option<Self>, StoreError>>;
}

/// Who owns rows.
pub trait Owner: Sized {
    /// Whether the arguments that were described so far prove one.
    fn is_described(facts: &Facts) -> bool;

    /// The one that the arguments which were taken so far have proven.
    fn proven(call: &Call) -> Option<Self>;
}

impl Owner for OrgId {
    fn is_described(facts: &Facts) -> bool {
        facts.in_organization
    }

    fn proven(call: &Call) -> Option<Self> {
        call.entered
    }
}

impl Owner for UserId {
    fn is_described(facts: &Facts) -> bool {
        !facts.doors.is_empty()
    }

    fn proven(call: &Call) -> Option<Self> {
        match &call.context.caller {
            Caller::Person(person) => Some(person.user_id),
            Caller::Key(_)
            | Caller::AccessKey(_)
            | Caller::Job(_)
            | Caller::AppPassword(_)
            | Caller::Nobody
            | Caller::System => None,
        }
    }
}

impl Owner for RepositoryNo {
    fn is_described(facts: &Facts) -> bool {
        facts.in_repository
    }

    fn proven(call: &Call) -> Option<Self> {
        call.repository.as_ref().map(|repository| repository.no)
    }
}

impl<T: OwnedRow> Deref for Owned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: OwnedRow> Argument for Owned<T> {
    fn describe(facts: &mut Facts) {
        assert!(T::Owner::is_described(facts), "an `Owned` stands behind the argument that proves its owner");
        Path::<T::Id>::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let Path(id) = Path::<T::Id>::take(call).await?;
        let owner =
            T::Owner::proven(call).ok_or_else(|| Error::internal("nobody has proven to own what is asked for"))?;
        let row = T::load(&call.state.store, owner, id).await?;
        Ok(Self(row.ok_or_else(|| Error::not_found(T::Id::NOT_FOUND))?))
    }
}

macro_rules! owned_rows {
    ($($row:ty = $owner:ty, $id:ty, $load:expr;)*) => {$(
        impl OwnedRow for $row {
            type Owner = $owner;
            type Id = $id;

            async fn load(store: &Store, owner: $owner, id: $id) -> Result<Option<Self>, StoreError> {
                $load(store, owner, id).await
            }
        }
    )*};
}

owned_rows! {
    Team = OrgId, TeamId, Store::team;
    Page = OrgId, PageId, Store::page;
    PageImport = OrgId, PageImportId, Store::page_import;
    Protocol = OrgId, ProtocolId, Store::protocol;
    Rota = OrgId, RotaId, Store::rota;
    Escalation = OrgId, EscalationId, Store::escalation_of;
    Notice = UserId, NoticeId, Store::notice;
    Pull = RepositoryNo, PullNumber, Store::pull;
    BranchRule = RepositoryNo, BranchRuleId, Store::branch_rule;
    StoredRun = RepositoryNo, RunId, Store::run;
    StoredJob = RepositoryNo, JobId, Store::job;
    StoredBucket = OrgId, BucketAddress, Store::bucket_at;
    Database = OrgId, DatabaseId, |store, owner, DatabaseId(id)| Store::database(store, owner, id);
}

impl OwnedRow for StoredEnvironment {
    type Owner = RepositoryNo;
    type Id = EnvironmentName;

    async fn load(store: &Store, owner: RepositoryNo, name: EnvironmentName) -> Result<Option<Self>, StoreError> {
        store.environment(owner, &name).await
    }
}

impl OwnedRow for Organization {
    type Owner = OrgId;
    type Id = OrgId;

    async fn load(store: &Store, owner: OrgId, _: OrgId) -> Result<Option<Self>, StoreError> {
        store.organization(owner).await
    }
}
