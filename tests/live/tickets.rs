//! Tickets.

use std::time::Duration;

use futures::future::join_all;
use serde_json::json;

use crate::harness::{Server, Ticket};

/// A moment less than two minutes.
const NEARLY_TWO_MINUTES: Duration = Duration::from_millis(2 * 60 * 1_000 - 1);
const A_MOMENT: Duration = Duration::from_millis(1);

#[tokio::test]
async fn a_ticket_opens_one_socket() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let ticket = Ticket::issue(&ada).await;
    assert!(ticket.url.starts_with("ws://"), "{}", ticket.url);
    let socket = ticket.open().await;
    assert!(socket.is_ok(), "{:?}", socket.err());
    assert_eq!(ticket.open().await.err(), Some(401));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_spend_a_ticket_at_once_one_gets_in() {
    let server = Server::start().await;
    let ticket = Ticket::issue(&server.person("ada").await.client).await;
    let attempts = join_all((0..16).map(|_| ticket.open())).await;
    assert_eq!(attempts.iter().filter(|attempt| attempt.is_ok()).count(), 1);
    assert!(attempts.iter().filter_map(|attempt| attempt.as_ref().err()).all(|status| *status == 401));
}

#[tokio::test]
async fn a_ticket_lasts_two_minutes() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let [in_time, too_late] = [Ticket::issue(&ada).await, Ticket::issue(&ada).await];
    server.clock.advance(NEARLY_TWO_MINUTES);
    let socket = in_time.open().await;
    assert!(socket.is_ok(), "{:?}", socket.err());
    server.clock.advance(A_MOMENT);
    assert_eq!(too_late.open().await.err(), Some(401));
}

#[tokio::test]
async fn without_a_ticket_or_with_a_made_up_one_no_socket_opens() {
    let server = Server::start().await;
    let good = Ticket::issue(&server.person("ada").await.client).await;
    let damaged = format!("{}A", &good.ticket[..good.ticket.len() - 1]);
    for text in ["", "nonsense", &"A".repeat(43), &"A".repeat(10_000), "%00", damaged.as_str()] {
        let ticket = Ticket { ticket: text.to_owned(), ..good.clone() };
        if text == good.ticket {
            continue;
        }
        assert_eq!(ticket.open().await.err(), Some(401), "{text}");
    }
    let without = reqwest::Client::new().get(good.url.replacen("ws", "http", 1)).send().await.expect("an answer");
    assert!(without.status().is_client_error());
}

#[tokio::test]
async fn a_socket_needs_a_ticket_even_from_who_is_signed_in() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let ticket = Ticket { ticket: ada.token.clone().unwrap(), ..Ticket::issue(&ada).await };
    assert_eq!(ticket.open().await.err(), Some(401));
}

#[tokio::test]
async fn a_ticket_of_a_sign_in_that_was_revoked_meanwhile_opens_nothing() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let ticket = Ticket::issue(&ada).await;
    ada.post("/v1/auth/sign-out").send().await.expect_success();
    match ticket.open().await {
        Err(status) => assert_eq!(status, 401),
        // The handshake may be faster than the news; the socket then closes at once.
        Ok(mut socket) => assert_eq!(socket.closed().await, Some(4401)),
    }
}

#[tokio::test]
async fn a_page_of_another_origin_opens_no_socket_even_with_a_ticket() {
    const ORIGIN: &str = "https://app.example.com";
    let server = Server::with(&[&format!("server.cors_origins={ORIGIN}")]).await;
    let ada = server.person("ada").await.client;
    assert_eq!(Ticket::issue(&ada).await.open_from("https://evil.example.com").await.err(), Some(403));
    let socket = Ticket::issue(&ada).await.open_from(ORIGIN).await;
    assert!(socket.is_ok(), "{:?}", socket.err());
}

#[tokio::test]
async fn a_key_gets_no_ticket() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let org_id = ada.org("Acme").await;
    let body = json!({ "name": "A program", "kind": "api", "scopes": ["org:read"] });
    let key = ada.post(&format!("/v1/orgs/{org_id}/keys")).json(&body).send().await.expect(201);
    let program = ada.with_token(key.str("/secret"));
    program.get("/v1/me/live").send().await.expect(403);
}
