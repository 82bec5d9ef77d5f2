//! What checks say of commits.

use actors::git::rules::SetCommitStatus;
use domain::{
    Error,
    git::{CommitState, CommitStatus, ObjectId, StatusDraft, combined, commit_not_found},
};
use http_shell::{
    answer::{Created, Json},
    argument::Argument,
    body::{Body, RequestBody},
    call::Call,
    error::Result,
    facts::Facts,
    path::Path,
    permission::{GitRead, GitWrite},
    repository::Repository,
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The commit that the path names, which the repository of the arguments before it has.
pub(crate) struct KnownCommit(ObjectId);

impl Argument for KnownCommit {
    fn describe(facts: &mut Facts) {
        assert!(facts.in_repository, "a commit stands behind the repository that has it");
        Path::<ObjectId>::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let Path(commit) = Path::<ObjectId>::take(call).await?;
        let repository = call.repository.as_ref().ok_or_else(|| Error::internal("no repository was looked for"))?;
        if call.state.git.has_commit(repository, commit).await? {
            Ok(Self(commit))
        } else {
            Err(commit_not_found().into())
        }
    }
}

/// A status of a commit.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "context": "ci/test", "state": "success", "description": "214 tests", "url": "https://ci.example.com/runs/7",
    "setBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "createdAt": 1_767_225_600_000_i64, "updatedAt": 1_767_225_600_000_i64
}))]
pub(crate) struct StatusBody {
    /// Which check it is.
    context: String,
    /// `pending`, `success`, `failure` or `error`.
    state: &'static str,
    /// What the check says; may be empty.
    description: String,
    /// Where more is to be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// The person who set it, or who made the key that did.
    set_by: String,
    /// The key that did.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_id: Option<String>,
    /// When the check first said something of the commit.
    created_at: i64,
    /// When it last did.
    updated_at: i64,
}

impl From<CommitStatus> for StatusBody {
    fn from(status: CommitStatus) -> Self {
        let StatusDraft { context, state, description, url } = status.draft;
        Self {
            context,
            state: state.as_str(),
            description,
            url,
            set_by: status.set_by.to_string(),
            key_id: status.key_id.map(|id| id.to_string()),
            created_at: status.created_at.as_millis(),
            updated_at: status.updated_at.as_millis(),
        }
    }
}

/// The statuses of a commit.
#[derive(Serialize, ToSchema)]
pub(crate) struct StatusesAnswer {
    /// `failure` where a check failed, `pending` where one isn't done or none has begun, otherwise `success`.
    state: &'static str,
    /// The statuses, by their contexts; at most 200.
    statuses: Vec<StatusBody>,
}

/// The statuses of a commit
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/commits/{sha}/statuses")]
pub(crate) async fn commit_statuses_list(
    repository: Repository<GitRead>,
    commit: KnownCommit,
    state: State,
) -> Result<Json<StatusesAnswer>> {
    let found = state.store.commit_statuses(repository.stored.no, commit.0).await?;
    let whole = combined(found.iter().map(|status| status.draft.state));
    Ok(Json(StatusesAnswer { state: whole.as_str(), statuses: found.into_iter().map(StatusBody::from).collect() }))
}

/// What a check says.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"context": "ci/test", "state": "success", "description": "214 tests"}))]
pub(crate) struct StatusSet {
    /// Which check it is: 1 to 100 characters.
    context: String,
    /// `pending`, `success`, `failure` or `error`.
    state: String,
    /// What it says: up to 140 characters.
    description: Option<String>,
    /// Where more is to be read: up to 2048 characters, from `https://` or `http://` on.
    url: Option<String>,
}

impl RequestBody for StatusSet {}

impl StatusSet {
    fn draft(self) -> domain::Result<StatusDraft> {
        let known = || Error::invalid("state", "Use one of: pending, success, failure, error.");
        let state = CommitState::from_name(&self.state).ok_or_else(known)?;
        let description = self.description.unwrap_or_default();
        StatusDraft { context: self.context, state, description, url: self.url }.check()
    }
}

/// One status.
#[derive(Serialize, ToSchema)]
pub(crate) struct StatusAnswer {
    /// The status.
    status: StatusBody,
}

/// Set a status of a commit
///
/// In the place of what the same check said of the commit before. Rules can ask for checks to succeed.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/commits/{sha}/statuses", responses(
    (status = 400, description = "A commit has at most 200 statuses."),
    (status = 409, description = "This repository is deleted. Restore it first."),
))]
pub(crate) async fn commit_status_set(
    repository: Repository<GitWrite>,
    body: Body<StatusSet>,
    commit: KnownCommit,
    state: State,
) -> Result<Created<StatusAnswer>> {
    let command = SetCommitStatus { org_id: repository.org_id(), commit: commit.0, draft: body.into_inner().draft()? };
    let set = state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(Created(StatusAnswer { status: set.into() }))
}
