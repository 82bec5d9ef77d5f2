//! Deleting the vault, asking for its reset, cancelling that (contract A 3).

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use super::{NO_VAULT, NOT_SIGNED, Owner};
use crate::harness::{START, Socket, item_put};

const VAULT: &str = "/v1/me/vault";
const CANCEL: &str = "/v1/me/vault/reset/cancel";
const WEEK_MS: i64 = 7 * 24 * 60 * 60 * 1_000;

#[tokio::test]
async fn a_signed_deletion_removes_all_but_the_log() {
    let mut owner = Owner::with_vault().await;
    let item = owner.new_id();
    owner.device.change(&[item_put(&item, 0, "gone")]).send().await.expect(200);
    let answer = owner.device.signed(Method::DELETE, VAULT, None).send().await.expect(200);
    assert_eq!(answer.json, json!({ "deleted": true }));
    let overview = owner.overview().await;
    assert!(overview["account"].is_null());
    assert_eq!((&overview["vaults"], &overview["devices"]), (&json!([]), &json!([])));
    owner.device.client.get(&owner.device.items_path()).send().await.expect_error(
        404,
        "not_found",
        "That vault isn't yours.",
    );
    assert_eq!(owner.logged().await, ["vault.deleted", "vault.created"]);
    assert_eq!(owner.emails(1).await, ["Your passwords vault was deleted"]);
    owner.device.client.delete(VAULT).send().await.expect_error(404, "not_found", NO_VAULT);
}

#[tokio::test]
async fn a_vault_made_after_a_deletion_starts_empty_and_may_have_the_old_device() {
    let mut owner = Owner::with_vault().await;
    let item = owner.new_id();
    owner.device.change(&[item_put(&item, 0, "old")]).send().await.expect(200);
    owner.device.signed(Method::DELETE, VAULT, None).send().await.expect(200);
    owner.device.create().await;
    let index = owner.device.index().await;
    assert_eq!(index.json, json!({ "revision": 0, "items": [] }));
    owner.device.change(&[item_put(&item, 0, "new")]).send().await.expect(200);
    assert_eq!(owner.device.items(&[item]).await[0]["details"], "new");
}

#[tokio::test]
async fn an_unsigned_deletion_asks_for_a_reset_and_changes_nothing_else() {
    let owner = Owner::with_vault().await;
    let now = owner.server.clock.now().0;
    let pending = json!({ "requestedAt": now, "at": now + WEEK_MS });
    let answer = owner.device.client.delete(VAULT).send().await.expect(202);
    assert_eq!(answer.json, json!({ "reset": pending }));
    let overview = owner.overview().await;
    assert_eq!(overview["reset"], pending);
    assert_eq!(overview["vaults"][0]["vaultId"], owner.device.vault_id);
    assert_eq!(owner.logged().await, ["vault.reset_requested", "vault.created"]);
    assert_eq!(owner.emails(1).await, ["Your passwords vault is going to be reset"]);
}

#[tokio::test]
async fn asking_again_answers_the_reset_that_waits() {
    let owner = Owner::with_vault().await;
    let first = owner.device.client.delete(VAULT).send().await.expect(202);
    for _ in 0..2 {
        owner.server.clock.advance(Duration::from_hours(5 * 24));
        assert_eq!(owner.device.client.delete(VAULT).send().await.expect(202).json, first.json);
    }
    assert_eq!(owner.logged().await, ["vault.reset_requested", "vault.created"]);
    assert_eq!(owner.emails(1).await.len(), 1);
}

#[tokio::test]
async fn nothing_deletes_the_vault_by_itself() {
    let owner = Owner::with_vault().await;
    owner.device.client.delete(VAULT).send().await.expect(202);
    owner.server.clock.advance(Duration::from_hours(365 * 24));
    let client = owner.person.authenticator().await;
    let overview = client.get(VAULT).send().await.expect(200);
    assert_eq!(overview.str("/vaults/0/vaultId"), owner.device.vault_id);
}

#[tokio::test]
async fn any_device_with_the_key_cancels_the_reset() {
    let mut owner = Owner::with_vault().await;
    owner.device.client.delete(VAULT).send().await.expect(202);
    let unregistered = owner.unregistered_device().await;
    let answer = unregistered.signed(Method::POST, CANCEL, None).send().await.expect(200);
    assert_eq!(answer.json, json!({ "reset": null }));
    assert!(owner.overview().await["reset"].is_null());
    assert_eq!(owner.logged().await, ["vault.reset_cancelled", "vault.reset_requested", "vault.created"]);

    owner.server.clock.advance(Duration::from_mins(1));
    let again = owner.device.client.delete(VAULT).send().await.expect(202);
    assert_eq!(again.int("/reset/requestedAt"), owner.server.clock.now().0, "a cancelled reset starts anew");
}

#[tokio::test]
async fn cancelling_when_no_reset_waits_changes_nothing() {
    let owner = Owner::with_vault().await;
    let answer = owner.device.signed(Method::POST, CANCEL, None).send().await.expect(200);
    assert_eq!(answer.json, json!({ "reset": null }));
    assert_eq!(owner.logged().await, ["vault.created"]);
}

#[tokio::test]
async fn a_reset_is_not_cancelled_without_the_vaults_signature() {
    let owner = Owner::with_vault().await;
    owner.device.client.delete(VAULT).send().await.expect(202);
    owner.device.client.post(CANCEL).send().await.expect_error(403, "vault_signature", NOT_SIGNED);
    assert!(owner.overview().await["reset"].is_object());
}

