//! What the console's page asks of `/v1/platform`: the same endpoints, by cookie.

use std::sync::Arc;

use actix_web::HttpResponse;
use domain::Caller;
use http_shell::{
    argument::Argument,
    call::Call,
    error::{ApiError, Result},
    facts::Facts,
};

use super::Session;

/// What stands before the path of a forwarded request.
const BEFORE: &str = "/console/api/";
/// Where requests are forwarded to.
const PLATFORM: &str = "/v1/platform/";

/// The answer of the endpoint below `/v1/platform` that the rest of the path names.
pub(crate) struct Forwarded(HttpResponse);

impl Argument for Forwarded {
    fn describe(facts: &mut Facts) {
        Session::describe(facts);
        facts.path_parameter("path", "What follows `/v1/platform/`.", "actors");
        facts.error(404, "There is nothing at this address.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let session = Session::take(call).await?;
        let rest = call.request.path().strip_prefix(BEFORE).ok_or(ApiError::NoRoute)?;
        let (endpoint, values) = call.state.router.find(call.request.method(), &format!("{PLATFORM}{rest}"))?;
        if !endpoint.path.starts_with(PLATFORM) {
            return Err(ApiError::NoRoute);
        }
        call.context.caller = Caller::Person(session.caller);
        call.endpoint = Arc::clone(&endpoint);
        call.path_values = values;
        Ok(Self(endpoint.run(call).await?))
    }
}

/// Read from the platform, in the operators' console
///
/// As `GET /v1/platform/…`.
#[utoipa::path(get, path = "/console/api/{path}", responses(
    (status = 200, description = "What the platform answers.", content_type = "application/json")))]
pub(crate) async fn console_read(forwarded: Forwarded) -> HttpResponse {
    forwarded.0
}

/// Have the platform do something, in the operators' console
///
/// As `POST /v1/platform/…`.
#[utoipa::path(post, path = "/console/api/{path}", responses(
    (status = 200, description = "What the platform answers.", content_type = "application/json"),
    (status = 403, description = "The console answers its own pages only."),
    (status = 409, description = "What `POST /v1/platform/…` says.")))]
pub(crate) async fn console_act(forwarded: Forwarded) -> HttpResponse {
    forwarded.0
}
