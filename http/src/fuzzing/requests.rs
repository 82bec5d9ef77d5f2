//! Heads of requests: the address, and the headers that are read here.

use std::net::IpAddr;

use actix_web::{
    HttpRequest,
    http::{
        Method,
        header::{HeaderName, HeaderValue},
    },
    test::TestRequest,
};
use http_shell::{
    credentials, cursor,
    fuzzing::{self, reads},
    paging,
    query::parse,
    router::Router,
    trace_parent::TraceParent,
};

use crate::{blobs, live, routes};

thread_local! {
    static ROUTER: Router = Router::new(routes::page()).expect("no two paths stand in each other's way");
}

/// A line `METHOD /path?query`, and headers as `name: value`. An endpoint that is found has all that its path names; whatever
/// a query or a header says is taken or refused.
pub fn requests(bytes: &[u8]) {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    if let Some(Ok(line)) = lines.next().map(std::str::from_utf8) {
        address(line);
    }
    let mut request = TestRequest::default().peer_addr(([10, 0, 0, 1], 4_711).into());
    for line in lines.take(32) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let name = HeaderName::from_bytes(&line[..colon]);
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(line[colon + 1..].trim_ascii())) {
            if let Ok(text) = value.to_str() {
                header(text);
            }
            request = request.append_header((name, value));
        }
    }
    headers(&request.to_http_request());
}

fn address(line: &str) {
    let (method, target) = line.split_once(' ').unwrap_or(("GET", line));
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if let Ok(method) = Method::from_bytes(method.as_bytes())
        && let Ok((endpoint, values)) = ROUTER.with(|router| router.find(&method, path))
    {
        assert_eq!(values.len(), endpoint.path_names.len(), "{path}");
    }
    reads::<live::LiveQuery>(query);
    reads::<blobs::Signed>(query);
    for area in [
        http_accounts::fuzzing::query,
        http_vault::fuzzing::query,
        http_notify::fuzzing::query,
        http_pages::fuzzing::query,
        http_platform::fuzzing::query,
    ] {
        area(query);
    }
    reads::<paging::PageQuery>(query);
    if let Ok(asked) = parse::<paging::PageQuery>(query) {
        assert!((1..=paging::LIMIT_MAX).contains(&asked.limit()));
    }
}

fn header(text: &str) {
    if let Some(parent) = TraceParent::parse(text) {
        assert_eq!(TraceParent::parse(&parent.to_string()), Some(parent));
    }
    for size in [0, 1, 100, u64::MAX] {
        if let Some(range) = blobs::range_within(text, size) {
            assert!(range.start < range.end && range.end <= size, "{range:?} of {size}");
        }
    }
    if let Some(token) = credentials::bearer(text) {
        assert_eq!(token, token.trim());
    }
    // Whoever makes a cursor up may name any position; it is written as it was read.
    if let Ok(position) = cursor::read::<String>("log", text) {
        assert_eq!(cursor::write("log", position), text);
    }
}

fn headers(request: &HttpRequest) {
    let proxies: [IpAddr; 2] = [[10, 0, 0, 1].into(), [10, 0, 0, 2].into()];
    fuzzing::headers(request, &proxies);
    if let Some(cookie) = http_platform::fuzzing::cookie(request.headers()) {
        assert!(!cookie.contains(';'));
    }
}
