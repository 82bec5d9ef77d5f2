//! What runners say of jobs (contract C 4.1).

use std::{borrow::Cow, collections::BTreeMap};

use actors::pipelines::{CompleteJob, JobEnd, ReportStatus};
use domain::{
    Error, Timestamp,
    pipelines::{
        job::{
            ANNOTATION_FILE_LEN_MAX, ANNOTATION_MESSAGE_LEN_MAX, ANNOTATION_TITLE_LEN_MAX, ANNOTATIONS_MAX,
            JOB_ERROR_LEN_MAX, JOB_OUTPUT_LEN_MAX, JOB_OUTPUTS_LEN_MAX, JOB_SUMMARY_LEN_MAX, STEP_INDEX_MAX,
            STEP_NAME_LEN_MAX, STEP_REPORTS_MAX, StepConclusion, StepReport, StepStatus, environment_address,
        },
        logs::Masks,
        run::JobConclusion,
    },
    problems::Problems,
    token::TokenHash,
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    state::State,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use store::pipelines::JobReport;
use utoipa::ToSchema;

use super::argument::OfLateJob;

/// Bytes of a report, at most: 1,100 names alone may be 2.2 MB.
const REPORT_LEN_MAX: usize = 8 * 1024 * 1024;
/// How a step is doing.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepReportBody {
    /// The place among the steps, 0 to 5,000.
    index: i64,
    /// What people read: up to 500 characters.
    name: String,
    /// `pending`, `in_progress` or `completed`.
    #[schema(value_type = String)]
    status: StepStatus,
    /// How the step counts for the job: `success`, `failure`, `cancelled` or `skipped`.
    #[schema(value_type = Option<String>)]
    conclusion: Option<StepConclusion>,
    /// How the step ended.
    #[schema(value_type = Option<String>)]
    outcome: Option<StepConclusion>,
    /// When the step began.
    started_at: Option<i64>,
    /// When the step was over.
    completed_at: Option<i64>,
    /// Whether this is what an action does once the steps are over.
    post: Option<bool>,
}

/// The text without what must not be read.
fn hide(masks: &Masks, text: String) -> String {
    masks.hide(Cow::Owned(text)).into_owned()
}

impl StepReportBody {
    fn report(self, masks: &Masks) -> StepReport {
        StepReport {
            index: usize::try_from(self.index).unwrap_or_default(),
            name: hide(masks, self.name),
            status: self.status,
            conclusion: self.conclusion,
            outcome: self.outcome,
            started_at: self.started_at.map(Timestamp),
            completed_at: self.completed_at.map(Timestamp),
            post: self.post,
        }
    }
}

fn steps_check(steps: &[StepReportBody], problems: &mut Problems) {
    let most = format!("Use at most {STEP_REPORTS_MAX} entries.");
    problems.require(steps.len() <= STEP_REPORTS_MAX, "steps", most);
    for (at, step) in steps.iter().enumerate() {
        let fits = (0..=STEP_INDEX_MAX).contains(&step.index);
        problems.require(fits, format!("steps[{at}].index"), format!("Must be from 0 to {STEP_INDEX_MAX}."));
        characters(problems, (format!("steps[{at}].name"), step.name.as_str()), STEP_NAME_LEN_MAX);
    }
}

/// A text has at most so many characters.
fn characters(problems: &mut Problems, (path, text): (String, &str), most: usize) {
    problems.require(text.chars().count() <= most, path, format!("Use at most {most} characters."));
}

/// How far a job is.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"steps": [{"index": 0, "name": "Run make test", "status": "in_progress"}]}))]
pub(crate) struct RunnerStatus {
    /// All steps: up to 1,100.
    steps: Vec<StepReportBody>,
}

impl RequestBody for RunnerStatus {
    const LIMIT: usize = REPORT_LEN_MAX;

    fn check(&self, problems: &mut Problems) {
        steps_check(&self.steps, problems);
    }
}

/// Whether a job has to stop.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"cancel": false}))]
pub(crate) struct RunnerStatusAnswer {
    /// Whether the runner has to stop the job: somebody or something cancelled it, or it has taken as long as it may.
    cancel: bool,
}

/// Say how far a job is
///
/// A runner that says nothing for 60 seconds is taken for lost.
#[utoipa::path(post, path = "/v1/runner/status", responses((status = 409, description = "Ask for the job's plan first.")))]
pub(crate) async fn runner_status(
    job: OfLateJob,
    body: Body<RunnerStatus>,
    state: State,
) -> Result<Json<RunnerStatusAnswer>> {
    let masks = state.actors.job_masks.of(&job.job).await?;
    let steps = body.into_inner().steps.into_iter().map(|step| step.report(&masks)).collect();
    let command = ReportStatus { speaker: job.speaker(), steps };
    let cancel = state.actors.run.ask(&job.job.run_id, command, job.context()).await?;
    Ok(Json(RunnerStatusAnswer { cancel }))
}

/// How a job ended, as its runner says.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CompleteConclusion {
    /// All steps did what they should.
    Success,
    /// A step failed.
    Failure,
    /// The job was cancelled.
    Cancelled,
}

/// How much an annotation matters.
#[derive(Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AnnotationLevel {
    /// Something failed.
    Error,
    /// Something may be wrong.
    Warning,
    /// Something is worth knowing.
    Notice,
}

