//! The devices that the vault is on.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use super::{NO_VAULT, NOT_SIGNED, Owner, REMOVED};
use crate::harness::{Heard, Socket, VaultDevice, item_put};

fn path(device_id: &str) -> String {
    format!("/v1/me/vault/devices/{device_id}")
}

#[tokio::test]
async fn a_device_registers_itself_and_the_person_is_told() {
    let mut owner = Owner::with_vault().await;
    owner.server.clock.advance(Duration::from_secs(90));
    let device = owner.unregistered_device().await;
    let body = json!({ "name": "  Ada's tablet  ", "platform": "android" });
    let answer = device.signed(Method::PUT, &path(&device.device_id), Some(&body)).send().await.expect(200);
    let now = owner.server.clock.now().0;
    let shown = json!({
        "deviceId": device.device_id, "name": "Ada's tablet", "platform": "android", "createdAt": now, "lastSeenAt": now,
    });
    assert_eq!(answer.json, json!({ "device": shown }));
    assert_eq!(owner.overview().await["devices"][1], shown);
    assert_eq!(owner.logged().await, ["vault.device_added", "vault.created"]);
    assert_eq!(owner.emails(1).await, ["Your passwords vault is on a new device"]);
}

#[tokio::test]
async fn a_registered_device_is_renamed_without_an_e_mail() {
    let owner = Owner::with_vault().await;
    let created_at = owner.server.clock.now().0;
    owner.server.clock.advance(Duration::from_secs(10));
    let own = path(&owner.device.device_id);
    let body = json!({ "name": "Renamed", "platform": "web" });
    let answer = owner.device.signed(Method::PUT, &own, Some(&body)).send().await.expect(200);
    assert_eq!((answer.str("/device/name"), answer.str("/device/platform")), ("Renamed", "web"));
    assert_eq!((answer.int("/device/createdAt"), answer.int("/device/lastSeenAt")), (created_at, created_at));
    assert_eq!(owner.overview().await["devices"], json!([answer.json["device"]]));
    assert_eq!(owner.logged().await, ["vault.created"]);
}

