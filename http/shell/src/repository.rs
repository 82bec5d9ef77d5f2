//! The repository that the path names, as an argument.

use domain::{
    Context, Error,
    git::{AccessLevel, MACHINE_KEY_ONLY, RepositoryName, level_of, repository_not_found},
    id::OrgId,
};
use store::git::StoredRepository;

use crate::{
    argument::Argument,
    call::Call,
    error::Result,
    facts::Facts,
    org::Org,
    path::Path,
    permission::{Both, EnvRead, EnvWrite, GitAdmin, GitRead, GitWrite, LogsRead, Permission},
};

/// A permission that opens a repository.
pub trait RepositoryPermission: Permission {
    /// What the caller must be able to do in it.
    const LEVEL: AccessLevel;
}

impl RepositoryPermission for GitRead {
    const LEVEL: AccessLevel = AccessLevel::Read;
}

impl RepositoryPermission for GitWrite {
    const LEVEL: AccessLevel = AccessLevel::Write;
}

impl RepositoryPermission for Both<GitRead, LogsRead> {
    const LEVEL: AccessLevel = AccessLevel::Read;
}

impl RepositoryPermission for EnvRead {
    const LEVEL: AccessLevel = AccessLevel::Read;
}

impl RepositoryPermission for EnvWrite {
    const LEVEL: AccessLevel = AccessLevel::Write;
}

impl RepositoryPermission for GitAdmin {
    const LEVEL: AccessLevel = AccessLevel::Admin;
}

/// The repository that the path names, in which the caller has the permission `P`. The keys of machines open nothing else.
pub struct Repository<P: RepositoryPermission> {
    org: Org<P>,
    /// The repository.
    pub stored: StoredRepository,
}

impl<P: RepositoryPermission> Repository<P> {
    /// Whose it is.
    pub const fn org_id(&self) -> OrgId {
        self.org.id()
    }

    /// The context to ask an owner with.
    pub fn context(&self) -> Context {
        self.org.context()
    }

    /// Where the caller's rights come from.
    pub const fn org(&self) -> &Org<P> {
        &self.org
    }
}

impl<P: RepositoryPermission> Argument for Repository<P> {
    fn describe(facts: &mut Facts) {
        Org::<P>::describe(facts);
        Path::<RepositoryName>::describe(facts);
        if P::LEVEL > AccessLevel::Read {
            facts.error(403, &format!("This needs {} access to the repository.", P::LEVEL));
        }
        facts.in_repository = true;
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let org = Org::<P>::take(call).await?;
        let Path(name) = Path::<RepositoryName>::take(call).await?;
        let (store, authority) = (&call.state.store, org.authority());
        let found = store.repository_named(org.id(), &name).await?.filter(|found| !found.is_gone());
        let stored = found.ok_or_else(repository_not_found)?;
        let granted = store.repository_granted(stored.no, org.id(), authority.on_behalf_of()?).await?;
        let level = level_of(authority, stored.settings.visibility, granted).ok_or_else(repository_not_found)?;
        level.require(P::LEVEL)?;
        call.repository = Some(Box::new(stored.clone()));
        Ok(Self { org, stored })
    }
}

/// 403 for a machine's key outside of repositories.
pub fn machine_key_only() -> Error {
    Error::forbidden("machine_key", MACHINE_KEY_ONLY)
}