/// A remark on a job, or on a line of a file.
#[derive(Deserialize, Serialize, ToSchema)]
pub(crate) struct Annotation {
    /// How much it matters.
    level: AnnotationLevel,
    /// What is said: up to 4,000 characters.
    message: String,
    /// The file: up to 500 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// The line.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<i64>,
    /// A title: up to 200 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// The step that said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<i64>,
}

impl Annotation {
    fn hidden(self, masks: &Masks) -> Self {
        let hidden = |text| hide(masks, text);
        Self { message: hidden(self.message), file: self.file.map(hidden), title: self.title.map(hidden), ..self }
    }
}

/// How a job ended.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"conclusion": "success", "outputs": {"version": "1.2.3"}}))]
pub(crate) struct RunnerComplete {
    /// How it ended.
    conclusion: CompleteConclusion,
    /// All steps: up to 1,100.
    #[serde(default)]
    steps: Vec<StepReportBody>,
    /// What the job hands to jobs that need it: values of up to 65,536 characters.
    #[serde(default)]
    outputs: BTreeMap<String, String>,
    /// Remarks: up to 50.
    #[serde(default)]
    annotations: Vec<Annotation>,
    /// What the job says of itself, as Markdown: up to 65,536 characters.
    #[serde(default)]
    summary: String,
    /// Why the job couldn't be run: up to 2,000 characters.
    #[serde(default)]
    error: String,
    /// Whether the job took longer than it may.
    #[serde(default)]
    timed_out: bool,
    /// Where to see what the job deployed: an http or https address of up to 2,000 characters. Anything else is left out.
    environment_url: Option<String>,
}

impl RequestBody for RunnerComplete {
    const LIMIT: usize = REPORT_LEN_MAX;

    fn check(&self, problems: &mut Problems) {
        steps_check(&self.steps, problems);
        for (name, value) in &self.outputs {
            characters(problems, (format!("outputs.{name}"), value.as_str()), JOB_OUTPUT_LEN_MAX);
        }
        let whole: usize = self.outputs.iter().map(|(name, value)| name.len() + value.len()).sum();
        let most = format!("Use at most {JOB_OUTPUTS_LEN_MAX} bytes in all.");
        problems.require(whole <= JOB_OUTPUTS_LEN_MAX, "outputs", most);
        let most = format!("Use at most {ANNOTATIONS_MAX} entries.");
        problems.require(self.annotations.len() <= ANNOTATIONS_MAX, "annotations", most);
        for (at, annotation) in self.annotations.iter().enumerate() {
            let fields = [
                ("message", Some(&annotation.message), ANNOTATION_MESSAGE_LEN_MAX),
                ("file", annotation.file.as_ref(), ANNOTATION_FILE_LEN_MAX),
                ("title", annotation.title.as_ref(), ANNOTATION_TITLE_LEN_MAX),
            ];
            for (field, text, most) in fields {
                let text = text.map_or("", String::as_str);
                characters(problems, (format!("annotations[{at}].{field}"), text), most);
            }
        }
        characters(problems, ("summary".to_owned(), self.summary.as_str()), JOB_SUMMARY_LEN_MAX);
        characters(problems, ("error".to_owned(), self.error.as_str()), JOB_ERROR_LEN_MAX);
    }
}

/// `true`: the report was taken.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"ok": true}))]
pub(crate) struct RunnerOk {
    /// True.
    ok: bool,
}

/// End a job
///
/// Asked again with the same body, the answer is the same. Secrets that the job was given are masked wherever they stand; an output
/// or an address that holds one isn't handed on.
#[utoipa::path(post, path = "/v1/runner/complete", responses((status = 409, description = "Ask for the job's plan first.")))]
pub(crate) async fn runner_complete(
    job: OfLateJob,
    body: Body<RunnerComplete>,
    state: State,
) -> Result<Json<RunnerOk>> {
    let hash = TokenHash(Sha256::digest(body.raw()).into());
    let body = body.into_inner();
    let conclusion = match body.conclusion {
        _ if body.timed_out => JobConclusion::TimedOut,
        CompleteConclusion::Success => JobConclusion::Success,
        CompleteConclusion::Failure => JobConclusion::Failure,
        CompleteConclusion::Cancelled => JobConclusion::Cancelled,
    };
    let masks = state.actors.job_masks.of(&job.job).await?;
    let annotations: Vec<_> = body.annotations.into_iter().map(|it| it.hidden(&masks)).collect();
    let annotations = serde_json::to_string(&annotations).and_then(RawValue::from_string);
    let report = JobReport {
        steps: body.steps.into_iter().map(|step| step.report(&masks)).collect(),
        annotations: annotations.map_err(Error::internal)?,
        // PostgreSQL keeps no NUL in texts, and what a program printed may have one.
        summary: hide(&masks, body.summary.replace('\0', "")),
        error: hide(&masks, body.error.replace('\0', "")),
        body: Some(hash),
    };
    let is_open = |(name, value): &(String, String)| !masks.are_in(name) && !masks.are_in(value);
    let outputs = body.outputs.into_iter().filter(is_open).collect();
    let address = body.environment_url.as_deref().and_then(environment_address);
    let environment_url = address.filter(|address| !masks.are_in(address)).map(str::to_owned);
    let end = JobEnd { conclusion, outputs, environment_url, report };
    let command = CompleteJob { speaker: job.speaker(), end };
    state.actors.run.ask(&job.job.run_id, command, job.context()).await?;
    Ok(Json(RunnerOk { ok: true }))
}
