//! Commits that are made without git: files are written, moved and deleted (contract C 4.3).

mod body;
mod making;

use http_shell::{
    answer::Created, body::Body, error::Result, permission::GitWrite, repository::Repository, state::State,
};
use serde::Serialize;
use utoipa::ToSchema;

pub(crate) use self::body::WebCommitCreate;
use self::making::Making;
use super::secret_findings::SecretFindingBody;

/// A commit that was made.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"commitId": "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0", "branch": "main"}))]
pub(crate) struct WebCommitAnswer {
    /// The commit; missing where nothing would change, and nothing was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit_id: Option<String>,
    /// The branch that it is on.
    branch: String,
}

/// Why a commit was refused in which there are secrets.
#[derive(Serialize, ToSchema)]
pub(crate) struct SecretsDetected {
    /// A sentence for people.
    error: String,
    /// `secret_detected`.
    code: String,
    /// The secrets that nobody allowed.
    findings: Vec<SecretFindingBody>,
}

/// Commit changes
///
/// Writes, moves and deletes files of a branch in one commit of yours, whose parent is the commit that the branch names. Changes are
/// applied to the parent's files, and no two of them may meet. Where nothing would change, nothing is made.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/contents", responses(
    (status = 400, description = "parentCommitId is required.\n\nuploadId is required for uploaded files.\n\nInvalid upload \
     id.\n\nAn uploaded file is missing. Upload the files again.\n\nA file can only be changed once in a commit.\n\nA file \
     can't be moved onto itself.\n\nThat commit doesn't exist."),
    (status = 403, description = "This branch needs a pull request."),
    (status = 404, description = "Branch … not found."),
    (status = 409, description = "The branch changed since you opened it.\n\nA branch with this name already exists.\n\nA tag \
     with this name already exists.\n\nThis repository is deleted. Restore it first."),
    (status = 422, description = "There are secrets in this commit.", body = SecretsDetected),
))]
pub(crate) async fn contents_commit(
    repository: Repository<GitWrite>,
    body: Body<WebCommitCreate>,
    state: State,
) -> Result<Created<WebCommitAnswer>> {
    let made = Making::new(&repository, body.into_inner().draft()?, state)?.make().await?;
    Ok(Created(WebCommitAnswer {
        commit_id: made.commit.map(|commit| commit.to_string()),
        branch: made.branch.as_str().to_owned(),
    }))
}
