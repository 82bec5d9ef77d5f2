//! Browsers may use a bucket's signed addresses from the origins that its own CORS rules name, as over S3.

use actix_web::{
    HttpRequest, HttpResponse,
    http::{
        Method,
        header::{self, HeaderMap, HeaderName, HeaderValue},
    },
};
use domain::{
    id::ResourceId,
    storage::{CorsMethod, CorsRequest, CorsRule},
};

use crate::state::State;

/// Where files and parts are, behind which the bucket's id stands.
const FILES: &str = "/v1/storage/files/";
/// What the answer of a preflight depends on.
const VARY: &str = "origin, access-control-request-method, access-control-request-headers";
/// Headers that a preflight names, at most: more than a rule can.
const HEADERS_MAX: usize = 101;

/// The answer to a browser that asks beforehand whether a page may use a signed address; nothing for any other request, and
/// where no rule of the bucket lets it.
pub(super) async fn preflight(state: &State, request: &HttpRequest) -> Option<HttpResponse> {
    if request.method() != Method::OPTIONS {
        return None;
    }
    let method = CorsMethod::from_name(text(request, &header::ACCESS_CONTROL_REQUEST_METHOD)?)?;
    let names = text(request, &header::ACCESS_CONTROL_REQUEST_HEADERS).unwrap_or_default();
    let headers: Vec<&str> =
        names.split(',').map(str::trim).filter(|name| !name.is_empty()).take(HEADERS_MAX).collect();
    let rule = Box::pin(rule(state, request, method, &headers)).await?;
    let methods: Vec<&str> = rule.methods.iter().map(|method| method.as_str()).collect();
    let mut response = HttpResponse::NoContent();
    response
        .insert_header((header::ACCESS_CONTROL_ALLOW_ORIGIN, origin_of(&rule, request)?))
        .insert_header((header::ACCESS_CONTROL_ALLOW_METHODS, methods.join(", ")))
        .insert_header((header::VARY, VARY));
    if !headers.is_empty() {
        response.insert_header((header::ACCESS_CONTROL_ALLOW_HEADERS, headers.join(", ")));
    }
    if let Some(max_age) = rule.max_age {
        response.insert_header((header::ACCESS_CONTROL_MAX_AGE, max_age.to_string()));
    }
    Some(response.finish())
}

/// Lets a page read the answer of a signed address, where a rule of the bucket says so and the configuration doesn't.
pub(super) async fn allow(headers: &mut HeaderMap, state: &State, request: &HttpRequest) {
    if headers.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN) {
        return;
    }
    let Some(method) = CorsMethod::from_name(request.method().as_str()) else { return };
    // Few requests have a rule, and all would carry its room.
    let Some(rule) = Box::pin(rule(state, request, method, &[])).await else { return };
    let Some(origin) = origin_of(&rule, request) else { return };
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
    let others = headers.get(header::ACCESS_CONTROL_EXPOSE_HEADERS).and_then(|others| others.to_str().ok());
    let exposed: Vec<&str> = others.into_iter().chain(rule.expose.iter().map(String::as_str)).collect();
    if let Ok(exposed) = HeaderValue::try_from(exposed.join(", "))
        && !exposed.is_empty()
    {
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
}

/// The rule of the bucket that the path names which lets the request pass.
async fn rule(state: &State, request: &HttpRequest, method: CorsMethod, headers: &[&str]) -> Option<CorsRule> {
    let origin = text(request, &header::ORIGIN)?;
    let bucket: ResourceId = request.path().strip_prefix(FILES)?.parse().ok()?;
    let rules = async {
        let Some(bucket) = state.store.bucket_of(bucket).await? else { return Ok(None) };
        state.store.bucket_cors(bucket.seen.no).await.map(Some)
    };
    match rules.await {
        Ok(rules) => rules?.find(&CorsRequest { origin, method, headers }).cloned(),
        Err(error) => {
            tracing::warn!(%error, "a bucket's CORS rules can't be read");
            None
        }
    }
}

fn origin_of(rule: &CorsRule, request: &HttpRequest) -> Option<HeaderValue> {
    if rule.is_for_everybody() {
        return Some(HeaderValue::from_static("*"));
    }
    request.headers().get(header::ORIGIN).cloned()
}

fn text<'r>(request: &'r HttpRequest, name: &HeaderName) -> Option<&'r str> {
    request.headers().get(name)?.to_str().ok()
}
