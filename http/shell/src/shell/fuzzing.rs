//! What the shell reads of a request, for fuzzing.

use std::net::IpAddr;

use actix_web::HttpRequest;

use super::{
    address::{client_address, is_from_trusted_proxy},
    compression::accepted,
    headers::{request_id, user_agent},
};

/// Reads the headers that any request may have.
pub fn headers(request: &HttpRequest, trusted_proxies: &[IpAddr]) {
    let address = client_address(request, trusted_proxies);
    assert!(address.is_some_and(|address| address.to_canonical() == address));
    assert_eq!(client_address(request, &[]), request.peer_addr().map(|peer| peer.ip()), "nobody else is believed");
    assert!(is_from_trusted_proxy(request, trusted_proxies));
    let id = request_id(request);
    assert!((1..=128).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic()));
    assert!(user_agent(request).is_none_or(|name| name.len() <= 256));
    let _ = accepted(request);
}
