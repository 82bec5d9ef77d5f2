//! `troupe admin`: with no server running, and beside one.

use std::time::{Duration, Instant};

use serde_json::json;

use super::launch;
use crate::harness::{Client, Launch};

/// What a command printed after this label.
fn printed(text: &str, label: &str) -> String {
    let line =
        text.lines().find_map(|line| line.trim().strip_prefix(label)).unwrap_or_else(|| panic!("{label} in {text}"));
    line.trim_start_matches([':', ' ']).split_whitespace().next().expect("a word").to_owned()
}

fn admin(launch: &Launch, arguments: &[&str]) -> String {
    let (status, text) = launch.run(&[&["admin"], arguments].concat());
    assert_eq!(status, 0, "{arguments:?}: {text}");
    text
}

async fn sign_in(client: &Client, email: &str, password: &str) -> u16 {
    let body = json!({ "email": email, "password": password, "app": "account", "platform": "web" });
    client.post("/v1/auth/sign-in").json(&body).send().await.status
}

#[tokio::test]
async fn a_person_made_without_a_server_can_sign_in_once_there_is_one() {
    let (_folder, launch) = launch();
    let password = printed(&admin(&launch, &["user-create", "ada@example.com", "--name", "Ada"]), "Password");
    assert!(admin(&launch, &["user-list"]).contains("ada@example.com"));
    let process = launch.start();
    assert_eq!(sign_in(&process.client(), "ada@example.com", &password).await, 200);
}

#[tokio::test]
async fn beside_a_running_server_it_does_the_same() {
    let (_folder, launch) = launch();
    let process = launch.start();
    let client = process.client();
    let first = printed(&admin(&launch, &["user-create", "ada@example.com", "--name", "Ada"]), "Password");
    assert_eq!(sign_in(&client, "ada@example.com", &first).await, 200);
    let second = printed(&admin(&launch, &["password-reset", "ada@example.com"]), "Password");
    assert_eq!(sign_in(&client, "ada@example.com", &first).await, 401);
    assert_eq!(sign_in(&client, "ada@example.com", &second).await, 200);
    assert!(admin(&launch, &["org-list"]).contains("Platform"));
}

#[tokio::test]
async fn a_token_works_at_once_and_dies_soon_after_signing_out() {
    let (_folder, launch) = launch();
    let process = launch.start();
    admin(&launch, &["user-create", "ada@example.com", "--name", "Ada"]);
    let token = printed(&admin(&launch, &["token-create", "ada@example.com"]), "Token");
    let ada = process.client().with_token(&token);
    assert_eq!(ada.get("/v1/me").send().await.expect(200).str("/user/email"), "ada@example.com");
    admin(&launch, &["sign-out", "ada@example.com"]);
    let signed_out = Instant::now();
    loop {
        let asked = signed_out.elapsed();
        if ada.get("/v1/me").send().await.status == 401 {
            break;
        }
        assert!(asked < Duration::from_secs(15), "the token still works");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[test]
fn what_cannot_be_done_is_said_in_words() {
    let (_folder, launch) = launch();
    admin(&launch, &["user-create", "ada@example.com", "--name", "Ada"]);
    for arguments in [
        &["admin", "user-create", "ada@example.com", "--name", "Ada"][..],
        &["admin", "user-create", "no address", "--name", "Ada"],
        &["admin", "password-reset", "nobody@example.com"],
        &["admin", "token-create", "nobody@example.com"],
        &["admin", "sign-out", "nobody@example.com"],
    ] {
        let (status, text) = launch.run(arguments);
        assert_eq!(status, 1, "{arguments:?}: {text}");
        assert!(text.starts_with("troupe: ") && !text.contains("panicked"), "{arguments:?}: {text}");
    }
}
