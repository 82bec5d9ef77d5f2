//! Approvals of a run: which jobs wait for their environments, and what reviewers say.

use std::collections::BTreeMap;

use actors::pipelines::ReviewRun;
use domain::{
    Error, Timestamp,
    id::JobId,
    pipelines::environments::{APPROVAL_COMMENT_LEN_MAX, ApprovalDecision, ENVIRONMENTS_MAX, EnvironmentName, Verdict},
    problems::Problems,
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    owned::Owned,
    permission::{GitRead, GitWrite},
    repository::Repository,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::pipelines::{JobStage, StoredApproval, StoredEnvironment, StoredJob, StoredRun};
use utoipa::ToSchema;

use super::body::RunAnswer;

/// A job that waits for its environment, or did.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "jobId": "job_01jd7rt4m5e9fv2w8x3c6k0hqz", "job": "Deploy", "attempt": 1, "environment": "production",
    "reviewers": ["usr_01jd7rt4m5e9fv2w8x3c6k0hqz"], "state": "waiting", "askedAt": 1_767_225_600_000_i64,
    "waitsUntil": null, "decidedBy": null, "comment": null, "decidedAt": null
}))]
pub(crate) struct ApprovalBody {
    /// The job's id.
    job_id: String,
    /// The job's name.
    job: String,
    /// The attempt of the run.
    attempt: u32,
    /// The environment's name.
    environment: String,
    /// Ids of the people and teams who are asked, as the environment has them now.
    reviewers: Vec<String>,
    /// `waiting` for a reviewer, `unneeded` where only the timer is waited for, `approved`, `rejected`, `expired` after 30 days, or
    /// `dropped` where the job ended otherwise.
    state: &'static str,
    /// Since when the job waits.
    asked_at: i64,
    /// When the environment's timer runs out; null where there is none.
    waits_until: Option<i64>,
    /// The id of the person who decided.
    decided_by: Option<String>,
    /// What else the person said.
    comment: Option<String>,
    /// When it was decided.
    decided_at: Option<i64>,
}

impl ApprovalBody {
    fn new(approval: StoredApproval, job: &StoredJob, environment: Option<&StoredEnvironment>) -> Self {
        let is_over = job.stage != JobStage::Held;
        let reviewers = environment.iter().flat_map(|it| &it.protection.reviewers).map(ToString::to_string);
        Self {
            job_id: job.id.to_string(),
            job: job.name.clone(),
            attempt: job.attempt,
            environment: environment.map_or(approval.environment, |it| it.name.as_str().to_owned()),
            reviewers: reviewers.collect(),
            state: approval.decision.map_or(if is_over { "dropped" } else { "waiting" }, ApprovalDecision::name),
            asked_at: approval.asked_at.as_millis(),
            waits_until: approval.waits_until.map(Timestamp::as_millis),
            decided_by: approval.decided_by,
            comment: approval.comment,
            decided_at: approval.decided_at.map(Timestamp::as_millis),
        }
    }
}

/// The approvals of a run.
#[derive(Serialize, ToSchema)]
pub(crate) struct ApprovalsAnswer {
    /// Approvals of all attempts, the oldest first.
    approvals: Vec<ApprovalBody>,
}

/// The approvals of a run
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/approvals")]
pub(crate) async fn run_approvals_list(
    _: Repository<GitRead>,
    Owned(run): Owned<StoredRun>,
    state: State,
) -> Result<Json<ApprovalsAnswer>> {
    let environments = state.store.environments(run.no).await?;
    let jobs = state.store.run_jobs(run.id, run.attempt).await?;
    let jobs: BTreeMap<JobId, StoredJob> = jobs.into_iter().map(|job| (job.id, job)).collect();
    let found = state.store.approvals(run.id).await?.into_iter().filter_map(|approval| {
        let job = jobs.get(&approval.job_id)?;
        let environment = environments.iter().find(|it| it.name.key() == approval.environment);
        Some(ApprovalBody::new(approval, job, environment))
    });
    let mut approvals: Vec<_> = found.collect();
    // Attempts can begin within one millisecond.
    approvals.sort_by_key(|it| it.attempt);
    Ok(Json(ApprovalsAnswer { approvals }))
}

/// What a reviewer says.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"environments": ["production"], "decision": "approve", "comment": "Looks good."}))]
pub(crate) struct ApprovalDecide {
    /// The names of environments for which jobs wait: 1 to 1,000.
    environments: Vec<String>,
    /// `approve`, or `reject`, which has the jobs fail.
    decision: String,
    /// What else is said: up to 1,000 characters.
    comment: Option<String>,
}

impl RequestBody for ApprovalDecide {
    fn check(&self, problems: &mut Problems) {
        let fits = (1..=ENVIRONMENTS_MAX).contains(&self.environments.len());
        problems.require(fits, "environments", "Use 1 to 1000.");
        let fits = self.comment.as_ref().is_none_or(|text| text.chars().count() <= APPROVAL_COMMENT_LEN_MAX);
        problems.require(fits, "comment", "Use at most 1000 characters.");
    }
}

impl ApprovalDecide {
    fn read(self) -> domain::Result<ReviewRun> {
        let mut problems = Problems::new();
        let mut environments = Vec::new();
        for (at, text) in self.environments.iter().enumerate() {
            environments.extend(problems.keep(EnvironmentName::parse(&format!("environments[{at}]"), text))?);
        }
        let verdict = Verdict::from_name(&self.decision)
            .ok_or_else(|| Error::invalid("decision", "Use one of: approve, reject."));
        let verdict = problems.keep(verdict)?;
        problems.into_result()?;
        let verdict = verdict.ok_or_else(|| Error::internal("a decision is neither right nor wrong"))?;
        let comment = self.comment.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        Ok(ReviewRun { environments, verdict, comment })
    }
}

/// Approve or reject jobs of a run
///
/// All jobs of the run that wait for one of these environments. Only people decide, and only those whom each of the environments names,
/// themselves or by a team.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/approvals", responses(
    (status = 403, description = "Only a reviewer of this environment can decide.\n\nWhoever started the run can't approve it here."),
    (status = 404, description = "Environment not found"),
    (status = 409, description = "This run is over.\n\nNo job of this run waits for a reviewer of this environment.\n\n\
     This repository is deleted. Restore it first."),
))]
pub(crate) async fn run_approvals_decide(
    repository: Repository<GitWrite>,
    body: Body<ApprovalDecide>,
    Owned(run): Owned<StoredRun>,
    state: State,
) -> Result<Json<RunAnswer>> {
    let command = body.into_inner().read()?;
    let run = state.actors.run.ask(&run.id, command, repository.context()).await?;
    Ok(Json(RunAnswer { run: run.into() }))
}

/// What a job waits for at its environment, in words; none where it hasn't come there.
pub(super) fn wait(job: &StoredJob, approvals: &[StoredApproval]) -> Option<String> {
    let approval = approvals.iter().find(|it| it.job_id == job.id)?;
    let environment = job.environment.as_deref().unwrap_or(&approval.environment);
    Some(match approval.decision {
        None => format!("a reviewer of the environment '{environment}'."),
        Some(_) => format!("the timer of the environment '{environment}'."),
    })
}
