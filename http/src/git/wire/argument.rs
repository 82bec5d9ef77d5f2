//! The repository that a git URL names.

use std::marker::PhantomData;

use domain::{
    Caller, Context, Error, Platform, Slug,
    git::{AccessLevel, REPOSITORY_NOT_FOUND, RepositoryName, level_of, repository_deleted, repository_not_found},
    id::OrgId,
    pipelines::checkout::{CHECKOUT_READS_ONLY, checkout_reads_only},
    resource::ResourceStatus,
};
use store::git::StoredRepository;

use crate::{
    argument::Argument,
    call::Call,
    credentials::checkout_of,
    error::{ApiError, Result},
    facts::{AskedBy, Facts},
    git::argument::RepositoryPermission,
};

/// The message of the 403 for the token of a sign-in that is neither a key's nor the command line's.
const NOT_FOR_BROWSERS: &str = "Git takes keys, and sign-ins on the command line.";

/// The repository of a git URL, in which the caller has the permission `P`.
pub(crate) struct Served<P> {
    /// The repository.
    pub stored: StoredRepository,
    /// The context to ask its owner with.
    pub context: Context,
    permission: PhantomData<P>,
}

impl<P: RepositoryPermission> Argument for Served<P> {
    fn describe(facts: &mut Facts) {
        facts.signed_in();
        facts.path_parameter("owner", "The organization: its slug or its id.", "acme");
        facts.path_parameter("repository", "The repository: its name, with `.git` or without.", "web-app.git");
        facts.error(403, NOT_FOR_BROWSERS);
        if P::LEVEL > AccessLevel::Read {
            facts.error(403, CHECKOUT_READS_ONLY);
        }
        facts.error(404, REPOSITORY_NOT_FOUND);
        facts.error(409, "This repository is deleted. Restore it first.");
        for scope in P::SCOPES {
            facts.scope(*scope);
        }
        facts.in_repository = true;
        facts.streams = true;
        facts.asked_by = AskedBy::Git;
    }

    async fn take(call: &mut Call) -> Result<Self> {
        if let Some(credential) = checkout_of(call) {
            return Self::of_job(call, &credential).await;
        }
        let caller = &call.context.caller;
        match caller {
            Caller::Nobody => return Err(Error::Unauthenticated.into()),
            Caller::Person(person) if person.platform != Platform::Cli => {
                return Err(Error::forbidden("command_line_only", NOT_FOR_BROWSERS).into());
            }
            _ => {}
        }
        let store = &call.state.store;
        let org_id = owner(call).await?.ok_or_else(repository_not_found)?;
        let authority = match store.authority(org_id, caller).await {
            Err(Error::NotFound { .. }) => return Err(repository_not_found().into()),
            other => other?,
        };
        authority.require_all(P::SCOPES.iter().copied())?;
        let stored = named(call, org_id).await?;
        let granted = store.repository_granted(stored.no, org_id, authority.on_behalf_of()?).await?;
        let level = level_of(&authority, stored.settings.visibility, granted).ok_or_else(repository_not_found)?;
        level.require(P::LEVEL)?;
        if stored.resource.status == ResourceStatus::Deleting {
            return Err(repository_deleted().into());
        }
        Ok(Self { stored, context: call.context.clone(), permission: PhantomData })
    }
}

impl<P: RepositoryPermission> Served<P> {
    /// The repository, which a job fetches with the credential that it asked for.
    async fn of_job(call: &Call, credential: &str) -> Result<Self> {
        let org_id = owner(call).await?.ok_or(Error::Unauthenticated)?;
        let stored = match named(call, org_id).await {
            Err(ApiError::Domain(Error::NotFound { .. })) => return Err(Error::Unauthenticated.into()),
            other => other?,
        };
        if !call.state.store.checkout_opens(&stored, credential).await? {
            return Err(Error::Unauthenticated.into());
        }
        if P::LEVEL > AccessLevel::Read {
            return Err(checkout_reads_only().into());
        }
        if stored.resource.status == ResourceStatus::Deleting {
            return Err(repository_deleted().into());
        }
        Ok(Self { stored, context: call.context.clone(), permission: PhantomData })
    }
}

/// The organization's repository that the path names, or that had the name last.
async fn named(call: &Call, org_id: OrgId) -> Result<StoredRepository> {
    let name = call.path_value("repository")?;
    let name = RepositoryName::parse("repository", name.strip_suffix(".git").unwrap_or(name));
    let name = name.map_err(|_| repository_not_found())?;
    let store = &call.state.store;
    let found = match store.repository_named(org_id, &name).await? {
        None => store.repository_formerly(org_id, &name).await?,
        found => found,
    };
    Ok(found.filter(|found| !found.is_gone()).ok_or_else(repository_not_found)?)
}

/// The organization that the path names, by its id or by its slug.
async fn owner(call: &Call) -> Result<Option<OrgId>> {
    let named = call.path_value("owner")?;
    if let Ok(id) = named.parse() {
        return Ok(Some(id));
    }
    let Ok(slug) = Slug::parse(named) else { return Ok(None) };
    Ok(call.state.store.organization_by_slug(&slug).await?.map(|organization| organization.id))
}
