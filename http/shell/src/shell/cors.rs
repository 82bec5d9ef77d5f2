//! Browsers may call from the origins that the configuration lists, and from no other.

use actix_web::{
    HttpRequest, HttpResponse,
    http::{
        Method,
        header::{self, HeaderMap, HeaderValue},
    },
};

use crate::{error::ApiError, state::State};

/// What a page may send beside what any page may.
const REQUEST_HEADERS: &str = "authorization, cache-control, content-disposition, content-encoding, content-md5, \
                               content-type, idempotency-key, if-match, if-none-match, x-amz-checksum-sha256, \
                               x-request-id, x-vault-device, x-vault-signature";
/// What a page may read beside what any page may.
const ANSWER_HEADERS: &str = "content-range, etag, idempotency-replayed, retry-after, x-request-id";
/// How long a browser may remember a preflight's answer, in seconds.
const MAX_AGE: &str = "7200";

/// The request's origin, where the configuration lists it.
fn is_allowed<'r>(state: &State, request: &'r HttpRequest) -> Option<&'r HeaderValue> {
    let origin = request.headers().get(header::ORIGIN)?;
    state.options.cors_origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes()).then_some(origin)
}

/// The answer to a browser that asks beforehand; nothing for any other request.
pub(super) fn preflight(state: &State, request: &HttpRequest) -> Option<HttpResponse> {
    if request.method() != Method::OPTIONS || !request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD) {
        return None;
    }
    let origin = is_allowed(state, request)?;
    let Err(ApiError::WrongMethod(methods)) = state.router.find(request.method(), request.path()) else { return None };
    let methods: Vec<&str> = methods.iter().map(Method::as_str).collect();
    let response = HttpResponse::NoContent()
        .insert_header((header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone()))
        .insert_header((header::ACCESS_CONTROL_ALLOW_METHODS, methods.join(", ")))
        .insert_header((header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS))
        .insert_header((header::ACCESS_CONTROL_MAX_AGE, MAX_AGE))
        .insert_header((header::VARY, "origin"))
        .finish();
    Some(response)
}

/// Lets a page of a listed origin read the answer.
pub(super) fn allow(headers: &mut HeaderMap, state: &State, request: &HttpRequest) {
    if state.options.cors_origins.is_empty() {
        return;
    }
    // In one line with what the answer varies by already: some caches read the first only.
    let others = headers.get(header::VARY).and_then(|others| others.to_str().ok());
    let vary = others.and_then(|others| HeaderValue::try_from(format!("origin, {others}")).ok());
    headers.insert(header::VARY, vary.unwrap_or(HeaderValue::from_static("origin")));
    if let Some(origin) = is_allowed(state, request) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(ANSWER_HEADERS));
    }
}
