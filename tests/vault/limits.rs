//! Every limit of the vault, on both of its sides.

use reqwest::Method;
use serde_json::{Value, json};

use super::Owner;
use crate::harness::{Answer, item_deletion, item_put};

/// A JSON string whose text, quotes included, has so many bytes.
fn sealed(bytes: usize) -> Value {
    json!("x".repeat(bytes - 2))
}

/// The text of `body`, with spaces behind it up to so many bytes.
fn padded(body: &Value, bytes: usize) -> String {
    let text = body.to_string();
    let spaces = bytes.checked_sub(text.len()).expect("room for spaces");
    text + &" ".repeat(spaces)
}

impl Owner {
    async fn send_padded(&mut self, method: Method, path: &str, body: &Value, bytes: usize) -> Answer {
        let text = padded(body, bytes);
        self.server.clock.advance(std::time::Duration::from_millis(1));
        let signature = self.device.sign_at(self.server.clock.now().0, &method, path, &text);
        self.device.client.request(method, path).header("X-Vault-Signature", signature).raw(text).send().await
    }

    async fn create_with(&self, pointer: &str, value: Value) -> Answer {
        let mut body = self.device.creation();
        *body.pointer_mut(pointer).expect("a field") = value;
        self.device.signed(Method::POST, "/v1/me/vault", Some(&body)).send().await
    }
}

#[tokio::test]
async fn bodies_are_as_large_as_the_contract_says_and_no_larger() {
    const KB: usize = 1024;
    let mut owner = Owner::without_vault().await;
    let too_large = "The request is too large.";
    let creation = owner.device.creation();
    let answer = owner.send_padded(Method::POST, "/v1/me/vault", &creation, 16 * KB + 1).await;
    answer.expect_error(413, "too_large", too_large);
    owner.send_padded(Method::POST, "/v1/me/vault", &creation, 16 * KB).await.expect(201);

    let keyset = json!({ "kdf": creation["kdf"], "kdfSalt": creation["kdfSalt"], "keyset": "k", "keysetRevision": 1 });
    let answer = owner.send_padded(Method::PUT, "/v1/me/vault/keyset", &keyset, 8 * KB + 1).await;
    answer.expect_error(413, "too_large", too_large);
    owner.send_padded(Method::PUT, "/v1/me/vault/keyset", &keyset, 8 * KB).await.expect(200);

    let device = json!({ "name": "Phone", "platform": "ios" });
    let path = format!("/v1/me/vault/devices/{}", owner.device.device_id);
    owner.send_padded(Method::PUT, &path, &device, 4 * KB + 1).await.expect_error(413, "too_large", too_large);
    owner.send_padded(Method::PUT, &path, &device, 4 * KB).await.expect(200);

    let changes = json!({ "changes": [item_put(&owner.new_id(), 0, "x")] });
    let path = owner.device.items_path();
    let answer = owner.send_padded(Method::POST, &path, &changes, 4_096 * KB + 1).await;
    answer.expect_error(413, "too_large", "Send fewer changes at once.");
    owner.send_padded(Method::POST, &path, &changes, 4_096 * KB).await.expect(200);
}

#[tokio::test]
async fn what_is_sealed_is_bounded_one_by_one() {
    const KB: usize = 1024;
    let owner = Owner::without_vault().await;
    for (pointer, path) in
        [("/keyset", "keyset"), ("/vault/envelope", "vault.envelope"), ("/vault/attrs", "vault.attrs")]
    {
        owner.create_with(pointer, sealed(8 * KB + 1)).await.expect_problems(&[path]);
    }
    owner.create_with("/keyset", sealed(8 * KB)).await.expect(201);

    let mut dice = owner.dice.clone();
    for (field, max) in [("key", 8 * KB), ("overview", 64 * KB), ("details", 1024 * KB)] {
        for (bytes, status) in [(max, "ok"), (max + 1, "rejected")] {
            let mut change = item_put(&dice.device_made_id(), 0, "x");
            change[field] = sealed(bytes);
            let answer = owner.device.change(&[change]).send().await.expect(200);
            assert_eq!(answer.str("/results/0/status"), status, "{field} of {bytes} bytes");
        }
    }
}

#[tokio::test]
async fn every_field_of_a_new_vault_is_checked_at_its_bounds() {
    let owner = Owner::without_vault().await;
    for (pointer, value, path) in [
        ("/accountId", json!(""), "accountId"),
        ("/accountId", json!("a".repeat(129)), "accountId"),
        ("/kdf/alg", json!("argon2i"), "kdf.alg"),
        ("/kdf/m", json!(8_191), "kdf.m"),
        ("/kdf/m", json!(4_194_305), "kdf.m"),
        ("/kdf/t", json!(0), "kdf.t"),
        ("/kdf/t", json!(65), "kdf.t"),
        ("/kdf/p", json!(0), "kdf.p"),
        ("/kdf/p", json!(17), "kdf.p"),
        ("/kdf/p", json!(1.5), "kdf.p"),
        ("/kdfSalt", json!("c2FsdA"), "kdfSalt"),
        ("/encryptionPublicKey", json!("-_-_"), "encryptionPublicKey"),
        ("/signingPublicKey", json!("AAAA"), "signingPublicKey"),
        ("/signingPublicKey", json!("AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="), "signingPublicKey"),
        ("/vault/vaultId", json!("A".repeat(21)), "vault.vaultId"),
        ("/vault/vaultId", json!("A".repeat(23)), "vault.vaultId"),
        ("/device/deviceId", json!("=".repeat(22)), "device.deviceId"),
        ("/device/name", json!("  "), "device.name"),
        ("/device/name", json!("x".repeat(81)), "device.name"),
        ("/device/platform", json!("cli"), "device.platform"),
    ] {
        owner.create_with(pointer, value).await.expect_problems(&[path]);
    }
    for pointer in ["/kdf", "/vault", "/device"] {
        let mut body = owner.device.creation();
        body.pointer_mut(pointer).unwrap()["more"] = json!(1);
        let answer = owner.device.signed(Method::POST, "/v1/me/vault", Some(&body)).send().await;
        answer.expect_problems(&[&format!("{}.more", &pointer[1..])]);
    }
    let mut largest = owner.device.creation();
    largest["kdf"] = json!({ "alg": "argon2id", "m": 4_194_304, "t": 64, "p": 16 });
    largest["accountId"] = json!("a".repeat(128));
    largest["device"]["name"] = json!("x".repeat(80));
    owner.device.signed(Method::POST, "/v1/me/vault", Some(&largest)).send().await.expect(201);
}

