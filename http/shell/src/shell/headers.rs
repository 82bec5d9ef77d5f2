//! The headers that every request may carry and every answer has.

use std::sync::{
    Arc, LazyLock,
    atomic::{AtomicU64, Ordering},
};

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{self, HeaderValue},
};

use domain::RequestId;

use super::cors;
use crate::{call::REQUEST_ID, state::State};

/// How long a request id from outside may be, in characters.
const REQUEST_ID_LEN_MAX: usize = 128;
/// What is kept of a `User-Agent`, in characters.
const USER_AGENT_LEN_MAX: usize = 256;

/// The request's id: its own, when it is short and visible ASCII, or a new one.
pub(super) fn request_id(request: &HttpRequest) -> RequestId {
    let own = request.headers().get(REQUEST_ID).and_then(|value| value.to_str().ok());
    let sane =
        |id: &&str| (1..=REQUEST_ID_LEN_MAX).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
    match own.filter(sane) {
        Some(id) => id.into(),
        None => new_request_id(),
    }
}

/// A new id: what no other process has, and the number of the request in this one.
fn new_request_id() -> RequestId {
    static PROCESS: LazyLock<u64> = LazyLock::new(|| {
        domain::token::random_bytes().map_or_else(|_| u64::from(std::process::id()), u64::from_be_bytes)
    });
    static REQUESTS: AtomicU64 = AtomicU64::new(1);
    let number = REQUESTS.fetch_add(1, Ordering::Relaxed);
    format!("{:016x}-{number}", *PROCESS).as_str().into()
}

/// What the client calls itself.
pub(super) fn user_agent(request: &HttpRequest) -> Option<Arc<str>> {
    let name = request.headers().get(header::USER_AGENT)?.to_str().ok()?;
    Some(Arc::from(&name[..name.len().min(USER_AGENT_LEN_MAX)]))
}

/// Adds what every answer has. What the endpoint set stays.
pub(super) fn complete(
    mut response: HttpResponse,
    state: &State,
    request: &HttpRequest,
    request_id: &str,
) -> HttpResponse {
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(request_id) {
        headers.insert(REQUEST_ID, id);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    cors::allow(headers, state, request);
    response
}
