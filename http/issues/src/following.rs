//! Watching an issue, and voting for it.

use actors::issues::{VoteIssue, WatchIssue};
use domain::id::UserId;
use http_shell::{answer::Json, error::Result, path::Path, permission::IssuesWrite, state::State};

use crate::{argument::IssueOf, one::IssueAnswer};

async fn watch(
    (of, state): (IssueOf<IssuesWrite>, State),
    person: Option<UserId>,
    on: bool,
) -> Result<Json<IssueAnswer>> {
    let command = WatchIssue { org_id: of.org_id(), person, on };
    let stored = state.actors.issue.ask(&of.stored.issue.issue_id, command, of.context()).await?;
    Ok(Json(IssueAnswer::new(stored.issue)))
}

async fn vote((of, state): (IssueOf<IssuesWrite>, State), on: bool) -> Result<Json<IssueAnswer>> {
    let command = VoteIssue { org_id: of.org_id(), on };
    let stored = state.actors.issue.ask(&of.stored.issue.issue_id, command, of.context()).await?;
    Ok(Json(IssueAnswer::new(stored.issue)))
}

/// Watch an issue
///
/// Queries find what one watches by `watchedIssues()`. At most 1,000 people watch an issue.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/{issueKey}/watchers", responses(
    (status = 400, description = "At most 1000 people watch an issue, and as many vote for it."),
    (status = 409, description = "This space is archived."),
))]
pub(crate) async fn issue_watch(of: IssueOf<IssuesWrite>, state: State) -> Result<Json<IssueAnswer>> {
    watch((of, state), None, true).await
}

/// Watch an issue no longer
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/issues/{issueKey}/watchers", responses(
    (status = 409, description = "This space is archived."),
))]
pub(crate) async fn issue_unwatch(of: IssueOf<IssuesWrite>, state: State) -> Result<Json<IssueAnswer>> {
    watch((of, state), None, false).await
}

/// Have somebody watch an issue
///
/// The person must be able to see it.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/{issueKey}/watchers/{userId}", responses(
    (status = 400, description = "This person can't see the issue.\n\n\
     At most 1000 people watch an issue, and as many vote for it."),
    (status = 403, description = "You can't edit issues in this space."),
    (status = 409, description = "This space is archived."),
))]
pub(crate) async fn issue_watcher_add(
    of: IssueOf<IssuesWrite>,
    Path(person): Path<UserId>,
    state: State,
) -> Result<Json<IssueAnswer>> {
    watch((of, state), Some(person), true).await
}

/// Have somebody watch an issue no longer
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/issues/{issueKey}/watchers/{userId}", responses(
    (status = 403, description = "You can't edit issues in this space."),
    (status = 409, description = "This space is archived."),
))]
pub(crate) async fn issue_watcher_remove(
    of: IssueOf<IssuesWrite>,
    Path(person): Path<UserId>,
    state: State,
) -> Result<Json<IssueAnswer>> {
    watch((of, state), Some(person), false).await
}

/// Vote for an issue
///
/// Reporters don't vote for what they reported, and resolved issues keep their votes. Queries find issues by `votes`, `voter` and
/// `votedIssues()`. At most 1,000 people vote for an issue.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/{issueKey}/vote", responses(
    (status = 400, description = "At most 1000 people watch an issue, and as many vote for it."),
    (status = 409, description = "You can't vote for an issue that you reported.\n\n\
     This issue is resolved: its votes stay as they are.\n\nThis space is archived."),
))]
pub(crate) async fn issue_vote(of: IssueOf<IssuesWrite>, state: State) -> Result<Json<IssueAnswer>> {
    vote((of, state), true).await
}

/// Take a vote for an issue back
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/issues/{issueKey}/vote", responses(
    (status = 409, description = "This issue is resolved: its votes stay as they are.\n\nThis space is archived."),
))]
pub(crate) async fn issue_unvote(of: IssueOf<IssuesWrite>, state: State) -> Result<Json<IssueAnswer>> {
    vote((of, state), false).await
}
