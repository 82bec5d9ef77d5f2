//! What fuzzing has this package read: requests of S3's protocol, with what they bring. Built for tests, and with the feature
//! `fuzzing`.

use std::{net::IpAddr, sync::LazyLock};

use async_trait::async_trait;
use futures::executor::block_on;
use hyper::{HeaderMap, Request, http::request};
use s3s::{
    Body, S3, S3Result,
    access::{S3Access, S3AccessContext},
    auth::SimpleAuth,
    service::{S3Service, S3ServiceBuilder},
};

use crate::{
    body::sent_size,
    checksums::{Announced, TextSums},
    chunked,
    cors::Asking,
    guard::{self, Brings},
    object,
    place::{Domain, Place},
    visit,
};

#[cfg(test)]
#[path = "../../../fuzz/play.rs"]
mod play;

const DOMAIN: &str = "s3.test";
const HEADERS_MAX: usize = 64;

/// The protocol over nothing: what is read of a request is what is looked at.
static PROTOCOL: LazyLock<S3Service> = LazyLock::new(|| {
    let mut builder = S3ServiceBuilder::new(Nothing);
    builder.set_auth(SimpleAuth::from_single("TRPA0000000000000000", "secret"));
    builder.set_access(Everybody);
    builder.set_host(Domain(DOMAIN.to_owned()));
    builder.build()
});

struct Nothing;

impl S3 for Nothing {}

struct Everybody;

#[async_trait]
impl S3Access for Everybody {
    async fn check(&self, _: &mut S3AccessContext<'_>) -> S3Result<()> {
        Ok(())
    }
}

/// A line `METHOD /path?query`, headers as `name: value`, an empty line, and the body. What is refused is the client's fault, or
/// not served.
pub fn s3(bytes: &[u8]) {
    let Some((head, body)) = request(bytes) else { return };
    chunked::fuzzing(body);
    let place = Place::of(&head.uri, &head.headers, Some(DOMAIN));
    let brings = Brings::of(&head, &place);
    if let Err(refused) = guard::check(&head, &place, brings) {
        let status = refused.status_code().map_or(500, |status| status.as_u16());
        assert!((400..500).contains(&status), "{refused:?}");
        return;
    }
    headers(&head.headers);
    let answer = block_on(PROTOCOL.call(Request::from_parts(head, Body::from(body.to_vec()))));
    let status = answer.expect("an answer").status().as_u16();
    assert!(status < 500 || status == 501, "{status}");
}

fn request(bytes: &[u8]) -> Option<(request::Parts, &[u8])> {
    let end = bytes.windows(2).position(|two| two == b"\n\n").unwrap_or(bytes.len());
    let body = bytes.get(end + 2..).unwrap_or_default();
    let mut lines = bytes[..end].split(|byte| *byte == b'\n');
    let (method, target) = std::str::from_utf8(lines.next()?).ok()?.split_once(' ')?;
    let mut built = Request::builder().method(method).uri(target);
    for line in lines.take(HEADERS_MAX) {
        let colon = line.iter().position(|byte| *byte == b':')?;
        built = built.header(&line[..colon], line[colon + 1..].trim_ascii());
    }
    let (head, ()) = built.body(()).ok()?.into_parts();
    Some((head, body))
}

/// Whatever headers say is taken or refused.
fn headers(headers: &HeaderMap) {
    let refusals = [Announced::read(headers, None, None).err(), TextSums::of(headers).err()];
    for refused in refusals.into_iter().flatten() {
        assert!(refused.status_code().is_some_and(|status| status.is_client_error()), "{refused:?}");
    }
    let proxy = IpAddr::from([127, 0, 0, 1]);
    std::hint::black_box((sent_size(headers, None), visit::client_address(headers, proxy, &[proxy])));
    object::fuzzing(headers);
    let (mut head, ()) = Request::new(()).into_parts();
    head.headers.clone_from(headers);
    drop(Asking::of(&head));
}

#[cfg(test)]
mod tests {
    use super::{play::play, *};

    #[test]
    fn requests_over_s3_hold() {
        play("s3", s3);
    }
}
