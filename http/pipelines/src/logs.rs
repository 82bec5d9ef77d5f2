//! What a runner sends of a job's log (contract C 4.1).

use std::{sync::Arc, time::Instant};

use actors::pipelines::logs::{AppendLog, LogPhase};
use domain::{
    Error,
    pipelines::logs::{LOG_BODY_LEN_MAX, LOG_LINE_LEN_MAX, LOG_LINES_SENT_MAX, LogRules, SentLine},
    problems::Problems,
};
use http_shell::{
    answer::Json,
    argument::Argument,
    body::{Body, RequestBody},
    call::Call,
    error::Result,
    facts::Facts,
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::argument::OfLateJob;

/// The header in which a runner says which number the first line has.
const FIRST_HEADER: &str = "x-service-log-first";

/// A line that a runner sends.
#[derive(Deserialize, ToSchema)]
pub(crate) struct LogLineSent {
    /// When it was written, in milliseconds since the Unix epoch.
    t: i64,
    /// The text: up to 200,000 characters.
    m: String,
}

/// Lines that a runner sends.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"lines": [{"t": 1_767_225_600_000_i64, "m": "Hello"}]}))]
pub(crate) struct LogLinesSent {
    /// 1 to 20,000 lines.
    lines: Vec<LogLineSent>,
}

impl RequestBody for LogLinesSent {
    const LIMIT: usize = LOG_BODY_LEN_MAX;

    fn check(&self, problems: &mut Problems) {
        let fits = (1..=LOG_LINES_SENT_MAX).contains(&self.lines.len());
        problems.require(fits, "lines", format!("Send 1 to {LOG_LINES_SENT_MAX} lines."));
        // A character has at least one byte: so most lines aren't counted.
        let is_long =
            |line: &LogLineSent| line.m.len() > LOG_LINE_LEN_MAX && line.m.chars().nth(LOG_LINE_LEN_MAX).is_some();
        if let Some(at) = self.lines.iter().position(is_long) {
            problems.add(format!("lines[{at}].m"), format!("Use at most {LOG_LINE_LEN_MAX} characters."));
        }
    }
}

/// The number of the first line, where the runner says it.
pub(crate) struct FirstLine(Option<u64>);

impl Argument for FirstLine {
    fn describe(facts: &mut Facts) {
        facts.header(FIRST_HEADER, "The number of the first line, from 0. Lines that have come are skipped.", false);
        facts.error(400, "The request has fields that can't be used as they are.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        if !call.request.headers().contains_key(FIRST_HEADER) {
            return Ok(Self(None));
        }
        let read = call.header(FIRST_HEADER).and_then(|said| said.parse().ok());
        let number = read.filter(|number| i64::try_from(*number).is_ok());
        Ok(Self(Some(number.ok_or_else(|| Error::invalid(FIRST_HEADER, "Must be the number of a line."))?)))
    }
}

/// Lines are on the disk.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"ok": true, "next": 1}))]
pub(crate) struct LogTaken {
    /// Always.
    ok: bool,
    /// The number of the line that is to come next.
    next: u64,
}

/// Send lines of a job's log
///
/// `ok` means that they are on the disk. With `x-service-log-first` every line is kept exactly once, however often it is sent:
/// what has come is skipped. Without it, lines follow what has come. Lines of a job that is over are taken for a day.
#[utoipa::path(post, path = "/v1/runner/logs", responses(
    (status = 409, description = "Lines before these haven't come.")))]
pub(crate) async fn runner_logs(
    of: OfLateJob,
    first: FirstLine,
    body: Body<LogLinesSent>,
    state: State,
) -> Result<Json<LogTaken>> {
    let (job, came_at) = (&of.job, Instant::now());
    let phase = if job.conclusion.is_some() { LogPhase::Late } else { LogPhase::Open };
    let lines = body.into_inner().lines.into_iter().map(|LogLineSent { t, m }| SentLine { t, m });
    let rules = LogRules {
        marker: job.marker.clone(),
        len_max: state.settings.job_limits.log_bytes,
        masks: state.actors.job_masks.of(job).await?,
    };
    let command = AppendLog {
        org_id: job.org_id,
        no: job.no,
        phase,
        first: first.0,
        came_at,
        lines: lines.collect(),
        rules: Arc::new(rules),
    };
    let next = state.actors.job_log.ask(&job.id, command, of.context()).await?;
    Ok(Json(LogTaken { ok: true, next }))
}
