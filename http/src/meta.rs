//! What the server says of itself.

use actix_web::{
    HttpResponse,
    http::header::{self, HeaderValue},
};
use http_shell::{caller::Anyone, state::State};

use crate::descriptions::Descriptions;

/// How long browsers and proxies may keep the description.
const CACHE: &str = "public, max-age=300";

/// Read this description of the API
///
/// OpenAPI 3.1. It holds every endpoint, with its schemas, errors and examples.
#[utoipa::path(get, path = "/v1/openapi.json",
    responses((status = 200, description = "The document.", content_type = "application/json")))]
pub(crate) async fn openapi_get(state: State, _: Anyone) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "application/json"))
        .insert_header((header::CACHE_CONTROL, CACHE))
        .body(Descriptions::of(&state).document.clone())
}

/// Read this description of the API as a page
#[utoipa::path(get, path = "/docs", responses((status = 200, description = "The page.", content_type = "text/html")))]
pub(crate) async fn reference_get(state: State, _: Anyone) -> HttpResponse {
    let descriptions = Descriptions::of(&state);
    let mut response = HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "text/html; charset=utf-8"))
        .insert_header((header::CACHE_CONTROL, CACHE))
        .insert_header((header::REFERRER_POLICY, "no-referrer"))
        .body(descriptions.page.clone());
    if let Ok(policy) = HeaderValue::from_str(&descriptions.page_policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}
