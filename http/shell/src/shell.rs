//! The one way that every request goes.
//!
//! Around everything stand the request id, the span, the metrics, a caught panic, and the headers that every answer
//! has. Inside them: the route, the credential, the rate limit, the deadline, and then the endpoint itself.

mod address;
mod bucket_cors;
mod compression;
mod cors;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod headers;
mod limits;
mod observe;
mod room;
mod traces;
mod unread;

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use actix_web::{HttpRequest, HttpResponse, dev::Payload, web};
use actors::platform::SLOW_AFTER;
use domain::{Caller, Context, Error, Origin, RequestId};
use futures::FutureExt;
use store::deadline::within;
use tokio::time::{Instant, timeout_at};
use tracing::{Instrument, Span, field::Empty};

pub(crate) use self::{address::client_address, observe::Meters};
use self::{headers::request_id, observe::Visit, traces::RequestTrace};
pub use self::{limits::Limits, room::save_room, traces::trace_elsewhere};
use crate::{
    call::Call,
    credentials::checkout_of,
    endpoint::Endpoint,
    error::{ApiError, Result},
    facts::AskedBy,
    repository::machine_key_only,
    router::Found,
    state::State,
};

/// How much longer than the deadline the shell waits, so that the owner's own word on it arrives first.
const GRACE: Duration = Duration::from_secs(1);

/// Answers a request.
pub async fn answer(state: State, request: HttpRequest, payload: web::Payload) -> HttpResponse {
    let visit = Visit::begin();
    let request_id = request_id(&request);
    if let Some(preflight) = cors::preflight(&state, &request) {
        return unread::hold(preflight, payload.into_inner());
    }
    if let Some(preflight) = bucket_cors::preflight(&state, &request).await {
        return unread::hold(preflight, payload.into_inner());
    }
    let found = state.router.find(request.method(), request.path());
    let endpoint = found.as_ref().ok().map(|(endpoint, _)| Arc::clone(endpoint));
    let span = tracing::info_span!(
        "request",
        id = %request_id,
        method = %request.method(),
        route = endpoint.as_ref().map_or("none", |endpoint| endpoint.path),
        trace = Empty,
    );
    let trace = RequestTrace::begin(&state, &request, endpoint.as_deref(), &request_id);
    if let Some(trace) = &trace {
        span.record("trace", trace.id());
    }
    let traced = trace.as_ref().map_or_else(Span::none, |trace| trace.span.clone());
    let mut unread = payload.into_inner();
    let passed = pass(Arc::clone(&state), request.clone(), &mut unread, request_id.clone(), found);
    let passed = AssertUnwindSafe(passed).catch_unwind().instrument(traced);
    let outcome = passed.instrument(span.clone()).await;
    let asked_by = endpoint.as_ref().map_or(AskedBy::Clients, |endpoint| endpoint.facts.asked_by);
    let refusal = |error: ApiError| match asked_by {
        AskedBy::Clients => error.response(&request_id),
        AskedBy::Git => error.response_to_git(&request_id),
        AskedBy::GitLfs => error.response_to_lfs(&request_id),
    };
    let response = span.in_scope(|| match outcome {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => refusal(error),
        Err(_) => refusal(Error::internal("a handler panicked").into()),
    });
    let mut response = headers::complete(response, &state, &request, &request_id);
    bucket_cors::allow(response.headers_mut(), &state, &request).await;
    if let Some(trace) = trace {
        trace.end(&mut response);
    }
    let took = span.in_scope(|| visit.end(endpoint.as_deref(), request.method(), response.status()));
    if let Some(endpoint) = endpoint.filter(|_| took >= SLOW_AFTER) {
        observe::note_slow(&state, &endpoint, response.status(), took, request_id);
    }
    unread::hold(response, unread)
}

async fn pass(
    state: State,
    request: HttpRequest,
    payload: &mut Payload,
    request_id: RequestId,
    found: Result<Found>,
) -> Result<HttpResponse> {
    let (endpoint, path_values) = found?;
    let deadline = Instant::now() + state.options.request_timeout;
    let context = Context {
        caller: Caller::Nobody,
        origin: Origin::Http,
        deadline: deadline.into_std(),
        request_id,
        ip: client_address(&request, &state.options.trusted_proxies),
        user_agent: headers::user_agent(&request),
        idempotency: None,
    };
    let mut call = Call {
        state,
        context,
        request,
        endpoint: Arc::clone(&endpoint),
        path_values,
        entered: None,
        repository: None,
        payload: std::mem::replace(payload, Payload::None),
        raw_body: None,
        room: None,
    };
    let mut answer = serve(&mut call, &endpoint, deadline).await;
    if let Ok(response) = answer {
        let (cpu, tenant) = (call.state.actors.kernel.cpu(), call.context.caller.tenant());
        answer = Ok(Box::pin(compression::compress(response, &call.request, cpu, tenant)).await);
    }
    if call.raw_body.is_none() {
        *payload = call.payload;
    }
    answer
}

async fn serve(call: &mut Call, endpoint: &Endpoint, deadline: Instant) -> Result<HttpResponse> {
    // What many requests wait behind has its memory only while it lasts.
    within(deadline.into_std(), Box::pin(admit(call))).await?;
    let run = endpoint.run(call);
    if endpoint.facts.streams {
        return run.await;
    }
    let run = within(deadline.into_std(), run);
    timeout_at(deadline + GRACE, run).await.unwrap_or_else(|_| Err(Error::busy(GRACE).into()))
}

/// Finds out who asks, and whether they ask too often.
async fn admit(call: &mut Call) -> Result<()> {
    let endpoint = Arc::clone(&call.endpoint);
    let state = Arc::clone(&call.state);
    match state.credentials.caller(call, &state.store).await {
        Ok(caller) => call.context.caller = caller,
        // On an open endpoint, a credential that is no longer good is none.
        Err(ApiError::Domain(Error::Unauthenticated | Error::SignedOut { .. })) if !endpoint.is_signed_in() => {}
        Err(error @ ApiError::Domain(Error::Unauthenticated | Error::SignedOut { .. })) => {
            state.limits.address(&state, call.context.ip).await?;
            return Err(error);
        }
        Err(error) => return Err(error),
    }
    limit(call, &state, &endpoint).await?;
    keep_machines_in(&call.context.caller, &endpoint)
}

/// Refuses the key of a machine what is in no repository.
fn keep_machines_in(caller: &Caller, endpoint: &Endpoint) -> Result<()> {
    match caller {
        Caller::Key(key) if key.is_machine && endpoint.is_signed_in() && !endpoint.facts.in_repository => {
            Err(machine_key_only().into())
        }
        _ => Ok(()),
    }
}

async fn limit(call: &Call, state: &State, endpoint: &Endpoint) -> Result<()> {
    if let Some(per_minute) = endpoint.rules.per_address {
        state.limits.address_on(state, call.context.ip, endpoint, per_minute).await?;
    }
    // Whoever the token of a runner or of a job stands for is counted where that is found out.
    if endpoint.facts.shows_token || checkout_of(call).is_some() {
        return Ok(());
    }
    state.limits.caller(state, &call.context).await
}
