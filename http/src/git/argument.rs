//! The repository that the path names, and whoever has just shown their second factor, as arguments.

use domain::{
    Caller, Context, Error,
    account::step_up_check,
    git::{
        AccessLevel, COMMAND_LINE_ONLY, MACHINE_KEY_ONLY, Principal, REPOSITORY_NOT_FOUND, RepositoryName, level_of,
        repository_not_found,
    },
    id::{KeyId, OrgId},
};
use store::git::StoredRepository;

use crate::{
    argument::Argument,
    call::Call,
    caller::Door,
    error::Result,
    facts::Facts,
    org::Org,
    path::{Path, PathParameter, concat_example},
    permission::{Both, EnvRead, EnvWrite, GitAdmin, GitRead, GitWrite, LogsRead, Permission},
};

impl PathParameter for RepositoryName {
    const NAME: &'static str = "name";
    const DESCRIPTION: &'static str = "A repository: its name, regardless of case.";
    const EXAMPLE: &'static str = "web-app";
    const NOT_FOUND: &'static str = REPOSITORY_NOT_FOUND;

    fn read(text: &str) -> Option<Self> {
        Self::parse("name", text).ok()
    }
}

impl PathParameter for Principal {
    const NAME: &'static str = "principal";
    const DESCRIPTION: &'static str = "The id of a person or of a team.";
    const EXAMPLE: &'static str = "usr_01jd7rt4m5e9fv2w8x3c6k0hqz";
    const NOT_FOUND: &'static str = "Grant not found";

    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

/// The id of a machine's key.
pub(crate) struct MachineKeyId(pub KeyId);

impl PathParameter for MachineKeyId {
    const NAME: &'static str = "keyId";
    const DESCRIPTION: &'static str = "The key of one of your machines.";
    const EXAMPLE: &'static str = concat_example(KeyId::PREFIX);
    const NOT_FOUND: &'static str = "Key not found";

    fn read(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }
}

/// Git credentials are for people on the command line (contract C 4.3).
pub(crate) struct CommandLine;

impl Door for CommandLine {
    const CODE: &'static str = "command_line_only";
    const WHO: &'static str = "the command line";
    const REFUSAL: &'static str = COMMAND_LINE_ONLY;

    fn admits(person: &domain::PersonCaller) -> bool {
        person.platform == domain::Platform::Cli
    }
}

/// Proves that the person showed their second factor within the last ten minutes.
pub(crate) struct FreshFactor;

impl Argument for FreshFactor {
    fn describe(facts: &mut Facts) {
        facts.error(403, "Confirm with your second factor first.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let Caller::Person(person) = &call.context.caller else { return Err(Error::Unauthenticated.into()) };
        let (store, now) = (&call.state.store, call.state.store.now());
        if step_up_check(person.confirmed_until, now).is_ok() {
            return Ok(Self);
        }
        // What is remembered of the sign-in may be a moment old.
        let found = store.person(person.user_id).await?.ok_or(Error::Unauthenticated)?;
        if found.otp_secret.is_none() {
            // Enrolling one shows it, too.
            step_up_check(None, now).map_err(|refusal| refusal.adding("enrol", true))?;
        }
        let sign_in = store.sign_in(person.user_id, person.sign_in_id).await?.ok_or(Error::Unauthenticated)?;
        step_up_check(sign_in.confirmed_until, now)?;
        Ok(Self)
    }
}

/// A permission that opens a repository.
pub(crate) trait RepositoryPermission: Permission {
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
pub(crate) struct Repository<P: RepositoryPermission> {
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
        call.repository = Some(stored.clone());
        Ok(Self { org, stored })
    }
}

/// 403 for a machine's key outside of repositories.
pub(crate) fn machine_key_only() -> Error {
    Error::forbidden("machine_key", MACHINE_KEY_ONLY)
}
