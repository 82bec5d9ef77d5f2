//! How a socket ends.

use std::time::Duration;

use serde_json::json;

use crate::harness::{Heard, Server, Socket};

#[tokio::test]
async fn signing_out_closes_the_sockets_of_that_sign_in_soon_and_no_other() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let phone = ada.authenticator().await;
    let mut hers = Socket::live(&ada.client, 0).await;
    let mut phones = Socket::live(&phone, 0).await;
    phone.post("/v1/auth/sign-out").send().await.expect_success();
    assert_eq!(phones.closed().await, Some(4401));
    hers.send_ping().await;
    while hers.next().await != Heard::Pong {}
}

#[tokio::test]
async fn ending_another_sign_in_closes_its_sockets_soon() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let phone = ada.authenticator().await;
    let mut phones = Socket::live(&phone, 0).await;
    let sign_ins = ada.client.get("/v1/me/sign-ins").send().await.expect(200);
    let of_phone =
        sign_ins.list("/signIns").iter().find(|one| one["app"] == "authenticator").expect("the phone's sign-in");
    let path = format!("/v1/me/sign-ins/{}", of_phone["signInId"].as_str().expect("an id"));
    ada.client.delete(&path).send().await.expect_success();
    assert_eq!(phones.closed().await, Some(4401));
}

#[tokio::test]
async fn a_new_password_closes_the_sockets_of_every_other_sign_in() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let phone = ada.authenticator().await;
    let mut phones = Socket::live(&phone, 0).await;
    let body = json!({ "currentPassword": ada.password, "password": "another correct horse" });
    ada.client.post("/v1/me/password").json(&body).send().await.expect_success();
    assert_eq!(phones.closed().await, Some(4401));
}

#[tokio::test]
async fn a_server_that_stops_says_1012() {
    let server = Server::with(&["shutdown.grace=30s"]).await;
    let ada = server.person("ada").await.client;
    let sockets = [Socket::live(&ada, 0).await, Socket::live(&ada, 0).await];
    let listening = async {
        for mut socket in sockets {
            assert_eq!(socket.closed().await, Some(1012));
        }
    };
    tokio::join!(server.stop(), listening);
}

#[tokio::test]
async fn a_sign_in_that_expires_closes_its_sockets_at_that_moment() {
    let server = Server::with(&["accounts.session_lifetime=1h"]).await;
    let ada = server.person("ada").await;
    let mut hers = Socket::live(&ada.client, 0).await;
    server.clock.advance(Duration::from_hours(1));
    assert_eq!(hers.closed().await, Some(4401));
}
