//! Where a request comes from.

use std::net::IpAddr;

use actix_web::HttpRequest;

/// What reverse proxies note the addresses in that they were called from, the nearest last.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// Whether the request comes straight from a reverse proxy that is trusted.
pub(super) fn is_from_trusted_proxy(request: &HttpRequest, trusted_proxies: &[IpAddr]) -> bool {
    request.peer_addr().is_some_and(|peer| trusted_proxies.contains(&peer.ip().to_canonical()))
}

/// The client's address: the peer's, or, behind trusted proxies, the last one that they did not make up among
/// themselves.
pub(crate) fn client_address(request: &HttpRequest, trusted_proxies: &[IpAddr]) -> Option<IpAddr> {
    let peer = request.peer_addr()?.ip().to_canonical();
    if !trusted_proxies.contains(&peer) {
        return Some(peer);
    }
    let noted: Vec<&str> = request
        .headers()
        .get_all(FORWARDED_FOR)
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .collect();
    let mut address = peer;
    for text in noted.iter().rev() {
        let Ok(before) = text.trim().parse::<IpAddr>() else { break };
        address = before.to_canonical();
        if !trusted_proxies.contains(&address) {
            break;
        }
    }
    Some(address)
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn address(peer: &str, forwarded: &str) -> String {
        let request = TestRequest::default()
            .peer_addr(format!("{peer}:1").parse().unwrap())
            .insert_header((FORWARDED_FOR, forwarded))
            .to_http_request();
        let trusted = ["10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap()];
        client_address(&request, &trusted).unwrap().to_string()
    }

    #[test]
    fn a_stranger_cannot_claim_another_address() {
        assert_eq!(address("192.0.2.7", "198.51.100.1"), "192.0.2.7");
    }

    #[test]
    fn a_trusted_proxy_is_believed_and_what_the_client_sent_is_not() {
        assert_eq!(address("10.0.0.1", "198.51.100.1"), "198.51.100.1");
        assert_eq!(address("10.0.0.1", "1.1.1.1, 198.51.100.1"), "198.51.100.1");
        assert_eq!(address("10.0.0.1", "1.1.1.1, 198.51.100.1, 10.0.0.2"), "198.51.100.1");
    }

    #[test]
    fn a_proxy_that_notes_nothing_readable_stands_for_itself() {
        assert_eq!(address("10.0.0.1", "unknown"), "10.0.0.1");
    }
}
