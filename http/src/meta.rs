//! What the server says of itself.

use actix_web::{HttpResponse, http::header};

use crate::{caller::Anyone, openapi, state::State};

/// This description of the API
///
/// OpenAPI 3.1. It holds every endpoint, with its schemas, errors and examples.
#[utoipa::path(get, path = "/v1/openapi.json", responses((status = 200, description = "The document.", content_type = "application/json")))]
pub(crate) async fn openapi_view(state: State, _: Anyone) -> HttpResponse {
    HttpResponse::Ok().insert_header((header::CONTENT_TYPE, "application/json")).body(openapi::text(&state.router))
}