#[tokio::test]
async fn without_a_vault_there_is_nothing_to_delete_or_cancel() {
    let owner = Owner::without_vault().await;
    owner.device.client.delete(VAULT).send().await.expect_error(404, "not_found", NO_VAULT);
    owner.device.signed(Method::DELETE, VAULT, None).send().await.expect_error(404, "not_found", NO_VAULT);
    owner.device.signed(Method::POST, CANCEL, None).send().await.expect_error(404, "not_found", NO_VAULT);
    assert!(owner.logged().await.is_empty());
}

#[tokio::test]
async fn any_device_with_the_key_deletes_the_vault() {
    let mut owner = Owner::with_vault().await;
    let unregistered = owner.unregistered_device().await;
    unregistered.signed(Method::DELETE, VAULT, None).send().await.expect(200);
    assert!(owner.overview().await["account"].is_null());
}

#[tokio::test]
async fn a_signature_that_is_wrong_never_counts_as_none() {
    let mut owner = Owner::with_vault().await;
    let stranger = owner.first_device_of_another_vault();
    stranger.signed(Method::DELETE, VAULT, None).send().await.expect_error(403, "vault_signature", NOT_SIGNED);
    for header in ["", "v1", "v1;d=x;t=1;s=y"] {
        let answer = owner.device.client.delete(VAULT).header("X-Vault-Signature", header).send().await;
        answer.expect_error(403, "vault_signature", NOT_SIGNED);
    }
    let overview = owner.overview().await;
    assert!(overview["reset"].is_null() && overview["account"].is_object());
}

#[tokio::test]
async fn a_pending_reset_is_mailed_again_on_the_third_and_the_sixth_day() {
    let owner = Owner::with_vault().await;
    owner.device.client.delete(VAULT).send().await.expect(202);
    owner.emails(1).await;
    for (day, emails) in [(2, 1), (3, 2), (4, 2), (5, 2), (6, 3), (7, 3), (8, 3)] {
        let now = owner.server.clock.now();
        owner.server.clock.advance(START.after(Duration::from_hours(24 * day)).since(now));
        let subjects = owner.emails(emails).await;
        let again =
            subjects.iter().filter(|subject| subject.starts_with("Your passwords vault will be reset in ")).count();
        assert_eq!((subjects.len(), again), (emails, emails - 1), "day {day}: {subjects:?}");
    }
    let subjects = owner.emails(3).await;
    let wanted = ["Your passwords vault will be reset in 1 day", "Your passwords vault will be reset in 4 days"];
    assert_eq!(subjects[..2], wanted, "the newest first");
}

#[tokio::test]
async fn a_reset_that_was_cancelled_is_not_mailed_again_and_a_new_one_counts_anew() {
    let mut owner = Owner::with_vault().await;
    owner.device.client.delete(VAULT).send().await.expect(202);
    owner.emails(1).await;
    owner.device.signed(Method::POST, CANCEL, None).send().await.expect(200);
    owner.server.clock.advance(Duration::from_hours(2 * 24));
    owner.device.client.delete(VAULT).send().await.expect(202);
    owner.emails(2).await;
    owner.server.clock.advance(Duration::from_hours(2 * 24));
    assert_eq!(owner.emails(2).await.len(), 2, "the first would have been on its fourth day");
    owner.server.clock.advance(Duration::from_hours(24));
    owner.emails(3).await;
    let vault = owner.first_device_of_another_vault();
    owner.device.signed(Method::DELETE, VAULT, None).send().await.expect(200);
    vault.create().await;
    owner.emails(4).await;
    owner.server.clock.advance(Duration::from_hours(4 * 24));
    assert_eq!(owner.emails(4).await.len(), 4, "a vault that is gone is reset no more");
}

#[tokio::test]
async fn the_persons_devices_hear_of_every_change_of_the_vault() {
    let mut owner = Owner::without_vault().await;
    let mut socket = Socket::live(&owner.person.client, 0).await;
    let (first, item) = (owner.device.clone(), owner.new_id());
    let vault_id = first.vault_id.clone();
    let mut hear = async |revision: i64, what: &str| {
        let message = socket.message_of("vault.changed").await;
        assert_eq!((&message["vaultId"], &message["revision"]), (&json!(vault_id), &json!(revision)), "{what}");
    };
    first.create().await;
    hear(0, "made").await;
    first.change(&[item_put(&item, 0, "x")]).send().await.expect(200);
    hear(1, "items").await;
    let second = owner.second_device().await;
    hear(1, "a new device").await;
    second.register().await;
    hear(1, "a device that is renamed").await;
    first.client.delete(VAULT).send().await.expect(202);
    hear(1, "a reset that is asked for").await;
    first.client.delete(VAULT).send().await.expect(202);
    first.signed(Method::POST, CANCEL, None).send().await.expect(200);
    hear(1, "a reset that is cancelled").await;
    let keyset = json!({ "kdf": { "alg": "argon2id", "m": 65_536, "t": 3, "p": 1 }, "kdfSalt": "c2FsdHNhbHRzYWx0c2FsdA==",
        "keyset": "another", "keysetRevision": 1 });
    first.signed(Method::PUT, "/v1/me/vault/keyset", Some(&keyset)).send().await.expect(200);
    hear(1, "a key set").await;
    let device = format!("/v1/me/vault/devices/{}", second.device_id);
    first.signed(Method::DELETE, &device, None).send().await.expect(200);
    hear(1, "a device that is removed").await;
    first.client.delete(VAULT).send().await.expect(202);
    hear(1, "another reset that is asked for").await;
    first.signed(Method::DELETE, VAULT, None).send().await.expect(200);
    hear(1, "deleted").await;
}
