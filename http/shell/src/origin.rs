//! Where this server stands, as a client sees it.

use actix_web::http::header::{self, HeaderMap, HeaderName};

use crate::state::AppState;

/// The address that clients see, without a slash at its end: the configured one, or what the request was sent to.
pub fn base_url(state: &AppState, host: Option<&str>) -> String {
    if state.options.public_url.is_empty() {
        format!("http://{}", host.unwrap_or("localhost"))
    } else {
        state.options.public_url.trim_end_matches('/').to_owned()
    }
}

/// Whether a page of this request's origin may open a socket: programs have none; a browser's page is one of ours, or
/// of a listed origin.
pub fn may_open_sockets(state: &AppState, headers: &HeaderMap) -> bool {
    let is_listed = || {
        let origin = text(headers, &header::ORIGIN);
        origin.is_some_and(|origin| state.options.cors_origins.iter().any(|allowed| allowed == origin))
    };
    is_own_page(state, headers).unwrap_or(true) || is_listed()
}

/// Whether the request comes from a page of this server; nothing when it comes from no page.
pub fn is_own_page(state: &AppState, headers: &HeaderMap) -> Option<bool> {
    headers.get(header::ORIGIN)?;
    let (origin, host) = (text(headers, &header::ORIGIN), text(headers, &header::HOST));
    let from = |origin: &str| {
        let from = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        origin == base_url(state, host) || (from.is_some() && from == host)
    };
    Some(origin.is_some_and(from))
}

/// Whether clients reach the server over TLS, as far as it can tell: its address says so, or a page of its own does.
pub fn is_secure(state: &AppState, headers: &HeaderMap) -> bool {
    let says_so = |origin: &str| origin.starts_with("https://");
    says_so(&base_url(state, None)) || text(headers, &header::ORIGIN).is_some_and(says_so)
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}
