//! What counts as signed (decisions, "Passwords vault").

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::{NOT_SIGNED, Owner};
use crate::harness::{Answer, VaultDevice, item_put};

const HEADER: &str = "X-Vault-Signature";
const WINDOW_MS: i64 = 5 * 60 * 1_000;

/// A change set with this header.
async fn change_with(device: &VaultDevice, body: &str, signature: &str) -> Answer {
    device.client.post(&device.items_path()).header(HEADER, signature).raw(body.to_owned()).send().await
}

fn body_of(item_id: &str) -> String {
    json!({ "changes": [item_put(item_id, 0, "x")] }).to_string()
}

impl Owner {
    /// A new item, signed as if at `signed_at`; what the server answers.
    async fn change_signed_at(&mut self, signed_at: i64) -> Answer {
        let body = body_of(&self.new_id());
        let signature = self.device.sign_at(signed_at, &Method::POST, &self.device.items_path(), &body);
        change_with(&self.device, &body, &signature).await
    }
}

#[tokio::test]
async fn a_signature_counts_five_minutes_before_and_after_the_servers_clock_and_no_longer() {
    let mut owner = Owner::with_vault().await;
    let now = owner.server.clock.now().0;
    owner.change_signed_at(now - WINDOW_MS).await.expect(200);
    owner.change_signed_at(now + WINDOW_MS).await.expect(200);
    owner.change_signed_at(now - WINDOW_MS - 1).await.expect_error(403, "vault_signature", NOT_SIGNED);
    owner.change_signed_at(now + WINDOW_MS + 1).await.expect_error(403, "vault_signature", NOT_SIGNED);
    assert_eq!(owner.device.index().await.list("/items").len(), 2);
}

#[tokio::test]
async fn a_signature_counts_once() {
    let mut owner = Owner::with_vault().await;
    let body = body_of(&owner.new_id());
    let signed_at = owner.server.clock.now().0 + WINDOW_MS;
    let signature = owner.device.sign_at(signed_at, &Method::POST, &owner.device.items_path(), &body);
    change_with(&owner.device, &body, &signature).await.expect(200);
    for _ in 0..3 {
        // Up to the last moment at which its time would still do.
        change_with(&owner.device, &body, &signature).await.expect_error(403, "vault_signature", NOT_SIGNED);
        owner.server.clock.advance(Duration::from_millis(WINDOW_MS.unsigned_abs() * 2 / 3));
    }
    assert_eq!(owner.device.index().await.int("/revision"), 1);
}

#[tokio::test]
async fn a_signature_of_a_request_that_changed_nothing_counts_once_too() {
    let mut owner = Owner::with_vault().await;
    let item = owner.new_id();
    owner.device.change(&[item_put(&item, 0, "x")]).send().await.expect(200);
    let body = body_of(&item);
    let signed_at = owner.server.clock.now().0 + 1_000;
    let signature = owner.device.sign_at(signed_at, &Method::POST, &owner.device.items_path(), &body);
    let conflict = change_with(&owner.device, &body, &signature).await.expect(200);
    assert_eq!(conflict.str("/results/0/status"), "conflict");
    change_with(&owner.device, &body, &signature).await.expect_error(403, "vault_signature", NOT_SIGNED);
}

#[tokio::test]
async fn a_deleted_vaults_signatures_stay_spent_for_the_next_one() {
    let owner = Owner::with_vault().await;
    let creation = owner.device.creation().to_string();
    let signed_at = owner.server.clock.now().0 + 1_000;
    let create = async |signed_at: i64| {
        let signature = owner.device.sign_at(signed_at, &Method::POST, "/v1/me/vault", &creation);
        owner.device.client.post("/v1/me/vault").header(HEADER, signature).raw(creation.clone()).send().await
    };
    owner.device.signed(Method::DELETE, "/v1/me/vault", None).send().await.expect(200);
    create(signed_at).await.expect(201);
    owner.device.signed(Method::DELETE, "/v1/me/vault", None).send().await.expect(200);
    create(signed_at).await.expect_error(403, "vault_signature", NOT_SIGNED);
    create(signed_at + 1).await.expect(201);
}