#[tokio::test]
async fn every_field_of_a_new_vault_is_required() {
    let owner = Owner::without_vault().await;
    let all = ["accountId", "kdf", "kdfSalt", "keyset", "encryptionPublicKey", "signingPublicKey", "vault", "device"];
    let answer = owner.device.signed(Method::POST, "/v1/me/vault", Some(&json!({}))).send().await;
    answer.expect_problems(&all);
    let mut body = owner.device.creation();
    body["vault"] = json!({});
    body["device"] = json!({});
    body["more"] = json!(true);
    let answer = owner.device.signed(Method::POST, "/v1/me/vault", Some(&body)).send().await;
    answer.expect_problems(&[
        "vault.vaultId",
        "vault.envelope",
        "vault.attrs",
        "device.deviceId",
        "device.name",
        "device.platform",
        "more",
    ]);
}

#[tokio::test]
async fn a_request_has_1_to_50_changes_of_different_items() {
    let mut owner = Owner::with_vault().await;
    let mut changes: Vec<_> = (0..51).map(|_| item_put(&owner.new_id(), 0, "x")).collect();
    owner.device.change(&[]).send().await.expect_problems(&["changes"]);
    owner.device.change(&changes).send().await.expect_problems(&["changes"]);
    changes.truncate(50);
    let answer = owner.device.change(&changes).send().await.expect(200);
    assert_eq!((answer.int("/vault/revision"), answer.int("/vault/itemCount")), (1, 50));

    let id = owner.new_id();
    let twice = [item_put(&id, 0, "x"), item_put(&owner.new_id(), 0, "x"), item_deletion(&id, 1)];
    owner.device.change(&twice).send().await.expect_problems(&["changes[2].itemId"]);
    let unsound = [json!({ "itemId": "x", "baseRevision": -1, "deleted": false, "more": 1 }), json!({})];
    owner.device.change(&unsound).send().await.expect_problems(&[
        "changes[0].baseRevision",
        "changes[0].more",
        "changes[1].itemId",
        "changes[1].baseRevision",
    ]);
    for not_true in [json!(false), json!(null), json!("true")] {
        let change = json!({ "itemId": id, "baseRevision": 1, "deleted": not_true });
        owner.device.change(&[change]).send().await.expect_problems(&["changes[0].deleted"]);
    }
    assert_eq!(owner.device.index().await.int("/revision"), 1);
}

#[tokio::test]
async fn up_to_100_items_are_read_at_once() {
    let mut owner = Owner::with_vault().await;
    let mut ids: Vec<_> = (0..101).map(|_| owner.new_id()).collect();
    let read = async |ids: &[String]| {
        let path = format!("{}?ids={}", owner.device.items_path(), ids.join(","));
        owner.device.client.get(&path).send().await
    };
    read(&ids).await.expect_error(400, "too_many_ids", "Ask for up to 100 item ids.");
    ids.truncate(100);
    read(&ids).await.expect(200);
    ids[7] = "short".to_owned();
    read(&ids).await.expect_problems(&["ids[7]"]);
}

#[tokio::test]
async fn a_full_vault_takes_no_further_item_until_one_is_deleted() {
    let mut owner = Owner::with_vault_on(&["vault.max_items=3"]).await;
    let ids: Vec<_> = (0..4).map(|_| owner.new_id()).collect();
    let two: Vec<_> = ids[..2].iter().map(|id| item_put(id, 0, "x")).collect();
    owner.device.change(&two).send().await.expect(200);
    let both = owner.device.change(&[item_put(&ids[2], 0, "x"), item_put(&ids[3], 0, "x")]).send().await.expect(200);
    assert_eq!(both.str("/results/0/status"), "ok");
    assert_eq!(
        both.json["results"][1],
        json!({ "itemId": ids[3], "status": "rejected", "code": "limit", "error": "Your vault is full. Delete something first." })
    );
    assert_eq!(both.int("/vault/itemCount"), 3);
    owner.device.change(&[item_put(&ids[0], 1, "y")]).send().await.expect(200);
    let swapped = owner.device.change(&[item_put(&ids[3], 0, "x"), item_deletion(&ids[0], 2)]).send().await.expect(200);
    assert_eq!((swapped.str("/results/0/status"), swapped.str("/results/1/status")), ("ok", "ok"));
    let back = owner.device.change(&[item_put(&ids[0], 3, "z")]).send().await.expect(200);
    assert_eq!(back.str("/results/0/code"), "limit", "a tombstone that comes back counts");
}
