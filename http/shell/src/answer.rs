//! What a handler may answer with. Each kind knows its status, and describes itself in the OpenAPI document.

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Serialize;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use crate::{
    call::Call,
    error::{ApiError, Result},
    facts::Facts,
};

/// An answer to a request.
pub trait Answer {
    /// Adds the answer to the endpoint's description.
    fn describe(facts: &mut Facts);

    /// Writes it.
    fn respond(self, call: &Call) -> Result<HttpResponse>;
}

/// 200 with JSON: a list, a report, the outcome of a change.
pub struct Json<T>(pub T);

/// 200 with the JSON of one object: carries an `ETag`, and 304 answers a matching `If-None-Match`.
pub struct Object<T>(pub T);

/// 201 with the JSON of what was made.
pub struct Created<T>(pub T);

/// 202 with JSON: what was asked for is under way.
pub struct Accepted<T>(pub T);

/// 204.
pub struct NoContent;

/// One of two answers.
pub enum Either<A, B> {
    /// The first.
    Left(A),
    /// The second.
    Right(B),
}

fn json<T: Serialize>(status: StatusCode, value: &T) -> Result<HttpResponse> {
    let bytes = serde_json::to_vec(value).map_err(domain::Error::internal)?;
    Ok(written(status, bytes))
}

/// An answer whose JSON is written already.
pub fn written(status: StatusCode, json: Vec<u8>) -> HttpResponse {
    HttpResponse::build(status).insert_header((header::CONTENT_TYPE, "application/json")).body(json)
}

impl<T: Serialize + ToSchema> Answer for Json<T> {
    fn describe(facts: &mut Facts) {
        facts.answer::<T>(200, "Done.");
    }

    fn respond(self, _: &Call) -> Result<HttpResponse> {
        json(StatusCode::OK, &self.0)
    }
}

impl<T: Serialize + ToSchema> Answer for Created<T> {
    fn describe(facts: &mut Facts) {
        facts.answer::<T>(201, "Made.");
    }

    fn respond(self, _: &Call) -> Result<HttpResponse> {
        json(StatusCode::CREATED, &self.0)
    }
}

impl<T: Serialize + ToSchema> Answer for Accepted<T> {
    fn describe(facts: &mut Facts) {
        facts.answer::<T>(202, "Under way.");
    }

    fn respond(self, _: &Call) -> Result<HttpResponse> {
        json(StatusCode::ACCEPTED, &self.0)
    }
}

impl Answer for NoContent {
    fn describe(facts: &mut Facts) {
        facts.empty_answer(204, "Done.");
    }

    fn respond(self, _: &Call) -> Result<HttpResponse> {
        Ok(HttpResponse::NoContent().finish())
    }
}

impl<T: Serialize + ToSchema> Answer for Object<T> {
    fn describe(facts: &mut Facts) {
        facts.header("If-None-Match", "The `ETag` of an earlier answer; 304 when it still holds.", false);
        facts.answer::<T>(200, "Here it is.");
        facts.empty_answer(304, "Unchanged: your `ETag` names what is there.");
    }

    fn respond(self, call: &Call) -> Result<HttpResponse> {
        let bytes = serde_json::to_vec(&self.0).map_err(domain::Error::internal)?;
        let tag = entity_tag(&bytes);
        let mut response = if holds(call.header(&header::IF_NONE_MATCH), &tag) {
            HttpResponse::NotModified().finish()
        } else {
            HttpResponse::Ok().insert_header((header::CONTENT_TYPE, "application/json")).body(bytes)
        };
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, header::HeaderValue::from_static("private, no-cache"));
        headers.insert(header::ETAG, header::HeaderValue::try_from(tag).map_err(domain::Error::internal)?);
        Ok(response)
    }
}

/// A weak tag, since the same object travels compressed or not.
fn entity_tag(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    format!("W/\"{}\"", URL_SAFE_NO_PAD.encode(&digest[..12]))
}

/// Whether one of the tags that the client has is `tag`, compared weakly (RFC 9110, 13.1.2).
fn holds(if_none_match: Option<&str>, tag: &str) -> bool {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    if_none_match.is_some_and(|known| known.trim() == "*" || known.split(',').any(|one| opaque(one) == opaque(tag)))
}

impl<A: Answer, B: Answer> Answer for Either<A, B> {
    fn describe(facts: &mut Facts) {
        A::describe(facts);
        B::describe(facts);
    }

    fn respond(self, call: &Call) -> Result<HttpResponse> {
        match self {
            Self::Left(answer) => answer.respond(call),
            Self::Right(answer) => answer.respond(call),
        }
    }
}

impl<A: Answer, E: Into<ApiError>> Answer for std::result::Result<A, E> {
    fn describe(facts: &mut Facts) {
        A::describe(facts);
    }

    fn respond(self, call: &Call) -> Result<HttpResponse> {
        self.map_err(Into::into)?.respond(call)
    }
}

/// For what is no JSON (a file, a page, an upgrade to a socket); its attribute describes it.
impl Answer for HttpResponse {
    fn describe(_: &mut Facts) {}

    fn respond(self, _: &Call) -> Result<HttpResponse> {
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_names_the_bytes_and_nothing_else() {
        assert_eq!(entity_tag(b"a"), entity_tag(b"a"));
        assert_ne!(entity_tag(b"a"), entity_tag(b"b"));
    }

    #[test]
    fn a_client_may_list_tags_weak_or_strong_or_take_any() {
        let tag = entity_tag(b"a");
        let strong = tag.trim_start_matches("W/").to_owned();
        for known in [tag.clone(), strong.clone(), format!("\"x\", {tag}"), "*".to_owned()] {
            assert!(holds(Some(&known), &tag), "{known}");
        }
        assert!(!holds(Some("\"x\""), &tag));
        assert!(!holds(None, &tag));
    }
}