#[tokio::test]
async fn a_device_registers_nobody_but_itself() {
    let mut owner = Owner::with_vault().await;
    let other = owner.new_id();
    let body = json!({ "name": "Other", "platform": "ios" });
    let answer = owner.device.signed(Method::PUT, &path(&other), Some(&body)).send().await;
    answer.expect_error(403, "vault_signature", NOT_SIGNED);
    assert_eq!(owner.overview().await["devices"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_removed_device_is_gone_for_good() {
    let mut owner = Owner::with_vault().await;
    let second = owner.second_device().await;
    let answer = owner.device.signed(Method::DELETE, &path(&second.device_id), None).send().await.expect(200);
    assert_eq!(answer.json, json!({ "deleted": true }));
    assert_eq!(owner.overview().await["devices"].as_array().map(Vec::len), Some(1));
    assert_eq!(owner.logged().await[0], "vault.device_removed");

    // Over another sign-in, for its own has ended.
    let second = VaultDevice { client: owner.person.authenticator().await, ..second };
    let body = json!({ "name": "Again", "platform": "ios" });
    let again = second.signed(Method::PUT, &path(&second.device_id), Some(&body)).send().await;
    again.expect_error(403, "device_removed", REMOVED);
    let item = owner.new_id();
    second.change(&[item_put(&item, 0, "x")]).send().await.expect_error(403, "vault_signature", NOT_SIGNED);
    let twice = owner.device.signed(Method::DELETE, &path(&second.device_id), None).send().await;
    twice.expect_error(404, "not_found", "That device isn't in your vault.");
    assert_eq!(owner.emails(1).await, ["Your passwords vault is on a new device"], "a removal is not e-mailed");
}

#[tokio::test]
async fn a_device_may_remove_itself() {
    let mut owner = Owner::with_vault().await;
    let second = owner.second_device().await;
    second.signed(Method::DELETE, &path(&second.device_id), None).send().await.expect(200);
    owner.device.signed(Method::DELETE, &path(&owner.device.device_id), None).send().await.expect(200);
    assert_eq!(owner.overview().await["devices"], json!([]));
    // The key opens the vault still, on a device of another id.
    owner.second_device().await;
    assert_eq!(owner.overview().await["devices"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn only_a_registered_device_removes_another() {
    let mut owner = Owner::with_vault().await;
    let unregistered = owner.unregistered_device().await;
    let target = path(&owner.device.device_id);
    unregistered.signed(Method::DELETE, &target, None).send().await.expect_error(403, "vault_signature", NOT_SIGNED);
    owner.device.client.delete(&target).send().await.expect_error(403, "vault_signature", NOT_SIGNED);
    let unknown = owner.new_id();
    for id in [unknown.as_str(), "short"] {
        let answer = owner.device.signed(Method::DELETE, &path(id), None).send().await;
        answer.expect_error(404, "not_found", "That device isn't in your vault.");
    }
}

#[tokio::test]
async fn a_vault_is_on_twenty_devices_at_most() {
    let mut owner = Owner::with_vault().await;
    let mut last = owner.device.clone();
    for _ in 2..=20 {
        last = owner.device.another(owner.device.client.clone(), &mut owner.dice);
        last.register().await;
    }
    let one_more = owner.device.another(owner.device.client.clone(), &mut owner.dice);
    let body = json!({ "name": "One more", "platform": "ios" });
    let ask = async || one_more.signed(Method::PUT, &path(&one_more.device_id), Some(&body)).send().await;
    ask().await.expect_error(409, "too_many_devices", "Your vault is on 20 devices already. Remove one first.");
    let renamed = last.signed(Method::PUT, &path(&last.device_id), Some(&body)).send().await;
    renamed.expect(200);
    owner.device.signed(Method::DELETE, &path(&last.device_id), None).send().await.expect(200);
    ask().await.expect(200);
    assert_eq!(owner.overview().await["devices"].as_array().map(Vec::len), Some(20));
}

#[tokio::test]
async fn without_a_vault_there_are_no_devices() {
    let owner = Owner::without_vault().await;
    let own = path(&owner.device.device_id);
    let body = json!({ "name": "Phone", "platform": "ios" });
    owner.device.signed(Method::PUT, &own, Some(&body)).send().await.expect_error(404, "not_found", NO_VAULT);
    owner.device.signed(Method::DELETE, &own, None).send().await.expect_error(404, "not_found", NO_VAULT);
}

#[tokio::test]
async fn names_and_platforms_are_checked() {
    let owner = Owner::with_vault().await;
    let own = path(&owner.device.device_id);
    let ask = async |name: &str, platform: &str| {
        let body = json!({ "name": name, "platform": platform });
        owner.device.signed(Method::PUT, &own, Some(&body)).send().await
    };
    for platform in ["ios", "android", "web"] {
        ask(&"é".repeat(80), platform).await.expect(200);
        ask(" a ", platform).await.expect(200);
    }
    ask(&"é".repeat(81), "ios").await.expect_problems(&["name"]);
    ask("   ", "ios").await.expect_problems(&["name"]);
    ask("a\u{0}b", "ios").await.expect_problems(&["name"]);
    ask("", "cli").await.expect_problems(&["name", "platform"]);
    let body = json!({ "name": "a", "platform": "ios", "more": 1 });
    owner.device.signed(Method::PUT, &own, Some(&body)).send().await.expect_problems(&["more"]);
    let body = json!({ "name": "a", "platform": "ios" });
    owner.device.signed(Method::PUT, &path("short"), Some(&body)).send().await.expect_problems(&["deviceId"]);
}

const ENDED: &str = "This device was removed from your vault. Wipe its copy and sign in again.";

#[tokio::test]
async fn a_removed_device_is_signed_out_and_reads_why() {
    let mut owner = Owner::with_vault().await;
    let second = owner.second_device().await;
    let mut socket = Socket::live(&second.client, 0).await;
    owner.device.signed(Method::DELETE, &path(&second.device_id), None).send().await.expect(200);
    owner
        .server
        .eventually("the socket to close", async || matches!(socket.next().await, Heard::Closed(_)).then_some(()))
        .await;
    let vault = format!("/v1/me/vault/vaults/{}/index", second.vault_id);
    for path in ["/v1/me/vault", &vault, "/v1/me", "/v1/me/live"] {
        let answer = second.client.get(path).send().await;
        let answer = answer.expect_error(401, "device_removed", ENDED);
        assert!(answer.header("www-authenticate").is_some_and(|how| how.starts_with("Bearer")));
    }
    // Neither a restart nor a second look takes that back, and whoever signs in anew is told nothing of it.
    owner.server.clock.advance(Duration::from_hours(24));
    second.client.get("/v1/me").send().await.expect_error(401, "device_removed", ENDED);
    owner.person.authenticator().await.get("/v1/me/vault").send().await.expect(200);
    let made_up = owner.device.client.with_token("trp_p_made_up").get("/v1/me").send().await;
    made_up.expect_error(401, "unauthenticated", "Sign in to continue.");
}

#[tokio::test]
async fn whoever_removes_a_device_of_the_same_sign_in_stays_signed_in() {
    let mut owner = Owner::with_vault().await;
    let same = owner.device.another(owner.device.client.clone(), &mut owner.dice);
    same.register().await;
    owner.device.signed(Method::DELETE, &path(&same.device_id), None).send().await.expect(200);
    owner.device.client.get("/v1/me/vault").send().await.expect(200);
    owner.device.signed(Method::DELETE, &path(&owner.device.device_id), None).send().await.expect(200);
    owner.device.client.get("/v1/me").send().await.expect(200);
}

#[tokio::test]
async fn a_device_belongs_to_the_sign_in_that_registered_it_last() {
    let mut owner = Owner::with_vault().await;
    let second = owner.second_device().await;
    let anew = VaultDevice { client: owner.person.authenticator().await, ..second.clone() };
    anew.register().await;
    owner.device.signed(Method::DELETE, &path(&second.device_id), None).send().await.expect(200);
    anew.client.get("/v1/me").send().await.expect_error(401, "device_removed", ENDED);
    second.client.get("/v1/me").send().await.expect(200);
}
