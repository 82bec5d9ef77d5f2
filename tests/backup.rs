//! The authenticator backup (contract A 2.1, 3, 4.1).

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    accounts::{letter, letters},
    harness::{Client, Person, Server},
};

const PATH: &str = "/v1/me/authenticator/vault";
const CHANGED: &str = "The backup changed since this phone last saw it.";

async fn phone() -> (Server, Person, Client) {
    let server = Server::start().await;
    let person = server.person("ada").await;
    let phone = person.authenticator().await;
    (server, person, phone)
}

fn backup(revision: i64) -> Value {
    sized(24, 40, revision)
}

fn sized(salt: usize, ciphertext: usize, revision: i64) -> Value {
    json!({ "version": 1, "salt": "A".repeat(salt), "ciphertext": "B".repeat(ciphertext), "revision": revision })
}

#[tokio::test]
async fn there_is_no_backup_at_first() {
    let (_server, _, phone) = phone().await;
    assert_eq!(phone.get(PATH).send().await.expect(200).json, json!({ "vault": null }));
    assert_eq!(phone.delete(PATH).send().await.expect(200).json, json!({ "ok": true, "deleted": false }));
}

#[tokio::test]
async fn a_save_over_the_current_revision_makes_the_next() {
    let (server, _, phone) = phone().await;
    let start = server.clock.now().0;
    for revision in 0..3 {
        let now = server.clock.now().0;
        let answer = phone.put(PATH).json(&backup(revision)).send().await.expect(200);
        let mut saved = backup(revision + 1);
        saved["createdAt"] = json!(start);
        saved["updatedAt"] = json!(now);
        assert_eq!(answer.json, json!({ "vault": saved }));
        assert_eq!(phone.get(PATH).send().await.expect(200).json, answer.json);
        server.clock.advance(Duration::from_secs(1));
    }
}

#[tokio::test]
async fn a_save_over_another_revision_is_answered_with_the_backup_now_there() {
    let (_server, _, phone) = phone().await;
    let answer = phone.put(PATH).json(&backup(1)).send().await.expect_error(409, "stale_revision", CHANGED);
    assert_eq!(answer.json["vault"], Value::Null, "there is none yet");
    phone.put(PATH).json(&backup(0)).send().await.expect(200);
    let saved = phone.put(PATH).json(&backup(1)).send().await.expect(200);
    for seen in [0, 1, 3] {
        let answer = phone.put(PATH).json(&backup(seen)).send().await.expect_error(409, "stale_revision", CHANGED);
        assert_eq!(answer.json["vault"], saved.json["vault"]);
    }
}

#[tokio::test]
async fn of_many_phones_that_save_at_once_one_succeeds() {
    let (_server, _, phone) = phone().await;
    let saves = (0..8).map(|_| phone.put(PATH).json(&backup(0)).send());
    let mut statuses: Vec<_> = futures::future::join_all(saves).await.into_iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409, 409, 409, 409, 409]);
}

#[tokio::test]
async fn after_a_deletion_the_revision_starts_at_0_again() {
    let (_server, _, phone) = phone().await;
    phone.put(PATH).json(&backup(0)).send().await.expect(200);
    phone.put(PATH).json(&backup(1)).send().await.expect(200);
    assert_eq!(phone.delete(PATH).send().await.expect(200).json, json!({ "ok": true, "deleted": true }));
    assert_eq!(phone.get(PATH).send().await.expect(200).json, json!({ "vault": null }));
    assert_eq!(phone.delete(PATH).send().await.expect(200).json["deleted"], false);
    let answer = phone.put(PATH).json(&backup(2)).send().await.expect_error(409, "stale_revision", CHANGED);
    assert!(answer.json["vault"].is_null());
    assert_eq!(phone.put(PATH).json(&backup(0)).send().await.expect(200).int("/vault/revision"), 1);
}

