//! The bytes of artifacts and caches, at addresses that the server signs.

use std::{
    pin::{Pin, pin},
    task::{self, Poll},
    time::{Duration, Instant},
};

use actix_web::{
    HttpResponse, HttpResponseBuilder,
    body::{BodySize, BoxBody, MessageBody},
    http::header,
};
use actors::pipelines::{Lease, files::PutJobFile};
use bytes::Bytes;
use domain::{
    Context, Error,
    id::{ContentId, JobId, OrgId, ResourceId},
    pipelines::artifacts::file_not_expected,
    problems::Problems,
};
use http_shell::{
    answer::NoContent,
    argument::Argument,
    call::Call,
    download::Download,
    error::Result,
    facts::Facts,
    origin::base_url,
    path::Path,
    query::{Query, RequestQuery},
    state::{AppState, State},
    upload::{AddressUpload, abandon, refused},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use store::{
    Store,
    blobs::BlobRefusal,
    pipelines::{JobFile, JobFileAct, JobFileAddress, JobFileQuery},
};
use utoipa::IntoParams;

/// How often it is looked, while a job's bytes come, whether its lease is to last on.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Notes what is wrong with a text, if anything is.
pub(super) fn text_problems<T>(checked: domain::Result<T>, problems: &mut Problems) {
    // Texts are refused as `invalid`, and in no other way.
    drop(problems.keep(checked));
}

/// Notes a number of things that is below none.
pub(super) fn count_check(count: Option<i64>, path: &str, problems: &mut Problems) {
    problems.require(count.is_none_or(|count| count >= 0), path, "Must be at least 0.");
}

/// Where the client reaches the server.
pub(crate) struct BaseUrl(pub(super) String);

impl Argument for BaseUrl {
    fn describe(_: &mut Facts) {}

    async fn take(call: &mut Call) -> Result<Self> {
        Ok(Self(base_url(&call.state, call.header(header::HOST))))
    }
}

impl BaseUrl {
    /// The address that permits this for so long.
    pub(super) fn address(&self, state: &AppState, file: JobFile, act: JobFileAct, lasts: Duration) -> String {
        let expires_at = state.store.now().after(lasts);
        format!("{}{}", self.0, state.store.job_file_address(&JobFileAddress { file, act, expires_at }))
    }
}

/// What the server wrote into the address.
#[derive(Deserialize, IntoParams)]
pub(crate) struct SignedJobFile {
    /// The bytes that are sent.
    size: Option<u64>,
    /// The job that fetches them.
    job: Option<String>,
    /// Until when the address works, in milliseconds since the Unix epoch.
    expires: i64,
    /// Binds all of it.
    signature: String,
}

impl RequestQuery for SignedJobFile {}

/// What the address permits.
async fn signed(call: &mut Call) -> Result<JobFileAddress> {
    let Path(file) = Path::<JobFile>::take(call).await?;
    let SignedJobFile { size, job, expires, signature } = Query::<SignedJobFile>::take(call).await?.0;
    let forged = |_| refused(BlobRefusal::Forged);
    let job = job.map(|id| id.parse::<JobId>().map_err(forged)).transpose()?;
    let query = JobFileQuery { size, job, expires, signature };
    Ok(call.state.store.job_file_address_verify(file, &query).map_err(refused)?)
}

fn describe(facts: &mut Facts) {
    Path::<JobFile>::describe(facts);
    Query::<SignedJobFile>::describe(facts);
    facts.error(403, "This address was not signed here.");
    facts.error(403, "This address has expired.");
    facts.open();
    facts.streams = true;
}

/// Bytes that are sent to an address.
pub(crate) struct SentJobFile {
    file: JobFile,
    size: u64,
    org_id: OrgId,
    repository: ResourceId,
    lease: Option<Lease>,
    body: AddressUpload,
}

impl Argument for SentJobFile {
    fn describe(facts: &mut Facts) {
        describe(facts);
        AddressUpload::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let address = signed(call).await?;
        let JobFileAct::Upload(size) = address.act else { return Err(refused(BlobRefusal::Forged).into()) };
        let store = &call.state.store;
        let (no, job_id) = match address.file {
            JobFile::Artifact(id) => {
                let found = store.artifact(id).await?.filter(|it| it.committed_at.is_none());
                found.map(|it| (it.no, it.job_id)).ok_or_else(file_not_expected)?
            }
            JobFile::Cache(id) => {
                let found = store.cache(id).await?.filter(|it| it.committed_at.is_none());
                found.map(|it| (it.no, it.job_id)).ok_or_else(file_not_expected)?
            }
        };
        let job = store.job(no, job_id).await?.ok_or_else(file_not_expected)?;
        let lease = Lease::of(&job);
        let body = AddressUpload::take(call).await?;
        Ok(Self { file: address.file, size, org_id: job.org_id, repository: job.repository_id, lease, body })
    }
}

/// What something comes to. As long as it is under way, the lease lasts on of the job that it is for.
async fn leased<T>(state: &AppState, lease: Option<Lease>, under_way: impl Future<Output = T>) -> T {
    let mut under_way = pin!(under_way);
    let Some(mut lease) = lease else { return under_way.await };
    loop {
        lease.renew(&state.actors.run, state.store.now());
        tokio::select! {
            done = &mut under_way => return done,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

/// Send an artifact or a cache
///
/// The address comes from `artifacts/upload` or `cache/save` and needs no credential. It takes exactly as many bytes as it says;
/// sent again before it is committed, they are in the place of what was sent before.
#[utoipa::path(put, path = "/v1/runner/files/{fileId}")]
pub(crate) async fn job_file_put(sent: SentJobFile, state: State) -> Result<NoContent> {
    let SentJobFile { file, size, org_id, repository, lease, body } = sent;
    let context = body.context();
    let kept = leased(&state, lease, body.keep(&state, org_id, size)).await?;
    let command = PutJobFile { file, content: kept.clone() };
    // The bytes took as long as they kept coming; what follows has the usual time.
    let context = Context { deadline: Instant::now() + state.options.request_timeout, ..context };
    if let Err(refusal) = state.actors.job_files.ask(&repository, command, context).await {
        abandon(&state, &kept).await;
        return Err(refusal.into());
    }
    Ok(NoContent)
}

/// Bytes that are fetched from an address, or a part of them.
pub(crate) struct FetchedJobFile {
    name: String,
    download: Download,
    lease: Option<Lease>,
}

/// What is fetched.
async fn fetched(store: &Store, file: JobFile) -> domain::Result<Option<(OrgId, ContentId, String, u64)>> {
    let now = store.now();
    Ok(match file {
        JobFile::Artifact(id) => {
            let found = store.artifact(id).await?;
            let found = found.filter(|it| it.committed_at.is_some() && now < it.expires_at);
            found.and_then(|it| Some((it.org_id, it.content?, format!("{}.zip", it.name), it.size)))
        }
        JobFile::Cache(id) => {
            let found = store.cache(id).await?.filter(|it| it.is_kept(now));
            found.and_then(|it| Some((it.org_id, it.content?, it.id.to_string(), it.size)))
        }
    })
}

impl Argument for FetchedJobFile {
    fn describe(facts: &mut Facts) {
        describe(facts);
        Download::describe(facts);
        facts.error(404, "File not found");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let address = signed(call).await?;
        let JobFileAct::Download(by) = address.act else { return Err(refused(BlobRefusal::Forged).into()) };
        let found = fetched(&call.state.store, address.file).await?;
        let (org_id, content, name, size) = found.ok_or_else(|| Error::not_found("File not found"))?;
        let job = match by {
            Some(id) => call.state.store.job_of_org(org_id, id).await?,
            None => None,
        };
        let lease = job.as_ref().and_then(Lease::of);
        Ok(Self { name, download: Download::of(call, org_id, content, size), lease })
    }
}

/// Bytes that go to a job's runner: while they do, it is there.
struct ToRunner {
    body: BoxBody,
    lease: Lease,
    state: State,
}

impl MessageBody for ToRunner {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let Self { body, lease, state } = &mut *self;
        lease.renew(&state.actors.run, state.store.now());
        body.as_pin_mut().poll_next(context)
    }
}

/// Download an artifact or a cache
///
/// The address needs no credential.
#[utoipa::path(get, path = "/v1/runner/files/{fileId}", responses(
    (status = 200, description = "The bytes.", content_type = "application/octet-stream"),
    (status = 206, description = "The range that was asked for.", content_type = "application/octet-stream"),
    (status = 416, description = "There are fewer bytes.")))]
pub(crate) async fn job_file_get(of: FetchedJobFile, state: State) -> Result<HttpResponse> {
    let FetchedJobFile { name, download, lease } = of;
    let name = utf8_percent_encode(&name, NON_ALPHANUMERIC);
    let about = |response: &mut HttpResponseBuilder| {
        response
            .insert_header((header::CONTENT_TYPE, "application/octet-stream"))
            .insert_header((header::CONTENT_DISPOSITION, format!("attachment; filename*=UTF-8''{name}")));
    };
    let response = download.answer(&state, about).await?;
    let Some(lease) = lease else { return Ok(response) };
    Ok(response.map_body(|_, body| ToRunner { body, lease, state }).map_into_boxed_body())
}
