//! Why a workflow ran on a commit, or didn't.

use actors::pipelines::{Sources, WhatHappened};
use domain::{
    Error,
    git::{ObjectId, RefKind, RefName, objects::Commit},
    pipelines::trigger::{Candidate, start},
    problems::Problems,
};
use http_shell::{
    answer::Json,
    error::Result,
    permission::GitRead,
    query::{Query, RequestQuery},
    repository::Repository,
    state::{AppState, State},
};
use serde::{Deserialize, Serialize};
use store::{git::StoredRepository, pipelines::RunList};
use utoipa::{IntoParams, ToSchema};

use super::{
    body::RunBody,
    workflows::{named, sources},
};

/// `?ref=&event=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct WhyQuery {
    /// A branch, a tag or a commit: 1 to 255 characters; the default branch where it isn't said.
    #[param(min_length = 1, max_length = 255)]
    r#ref: Option<String>,
    /// `push`, where it isn't said, or `workflow_dispatch`.
    event: Option<String>,
}

impl RequestQuery for WhyQuery {
    fn check(&self, problems: &mut Problems) {
        let fits = self.r#ref.as_ref().is_none_or(|text| (1..=255).contains(&text.chars().count()));
        problems.require(fits, "ref", "Use 1 to 255 characters.");
        let known = self.event.as_deref().is_none_or(|event| ["push", "workflow_dispatch"].contains(&event));
        problems.require(known, "event", "Use one of: push, workflow_dispatch.");
    }
}

/// What an event came to for a workflow.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "file": "ci.yml", "starts": false, "code": "branch", "reason": "The filter of branches doesn't let 'feature' pass.",
    "runs": []
}))]
pub(crate) struct WhyBody {
    /// The file's name.
    file: String,
    /// Whether the event starts it now.
    starts: bool,
    /// A word for why it doesn't.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// Why it doesn't, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The runs of the file on the commit that the event started, the newest first; at most 10.
    runs: Vec<RunBody>,
}

/// Why workflows ran, or didn't.
#[derive(Serialize, ToSchema)]
pub(crate) struct WhyAnswer {
    /// The commit.
    sha: String,
    /// Each workflow of the commit, in the order of their files' names.
    workflows: Vec<WhyBody>,
}

/// Runs of one file that are told.
const RUNS_MAX: usize = 10;
/// Runs of a commit that are looked through for them, the newest.
const RUNS_LOOKED_AT: u64 = 1_000;

/// A push of a ref as it is now, as the push that made its newest commit.
async fn pushed(
    state: &AppState,
    repository: &StoredRepository,
    full_ref: &str,
    commit: &Commit,
) -> Result<WhatHappened> {
    let message = commit.message.clone();
    let name = RefName::parse(full_ref.as_bytes());
    Ok(match name {
        Some(name) if name.kind() == RefKind::Tag => WhatHappened::Tag { name: name.short(), message },
        name => {
            let paths = match commit.parents.first() {
                Some(parent) => sources(state).paths(repository, (*parent, commit.id)).await?,
                None => None,
            };
            let name = name.map(|name| name.short());
            let name = name.unwrap_or_else(|| repository.settings.default_branch.as_str().to_owned());
            WhatHappened::Branch { name, paths, message }
        }
    })
}

/// Why workflows run on a commit, or don't
///
/// For each workflow of the commit: what a push of its newest commit, or starting it by hand, comes to now, and the runs that there are.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/why",
    responses((status = 404, description = "Branch or tag not found")))]
pub(crate) async fn workflows_why(
    repository: Repository<GitRead>,
    query: Query<WhyQuery>,
    state: State,
) -> Result<Json<WhyAnswer>> {
    let stored = &repository.stored;
    let text = query.r#ref.clone().unwrap_or_else(|| stored.settings.default_branch.as_str().to_owned());
    let (full_ref, id) = named(&state, stored, &text).await?;
    let event = query.event.clone().unwrap_or_else(|| "push".to_owned());
    let what = match event.as_str() {
        "push" => pushed(&state, stored, &full_ref, &commit_of(&state, stored, id).await?).await?,
        _ => WhatHappened::Dispatch,
    };
    let states = state.store.workflow_states(stored.no).await?;
    let list = RunList { event: Some(event), sha: Some(id), limit: RUNS_LOOKED_AT, ..RunList::default() };
    let all = state.store.runs(stored.no, &list).await?;
    let mut workflows = Vec::new();
    for found in sources(&state).files(stored, id).await? {
        let is_disabled = states.iter().any(|it| it.file == found.name && it.is_disabled);
        let decided = start(Candidate { workflow: found.file.workflow.as_ref(), is_disabled }, &what.trigger());
        let runs = all.iter().filter(|run| run.file == found.name).take(RUNS_MAX).cloned().map(RunBody::from).collect();
        let why = decided.err();
        let (code, reason) = why.as_ref().map(|why| (why.code(), why.to_string())).unzip();
        workflows.push(WhyBody { file: found.name, starts: why.is_none(), code, reason, runs });
    }
    Ok(Json(WhyAnswer { sha: id.to_string(), workflows }))
}

async fn commit_of(state: &AppState, repository: &StoredRepository, id: ObjectId) -> Result<Commit> {
    let found = sources(state).commit(repository, id).await?;
    Ok(found.ok_or_else(|| Error::internal(format_args!("the commit {id} was there a moment ago")))?)
}