#[tokio::test]
async fn a_signature_covers_method_path_query_device_and_body() {
    let mut owner = Owner::with_vault().await;
    let second = owner.second_device().await;
    let (item, path) = (owner.new_id(), owner.device.items_path());
    let body = body_of(&item);
    let at = owner.server.clock.now().0 + 1_000;
    let sign = |method: Method, path: &str, body: &str| owner.device.sign_at(at, &method, path, body);
    for signature in [
        sign(Method::PUT, &path, &body),
        sign(Method::POST, &format!("{path}?x=1"), &body),
        sign(Method::POST, "/v1/me/vault", &body),
        sign(Method::POST, &path, &body_of(&owner.device.device_id)),
        sign(Method::POST, &path, &format!("{body} ")),
        sign(Method::POST, &path, ""),
        sign(Method::POST, &path, &body).replace(&owner.device.device_id, &second.device_id),
        sign(Method::POST, &path, &body).replace(&at.to_string(), &(at + 1).to_string()),
    ] {
        change_with(&owner.device, &body, &signature).await.expect_error(403, "vault_signature", NOT_SIGNED);
    }
    change_with(&owner.device, &body, &sign(Method::POST, &path, &body)).await.expect(200);
}

#[tokio::test]
async fn a_query_is_part_of_what_is_signed() {
    let mut owner = Owner::with_vault().await;
    let path = format!("{}?why=because%20so", owner.device.items_path());
    let body = json!({ "changes": [item_put(&owner.new_id(), 0, "x")] });
    owner.device.signed(Method::POST, &path, Some(&body)).send().await.expect(200);
}

#[tokio::test]
async fn a_missing_a_malformed_and_a_doubled_header_are_no_signature() {
    let mut owner = Owner::with_vault().await;
    let (path, body) = (owner.device.items_path(), body_of(&owner.new_id()));
    let client = &owner.device.client;
    client.post(&path).raw(body.clone()).send().await.expect_error(403, "vault_signature", NOT_SIGNED);
    let good = owner.device.sign_at(owner.server.clock.now().0 + 1_000, &Method::POST, &path, &body);
    let (head, signature) = good.rsplit_once("s=").unwrap();
    for header in [
        good.replace("v1;", "v2;"),
        good.replace("v1;", ""),
        good.replace(";t=", "; t="),
        good.replace(";t=", ";t=0"),
        format!("{good};"),
        format!("{head}s="),
        format!("{head}s={signature}="),
        format!("{head}s={}", &signature[1..]),
        format!("{head}s={}", "A".repeat(86)),
    ] {
        change_with(&owner.device, &body, &header).await.expect_error(403, "vault_signature", NOT_SIGNED);
    }
    let doubled = client.post(&path).header(HEADER, &good).header(HEADER, &good).raw(body.clone()).send().await;
    doubled.expect_error(403, "vault_signature", NOT_SIGNED);
    change_with(&owner.device, &body, &good).await.expect(200);
}

#[tokio::test]
async fn another_vaults_key_and_an_unregistered_device_do_not_sign() {
    let mut owner = Owner::with_vault().await;
    let unregistered = owner.unregistered_device().await;
    let stranger = VaultDevice { vault_id: owner.device.vault_id.clone(), ..owner.first_device_of_another_vault() };
    let item = owner.new_id();
    for device in [unregistered, stranger] {
        device.change(&[item_put(&item, 0, "x")]).send().await.expect_error(403, "vault_signature", NOT_SIGNED);
        let keyset = json!({
            "kdf": device.creation()["kdf"], "kdfSalt": "c2FsdHNhbHQ=", "keyset": Value::Null, "keysetRevision": 1,
        });
        let answer = device.signed(Method::PUT, "/v1/me/vault/keyset", Some(&keyset)).send().await;
        answer.expect_error(403, "vault_signature", NOT_SIGNED);
    }
}

#[tokio::test]
async fn what_is_wrong_with_the_request_is_told_before_what_is_wrong_with_its_signature() {
    let owner = Owner::with_vault().await;
    let client = &owner.device.client;
    client.post(&owner.device.items_path()).raw("{").send().await.expect_error(
        400,
        "malformed",
        "The body is not valid JSON.",
    );
    client.post(&owner.device.items_path()).raw("{}").send().await.expect_problems(&["changes"]);
    client.put("/v1/me/vault/keyset").raw("{}").send().await.expect(400);
}
