//! By which browsers recognize this server.

use http_shell::{answer::Json, error::Result, state::State};
use serde::Serialize;
use utoipa::ToSchema;

use super::NotifyPerson;

/// What a browser subscribes with.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "applicationServerKey":
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
}))]
pub(crate) struct WebPushAnswer {
    /// The `applicationServerKey` of `pushManager.subscribe`, base64url; null where no messages go to browsers.
    application_server_key: Option<String>,
}

/// What a browser subscribes to push messages with
#[utoipa::path(get, path = "/v1/me/notifications/web-push")]
pub(crate) async fn web_push_get(_person: NotifyPerson, state: State) -> Result<Json<WebPushAnswer>> {
    Ok(Json(WebPushAnswer { application_server_key: state.pusher.web_public_key() }))
}
