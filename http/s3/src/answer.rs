//! What every answer has, and errors as S3's clients read them.

use hyper::{
    HeaderMap, Response, StatusCode,
    header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, SERVER},
};
use s3s::{Body, S3Error, S3Result};

use crate::{error::usual_message, visit::Visit};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-amz-request-id");
const HOST_ID: HeaderName = HeaderName::from_static("x-amz-id-2");
const NAME: HeaderValue = HeaderValue::from_static("Troupe");

/// The answer to a request for `path`.
pub(crate) fn complete(answered: S3Result<Response<Body>>, visit: &Visit, path: &str) -> Response<Body> {
    let answered = answered.or_else(S3Error::to_http_response);
    let mut response = answered.unwrap_or_else(|_| status_only(StatusCode::INTERNAL_SERVER_ERROR));
    if response.status().is_client_error() || response.status().is_server_error() {
        explain(&mut response, visit, path);
    } else if visit.operation() == "GetObjectAttributes" {
        unquote_tag(&mut response);
    }
    if let Ok(id) = HeaderValue::from_str(&visit.request_id) {
        response.headers_mut().insert(REQUEST_ID, id.clone());
        response.headers_mut().insert(HOST_ID, id);
    }
    response.headers_mut().insert(SERVER, NAME);
    response
}

fn status_only(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// Bytes that an answer's headers announce.
pub(crate) fn announced(headers: &HeaderMap) -> u64 {
    headers.get(CONTENT_LENGTH).and_then(|text| text.to_str().ok()?.parse().ok()).unwrap_or(0)
}

/// What an error says in one of its elements, such as `Code`.
pub(crate) fn said(response: &Response<Body>, name: &str) -> Option<String> {
    if response.status().is_success() {
        return None;
    }
    let body = response.body().bytes()?;
    let (_, rest) = std::str::from_utf8(&body).ok()?.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text.to_owned())
}

/// Takes the quotes off the tag in the attributes of a file, where S3 writes none, unlike everywhere else.
fn unquote_tag(response: &mut Response<Body>) {
    let Some(body) = response.body().bytes() else { return };
    let Ok(text) = std::str::from_utf8(&body) else { return };
    let Some((before, rest)) = text.split_once("<ETag>") else { return };
    let Some((tag, after)) = rest.split_once("</ETag>") else { return };
    let tag = tag.replace("&quot;", "").replace('"', "");
    let text = format!("{before}<ETag>{tag}</ETag>{after}");
    response.headers_mut().remove(CONTENT_LENGTH);
    *response.body_mut() = Body::from(text);
}

/// Adds to an error what `s3s` leaves out: a sentence, what was asked for, and the request's id.
fn explain(response: &mut Response<Body>, visit: &Visit, path: &str) {
    let code = said(response, "Code").unwrap_or_default();
    let Some(body) = response.body().bytes() else { return };
    let Ok(text) = std::str::from_utf8(&body) else { return };
    let Some(rest) = text.strip_suffix("</Error>") else { return };
    let message = if rest.contains("<Message>") {
        String::new()
    } else {
        format!("<Message>{}</Message>", escape(usual_message(&code)))
    };
    let named = match code.as_str() {
        "NoSuchBucket" => element("BucketName", visit.place.bucket.as_deref()),
        "NoSuchKey" | "NoSuchVersion" => element("Key", visit.place.key.as_deref()),
        _ => String::new(),
    };
    let (path, id) = (escape(path), &visit.request_id);
    let text = format!(
        "{rest}{message}{named}<Resource>{path}</Resource><RequestId>{id}</RequestId><HostId>{id}</HostId></Error>"
    );
    let headers = response.headers_mut();
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/xml"));
    *response.body_mut() = Body::from(text);
}

/// An element, where there is a text that XML can have.
fn element(name: &str, text: Option<&str>) -> String {
    let is_writable = |text: &&str| !text.contains(|it: char| it.is_control() || matches!(it, '\u{fffe}' | '\u{ffff}'));
    text.filter(is_writable).map(|text| format!("<{name}>{}</{name}>", escape(text))).unwrap_or_default()
}

/// A text as it stands in XML, where it has no character that XML can't have: paths are escaped already.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
