//! The one way that every request goes: its id, what is looked at first, `s3s`, and what every answer has.

use std::{
    net::IpAddr,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use actors::Actors;
use futures::FutureExt;
use hyper::{
    Method, Request, Response,
    body::{Body as _, Incoming},
    header::CONTENT_LENGTH,
    http::request,
};
use s3s::{
    Body, S3Error, S3ErrorCode, S3Result,
    config::{S3Config, StaticConfigProvider},
    service::{S3Service, S3ServiceBuilder},
};
use store::{Store, deadline::within};
use tokio::sync::Semaphore;
use tracing::{Instrument, Span};

use crate::{
    AccessKeys, Options, Parts, Traces,
    access::{Entrance, Signatures},
    answer,
    arriving::Arriving,
    chunked,
    cors::Asking,
    error::refusal,
    forms,
    guard::{self, Brings, CONTENT_SHA256, FORM_FILE_BYTES_MAX, XML_BYTES_MAX},
    meters::{Answered, InFlight},
    object::FileReads,
    place::{Domain, Place},
    protocol::Protocol,
    rules::RulesMemory,
    text::Reading,
    visit::{Sender, Visit, client_address},
};

/// How long a form may take to come.
const FORM_WITHIN: Duration = Duration::from_secs(60);
/// Forms that are read at once, each of which is kept in memory.
const FORMS_MAX: usize = 16;
/// How long ago a form may have been signed at most, in seconds: as long as what it was signed with is good for (S3).
const FORM_SIGNED_SECONDS_AGO_MAX: u32 = 7 * 24 * 60 * 60;
/// How much longer than the deadline an answer is waited for, so that the owner's own word on it arrives first.
const GRACE: Duration = Duration::from_secs(1);

/// What operations are done with.
pub(crate) struct Door {
    pub store: Store,
    pub actors: Actors,
    pub keys: Arc<dyn AccessKeys>,
    pub traces: Arc<dyn Traces>,
    pub options: Options,
    pub rules: RulesMemory,
}

/// Answers requests. A cheap handle.
#[derive(Clone)]
pub(crate) struct Service {
    door: Arc<Door>,
    s3: S3Service,
    /// The same, for forms: what ends one is its policy, however long ago it was signed.
    forms: S3Service,
    forms_places: Arc<Semaphore>,
}

impl Service {
    pub fn new(options: Options, parts: Parts) -> Self {
        let Parts { store, actors, keys, traces } = parts;
        let rules = RulesMemory::default();
        let door = Arc::new(Door { store, actors, keys, traces, options, rules });
        let mut config = S3Config::default();
        config.xml_max_body_size = XML_BYTES_MAX;
        let s3 = protocol(&door, config.clone());
        config.post_object_max_file_size = FORM_FILE_BYTES_MAX;
        config.form_max_field_size = 64 * 1_024;
        config.form_max_fields_size = 128 * 1_024;
        config.form_max_parts = 100;
        config.presigned_url_max_skew_time_secs = FORM_SIGNED_SECONDS_AGO_MAX;
        let forms = protocol(&door, config);
        Self { s3, forms, door, forms_places: Arc::new(Semaphore::new(FORMS_MAX)) }
    }

    /// The answer to a request that came from `peer`.
    pub async fn answer(&self, request: Request<Incoming>, peer: IpAddr) -> Response<Body> {
        let (_in_flight, started) = (InFlight::begin(), Instant::now());
        let options = &self.door.options;
        let place = Place::of(request.uri(), request.headers(), options.domain.as_deref());
        let ip = client_address(request.headers(), peer, &options.trusted_proxies);
        let is_trusted = options.trusted_proxies.contains(&peer);
        let visit = Arc::new(Visit::new(place, request.headers(), Sender { ip, is_from_trusted_proxy: is_trusted }));
        let announced = request.headers().get(CONTENT_LENGTH).and_then(|text| text.to_str().ok()?.parse().ok());
        let path = request.uri().path().to_owned();
        let (head, body) = request.into_parts();
        let (asking, method) = (Asking::of(&head), head.method.clone());
        let trace = self.door.trace_begin(&visit, &method, &head.headers);
        let span = trace.as_ref().map_or_else(Span::none, |trace| trace.span.clone());
        let body = Arriving::new(body);
        let passed = AssertUnwindSafe(self.pass(Request::from_parts(head, body.clone()), &visit)).catch_unwind();
        let answered = passed.instrument(span).await;
        body.finish().await;
        let answered = answered.unwrap_or_else(|_| Err(S3Error::new(S3ErrorCode::InternalError)));
        let answered = self.count_failure(answered, ip).await;
        let mut response = answer::complete(answered, &visit, &path);
        if let Some(asking) = &asking {
            self.door.cors_allow(&visit, asking, response.headers_mut()).await;
        }
        let sent = response.body().size_hint().exact().unwrap_or_else(|| answer::announced(response.headers()));
        let (operation, status, took) = (visit.operation(), response.status(), started.elapsed());
        if let Some(trace) = trace {
            trace.end(operation, status, response.headers_mut());
        }
        let answered = Answered { operation, status, took, received: announced.unwrap_or(0), sent };
        self.door.note_slow(&visit, &method, &answered);
        answered.count();
        tracing::debug!(
            target: "troupe::access", id = %visit.request_id, operation, status = status.as_u16(),
            seconds = took.as_secs_f64(), "answered over S3"
        );
        response
    }

    async fn pass(&self, request: Request<Arriving>, visit: &Arc<Visit>) -> S3Result<Response<Body>> {
        let (mut head, body) = request.into_parts();
        if let Some(answer) = self.door.preflight(visit, &head).await {
            return answer;
        }
        let brings = Brings::of(&head, &visit.place);
        guard::check(&head, &visit.place, brings)?;
        head.extensions.insert(Arc::clone(visit));
        match brings {
            Brings::File => self.pass_file(head, body).await,
            Brings::Form => self.pass_form(head, body).await,
            Brings::Text => self.pass_text(head, body).await,
        }
    }

    /// What brings a file takes as long as its bytes flow.
    async fn pass_file(&self, head: request::Parts, body: Arriving) -> S3Result<Response<Body>> {
        let sent_as = head.headers.get(CONTENT_SHA256).and_then(|it| it.to_str().ok()).unwrap_or_default();
        let body = match sent_as.strip_prefix("STREAMING-") {
            Some(form) => chunked::cut(body, !form.starts_with("UNSIGNED")),
            None => Body::http_body(body),
        };
        self.s3.call(Request::from_parts(head, body)).await.map_err(|_| S3Error::new(S3ErrorCode::InternalError))
    }

    async fn pass_form(&self, head: request::Parts, body: Arriving) -> S3Result<Response<Body>> {
        let Ok(_place) = Arc::clone(&self.forms_places).try_acquire_owned() else {
            return Err(S3Error::with_message(S3ErrorCode::SlowDown, "Please reduce your request rate."));
        };
        let body = forms::named(&head.headers, body);
        let called = self.forms.call(Request::from_parts(head, body));
        let answered = in_time(FORM_WITHIN, called).await.unwrap_or_else(|| Err(not_in_time()))?;
        // `s3s` says of a condition that isn't met that the policy is none.
        match answer::said(&answered, "Message").filter(|text| text.starts_with("Policy condition")) {
            Some(_) => {
                let message = "Invalid according to Policy: Policy Condition failed";
                Err(S3Error::with_message(S3ErrorCode::AccessDenied, message))
            }
            None => Ok(answered),
        }
    }

    async fn pass_text(&self, head: request::Parts, body: Arriving) -> S3Result<Response<Body>> {
        let reading = Reading::default();
        let has_body = matches!(head.method, Method::PUT | Method::POST);
        let body = if has_body { reading.watch(&head.headers, body)? } else { Body::http_body(body) };
        let called = self.s3.call(Request::from_parts(head, body));
        let answered = in_time(self.door.options.request_timeout, called).await;
        match (reading.fault(), answered) {
            (Some(fault), _) => Err(fault),
            (None, Some(answered)) => answered,
            (None, None) if has_body && !reading.is_over() => Err(not_in_time()),
            (None, None) => Err(S3Error::new(S3ErrorCode::InternalError)),
        }
    }

    /// Counts a signature that isn't one against the address that it came from, as a token that isn't one; `SlowDown` where
    /// there were too many.
    async fn count_failure(&self, answered: S3Result<Response<Body>>, ip: IpAddr) -> S3Result<Response<Body>> {
        let answered = answered.or_else(S3Error::to_http_response)?;
        let is_failure =
            matches!(answer::said(&answered, "Code").as_deref(), Some("SignatureDoesNotMatch" | "InvalidAccessKeyId"));
        if is_failure {
            self.door.keys.failed(ip).await.map_err(refusal)?;
        }
        Ok(answered)
    }
}

/// The protocol, as `s3s` reads and writes it.
fn protocol(door: &Arc<Door>, config: S3Config) -> S3Service {
    let mut builder = S3ServiceBuilder::new(Protocol(Arc::clone(door)));
    builder.set_config(Arc::new(StaticConfigProvider::new(Arc::new(config))));
    builder.set_auth(Signatures(Arc::clone(door)));
    builder.set_access(Entrance(Arc::clone(door)));
    builder.set_route(FileReads(Arc::clone(door)));
    if let Some(domain) = &door.options.domain {
        builder.set_host(Domain(domain.clone()));
    }
    builder.build()
}

/// The answer, where it comes within so long.
async fn in_time<E>(
    patience: Duration,
    called: impl Future<Output = Result<Response<Body>, E>>,
) -> Option<S3Result<Response<Body>>> {
    let called = within(Instant::now() + patience, called);
    let answered = tokio::time::timeout(patience + GRACE, called).await.ok()?;
    Some(answered.map_err(|_| S3Error::new(S3ErrorCode::InternalError)))
}

fn not_in_time() -> S3Error {
    S3Error::with_message(S3ErrorCode::RequestTimeout, "The request was not read from in time.")
}
