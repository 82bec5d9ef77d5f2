//! A log as it is written: `…/log/live`, and the socket that it leads to.

use std::time::Duration;

use actix_web::HttpResponse;
use actors::pipelines::logs::{LogSignal, log_channel, log_frame};
use bytes::Bytes;
use bytestring::ByteString;
use domain::{
    Authority, Error, Scope,
    git::level_of,
    id::{JobId, OrgId, ResourceId, UserId},
    pipelines::job_not_found,
    problems::Problems,
};
use futures::future::LocalBoxFuture;
use gateways::hub::{Signal, Subscription};
use http_shell::{
    answer::Json,
    call::Call,
    error::Result,
    path::{Path, PathParameter},
    query::{Query, RequestQuery},
    socket::{Farewell, Opening, Outgoing, SocketAddress, SocketKind, Source},
    state::State,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{Store, pipelines::StoredJob};
use tokio::time::timeout;
use utoipa::{IntoParams, ToSchema};

use super::{log_reader::LogReader, log_reading::ReadsLogs, reading::JobOf};

/// What a person needs for as long as their socket is open.
const SCOPES: &[Scope] = &[Scope::GitRead, Scope::LogsRead];
/// How long is waited for a message before it is looked whether one was missed: the node that ended the job may have died
/// before it said so.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How long to wait for a store that is away.
const PAUSE: Duration = Duration::from_millis(500);
/// The end of a socket that has sent all of a log that is complete.
const COMPLETE: Farewell = Farewell::Own(1000, "The log is complete.");

/// Where the socket is.
#[derive(Serialize, ToSchema)]
pub(crate) struct LogLiveView {
    /// Open it with a WebSocket client; null for a key, which is no person.
    socket: Option<SocketAddress>,
}

/// The rights of a ticket.
#[derive(Deserialize, Serialize)]
struct LogRights {
    org_id: OrgId,
    repository: ResourceId,
}

fn resource(job_id: JobId) -> String {
    format!("log:{job_id}")
}

/// Find the socket of a job's log
///
/// Open `url?ticket=…&from=…` within two minutes; `from` is the number of the first line.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/jobs/{jobId}/log/live")]
pub(crate) async fn job_log_live(of: JobOf<ReadsLogs>, state: State) -> Result<Json<LogLiveView>> {
    let JobOf { repository, job: StoredJob { id: job_id, .. } } = of;
    let rights = LogRights { org_id: repository.org_id(), repository: repository.stored.id() };
    let rights = serde_json::to_value(rights).map_err(Error::internal)?;
    let path = format!("/v1/sockets/jobs/{job_id}/log");
    let socket = SocketAddress::issue_in(&state, repository.org(), &path, resource(job_id), rights).await?;
    Ok(Json(LogLiveView { socket }))
}

/// The socket of a log.
pub(crate) struct LogLive;

impl SocketKind for LogLive {
    fn resource(call: &Call) -> Result<String> {
        let id = JobId::read(call.path_value(JobId::NAME)?).ok_or_else(job_not_found)?;
        Ok(resource(id))
    }
}

/// Where to begin.
#[derive(Deserialize, IntoParams)]
pub(crate) struct LogLiveQuery {
    /// The number of the first line, from 0.
    #[param(minimum = 0)]
    from: Option<i64>,
}

impl RequestQuery for LogLiveQuery {
    fn check(&self, problems: &mut Problems) {
        problems.require(self.from.is_none_or(|from| from >= 0), "from", "Must be the number of a line.");
    }
}

/// Open the socket of a job's log
///
/// Messages are JSON `{"from", "lines": [{n, t, step?, m}]}`: the lines behind one another, without a gap. The last one is
/// `{"complete": true, "conclusion"}`, and the socket closes. Whoever comes back asks `from` the number behind their last line.
#[utoipa::path(get, path = "/v1/sockets/jobs/{jobId}/log",
    responses((status = 101, description = "The socket is open.")))]
pub(crate) async fn job_log_socket(
    Path(job_id): Path<JobId>,
    opening: Opening<LogLive>,
    query: Query<LogLiveQuery>,
    state: State,
) -> Result<HttpResponse> {
    let rights: LogRights = serde_json::from_value(opening.ticket().rights.clone()).map_err(Error::internal)?;
    let right = LogRight { rights, user_id: opening.ticket().user_id };
    let job = right.job(&state.store, job_id).await?;
    // What comes from here on is heard; what came before is read.
    let subscription = state.hub.subscribe(&log_channel(job_id)).await;
    let reader = LogReader::open(&state.store, &job).await?;
    let next = query.from.map_or(0, i64::cast_unsigned);
    opening.serve(LogSource { state, right, reader, subscription, next, stage: Stage::Reading }).await
}

