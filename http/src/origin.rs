//! Where this server stands, as a client sees it.

use actix_web::http::header::{self, HeaderMap};

use crate::state::AppState;

/// The address that clients see, without a slash at its end: the configured one, or what the request was sent to.
pub(crate) fn base_url(state: &AppState, host: Option<&str>) -> String {
    if state.options.public_url.is_empty() {
        format!("http://{}", host.unwrap_or("localhost"))
    } else {
        state.options.public_url.trim_end_matches('/').to_owned()
    }
}

/// Whether a page of this request's origin may open a socket: programs have none; a browser's page is one of ours, or
/// of a listed origin.
pub(crate) fn may_open_sockets(state: &AppState, headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &header::HeaderValue| value.to_str().ok());
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let Ok(origin) = origin.to_str() else { return false };
    let own = base_url(state, text(header::HOST));
    let is_own = origin == own
        || text(header::HOST).is_some_and(|host| {
            origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")).is_some_and(|from| from == host)
        });
    is_own || state.options.cors_origins.iter().any(|allowed| allowed == origin)
}
