//! Making a vault (contract A 3: "no vault", "vault exists").

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use super::{NOT_SIGNED, Owner};
use crate::harness::item_put;

const A_MILLISECOND: Duration = Duration::from_millis(1);
const SEVEN_DAYS: Duration = Duration::from_hours(7 * 24);

#[tokio::test]
async fn account_personal_vault_and_first_device_are_made_together() {
    let owner = Owner::without_vault().await;
    let made = owner.device.create().await;
    let now = owner.server.clock.now().0;
    let creation = owner.device.creation();
    assert_eq!(
        made.json,
        json!({
            "account": {
                "accountId": "account-1",
                "kdf": { "alg": "argon2id", "m": 65_536, "t": 3, "p": 1 },
                "kdfSalt": creation["kdfSalt"],
                "keyset": "sealed keyset",
                "keysetRevision": 1,
                "encryptionPublicKey": creation["encryptionPublicKey"],
                "signingPublicKey": creation["signingPublicKey"],
                "createdAt": now,
                "updatedAt": now,
            },
            "vaults": [{
                "vaultId": owner.device.vault_id,
                "kind": "personal",
                "role": "owner",
                "envelope": "sealed envelope",
                "attrs": "sealed attributes",
                "attrsRevision": 1,
                "revision": 0,
                "itemCount": 0,
                "createdAt": now,
                "updatedAt": now,
            }],
            "devices": [{
                "deviceId": owner.device.device_id,
                "name": "A phone",
                "platform": "ios",
                "createdAt": now,
                "lastSeenAt": now,
            }],
            "reset": null,
            "limits": { "maxItems": 10_000, "maxDevices": 20 },
        })
    );
    assert_eq!(owner.overview().await, made.json);
    assert_eq!(owner.logged().await, ["vault.created"]);
}

#[tokio::test]
async fn a_second_vault_is_refused() {
    let mut owner = Owner::with_vault().await;
    let other = owner.first_device_of_another_vault();
    for device in [&owner.device, &other] {
        let again = device.signed(Method::POST, "/v1/me/vault", Some(&device.creation())).send().await;
        again.expect_error(409, "vault_exists", "You already have a vault.");
    }
    assert_eq!(owner.overview().await["vaults"][0]["vaultId"], owner.device.vault_id);
}

#[tokio::test]
async fn a_vault_whose_reset_is_due_is_replaced_and_not_a_millisecond_before() {
    let mut owner = Owner::with_vault().await;
    let item = owner.new_id();
    owner.device.change(&[item_put(&item, 0, "old")]).send().await.expect(200);
    let second = owner.second_device().await;
    owner.device.client.delete("/v1/me/vault").send().await.expect(202);

    let new = owner.first_device_of_another_vault();
    let create = async || new.signed(Method::POST, "/v1/me/vault", Some(&new.creation())).send().await;
    owner.server.clock.advance(SEVEN_DAYS.saturating_sub(A_MILLISECOND));
    create().await.expect_error(409, "vault_exists", "You already have a vault.");
    assert_eq!(owner.overview().await["vaults"][0]["vaultId"], owner.device.vault_id, "the old one is still there");
    owner.server.clock.advance(A_MILLISECOND);
    let made = create().await.expect(201);

    assert_eq!(made.str("/vaults/0/vaultId"), new.vault_id);
    assert_eq!((made.int("/vaults/0/revision"), made.int("/vaults/0/itemCount")), (0, 0));
    assert_eq!(made.list("/devices").len(), 1);
    assert!(made.json["reset"].is_null());
    assert!(new.index().await.list("/items").is_empty(), "items of the old vault are gone");
    for old in [&owner.device, &second] {
        old.client.get(&old.items_path()).send().await.expect_error(404, "not_found", "That vault isn't yours.");
    }
    assert_eq!(owner.logged().await[..2], ["vault.created", "vault.replaced"]);
    assert!(owner.emails(3).await.contains(&"Your passwords vault was replaced".to_owned()));
}

#[tokio::test]
async fn a_vault_is_not_made_without_its_own_keys_signature() {
    let mut owner = Owner::without_vault().await;
    let other = owner.first_device_of_another_vault();
    let creation = owner.device.creation();
    let unsigned = owner.device.client.post("/v1/me/vault").json(&creation).send().await;
    unsigned.expect_error(403, "vault_signature", NOT_SIGNED);
    let by_another_key = other.signed(Method::POST, "/v1/me/vault", Some(&creation)).send().await;
    by_another_key.expect_error(403, "vault_signature", NOT_SIGNED);
    let by_another_device = owner.unregistered_device().await;
    let by_another_device = by_another_device.signed(Method::POST, "/v1/me/vault", Some(&creation)).send().await;
    by_another_device.expect_error(403, "vault_signature", NOT_SIGNED);
    assert!(owner.overview().await["account"].is_null());
}

#[tokio::test]
async fn two_people_may_have_made_the_same_ids() {
    let owner = Owner::with_vault().await;
    let bob = owner.server.person("bob").await;
    let his = crate::harness::VaultDevice { client: bob.authenticator().await, ..owner.device.clone() };
    his.create().await;
    let item = "aXRlbWl0ZW1pdGVtaXRlbQ";
    his.change(&[item_put(item, 0, "his")]).send().await.expect(200);
    assert!(owner.device.index().await.list("/items").is_empty());
    owner.device.change(&[item_put(item, 0, "hers")]).send().await.expect(200);
    assert_eq!(his.items(&[item.to_owned()]).await[0]["details"], "his");
}

#[tokio::test]
async fn a_repeated_creation_with_its_idempotency_key_answers_the_first_answer() {
    let owner = Owner::without_vault().await;
    let creation = owner.device.creation();
    let ask = || owner.device.signed(Method::POST, "/v1/me/vault", Some(&creation)).header("Idempotency-Key", "once");
    let first = ask().send().await.expect(201);
    let second = ask().send().await.expect(201);
    assert_eq!(first.json, second.json);
}
