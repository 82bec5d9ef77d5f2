//! What is decided at the same time as something else, of which it knows nothing.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Answer, Client, Person, Request, Server};

const NEW_PASSWORD: &str = "another correct horse";

fn sign_in(client: &Client, person: &Person) -> Request {
    let body = json!({ "email": person.email, "password": person.password, "app": "account", "platform": "web" });
    client.post("/v1/auth/sign-in").json(&body)
}

fn change_password(person: &Person) -> Request {
    let body = json!({ "currentPassword": person.password, "password": NEW_PASSWORD });
    person.client.post("/v1/me/password").json(&body)
}

/// Waits until the fault that was set has happened.
async fn has_happened(server: &Server) {
    while server.faults.happened() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// No token of this answer is good.
async fn verify_shut_out(server: &Server, signed_in: &Answer) {
    if let Some(token) = signed_in.json.get("token").and_then(Value::as_str) {
        server.client().with_token(token).get("/v1/me").send().await.expect(401);
    } else {
        assert_eq!(signed_in.status, 401, "{}", signed_in.text);
    }
}

#[tokio::test]
async fn a_sign_in_that_is_overtaken_by_a_new_password_comes_to_nothing() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    // The old password was found right, and the sign-in is not yet there.
    server.faults.set("commit:sign_in=stall(3s);times=1").expect("a rule");
    let racing = tokio::spawn(sign_in(&server.client(), &ada).send());
    has_happened(&server).await;
    change_password(&ada).send().await.expect(200);
    let signed_in = racing.await.expect("an answer");
    verify_shut_out(&server, &signed_in).await;
}

#[tokio::test]
async fn a_sign_in_that_overtakes_a_new_password_is_ended_by_it() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    // The sign-ins that are to end were read, and the password is not yet another.
    server.faults.set("commit:person=stall(3s);times=1").expect("a rule");
    let racing = tokio::spawn(change_password(&ada).send());
    has_happened(&server).await;
    let signed_in = sign_in(&server.client(), &ada).send().await;
    racing.await.expect("an answer").expect(200);
    verify_shut_out(&server, &signed_in).await;
}

#[tokio::test]
async fn of_two_organizations_made_at_once_by_an_owner_of_forty_nine_one_is_made() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    for number in 0..49 {
        ada.org(&format!("Acme {number}")).await;
    }
    server.faults.set("commit:organization=stall(2s);times=2").expect("a rule");
    let make = |name: &str| ada.post("/v1/orgs").json(&json!({ "name": name })).send();
    let (left, right) = tokio::join!(make("Left"), make("Right"));
    let mut statuses = [left.status, right.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 400], "{} {}", left.text, right.text);
    let owned = ada.get("/v1/orgs?limit=100").send().await.expect(200);
    assert_eq!(owned.list("/orgs").len(), 50);
}
