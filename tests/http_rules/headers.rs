//! Headers of requests and answers.

use serde_json::json;

use crate::harness::Server;

#[tokio::test]
async fn a_request_id_is_echoed_or_made() {
    let server = Server::start().await;
    let client = server.client();
    for path in ["/v1/openapi.json", "/v1/me", "/v1/nothing"] {
        let answer = client.get(path).header("x-request-id", "from-the-proxy-1").send().await;
        assert_eq!(answer.header("x-request-id"), Some("from-the-proxy-1"), "{path}");
    }
    let made = [client.get("/v1/me").send().await, client.get("/v1/me").send().await];
    let [one, other] = made.map(|answer| answer.header("x-request-id").expect("an id").to_owned());
    assert!(one.len() >= 16 && one != other, "{one} {other}");
}

#[tokio::test]
async fn a_request_id_that_is_too_long_or_no_plain_text_is_not_echoed() {
    let server = Server::start().await;
    let id = |length: usize| "i".repeat(length);
    for (sent, echoed) in [(id(128), true), (id(129), false), ("two words".to_owned(), false), (String::new(), false)] {
        let answer = server.client().get("/v1/me").header("x-request-id", &sent).send().await;
        assert_eq!(answer.header("x-request-id") == Some(&sent), echoed, "{sent}");
        assert!(!answer.header("x-request-id").expect("an id").is_empty());
    }
}

#[tokio::test]
async fn one_object_carries_an_etag_and_a_known_one_is_304() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let first = ada.get("/v1/me").send().await.expect(200);
    let tag = first.header("etag").expect("a tag").to_owned();
    for known in [tag.clone(), format!("\"other\", {tag}"), "*".to_owned()] {
        let answer = ada.get("/v1/me").header("if-none-match", &known).send().await.expect(304);
        assert_eq!((answer.text.as_str(), answer.header("etag")), ("", Some(tag.as_str())));
    }
    ada.patch("/v1/me").json(&json!({ "name": "Ada Lovelace" })).send().await.expect(200);
    let changed = ada.get("/v1/me").header("if-none-match", &tag).send().await.expect(200);
    assert_ne!(changed.header("etag"), Some(tag.as_str()));
}

#[tokio::test]
async fn a_large_answer_is_compressed_as_the_client_likes() {
    let server = Server::start().await;
    let ask =
        |accepted: &'static str| server.client().get("/v1/openapi.json").header("accept-encoding", accepted).send();
    assert_eq!(ask("gzip").await.expect(200).header("content-encoding"), Some("gzip"));
    assert_eq!(ask("gzip, zstd").await.expect(200).header("content-encoding"), Some("zstd"));
    let plain = ask("identity").await.expect(200);
    assert_eq!(plain.header("content-encoding"), None);
    assert!(plain.header("vary").is_some_and(|vary| vary.to_lowercase().contains("accept-encoding")));
    assert_eq!(plain.json["openapi"].as_str().map(|version| &version[..4]), Some("3.1."));
}

#[tokio::test]
async fn answers_are_not_cached_by_others_and_not_sniffed() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    for answer in
        [ada.get("/v1/me").send().await, ada.get("/v1/orgs").send().await, ada.get("/v1/nothing").send().await]
    {
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        let caching = answer.header("cache-control").expect("Cache-Control");
        assert!(caching.contains("no-store") || caching.contains("private"), "{caching}");
    }
}

#[tokio::test]
async fn who_is_not_signed_in_is_told_how() {
    let server = Server::start().await;
    let token = |text: &str| server.client().with_token(text);
    let made_up = format!("trp_p_{}", "a".repeat(60));
    for client in [server.client(), token(""), token("nonsense"), token(&made_up)] {
        let answer = client.get("/v1/me").send().await.expect_error(401, "unauthenticated", "Sign in to continue.");
        assert!(answer.header("www-authenticate").is_some_and(|how| how.starts_with("Bearer")));
    }
    let answer = server.client().get("/v1/me").header("authorization", "Basic YWRhOnB3").send().await;
    answer.expect_error(401, "unauthenticated", "Sign in to continue.");
}

#[tokio::test]
async fn the_name_of_the_scheme_may_be_written_in_any_case() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let token = ada.token.clone().unwrap();
    ada.nobody().get("/v1/me").header("authorization", format!("bearer {token}")).send().await.expect(200);
}
