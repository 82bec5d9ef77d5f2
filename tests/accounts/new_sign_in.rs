//! A person is told of a sign-in from somewhere new.

use serde_json::json;

use crate::{
    accounts::{credentials, letter, letters},
    harness::{Person, Server},
};

const SUBJECT: &str = "New sign-in";

async fn sign_in_from(server: &Server, person: &Person, install_id: Option<&str>, address: &str) {
    let mut body = credentials(&person.email, &person.password);
    body["installId"] = json!(install_id);
    let request = server.client().post("/v1/auth/sign-in").header("x-forwarded-for", address);
    request.json(&body).send().await.expect(200);
}

/// Waits until there are so many letters, and lets a later one come: there must be no more.
async fn told(server: &Server, person: &Person, count: usize) {
    let counted = async || (letters(server, &person.email, SUBJECT).await >= count).then_some(());
    server.eventually("letters about sign-ins", counted).await;
    let body = json!({ "currentPassword": person.password, "password": person.password });
    person.client.post("/v1/me/password").json(&body).send().await.expect(200);
    letter(server, &person.email, "Your password was changed").await;
    assert_eq!(letters(server, &person.email, SUBJECT).await, count);
}

#[tokio::test]
async fn an_install_not_seen_before_is_told_once() {
    let server = Server::start().await;
    // Signs in from an install of its own.
    let ada = server.person("ada").await;
    for _ in 0..3 {
        sign_in_from(&server, &ada, Some("laptop"), "").await;
    }
    let text = letter(&server, &ada.email, SUBJECT).await;
    assert!(text.contains("127.0.0.1"), "{text}");
    assert!(text.contains("account app (web)"), "{text}");
    told(&server, &ada, 2).await;
}

#[tokio::test]
async fn an_address_not_seen_before_is_told_once_and_the_one_of_the_registration_is_known() {
    let server = Server::with(&["server.trusted_proxies=127.0.0.1"]).await;
    let body = json!({ "email": "ada@example.org", "password": "correct horse ada", "name": "ada" });
    let registered = server.client().post("/v1/auth/register").json(&body).send().await.expect(201);
    let (email, password) = ("ada@example.org".to_owned(), "correct horse ada".to_owned());
    let mut ada = Person { email, password, user_id: registered.str("/user/userId").into(), client: server.client() };
    let answer = crate::accounts::try_sign_in(&server.client(), &ada.email, &ada.password).await.expect(200);
    ada.client = server.client().with_token(answer.str("/token"));
    for address in ["203.0.113.7", "203.0.113.7", "127.0.0.1", "2001:db8::1", "2001:db8::2"] {
        sign_in_from(&server, &ada, None, address).await;
    }
    told(&server, &ada, 2).await;
    let kept = server.operator().get(&format!("/kept?to={}", ada.email)).send().await.expect(200);
    assert!(kept.text.contains("203.0.113.7") && kept.text.contains("2001:db8::1"), "{}", kept.text);
}
