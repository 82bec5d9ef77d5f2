//! Logs of jobs, as people read them.

use actix_web::{HttpResponse, http::header};
use bytes::Bytes;
use domain::{
    Error,
    pipelines::logs::{LOG_LINES_LISTED, LOG_LINES_LISTED_MAX, LogLine},
    problems::Problems,
};
use futures::{Stream, stream};
use http_shell::{
    answer::Json,
    error::Result,
    permission::{Both, GitRead, LogsRead},
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{log_reader::LogReader, reading::JobOf};

/// Chunks that are looked through for one answer.
const CHUNKS_LOOKED_AT_MAX: usize = 64;
/// Characters of what is looked for.
const WORD_MAX: usize = 256;

/// What people need to read logs.
pub(crate) type ReadsLogs = Both<GitRead, LogsRead>;

/// Which lines of a log are read.
#[derive(Deserialize, IntoParams)]
pub(crate) struct LogQuery {
    /// The number of the first line, from 0.
    #[param(minimum = 0)]
    from: Option<i64>,
    /// Lines of the answer: 1 to 5,000; 1,000 by default.
    #[param(minimum = 1, maximum = 5_000)]
    limit: Option<u64>,
    /// Only lines of this step.
    step: Option<u32>,
    /// Only lines with this text in them, regardless of case: 1 to 256 characters.
    q: Option<String>,
}

impl RequestQuery for LogQuery {
    fn check(&self, problems: &mut Problems) {
        problems.require(self.from.is_none_or(|from| from >= 0), "from", "Must be the number of a line.");
        let fits = self.limit.is_none_or(|limit| (1..=LOG_LINES_LISTED_MAX).contains(&limit));
        problems.require(fits, "limit", format!("Must be from 1 to {LOG_LINES_LISTED_MAX}."));
        let fits = self.q.as_ref().is_none_or(|word| (1..=WORD_MAX).contains(&word.chars().count()));
        problems.require(fits, "q", format!("Use 1 to {WORD_MAX} characters."));
    }
}

impl LogQuery {
    fn wants(&self, line: &LogLine, word: Option<&str>) -> bool {
        self.step.is_none_or(|step| line.step == Some(step))
            && word.is_none_or(|word| line.m.to_lowercase().contains(word))
    }
}

/// A line of a log.
#[derive(Serialize, ToSchema)]
pub(crate) struct LogLineBody {
    /// The line's number, from 0.
    n: u64,
    /// When it was written, in milliseconds since the Unix epoch.
    t: i64,
    /// The step that wrote it; missing where none was under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
    /// The text.
    m: String,
}

impl From<LogLine> for LogLineBody {
    fn from(LogLine { n, t, step, m }: LogLine) -> Self {
        Self { n, t, step, m }
    }
}

/// Lines of a log.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "lines": [{"n": 0, "t": 1_767_225_600_000_i64, "step": 0, "m": "Hello"}], "next": 1, "complete": true, "dropped": 0
}))]
pub(crate) struct LogAnswer {
    /// The lines.
    lines: Vec<LogLineBody>,
    /// The number to go on from. An answer may have fewer lines than asked for, or none, before the log's end.
    next: u64,
    /// Whether the job is over and no line follows.
    complete: bool,
    /// Lines that came behind the log's limit, and weren't kept.
    dropped: u64,
}

/// Read the log of a job
///
/// By line number, while it is written and afterwards.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/jobs/{jobId}/log")]
pub(crate) async fn job_log_get(of: JobOf<ReadsLogs>, query: Query<LogQuery>, state: State) -> Result<Json<LogAnswer>> {
    let is_over = of.job.conclusion.is_some();
    let mut reader = LogReader::open(&state.store, &of.job).await?;
    let limit = usize::try_from(query.limit.unwrap_or(LOG_LINES_LISTED)).unwrap_or(usize::MAX);
    let word = query.q.as_deref().map(str::to_lowercase);
    let mut next = query.from.map_or(0, i64::cast_unsigned);
    let mut lines = Vec::new();
    for _ in 0..CHUNKS_LOOKED_AT_MAX {
        for line in reader.lines_from(next).await? {
            if lines.len() == limit {
                break;
            }
            next = line.n + 1;
            if query.wants(&line, word.as_deref()) {
                lines.push(LogLineBody::from(line));
            }
        }
        if lines.len() == limit || next >= reader.lines() {
            break;
        }
    }
    let complete = is_over && next >= reader.lines();
    Ok(Json(LogAnswer { lines, next, complete, dropped: reader.dropped() }))
}

/// Read the whole log of a job as text
///
/// The lines as they were written, with colours, and without times.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/jobs/{jobId}/log/raw",
    responses((status = 200, description = "The log.", content_type = "text/plain")))]
pub(crate) async fn job_log_raw(of: JobOf<ReadsLogs>, state: State) -> Result<HttpResponse> {
    let reader = LogReader::open(&state.store, &of.job).await?;
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "text/plain; charset=utf-8"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'"))
        .streaming(text_of(reader)))
}

/// All lines of a log as text, some at a time.
pub(super) fn text_of(reader: LogReader) -> impl Stream<Item = std::result::Result<Bytes, std::io::Error>> {
    stream::try_unfold((reader, 0_u64), |(mut reader, next)| async move {
        let lines = reader.lines_from(next).await.map_err(|error| broke_off(&error))?;
        let Some(last) = lines.last().map(|line| line.n) else { return Ok(None) };
        let mut text = String::new();
        for line in &lines {
            text.push_str(&line.m);
            text.push('\n');
        }
        Ok(Some((Bytes::from(text), (reader, last + 1))))
    })
}

fn broke_off(error: &Error) -> std::io::Error {
    tracing::warn!(%error, "reading a log broke off");
    std::io::Error::other("reading the log broke off")
}
