//! Browsers may call from the origins that the configuration names.

use reqwest::Method;

use crate::harness::{Answer, Client, Server};

const ORIGIN: &str = "https://app.example.com";

async fn ask_beforehand(client: &Client, origin: &str) -> Answer {
    let request = client.request(Method::OPTIONS, "/v1/me/vault").header("origin", origin);
    request
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "authorization")
        .send()
        .await
}

#[tokio::test]
async fn a_named_origin_may_ask_beforehand_and_read_answers() {
    let server = Server::with(&[&format!("server.cors_origins={ORIGIN},https://other.example.com")]).await;
    let answer = ask_beforehand(&server.client(), ORIGIN).await.expect_success();
    assert_eq!(answer.header("access-control-allow-origin"), Some(ORIGIN));
    let methods = answer.header("access-control-allow-methods").expect("methods");
    assert!(["GET", "POST", "DELETE"].iter().all(|method| methods.contains(method)), "{methods}");
    let headers = answer.header("access-control-allow-headers").expect("headers").to_lowercase();
    let allowed: Vec<_> = headers.split(", ").collect();
    for header in [
        "authorization",
        "cache-control",
        "content-disposition",
        "content-encoding",
        "content-md5",
        "content-type",
        "idempotency-key",
        "if-match",
        "if-none-match",
        "x-amz-checksum-sha256",
        "x-vault-device",
        "x-vault-signature",
    ] {
        assert!(allowed.contains(&header), "{header} in {headers}");
    }
    for (path, status) in [("/v1/openapi.json", 200), ("/v1/me", 401), ("/v1/nothing", 404)] {
        let answer = server.client().get(path).header("origin", ORIGIN).send().await.expect(status);
        assert_eq!(answer.header("access-control-allow-origin"), Some(ORIGIN), "{path}");
        assert!(answer.header("vary").is_some_and(|vary| vary.to_lowercase().contains("origin")), "{path}");
        let readable = answer.header("access-control-expose-headers").expect("exposed headers").to_lowercase();
        assert!(
            ["content-range", "etag", "retry-after", "x-request-id"].iter().all(|header| readable.contains(header)),
            "{readable}"
        );
    }
}

#[tokio::test]
async fn another_origin_may_not() {
    let server = Server::with(&[&format!("server.cors_origins={ORIGIN}")]).await;
    for origin in ["https://evil.example.com", "http://app.example.com", "https://app.example.com.evil.com", "null"] {
        let answer = ask_beforehand(&server.client(), origin).await;
        assert_eq!(answer.header("access-control-allow-origin"), None, "{origin}");
        let answer = server.client().get("/v1/openapi.json").header("origin", origin).send().await.expect(200);
        assert_eq!(answer.header("access-control-allow-origin"), None, "{origin}");
    }
}

#[tokio::test]
async fn by_default_no_origin_may() {
    let server = Server::start().await;
    let answer = ask_beforehand(&server.client(), ORIGIN).await;
    assert_eq!(answer.header("access-control-allow-origin"), None);
    let answer = server.client().get("/v1/openapi.json").header("origin", ORIGIN).send().await.expect(200);
    assert_eq!(answer.header("access-control-allow-origin"), None);
}
