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

use crate::{
    audit, blobs, console, credentials, cursor, live, notify, pages, paging, platform,
    query::{RequestQuery, parse},
    router::Router,
    routes,
    shell::fuzzing as shell,
    trace_parent::TraceParent,
    vault,
};

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
    let reads = [
        parses::<paging::PageQuery>,
        parses::<audit::AuditListQuery>,
        parses::<live::LiveQuery>,
        parses::<notify::NoticesPageQuery>,
        parses::<notify::OnCallQuery>,
        parses::<notify::EscalationsQuery>,
        parses::<notify::PreviewQuery>,
        parses::<pages::SearchQuery>,
        parses::<pages::CommentsQuery>,
        parses::<pages::PagesLiveQuery>,
        parses::<pages::ImportQuery>,
        parses::<platform::ActorListQuery>,
        parses::<vault::VaultItemsQuery>,
        parses::<blobs::Signed>,
    ];
    for read in reads {
        read(query);
    }
    pages::fuzzing_rows(query);
    if let Ok(asked) = parse::<paging::PageQuery>(query) {
        assert!((1..=paging::LIMIT_MAX).contains(&asked.limit()));
    }
}

/// What can't be read says so as the client's fault.
fn parses<T: RequestQuery>(query: &str) {
    if let Err(error) = parse::<T>(query) {
        assert_eq!(error.status(), 400, "{error:?}");
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
    shell::headers(request, &proxies);
    if let Some(cookie) = console::cookie(request.headers()) {
        assert!(!cookie.contains(';'));
    }
}
