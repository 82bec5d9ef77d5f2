//! Answers are compressed for those who can read it, where it pays.

use actix_http::encoding::Encoder;
use actix_web::{
    HttpRequest, HttpResponse,
    body::{BodySize, BoxBody, MessageBody},
    http::header::{self, ContentEncoding, HeaderValue},
};

/// The smallest body that is compressed, in bytes: below it, a packet is a packet.
const COMPRESSED_LEN_MIN: u64 = 1024;

/// The answer, compressed where it pays.
pub(super) fn compress(mut response: HttpResponse, request: &HttpRequest) -> HttpResponse {
    let worth_it = matches!(response.body().size(), BodySize::Sized(len) if len >= COMPRESSED_LEN_MIN)
        && !response.headers().contains_key(header::CONTENT_ENCODING)
        && response.headers().get(header::CONTENT_TYPE).is_some_and(is_text);
    if !worth_it {
        return response;
    }
    if let Some(encoding) = accepted(request) {
        // The encoder notes what the answer varies by.
        return response.map_body(|head, body| BoxBody::new(Encoder::response(encoding, head, body)));
    }
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    response
}

fn is_text(content_type: &HeaderValue) -> bool {
    let content_type = content_type.as_bytes();
    content_type.starts_with(b"text/") || content_type.starts_with(b"application/json")
}

/// The best encoding that the client takes; zstd costs the least.
pub(super) fn accepted(request: &HttpRequest) -> Option<ContentEncoding> {
    let accepts = request.headers().get(header::ACCEPT_ENCODING)?.to_str().ok()?;
    let takes = |wanted: &str| {
        accepts.split(',').any(|one| {
            let mut parts = one.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            let refused = parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
            name.eq_ignore_ascii_case(wanted) && !refused
        })
    };
    [("zstd", ContentEncoding::Zstd), ("gzip", ContentEncoding::Gzip)]
        .into_iter()
        .find_map(|(name, encoding)| takes(name).then_some(encoding))
}

#[cfg(test)]
mod tests {
    use actix_web::{body::to_bytes, test::TestRequest};

    use super::*;

    fn compressed(accepts: &str, len: usize) -> HttpResponse {
        let request = TestRequest::default().insert_header((header::ACCEPT_ENCODING, accepts)).to_http_request();
        compress(HttpResponse::Ok().content_type("application/json").body("x".repeat(len)), &request)
    }

    #[actix_web::test]
    async fn a_large_answer_is_compressed_as_the_client_likes() {
        for (accepts, encoding) in [("gzip", "gzip"), ("gzip, zstd", "zstd"), ("zstd;q=0, gzip;q=0.5", "gzip")] {
            let response = compressed(accepts, 10_000);
            assert_eq!(response.headers().get(header::CONTENT_ENCODING).unwrap(), encoding, "{accepts}");
            assert!(to_bytes(response.into_body()).await.unwrap().len() < 1_000);
        }
    }

    #[actix_web::test]
    async fn a_small_answer_and_one_for_a_client_that_cannot_read_it_are_left_alone() {
        for (accepts, len) in [("gzip", 1_023), ("br", 10_000), ("", 10_000)] {
            let response = compressed(accepts, len);
            assert!(!response.headers().contains_key(header::CONTENT_ENCODING), "{accepts} {len}");
            assert_eq!(to_bytes(response.into_body()).await.unwrap().len(), len);
        }
    }
}
