//! What runs say of commits.

use actors_base::RepositoryChange;
use domain::{
    Result, Timestamp,
    git::{CHECK_CONTEXT_LEN, CommitState, CommitStatus, STATUSES_MAX, StatusDraft},
    pipelines::run::RunConclusion,
};
use store::{Change, pipelines::StoredRun};

use crate::PipelineServices;

/// Has a commit say how a run of it is doing. A run of nobody's, and one beyond the checks that a commit has room for, says nothing. What
/// whoever watches the repository is told once it is committed.
pub(crate) async fn put_status(
    change: &mut Change,
    services: &PipelineServices,
    run: &StoredRun,
    now: Timestamp,
) -> Result<Option<RepositoryChange>> {
    let Some(set_by) = run.actor.id.as_deref().and_then(|id| id.parse().ok()) else { return Ok(None) };
    let context: String = format!("{} ({})", run.workflow, run.event).chars().take(*CHECK_CONTEXT_LEN.end()).collect();
    let statuses = services.services.store.commit_statuses(run.no, run.sha).await?;
    let before = statuses.iter().find(|status| status.draft.context == context);
    if before.is_none() && statuses.len() >= STATUSES_MAX {
        return Ok(None);
    }
    let (state, description) = said(run.conclusion);
    let status = CommitStatus {
        commit: run.sha,
        draft: StatusDraft { context, state, description: description.to_owned(), url: None },
        set_by,
        key_id: None,
        created_at: before.map_or(now, |before| before.created_at),
        updated_at: now,
    };
    change.commit_status_put(run.no, &status);
    Ok(Some(RepositoryChange::Status { commit_id: run.sha, context: status.draft.context }))
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
