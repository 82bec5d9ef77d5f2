//! Messages.

use std::time::Duration;

use super::Sender;
use crate::harness::{Heard, Server, Socket, Ticket};

const AN_HOUR: Duration = Duration::from_hours(1);

/// Hears the vault's revisions `from` to `to`, in order and without gaps; the number of the last message.
async fn hear(socket: &mut Socket, from: i64, to: i64) -> i64 {
    let mut last = 0;
    for revision in from..=to {
        let message = socket.message().await;
        assert_eq!(message["type"], "vault.changed", "{message}");
        assert_eq!(message["revision"], revision, "{message}");
        let seq = message["seq"].as_i64().expect("a number");
        assert!(last == 0 || seq == last + 1, "{message} after number {last}");
        last = seq;
    }
    last
}

#[tokio::test]
async fn every_device_hears_every_change_in_order() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let mut sender = Sender::new(&server, &ada).await;
    let mut phone = sender.socket().await;
    let mut laptop = Socket::live(&ada.client, sender.before).await;
    sender.change(10).await;
    assert_eq!(hear(&mut phone, 1, 10).await, hear(&mut laptop, 1, 10).await);
}

#[tokio::test]
async fn a_message_names_the_vault_and_nothing_of_its_content() {
    let server = Server::start().await;
    let mut sender = Sender::new(&server, &server.person("ada").await).await;
    let mut socket = sender.socket().await;
    sender.change(1).await;
    let message = socket.message().await;
    assert_eq!(message["vaultId"], sender.device.vault_id);
    let mut fields: Vec<_> = message.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["revision", "seq", "type", "vaultId"]);
}

#[tokio::test]
async fn others_hear_nothing() {
    let server = Server::start().await;
    let mut sender = Sender::new(&server, &server.person("ada").await).await;
    let bob = server.person("bob").await;
    let mut other = Sender::new(&server, &bob).await;
    let (mut hers, mut his) = (sender.socket().await, other.socket().await);
    sender.change(3).await;
    hear(&mut hers, 1, 3).await;
    // His own comes, and nothing before it.
    other.change(1).await;
    assert_eq!(his.message().await["vaultId"], other.device.vault_id);
}

#[tokio::test]
async fn who_reconnects_with_the_last_number_misses_nothing_and_hears_nothing_twice() {
    let server = Server::start().await;
    let mut sender = Sender::new(&server, &server.person("ada").await).await;
    let client = sender.device.client.clone();
    let mut socket = sender.socket().await;
    sender.change(3).await;
    let last = hear(&mut socket, 1, 3).await;
    drop(socket);
    sender.change(4).await;
    let mut again = Socket::live(&client, last).await;
    assert_eq!(hear(&mut again, 4, 7).await, last + 4);
    sender.change(1).await;
    hear(&mut again, 8, 8).await;
}

#[tokio::test]
async fn who_comes_without_a_number_hears_what_happens_from_now_on() {
    let server = Server::start().await;
    let mut sender = Sender::new(&server, &server.person("ada").await).await;
    let client = sender.device.client.clone();
    let mut first = sender.socket().await;
    sender.change(2).await;
    hear(&mut first, 1, 2).await;
    let mut second = Ticket::issue(&client).await.open().await.expect("a socket");
    sender.change(1).await;
    hear(&mut second, 3, 3).await;
}

#[tokio::test]
async fn more_messages_than_a_page_come_in_order_after_a_reconnect() {
    let server = Server::start().await;
    let mut sender = Sender::new(&server, &server.person("ada").await).await;
    sender.change(600).await;
    let mut socket = sender.socket().await;
    assert_eq!(hear(&mut socket, 1, 600).await, sender.before + 600);
}

#[tokio::test]
async fn who_comes_back_after_more_than_an_hour_is_told_to_read_anew() {
    let server = Server::start().await;
    let mut sender = Sender::new(&server, &server.person("ada").await).await;
    let client = sender.device.client.clone();
    let mut socket = sender.socket().await;
    sender.change(3).await;
    let last = hear(&mut socket, 1, 3).await;
    sender.change(1).await;
    // Another device hears the fourth.
    hear(&mut socket, 4, 4).await;
    drop(socket);
    server.clock.advance(AN_HOUR + Duration::from_secs(1));
    server
        .eventually("reset", async || {
            let mut socket = Socket::live(&client, last).await;
            // The message that was missed is still there until it is swept away.
            match socket.raw_message().await["type"].as_str() {
                Some("reset") => Some(()),
                Some("vault.changed") => None,
                other => panic!("{other:?}"),
            }
        })
        .await;
    let mut current = Socket::live(&client, last + 1).await;
    sender.change(1).await;
    assert_eq!(hear(&mut current, 5, 5).await, last + 2, "who missed nothing is told nothing");
}

#[tokio::test]
async fn a_number_that_was_never_given_out_is_taken_for_the_newest() {
    let server = Server::start().await;
    let mut sender = Sender::new(&server, &server.person("ada").await).await;
    let client = sender.device.client.clone();
    let mut first = sender.socket().await;
    sender.change(2).await;
    hear(&mut first, 1, 2).await;
    for text in ["999999", "-5", "many", "99999999999999999999999"] {
        let mut ticket = Ticket::issue(&client).await;
        ticket.ticket = format!("{}&seq={text}", ticket.ticket);
        match ticket.open().await {
            Ok(_) => {}
            Err(status) => assert_eq!(status, 400, "{text}"),
        }
    }
    let mut ahead = Socket::live(&client, 999_999).await;
    sender.change(1).await;
    loop {
        let message = ahead.message().await;
        if message["type"] == "vault.changed" {
            break assert_eq!(message["revision"], 3);
        }
        assert_eq!(message["type"], "reset", "{message}");
    }
}

#[tokio::test]
async fn a_socket_says_when_everything_that_was_missed_has_been_sent() {
    let server = Server::start().await;
    let mut sender = Sender::new(&server, &server.person("ada").await).await;
    sender.change(2).await;
    let client = sender.device.client.clone();
    let mut first = sender.socket().await;
    hear(&mut first, 1, 2).await;
    let mut again = Socket::live(&client, sender.before + 1).await;
    let missed = again.raw_message().await;
    assert_eq!((&missed["type"], &missed["revision"]), (&"vault.changed".into(), &2.into()));
    let ready = serde_json::json!({ "type": "ready", "seq": sender.before + 2 });
    assert_eq!(again.raw_message().await, ready);
}

#[tokio::test]
async fn a_ping_is_answered() {
    let server = Server::start().await;
    let mut socket = Socket::live(&server.person("ada").await.client, 0).await;
    socket.send_ping().await;
    while socket.next().await != Heard::Pong {}
}
