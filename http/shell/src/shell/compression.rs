//! Answers are compressed for those who can read it, where it pays.

use std::{
    io::{self, Write},
    time::Duration,
};

use actix_web::{
    HttpRequest, HttpResponse,
    body::{BodySize, BoxBody, MessageBody},
    http::header::{self, HeaderValue},
};
use bytes::Bytes;
use domain::tenant::Tenant;
use flate2::{Compression, write::GzEncoder};
use kernel::{Cpu, CpuKind};
use tokio::time::timeout;

/// The smallest body that is compressed, in bytes: below it, a packet is a packet.
const COMPRESSED_LEN_MIN: u64 = 1024;
/// From how many bytes on a body is compressed where that holds up nobody. Smaller ones take a fraction of a millisecond.
const LARGE: usize = 32 * 1024;
/// How long a large answer waits to be compressed. One that would wait longer goes out as it is.
const WAIT_MAX: Duration = Duration::from_secs(1);
/// How hard zstd tries; its own default.
const ZSTD_LEVEL: i32 = 3;

/// What an answer is encoded in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Zstd,
    Gzip,
}

impl Encoding {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        }
    }

    fn encode(self, body: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::Zstd => zstd::bulk::compress(body, ZSTD_LEVEL),
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(body)?;
                encoder.finish()
            }
        }
    }
}

/// The answer, compressed where it pays; in the tenant's turns where that takes long.
pub(super) async fn compress(
    mut response: HttpResponse,
    request: &HttpRequest,
    cpu: &Cpu,
    tenant: Tenant,
) -> HttpResponse {
    if !is_worth_it(&response) {
        return response;
    }
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    let Some(encoding) = accepted(request) else { return response };
    let (mut response, body) = response.into_parts();
    let body = match body.try_into_bytes() {
        Ok(body) => body,
        Err(body) => return response.set_body(body),
    };
    match encoded(encoding, body.clone(), cpu, tenant).await {
        Some(encoded) => {
            let name = HeaderValue::from_static(encoding.as_str());
            response.headers_mut().insert(header::CONTENT_ENCODING, name);
            response.set_body(BoxBody::new(encoded))
        }
        None => response.set_body(BoxBody::new(body)),
    }
}

fn is_worth_it(response: &HttpResponse) -> bool {
    matches!(response.body().size(), BodySize::Sized(len) if len >= COMPRESSED_LEN_MIN)
        && !response.headers().contains_key(header::CONTENT_ENCODING)
        && response.headers().get(header::CONTENT_TYPE).is_some_and(is_text)
}

/// The body, encoded; none when there is no time for that.
async fn encoded(encoding: Encoding, body: Bytes, cpu: &Cpu, tenant: Tenant) -> Option<Vec<u8>> {
    let encoded = if body.len() < LARGE {
        encoding.encode(&body)
    } else {
        let encoding = cpu.run(tenant, CpuKind::Answer, move || encoding.encode(&body));
        timeout(WAIT_MAX, encoding).await.ok()?.ok()?
    };
    encoded.inspect_err(|error| tracing::error!(%error, "an answer can't be compressed")).ok()
}

fn is_text(content_type: &HeaderValue) -> bool {
    let content_type = content_type.as_bytes();
    content_type.starts_with(b"text/") || content_type.starts_with(b"application/json")
}

/// The best encoding that the client takes; zstd costs the least.
pub(super) fn accepted(request: &HttpRequest) -> Option<Encoding> {
    let accepts = request.headers().get(header::ACCEPT_ENCODING)?.to_str().ok()?;
    let takes = |wanted: Encoding| {
        accepts.split(',').any(|one| {
            let mut parts = one.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            let refused = parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
            name.eq_ignore_ascii_case(wanted.as_str()) && !refused
        })
    };
    [Encoding::Zstd, Encoding::Gzip].into_iter().find(|encoding| takes(*encoding))
}

#[cfg(test)]
mod tests {
    use std::{io::Read, num::NonZeroUsize, sync::mpsc};

    use actix_web::{body::to_bytes, rt, test::TestRequest};
    use flate2::read::GzDecoder;

    use super::*;

    fn cpu() -> Cpu {
        Cpu::with_threads(&tokio::runtime::Handle::current(), NonZeroUsize::MIN)
    }

    async fn compressed(accepts: &str, len: usize, cpu: &Cpu) -> HttpResponse {
        let request = TestRequest::default().insert_header((header::ACCEPT_ENCODING, accepts)).to_http_request();
        let answer = HttpResponse::Ok().content_type("application/json").body("x".repeat(len));
        compress(answer, &request, cpu, Tenant::System).await
    }

    fn unpacked(encoding: &str, bytes: &[u8]) -> Vec<u8> {
        let mut plain = Vec::new();
        match encoding {
            "zstd" => plain = zstd::bulk::decompress(bytes, 10 * LARGE).unwrap(),
            _ => drop(GzDecoder::new(bytes).read_to_end(&mut plain).unwrap()),
        }
        plain
    }

    #[actix_web::test]
    async fn a_large_answer_is_compressed_as_the_client_likes() {
        for (accepts, encoding) in [("gzip", "gzip"), ("gzip, zstd", "zstd"), ("zstd;q=0, gzip;q=0.5", "gzip")] {
            for len in [1_024, LARGE - 1, LARGE, 5 * LARGE] {
                let response = compressed(accepts, len, &cpu()).await;
                assert_eq!(response.headers().get(header::CONTENT_ENCODING).unwrap(), encoding, "{accepts}");
                assert_eq!(response.headers().get(header::VARY).unwrap(), "accept-encoding");
                let bytes = to_bytes(response.into_body()).await.unwrap();
                assert!(bytes.len() * 10 < len, "{len} bytes became {}", bytes.len());
                assert_eq!(unpacked(encoding, &bytes), "x".repeat(len).into_bytes());
            }
        }
    }

    #[actix_web::test]
    async fn a_small_answer_and_one_for_a_client_that_cannot_read_it_are_left_alone() {
        for (accepts, len) in [("gzip", 1_023), ("br", 10_000), ("", 10_000)] {
            let response = compressed(accepts, len, &cpu()).await;
            assert!(!response.headers().contains_key(header::CONTENT_ENCODING), "{accepts} {len}");
            assert_eq!(to_bytes(response.into_body()).await.unwrap().len(), len);
        }
    }

    #[actix_web::test]
    async fn an_answer_goes_out_as_it_is_when_the_processor_is_taken() {
        let (cpu, (go_on, waits)) = (cpu(), mpsc::channel::<()>());
        let taken = rt::spawn({
            let cpu = cpu.clone();
            async move { cpu.run(Tenant::System, CpuKind::Survey, move || waits.recv().unwrap_or_default()).await }
        });
        while cpu.snapshot().lanes[0].running == 0 {
            tokio::task::yield_now().await;
        }
        let response = compressed("gzip", LARGE, &cpu).await;
        assert!(!response.headers().contains_key(header::CONTENT_ENCODING));
        assert_eq!(to_bytes(response.into_body()).await.unwrap().len(), LARGE);
        drop(go_on);
        taken.await.unwrap().unwrap();
    }
}
