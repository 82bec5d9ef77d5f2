//! The listener for operators, and the pages for readers.

use crate::harness::Server;

#[tokio::test]
async fn metrics_tell_of_requests_actors_and_the_store() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    ada.get("/v1/me").send().await.expect(200);
    ada.get("/v1/nothing").send().await.expect(404);
    let answer = server.operator().get("/metrics").send().await.expect(200);
    assert!(answer.header("content-type").is_some_and(|kind| kind.starts_with("text/plain")));
    let own: Vec<_> = answer.text.lines().filter(|line| line.starts_with("troupe_")).collect();
    for start in [
        "troupe_http_requests_total{",
        "troupe_http_request_seconds",
        "troupe_http_in_flight",
        "troupe_store_",
        "troupe_actor",
    ] {
        assert!(own.iter().any(|line| line.starts_with(start)), "{start} is not among\n{}", own.join("\n"));
    }
    assert!(!answer.text.contains("nothing"), "a path that is none must not become a label");
}

#[tokio::test]
async fn a_healthy_server_says_so() {
    let server = Server::start().await;
    server.operator().get("/healthz").send().await.expect(200);
    let ready = async || {
        let ready = server.operator().get("/readyz").send().await;
        (ready.status == 200 && ready.json["status"] == "ok").then_some(())
    };
    server.eventually("readiness", ready).await;
}

#[tokio::test]
async fn operators_pages_are_not_on_the_clients_listener_nor_the_other_way_round() {
    let server = Server::start().await;
    for path in ["/metrics", "/healthz", "/readyz", "/kept"] {
        server.client().get(path).send().await.expect(404);
    }
    server.operator().get("/v1/me").send().await.expect(404);
}

#[tokio::test]
async fn the_reference_is_a_page_that_needs_nothing_from_elsewhere() {
    let server = Server::start().await;
    let answer = server.client().get("/docs").send().await.expect(200);
    assert!(answer.header("content-type").is_some_and(|kind| kind.starts_with("text/html")));
    for name in ["/v1/me/vault", "/v1/me/authenticator/vault", "/v1/orgs"] {
        assert!(answer.text.contains(name), "{name}");
    }
    for source in ["src=\"http", "href=\"http", "src=\"//", "@import"] {
        assert!(!answer.text.contains(source), "{source}");
    }
}