/// Who watches.
struct LogRight {
    rights: LogRights,
    user_id: UserId,
}

impl LogRight {
    /// Whether they may now.
    async fn holds(&self, store: &Store) -> domain::Result<bool> {
        let LogRights { org_id, repository } = self.rights;
        let found = store.authority_of_person(org_id, self.user_id).await;
        let authority = match Authority::admit(found, SCOPES) {
            Ok(authority) => authority,
            Err(Error::MissingScope(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        let Some(stored) = store.repository(org_id, repository).await? else { return Ok(false) };
        let granted = store.repository_granted(stored.no, org_id, self.user_id).await?;
        Ok(level_of(&authority, stored.settings.visibility, granted).is_some())
    }

    /// The job, which they may watch.
    async fn job(&self, store: &Store, job_id: JobId) -> domain::Result<StoredJob> {
        let found = if self.holds(store).await? { self.found(store, job_id).await? } else { None };
        found.ok_or_else(job_not_found)
    }

    async fn found(&self, store: &Store, job_id: JobId) -> domain::Result<Option<StoredJob>> {
        let stored = store.repository(self.rights.org_id, self.rights.repository).await?;
        match stored {
            Some(stored) => Ok(store.job(stored.no, job_id).await?),
            None => Ok(None),
        }
    }
}

/// What a socket does next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It sends what the store has.
    Reading,
    /// It has sent that, and sends what it hears.
    Listening,
    /// It has said that the log is complete.
    Over,
}

struct LogSource {
    state: State,
    right: LogRight,
    reader: LogReader,
    subscription: Subscription,
    /// The number of the line that is sent next.
    next: u64,
    stage: Stage,
}

impl LogSource {
    /// What the store has from the next line on, or that the log is complete; nothing where neither holds.
    async fn read(&mut self) -> domain::Result<Option<Outgoing>> {
        // Asked first: what a job that is over has written is there when this is answered.
        let job = self.reader.job().await?;
        self.reader.refresh().await?;
        let lines = self.reader.lines_from(self.next).await?;
        if let Some(last) = lines.last() {
            let next = last.n + 1;
            let Some(LogSignal::Lines { text, .. }) = LogSignal::read(&log_frame(&lines)) else {
                return Err(Error::internal("a frame of a log can't be read"));
            };
            let text = written(text)?;
            self.next = next;
            return Ok(Some(text));
        }
        let Some(conclusion) = job.conclusion else {
            self.stage = Stage::Listening;
            return Ok(None);
        };
        self.stage = Stage::Over;
        let last = json!({ "complete": true, "conclusion": conclusion.name() });
        Ok(Some(Outgoing::Text(last.to_string().into())))
    }

    /// What follows from a message, if it is to be sent.
    fn heard(&mut self, signal: &Signal) -> domain::Result<Option<Outgoing>> {
        let Signal::Message(message) = signal else {
            self.stage = Stage::Reading;
            return Ok(None);
        };
        match LogSignal::read(message) {
            Some(LogSignal::Lines { from, next, text }) if from == self.next => {
                self.next = next;
                written(text).map(Some)
            }
            Some(LogSignal::Lines { next, .. }) if next <= self.next => Ok(None),
            _ => {
                self.stage = Stage::Reading;
                Ok(None)
            }
        }
    }
}

fn written(text: Bytes) -> domain::Result<Outgoing> {
    ByteString::try_from(text).map(Outgoing::Text).map_err(Error::internal)
}

impl Source for LogSource {
    fn is_catching_up(&self) -> bool {
        self.stage == Stage::Reading
    }

    async fn next(&mut self) -> Result<Outgoing, Farewell> {
        loop {
            let found = match self.stage {
                Stage::Over => return Err(COMPLETE),
                Stage::Reading => self.read().await,
                Stage::Listening => match timeout(LOOK_EVERY, self.subscription.next()).await {
                    Ok(signal) => self.heard(&signal),
                    Err(_elapsed) => {
                        self.stage = Stage::Reading;
                        Ok(None)
                    }
                },
            };
            match found {
                Ok(Some(outgoing)) => return Ok(outgoing),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, "a log can't be read; trying again");
                    self.stage = Stage::Reading;
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    fn is_still_allowed(&self) -> LocalBoxFuture<'static, domain::Result<bool>> {
        let (state, user_id) = (State::clone(&self.state), self.right.user_id);
        let rights = LogRights { org_id: self.right.rights.org_id, repository: self.right.rights.repository };
        Box::pin(async move { LogRight { rights, user_id }.holds(&state.store).await })
    }
}
