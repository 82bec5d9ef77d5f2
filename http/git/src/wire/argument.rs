//! The repository that a git URL names.

use std::marker::PhantomData;

use actors::pipelines::Lease;
use domain::{
    Caller, Context, Error, JobCaller, Platform, Slug,
    git::{AccessLevel, REPOSITORY_NOT_FOUND, RepositoryName, level_of, repository_deleted, repository_not_found},
    id::OrgId,
    pipelines::{
        checkout::{CHECKOUT_READS_ONLY, checkout_reads_only},
        workflow::WorkflowFile,
    },
    resource::ResourceStatus,
};
use http_shell::{
    argument::Argument,
    call::Call,
    credentials::checkout_of,
    error::{ApiError, Result},
    facts::{AskedBy, Facts},
    repository::RepositoryPermission,
};
use store::{git::StoredRepository, pipelines::StoredJob};

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
        let org_id = owner(call).await?.ok_or_else(repository_not_found)?;
        Self::reached(call, org_id, call.context.clone()).await
    }
}

impl<P: RepositoryPermission> Served<P> {
    /// The repository, where the caller has the permission in it.
    async fn reached(call: &Call, org_id: OrgId, context: Context) -> Result<Self> {
        let store = &call.state.store;
        let authority = match store.authority(org_id, &context.caller).await {
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
        Ok(Self { stored, context, permission: PhantomData })
    }

    /// The repository, which a job fetches, or pushes to, with the credential that it asked for.
    async fn of_job(call: &Call, credential: &str) -> Result<Self> {
        let unknown = async || {
            // Whoever shows what opens nothing counts as an address.
            let counted = call.state.limits.address(&call.state, call.context.ip).await;
            counted.err().unwrap_or_else(|| Error::Unauthenticated.into())
        };
        let Some(org_id) = owner(call).await? else { return Err(unknown().await) };
        let stored = match named(call, org_id).await {
            Err(ApiError::Domain(Error::NotFound { .. })) => return Err(unknown().await),
            other => other?,
        };
        let state = &call.state;
        let Some(job) = state.store.checkout_opens(&stored, credential).await? else {
            return Err(unknown().await);
        };
        state.limits.job(state, job.id).await?;
        if let Some(mut lease) = Lease::of(&job) {
            lease.renew(&state.actors.run, state.store.now());
        }
        if P::LEVEL > AccessLevel::Read {
            let caller = Caller::Job(writer(call, &job).await?);
            return Self::reached(call, org_id, Context { caller, ..call.context.clone() }).await;
        }
        if stored.resource.status == ResourceStatus::Deleting {
            return Err(repository_deleted().into());
        }
        Ok(Self { stored, context: call.context.clone(), permission: PhantomData })
    }
}

/// Who pushes for a job: its workflow lets it write, and the run acts for somebody.
async fn writer(call: &Call, job: &StoredJob) -> Result<JobCaller> {
    let store = &call.state.store;
    let run = store.run(job.no, job.run_id).await?.ok_or_else(checkout_reads_only)?;
    let plan = store.run_plan(run.id).await?.ok_or_else(checkout_reads_only)?;
    let may_write = WorkflowFile::read(&plan.text).workflow.is_some_and(|it| it.may_write_contents(&job.key));
    let started_by = run.actor.acts_for().filter(|_| may_write).ok_or_else(checkout_reads_only)?;
    Ok(JobCaller { job_id: job.id, org_id: job.org_id, started_by })
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
