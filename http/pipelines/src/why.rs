//! Why a workflow ran on a commit, or didn't; and why a job doesn't run yet.

mod asked;
pub(super) mod waiting;

use actors::pipelines::{FoundFile, Sources};
use domain::{
    git::ObjectId,
    pipelines::{
        trigger::{Candidate, RUN_EVENTS, start},
        workflow::{ACTIVITIES_TOLD, Severity},
    },
    problems::Problems,
};
use http_shell::{
    answer::Json,
    error::Result,
    permission::GitRead,
    query::{Query, RequestQuery},
    repository::Repository,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::pipelines::{RunList, StoredRun};
use utoipa::{IntoParams, ToSchema};

use self::asked::{Asked, Asking, Brought};
use super::{
    body::{RunBody, WorkflowProblemBody},
    workflows::sources,
};

/// Runs of one file that are told.
const RUNS_MAX: usize = 10;
/// Runs of a commit that are looked through for them, the newest.
const RUNS_LOOKED_AT: u64 = 1_000;
/// Characters of a ref or a schedule.
const TEXT_LEN_MAX: usize = 255;

/// `?ref=&sha=&event=&pull=&activity=&cron=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct WhyQuery {
    /// A branch, a tag or a commit: 1 to 255 characters; the default branch where neither a ref nor a commit is said. A pull request
    /// takes none.
    #[param(min_length = 1, max_length = 255)]
    r#ref: Option<String>,
    /// A commit, by all of its 40 hexadecimal digits; of a pull request, its head. Without it, what the ref or the head names.
    #[param(min_length = 40, max_length = 40)]
    sha: Option<String>,
    /// `push`, where it isn't said, `pull_request`, `schedule` or `workflow_dispatch`.
    event: Option<String>,
    /// The number of the pull request, which `pull_request` needs.
    #[param(minimum = 1)]
    pull: Option<u32>,
    /// What happened to the pull request, as files name it; where it isn't said, `opened` or `synchronize`, whichever brought its
    /// head, and `closed` of one that is over.
    activity: Option<String>,
    /// The schedule, as files have it; where it isn't said, the first of each file.
    #[param(min_length = 1, max_length = 255)]
    cron: Option<String>,
}

impl WhyQuery {
    /// The event, as files name it.
    fn event(&self) -> &str {
        self.event.as_deref().unwrap_or("push")
    }
}

impl RequestQuery for WhyQuery {
    fn check(&self, problems: &mut Problems) {
        let fits = |text: Option<&str>| text.is_none_or(|it| (1..=TEXT_LEN_MAX).contains(&it.chars().count()));
        problems.require(fits(self.r#ref.as_deref()), "ref", "Use 1 to 255 characters.");
        problems.require(fits(self.cron.as_deref()), "cron", "Use 1 to 255 characters.");
        let is_commit = self.sha.as_ref().is_none_or(|sha| sha.parse::<ObjectId>().is_ok());
        problems.require(is_commit, "sha", "Use the 40 hexadecimal digits of a commit.");
        let event = self.event();
        problems.require(RUN_EVENTS.contains(&event), "event", format!("Use one of: {}.", RUN_EVENTS.join(", ")));
        let is_known = self.activity.as_deref().is_none_or(|activity| ACTIVITIES_TOLD.contains(&activity));
        problems.require(is_known, "activity", format!("Use one of: {}.", ACTIVITIES_TOLD.join(", ")));
        let is_pull = event == "pull_request";
        problems.require(
            self.pull.is_some() == is_pull,
            "pull",
            "The event pull_request takes a pull request, and only it.",
        );
        problems.require(is_pull || self.activity.is_none(), "activity", "Only the event pull_request takes it.");
        problems.require(!is_pull || self.r#ref.is_none(), "ref", "The event pull_request takes none.");
        problems.require(event == "schedule" || self.cron.is_none(), "cron", "Only the event schedule takes it.");
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
    /// Whether the event starts it now. A push starts a run of a broken file, too, which is over at once.
    starts: bool,
    /// A word for why it doesn't.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// Why it doesn't, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The errors of a file that means nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<WorkflowProblemBody>,
    /// The runs of the file on the commit that the event started, the newest first; at most 10.
    runs: Vec<RunBody>,
}

/// The push that brought a commit.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WhyPush {
    /// The push.
    push_id: String,
    /// The branch or tag, whole.
    #[serde(rename = "ref")]
    full_ref: String,
    /// The commit at which the push left it, on which its runs are.
    sha: String,
}

/// Why workflows ran, or didn't.
#[derive(Serialize, ToSchema)]
pub(crate) struct WhyAnswer {
    /// The event.
    event: String,
    /// What happened to the pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    activity: Option<String>,
    /// The ref, whole, where the event is about one: of a push, the one that was pushed.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    full_ref: Option<String>,
    /// The commit; of a pull request, the head.
    sha: String,
    /// The push that ended at the commit, or that brought it among others, where the newest ones have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    push: Option<WhyPush>,
    /// Each workflow of the commit, or of the test merge of the pull request, in the order of their files' names.
    workflows: Vec<WhyBody>,
}

/// Why workflows run on a commit, or don't
///
/// For each workflow of the commit: what the push that ended there, an activity on a pull request, a time or starting it by hand comes to
/// as things are now, decided as it is when it happens, and the runs that there are.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/why", responses(
    (status = 404, description = "Branch or tag not found\n\nCommit not found\n\nPull request not found")))]
