//! Checking a workflow's text before it is a file.

use actors::pipelines::Sources;
use domain::{
    git::branch_among,
    pipelines::workflow::{FilesBeside, WorkflowFile, WorkflowProblem},
    problems::Problems,
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    permission::GitRead,
    repository::Repository,
    state::{AppState, State},
};
use serde::{Deserialize, Serialize};
use store::git::StoredRepository;
use utoipa::ToSchema;

use super::{
    body::WorkflowProblemBody,
    workflows::{jobs_of, sources},
};

/// What is said of a name that no workflow file can have.
const NO_WORKFLOW_NAME: &str = "Use the name of a file in .service/workflows that ends with .yml or .yaml.";

/// A workflow's text.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({
    "text": "on: push\njobs:\n  test:\n    runs-on: linux\n    steps:\n      - run: make test\n", "file": "ci.yml"
}))]
pub(crate) struct WorkflowCheck {
    /// What the file would say: up to 524,288 bytes.
    text: String,
    /// The file that it would be: its name of up to 255 bytes, or its path, which begins with `.service/workflows/`. With it, what is
    /// wrong beside the files of the default branch is told, too.
    #[serde(default)]
    file: Option<String>,
}

impl RequestBody for WorkflowCheck {
    const LIMIT: usize = 4 * http_shell::body::BODY_LEN_MAX;

    fn check(&self, problems: &mut Problems) {
        let fits = self.file.as_deref().is_none_or(|file| WorkflowFile::name_of(file).is_some());
        problems.require(fits, "file", NO_WORKFLOW_NAME);
    }
}

/// What a workflow's text means.
#[derive(Serialize, ToSchema)]
pub(crate) struct WorkflowCheckAnswer {
    /// The name of the file that it would be, where one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// What is wrong with it: of the file as a whole first, then in the order of the text.
    problems: Vec<WorkflowProblemBody>,
    /// The names of its jobs, in the order of the file.
    jobs: Vec<String>,
}

/// Check a workflow's text
///
/// What is wrong with it, and where. Nothing is kept.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/check")]
pub(crate) async fn workflow_check(
    repository: Repository<GitRead>,
    body: Body<WorkflowCheck>,
    state: State,
) -> Result<Json<WorkflowCheckAnswer>> {
    let WorkflowCheck { text, file: named } = body.into_inner();
    let (_, file) = sources(&state).meaning(repository.org_id(), text).await?;
    let name = named.as_deref().and_then(WorkflowFile::name_of);
    let beside = match name {
        Some(name) => beside(&state, &repository.stored, (name, &file)).await?,
        None => Vec::new(),
    };
    let body = |problem: &WorkflowProblem| match name {
        Some(name) => WorkflowProblemBody::from(problem).of_file(name),
        None => WorkflowProblemBody::from(problem),
    };
    let problems = beside.iter().chain(&file.problems).map(body).collect();
    Ok(Json(WorkflowCheckAnswer { file: name.map(str::to_owned), problems, jobs: jobs_of(&file) }))
}

/// What is wrong with a file because of those that the default branch has.
async fn beside(
    state: &AppState,
    repository: &StoredRepository,
    (name, file): (&str, &WorkflowFile),
) -> Result<Vec<WorkflowProblem>> {
    let refs = state.git.refs(repository.no).await?;
    let Some(tip) = branch_among(&refs, &repository.settings.default_branch) else { return Ok(Vec::new()) };
    let folder = sources(state).folder(repository, tip.oid).await?;
    let found = sources(state).files(repository, tip.oid).await?;
    let read: Vec<_> = found.iter().map(|it| (it.name.as_str(), &*it.file)).collect();
    let beside = FilesBeside { names: &folder.names, read: &read, folders: &folder.folders };
    Ok(file.problems_beside(name, beside))
}
