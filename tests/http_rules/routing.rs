//! Paths and methods.

use reqwest::Method;

use crate::harness::Server;

#[tokio::test]
async fn an_unknown_path_is_404_no_route_signed_in_or_not() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    for path in ["/", "/v1", "/v2/me", "/v1/nothing", "/v1/me/", "/v1//me", "/v1/me/vault/vaults", "/v1/orgs/a/b/c/d/e"]
    {
        for client in [ada.nobody(), ada.clone()] {
            let answer = client.get(path).send().await;
            assert_eq!(
                (answer.status, answer.json["code"].as_str()),
                (404, Some("no_route")),
                "{path}: {}",
                answer.text
            );
        }
    }
}

#[tokio::test]
async fn a_path_that_is_no_text_is_an_unknown_path() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    for path in ["/v1/orgs/%ff", "/v1/orgs/%00", "/v1/orgs/%2e%2e", "/v1/orgs/%E2%82"] {
        ada.get(path).send().await.expect(404);
    }
}

#[tokio::test]
async fn a_wrong_method_is_405_and_says_which_are_right() {
    let server = Server::start().await;
    let client = server.client();
    let answer = client.delete("/v1/auth/sign-in").send().await.expect(405);
    assert_eq!(answer.json["code"], "wrong_method");
    assert_eq!(answer.header("allow"), Some("POST"));
    let answer = client.delete("/v1/me/vault/keyset").send().await.expect(405);
    assert_eq!(answer.header("allow"), Some("PUT"));
    let answer = client.request(Method::from_bytes(b"BREW").unwrap(), "/v1/me").send().await.expect(405);
    let allow = answer.header("allow").expect("Allow");
    assert!(["GET", "PATCH"].iter().all(|method| allow.contains(method)), "{allow}");
}

#[tokio::test]
async fn head_answers_like_get_without_a_body() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let answer = ada.request(Method::HEAD, "/v1/me").send().await.expect(200);
    assert_eq!(answer.text, "");
    assert!(answer.header("etag").is_some());
}