pub(crate) async fn workflows_why(
    repository: Repository<GitRead>,
    query: Query<WhyQuery>,
    state: State,
) -> Result<Json<WhyAnswer>> {
    let stored = &repository.stored;
    let (asking, event) = (Asking { state: &state, repository: stored, query: &query }, query.event().to_owned());
    let asked = match event.as_str() {
        "push" => asking.push().await?,
        "pull_request" => asking.pull().await?,
        "schedule" => asking.schedule().await?,
        _ => asking.dispatch().await?,
    };
    let states = state.store.workflow_states(stored.no).await?;
    let pull = query.pull.map(i64::from);
    let list = RunList {
        event: Some(event.clone()),
        sha: Some(asked.commit),
        pull,
        limit: RUNS_LOOKED_AT,
        ..RunList::default()
    };
    let mut runs = state.store.runs(stored.no, &list).await?;
    if event == "push" {
        runs.retain(|run| asked.full_ref.as_ref().is_none_or(|full_ref| *full_ref == run.full_ref));
    }
    let files = sources(&state).files(stored, asked.files).await?;
    let workflows = files.iter().map(|found| {
        let is_disabled = states.iter().any(|it| it.file == found.name && it.is_disabled);
        why(&asked, (found, is_disabled), &runs)
    });
    let workflows = workflows.collect();
    let Asked { full_ref, commit, activity, push, .. } = asked;
    let push = push.map(|Brought { push_id, full_ref, head }| WhyPush {
        push_id: push_id.to_string(),
        full_ref,
        sha: head.to_string(),
    });
    Ok(Json(WhyAnswer { event, activity, full_ref, sha: commit.to_string(), push, workflows }))
}

/// What the event comes to for a workflow.
fn why(asked: &Asked, (found, is_disabled): (&FoundFile, bool), runs: &[StoredRun]) -> WhyBody {
    let workflow = found.file.workflow.as_ref();
    let decided = start(Candidate { workflow, is_disabled }, &asked.of_file(found).trigger());
    let reason = decided.err();
    let (code, reason) = reason.as_ref().map(|why| (why.code(), why.to_string())).unzip();
    let errors = found.file.problems.iter().filter(|it| workflow.is_none() && it.severity == Severity::Error);
    let runs = runs.iter().filter(|run| run.file == found.name).take(RUNS_MAX).cloned();
    WhyBody {
        file: found.name.clone(),
        starts: code.is_none(),
        code,
        reason,
        problems: errors.map(WorkflowProblemBody::from).collect(),
        runs: runs.map(RunBody::from).collect(),
    }
}
