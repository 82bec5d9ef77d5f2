//! Which bucket and file a request's address names.

use std::borrow::Cow;

use hyper::{HeaderMap, Uri, header::HOST};
use percent_encoding::percent_decode_str;
use s3s::{
    S3Result,
    host::{S3Host, VirtualHost},
};

/// What a request's address names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The bucket's name.
    pub bucket: Option<String>,
    /// The file's key.
    pub key: Option<String>,
}

impl Place {
    /// What the address names; below `domain`, a host's first part is the bucket.
    pub fn of(uri: &Uri, headers: &HeaderMap, domain: Option<&str>) -> Self {
        let path = percent_decode_str(uri.path().trim_start_matches('/')).decode_utf8().unwrap_or(Cow::Borrowed(""));
        // Only the first slash belongs to the address: a key may begin with one.
        let path =
            if uri.path().starts_with("//") { percent_decode_str(&uri.path()[1..]).decode_utf8_lossy() } else { path };
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        if let Some(bucket) = domain.and_then(|domain| bucket_of_host(host, domain)) {
            Self { bucket: text(bucket), key: text(&path) }
        } else {
            let (bucket, key) = path.split_once('/').unwrap_or((&path, ""));
            Self { bucket: text(bucket), key: text(key) }
        }
    }
}

/// The bucket that a host names below the domain.
fn bucket_of_host<'h>(host: &'h str, domain: &str) -> Option<&'h str> {
    let host = without_port(host);
    let at = host.len().checked_sub(domain.len())?;
    let (bucket, rest) = (host.get(..at)?, host.get(at..)?);
    bucket.strip_suffix('.').filter(|bucket| !bucket.is_empty() && rest.eq_ignore_ascii_case(domain))
}

pub(crate) fn without_port(host: &str) -> &str {
    host.rsplit_once(':')
        .filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()))
        .map_or(host, |(host, _)| host)
}

/// Hosts below the configured domain, as `s3s` asks for them. Every other host is the listener's own.
pub(crate) struct Domain(pub String);

impl S3Host for Domain {
    fn parse_host_header<'a>(&'a self, host: &'a str) -> S3Result<VirtualHost<'a>> {
        let found = VirtualHost::new(self.0.as_str());
        Ok(match bucket_of_host(host, &self.0) {
            Some(bucket) => found.with_bucket(bucket),
            None => found,
        })
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn place(uri: &'static str, host: &'static str) -> (Option<String>, Option<String>) {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static(host));
        let Place { bucket, key } = Place::of(&Uri::from_static(uri), &headers, Some("s3.example.org"));
        (bucket, key)
    }

    #[test]
    fn a_bucket_stands_in_the_path_or_before_the_domain() {
        let text = |text: &str| Some(text.to_owned());
        for (uri, host, bucket, key) in [
            ("/", "s3.example.org", None, None),
            ("/b", "localhost:9465", text("b"), None),
            ("/b/", "localhost", text("b"), None),
            ("/b/a%2Fc%20d", "127.0.0.1:1", text("b"), text("a/c d")),
            ("/b//x", "localhost", text("b"), text("/x")),
            ("/b/..%2f", "localhost", text("b"), text("../")),
            ("/a/c", "b.S3.example.org:443", text("b"), text("a/c")),
            ("//a", "b.s3.example.org", text("b"), text("/a")),
            ("/", "b.s3.example.org", text("b"), None),
            ("/a/c", "bs3.example.org", text("a"), text("c")),
        ] {
            assert_eq!(place(uri, host), (bucket, key), "{uri} {host}");
        }
    }
}