#[tokio::test]
async fn each_limit_holds_on_both_of_its_sides() {
    let (_server, _, phone) = phone().await;
    let ask = async |body: Value| phone.put(PATH).json(&body).send().await;
    ask(sized(24, 262_144, 0)).await.expect(200);
    ask(sized(88, 40, 1)).await.expect(200);
    ask(sized(23, 40, 2)).await.expect_problems(&["salt"]);
    ask(sized(89, 40, 2)).await.expect_problems(&["salt"]);
    ask(sized(24, 39, 2)).await.expect_problems(&["ciphertext"]);
    ask(sized(24, 262_145, 2)).await.expect_problems(&["ciphertext"]);
    ask(sized(24, 40, -1)).await.expect_problems(&["revision"]);
    for version in [0, 2] {
        let mut body = backup(2);
        body["version"] = json!(version);
        ask(body).await.expect_problems(&["version"]);
    }
    for (field, text) in [("salt", "-".repeat(24)), ("salt", "A".repeat(26)), ("ciphertext", "B".repeat(39) + " ")] {
        let mut body = backup(2);
        body[field] = json!(text);
        ask(body).await.expect_problems(&[field]);
    }
    let mut body = backup(2);
    body["more"] = json!(1);
    ask(body).await.expect_problems(&["more"]);
    ask(json!({})).await.expect_problems(&["version", "salt", "ciphertext", "revision"]);
    assert_eq!(phone.get(PATH).send().await.expect(200).int("/vault/revision"), 2);
}

#[tokio::test]
async fn a_body_has_260_kb_at_most() {
    let (_server, _, phone) = phone().await;
    let text = backup(0).to_string();
    let padded = |bytes: usize| text.clone() + &" ".repeat(bytes - text.len());
    let answer = phone.put(PATH).raw(padded(260 * 1024 + 1)).send().await;
    answer.expect_error(413, "too_large", "The backup is too large.");
    phone.put(PATH).raw(padded(260 * 1024)).send().await.expect(200);
}

#[tokio::test]
async fn only_the_authenticator_apps_own_sign_in_opens_it() {
    let (_server, person, phone) = phone().await;
    phone.put(PATH).json(&backup(0)).send().await.expect(200);
    for (app, platform) in [
        ("account", "web"),
        ("home", "ios"),
        ("assistant", "android"),
        ("authenticator", "web"),
        ("authenticator", "cli"),
    ] {
        let client = person.sign_in(app, platform).await;
        for request in [client.get(PATH), client.put(PATH).raw("no JSON"), client.delete(PATH)] {
            let refusal = "The authenticator backup opens only in the Authenticator app.";
            request.send().await.expect_error(403, "authenticator_only", refusal);
        }
    }
    let android = person.sign_in("authenticator", "android").await;
    assert_eq!(android.get(PATH).send().await.expect(200).int("/vault/revision"), 1);
    phone.nobody().get(PATH).send().await.expect_error(401, "unauthenticated", "Sign in to continue.");
}

#[tokio::test]
async fn everybody_has_a_backup_of_their_own() {
    let (server, _, phone) = phone().await;
    phone.put(PATH).json(&backup(0)).send().await.expect(200);
    let bob = server.person("bob").await.authenticator().await;
    assert_eq!(bob.get(PATH).send().await.expect(200).json, json!({ "vault": null }));
    bob.delete(PATH).send().await.expect(200);
    assert_eq!(phone.get(PATH).send().await.expect(200).int("/vault/revision"), 1);
}

#[tokio::test]
async fn whoever_deletes_a_backup_mails_its_owner() {
    let (server, person, phone) = phone().await;
    let subject = "Your authenticator backup was deleted";
    phone.delete(PATH).send().await.expect(200);
    phone.put(PATH).json(&backup(0)).send().await.expect(200);
    assert_eq!(phone.delete(PATH).send().await.expect(200).json, json!({ "ok": true, "deleted": true }));
    let text = letter(&server, &person.email, subject).await;
    assert!(text.contains("accounts on your phone stay"), "{text}");
    assert_eq!(letters(&server, &person.email, subject).await, 1, "where there was none, none was deleted");
}
