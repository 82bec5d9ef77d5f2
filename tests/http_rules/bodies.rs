//! Bodies of requests.

use serde_json::json;

use crate::harness::Server;

const MALFORMED: (u16, &str) = (400, "malformed");

#[tokio::test]
async fn what_is_no_json_is_malformed() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    for body in
        ["", "{", "{\"name\":}", "nonsense", "{\"name\":\"Acme\"} and more", "\u{feff}{}", "{\"name\":\"\\ud800\"}"]
    {
        let answer = ada.post("/v1/orgs").raw(body).send().await;
        assert_eq!((answer.status, answer.json["code"].as_str().unwrap()), MALFORMED, "{body}: {}", answer.text);
    }
    let answer = ada.post("/v1/orgs").raw(vec![b'"', 0xff, b'"']).send().await;
    assert_eq!((answer.status, answer.json["code"].as_str().unwrap()), MALFORMED, "{}", answer.text);
}

#[tokio::test]
async fn json_of_another_shape_is_invalid() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    for (body, paths) in [
        (json!({}), ["name"]),
        (json!({ "name": 7 }), ["name"]),
        (json!({ "name": null }), ["name"]),
        (json!([]), [""]),
        (json!("Acme"), [""]),
        (json!(["Acme", null]), [""]),
    ] {
        ada.post("/v1/orgs").json(&body).send().await.expect_problems(&paths);
    }
}

#[tokio::test]
async fn json_nested_beyond_reason_is_refused_and_hurts_nobody() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    ada.post("/v1/orgs").raw(deep.clone()).send().await.expect(400);
    ada.post("/v1/orgs").raw(format!("{{\"name\":\"Acme\",\"unknown\":{deep}}}")).send().await.expect(201);
    ada.get("/v1/me").send().await.expect(200);
}

#[tokio::test]
async fn unknown_fields_are_ignored_where_the_contract_does_not_forbid_them() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    ada.post("/v1/orgs").json(&json!({ "name": "Acme", "colour": "red" })).send().await.expect(201);
}

#[tokio::test]
async fn a_body_must_say_that_it_is_json() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let body = r#"{"name":"Acme"}"#;
    for content_type in ["application/json", "application/json; charset=utf-8", "Application/JSON"] {
        ada.post("/v1/orgs").body(content_type, body).send().await.expect(201);
    }
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "json"] {
        let answer = ada.post("/v1/orgs").body(content_type, body).send().await.expect(415);
        assert_eq!(answer.json["code"], "unsupported_media_type");
    }
    ada.post("/v1/orgs").raw(body).header("content-encoding", "gzip").send().await.expect(415);
}

#[tokio::test]
async fn a_body_of_1_mb_is_read_and_one_byte_more_is_not() {
    const MB: usize = 1024 * 1024;
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let body = |length: usize| {
        let start = r#"{"name":"Acme"}"#;
        start.to_owned() + &" ".repeat(length - start.len())
    };
    ada.post("/v1/orgs").raw(body(MB)).send().await.expect(201);
    let answer = ada.post("/v1/orgs").raw(body(MB + 1)).send().await.expect(413);
    assert_eq!(answer.json["code"], "too_large");
}

#[tokio::test]
async fn a_body_that_does_not_say_its_length_has_the_same_limit() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let pieces = || futures::stream::iter((0..40).map(|_| Ok::<_, std::io::Error>(vec![b' '; 64 * 1024])));
    ada.post("/v1/orgs").raw(reqwest::Body::wrap_stream(pieces())).send().await.expect(413);
}
