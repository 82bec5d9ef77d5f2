//! What runs say of commits.

use actors_base::{RepositoryChange, Services};
use domain::{
    Result, Timestamp,
    git::{CHECK_CONTEXT_LEN, CommitState, CommitStatus, STATUSES_MAX, StatusDraft},
    pipelines::run::RunConclusion,
};
use store::{Change, pipelines::StoredRun};

use crate::PipelineServices;

/// Has a commit say how a run of it is doing. A run that acts for nobody, and one beyond the checks that a commit has room for, says
/// nothing. What whoever watches the repository is told once it is committed.
pub(crate) async fn put_status(
    change: &mut Change,
    services: &PipelineServices,
    run: &StoredRun,
    now: Timestamp,
) -> Result<Option<RepositoryChange>> {
    let Some(set_by) = run.actor.acts_for() else { return Ok(None) };
    let context: String = format!("{} ({})", run.workflow, run.event).chars().take(*CHECK_CONTEXT_LEN.end()).collect();
    let services = &services.services;
    let statuses = services.store.commit_statuses(run.no, run.sha).await?;
    let before = statuses.iter().find(|status| status.draft.context == context);
    if before.is_none() && statuses.len() >= STATUSES_MAX {
        return Ok(None);
    }
    let (state, description) = said(run.conclusion);
    let url = address_of(services, run).await?;
    let status = CommitStatus {
        commit: run.sha,
        draft: StatusDraft { context, state, description: description.to_owned(), url },
        set_by,
        key_id: None,
        created_at: before.map_or(now, |before| before.created_at),
        updated_at: now,
    };
    change.commit_status_put(run.no, &status);
    Ok(Some(RepositoryChange::Status { commit_id: run.sha, context: status.draft.context }))
}

/// Where the API has the run; none where the repository is gone.
async fn address_of(services: &Services, run: &StoredRun) -> Result<Option<String>> {
    let (url, org_id) = (&services.settings.public_url, run.org_id);
    let Some(repository) = services.store.repository(org_id, run.repository_id).await? else { return Ok(None) };
    let name = &repository.resource.name;
    Ok(Some(format!("{url}/v1/orgs/{org_id}/repos/{name}/pipelines/runs/{}", run.id)))
}

const fn said(conclusion: Option<RunConclusion>) -> (CommitState, &'static str) {
    match conclusion {
        None => (CommitState::Pending, "The run is under way."),
        Some(RunConclusion::Success) => (CommitState::Success, "The run succeeded."),
        Some(RunConclusion::Skipped) => (CommitState::Success, "Nothing had to run."),
        Some(RunConclusion::Failure) => (CommitState::Failure, "The run failed."),
        Some(RunConclusion::TimedOut) => (CommitState::Failure, "The run took too long."),
        Some(RunConclusion::Cancelled) => (CommitState::Error, "The run was cancelled."),
        Some(RunConclusion::StartupFailure) => (CommitState::Error, "The workflow file has errors."),
    }
}
