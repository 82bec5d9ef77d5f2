//! Changing the key set.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::{NO_VAULT, Owner};

const PATH: &str = "/v1/me/vault/keyset";

fn keyset(revision: i64) -> Value {
    json!({
        "kdf": { "alg": "argon2id", "m": 131_072, "t": 4, "p": 2 },
        "kdfSalt": "bmV3IHNhbHQgbmV3IHNhbA==",
        "keyset": { "sealed": [1, 2] },
        "keysetRevision": revision,
    })
}

#[tokio::test]
async fn a_key_set_over_the_current_one_takes_its_place_and_the_person_is_told() {
    let owner = Owner::with_vault().await;
    let before = owner.overview().await;
    owner.server.clock.advance(Duration::from_secs(1));
    let answer = owner.device.signed(Method::PUT, PATH, Some(&keyset(1))).send().await.expect(200);
    let mut account = before["account"].clone();
    account["kdf"] = keyset(1)["kdf"].clone();
    account["kdfSalt"] = keyset(1)["kdfSalt"].clone();
    account["keyset"] = keyset(1)["keyset"].clone();
    account["keysetRevision"] = json!(2);
    account["updatedAt"] = json!(owner.server.clock.now().0);
    assert_eq!(answer.json, json!({ "account": account }));
    assert_eq!(owner.overview().await["account"], account);
    assert_eq!(owner.logged().await, ["vault.keyset_changed", "vault.created"]);
    assert_eq!(owner.emails(1).await, ["The keys of your passwords vault were changed"]);
}

#[tokio::test]
async fn a_key_set_over_another_revision_is_refused() {
    let owner = Owner::with_vault().await;
    owner.device.signed(Method::PUT, PATH, Some(&keyset(1))).send().await.expect(200);
    for revision in [1, 3] {
        let answer = owner.device.signed(Method::PUT, PATH, Some(&keyset(revision))).send().await;
        answer.expect_error(409, "stale_revision", "The vault changed on another device.");
    }
    assert_eq!(owner.overview().await["account"]["keysetRevision"], 2);
    assert_eq!(owner.emails(1).await.len(), 1);
}

#[tokio::test]
async fn without_a_vault_there_is_no_key_set() {
    let owner = Owner::without_vault().await;
    let answer = owner.device.signed(Method::PUT, PATH, Some(&keyset(1))).send().await;
    answer.expect_error(404, "not_found", NO_VAULT);
}

#[tokio::test]
async fn every_field_at_fault_is_named() {
    let owner = Owner::with_vault().await;
    let ask = async |body: Value| owner.device.signed(Method::PUT, PATH, Some(&body)).send().await;
    let mut body = keyset(0);
    body["kdf"] = json!({ "alg": "scrypt", "m": 8_191, "t": 65, "p": 17 });
    body["kdfSalt"] = json!("no base64!");
    ask(body).await.expect_problems(&["kdf.alg", "kdf.m", "kdf.t", "kdf.p", "kdfSalt", "keysetRevision"]);
    let mut body = keyset(1);
    body["more"] = json!(1);
    body["kdf"]["more"] = json!(1);
    ask(body).await.expect_problems(&["more", "kdf.more"]);
    ask(json!({})).await.expect_problems(&["kdf", "kdfSalt", "keyset", "keysetRevision"]);
}
