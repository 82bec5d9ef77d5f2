//! Items: the index, reading, changing (contract A 3, 4.2).

use std::time::Duration;

use serde_json::{Value, json};

use super::{NO_VAULT, Owner};
use crate::harness::{Answer, Socket, item_deletion, item_put};

const NOT_YOURS: &str = "That vault isn't yours.";

fn statuses(answer: &Answer) -> Vec<&str> {
    answer.list("/results").iter().map(|result| result["status"].as_str().expect("a status")).collect()
}

#[tokio::test]
async fn a_new_item_is_done_at_revision_1_and_reads_back() {
    let mut owner = Owner::with_vault().await;
    let item = owner.new_id();
    let now = owner.server.clock.now().0;
    let answer = owner.device.change(&[item_put(&item, 0, "first")]).send().await.expect(200);
    assert_eq!(
        answer.json,
        json!({
            "results": [{ "itemId": item, "status": "ok", "revision": 1, "deleted": false, "createdAt": now, "updatedAt": now }],
            "vault": { "revision": 1, "itemCount": 1 },
        })
    );
    assert_eq!(
        owner.device.items(std::slice::from_ref(&item)).await,
        [json!({
            "itemId": item, "revision": 1, "deleted": false, "key": "key of first", "overview": "overview of first",
            "details": "first", "createdAt": now, "updatedAt": now,
        })]
    );
    let index = owner.device.index().await;
    assert_eq!(index.json, json!({ "revision": 1, "items": [{ "itemId": item, "revision": 1, "deleted": false }] }));
    let overview = owner.overview().await;
    assert_eq!((&overview["vaults"][0]["revision"], &overview["vaults"][0]["itemCount"]), (&json!(1), &json!(1)));
}

#[tokio::test]
async fn of_two_devices_that_change_one_item_the_slower_gets_the_current_one() {
    let mut owner = Owner::with_vault().await;
    let second = owner.second_device().await;
    let item = owner.new_id();
    owner.device.change(&[item_put(&item, 0, "first")]).send().await.expect(200);
    owner.server.clock.advance(Duration::from_secs(5));
    second.change(&[item_put(&item, 1, "faster")]).send().await.expect(200);

    let slower = owner.device.change(&[item_put(&item, 1, "slower")]).send().await.expect(200);
    let current = owner.device.items(std::slice::from_ref(&item)).await.remove(0);
    assert_eq!((&current["details"], &current["revision"]), (&json!("faster"), &json!(2)));
    assert_eq!(
        slower.json,
        json!({
            "results": [{ "itemId": item, "status": "conflict", "current": current }],
            "vault": { "revision": 2, "itemCount": 1 },
        })
    );
    let resolved = owner.device.change(&[item_put(&item, 2, "merged")]).send().await.expect(200);
    assert_eq!((resolved.int("/results/0/revision"), resolved.int("/vault/revision")), (3, 3));
    assert_ne!(resolved.int("/results/0/createdAt"), resolved.int("/results/0/updatedAt"), "it was made before");
}

#[tokio::test]
async fn a_change_of_an_item_that_never_was_is_a_conflict_with_nothing() {
    let mut owner = Owner::with_vault().await;
    let item = owner.new_id();
    let unknown = owner.new_id();
    let answer = owner.device.change(&[item_put(&item, 3, "x"), item_deletion(&unknown, 1)]).send().await.expect(200);
    assert_eq!(statuses(&answer), ["conflict", "conflict"]);
    assert!(answer.json["results"][0]["current"].is_null());
    assert_eq!(answer.json["vault"], json!({ "revision": 0, "itemCount": 0 }), "nothing was changed");
}

#[tokio::test]
async fn a_deleted_item_leaves_a_tombstone_and_can_be_brought_back() {
    let mut owner = Owner::with_vault().await;
    let item = owner.new_id();
    owner.device.change(&[item_put(&item, 0, "first")]).send().await.expect(200);
    let created_at = owner.server.clock.now().0;
    owner.server.clock.advance(Duration::from_secs(1));
    let deleted = owner.device.change(&[item_deletion(&item, 1)]).send().await.expect(200);
    assert_eq!(deleted.json["results"][0]["deleted"], true);
    assert_eq!(deleted.json["vault"], json!({ "revision": 2, "itemCount": 0 }));
    let tombstone = json!({
        "itemId": item, "revision": 2, "deleted": true, "createdAt": created_at, "updatedAt": created_at + 1_000,
    });
    assert_eq!(owner.device.items(std::slice::from_ref(&item)).await, std::slice::from_ref(&tombstone));
    assert_eq!(owner.device.index().await.json["items"][0]["deleted"], true);

    let as_if_new = owner.device.change(&[item_put(&item, 0, "again")]).send().await.expect(200);
    assert_eq!(as_if_new.json["results"][0], json!({ "itemId": item, "status": "conflict", "current": tombstone }));
    let back = owner.device.change(&[item_put(&item, 2, "again")]).send().await.expect(200);
    assert_eq!((back.int("/results/0/revision"), back.int("/results/0/createdAt")), (3, created_at));
    assert_eq!(back.json["vault"], json!({ "revision": 3, "itemCount": 1 }));
    assert_eq!(owner.device.items(&[item]).await[0]["details"], "again");
}

#[tokio::test]
async fn each_change_is_answered_on_its_own_and_the_revision_rises_once() {
    let mut owner = Owner::with_vault().await;
    let [old, new, stale, unsound] = std::array::from_fn(|_| owner.new_id());
    owner.device.change(&[item_put(&old, 0, "old"), item_put(&stale, 0, "stale")]).send().await.expect(200);
    let unsound_change = json!({ "itemId": unsound, "baseRevision": 0, "key": "alone" });
    let changes = [item_put(&new, 0, "new"), item_put(&stale, 0, "late"), unsound_change, item_deletion(&old, 1)];
    let answer = owner.device.change(&changes).send().await.expect(200);
    assert_eq!(statuses(&answer), ["ok", "conflict", "rejected", "ok"]);
    assert_eq!(
        answer.json["results"][2],
        json!({ "itemId": unsound, "status": "rejected", "code": "invalid", "error": "An item needs a key, an overview and details." })
    );
    assert_eq!(answer.json["vault"], json!({ "revision": 2, "itemCount": 2 }));
}

#[tokio::test]
async fn what_is_sealed_comes_back_to_the_letter() {
    let mut owner = Owner::with_vault().await;
    let item = owner.new_id();
    let details = r#"{"b" :  1.50e3, "a":[null,"é\u00e9\ud800"], "b": 12345678901234567890}"#;
    let path = owner.device.items_path();
    let body = format!(
        r#"{{"changes":[{{"itemId":"{item}","baseRevision":0,"key":null,"overview":" text ","details":{details}}}]}}"#
    );
    let signature = owner.device.sign_at(owner.server.clock.now().0 + 1, &reqwest::Method::POST, &path, &body);
    owner.device.client.post(&path).header("X-Vault-Signature", signature).raw(body).send().await.expect(200);
    let answer = owner.device.client.get(&format!("{path}?ids={item}")).send().await.expect(200);
    assert!(answer.text.contains(&format!(r#""key":null,"overview":" text ","details":{details}"#)), "{}", answer.text);
}

#[tokio::test]
async fn other_devices_hear_the_new_revision() {
    let mut owner = Owner::with_vault().await;
    let second = owner.second_device().await;
    let mut socket = Socket::live(&second.client, 0).await;
    let item = owner.new_id();
    owner.device.change(&[item_put(&item, 0, "x")]).send().await.expect(200);
    let message = loop {
        let message = socket.message_of("vault.changed").await;
        // The vault and the second device came before.
        if message["revision"] != 0 {
            break message;
        }
    };
    assert_eq!((&message["vaultId"], &message["revision"]), (&json!(owner.device.vault_id), &json!(1)));
    owner.device.change(&[item_put(&item, 0, "conflict")]).send().await.expect(200);
    owner.device.change(&[item_put(&item, 1, "y")]).send().await.expect(200);
    assert_eq!(socket.message_of("vault.changed").await["revision"], 2, "a request that changed nothing is not heard");
}

#[tokio::test]
async fn items_are_read_by_id_and_only_those_that_are_there() {
    let mut owner = Owner::with_vault().await;
    let ids: Vec<_> = (0..3).map(|_| owner.new_id()).collect();
    let changes: Vec<_> = ids.iter().map(|id| item_put(id, 0, id)).collect();
    owner.device.change(&changes).send().await.expect(200);
    let unknown = owner.new_id();
    let read = owner.device.items(&[ids[2].clone(), unknown, ids[0].clone()]).await;
    let mut read: Vec<_> = read.iter().map(|item| item["details"].as_str().unwrap()).collect();
    read.sort_unstable();
    let mut wanted = [ids[0].as_str(), ids[2].as_str()];
    wanted.sort_unstable();
    assert_eq!(read, wanted);
    for query in ["", "?ids="] {
        let answer = owner.device.client.get(&format!("{}{query}", owner.device.items_path())).send().await.expect(200);
        assert_eq!(answer.json, json!({ "items": [] }));
    }
}

#[tokio::test]
async fn another_vault_is_not_yours_whether_it_exists_or_not() {
    let mut owner = Owner::with_vault().await;
    let bob = owner.server.person("bob").await;
    let his = crate::harness::VaultDevice::new(bob.authenticator().await, owner.server.clock.clone(), &mut owner.dice);
    his.create().await;
    let nobodys = owner.new_id();
    for vault_id in [his.vault_id.as_str(), &nobodys, "short"] {
        let mine = crate::harness::VaultDevice { vault_id: vault_id.to_owned(), ..owner.device.clone() };
        for path in ["index", "items", "items?ids=short"] {
            let path = format!("/v1/me/vault/vaults/{vault_id}/{path}");
            mine.client.get(&path).send().await.expect_error(404, "not_found", NOT_YOURS);
        }
        let change = mine.change(&[item_put(&nobodys, 0, "x")]).send().await;
        change.expect_error(404, "not_found", NOT_YOURS);
    }
    assert!(his.index().await.list("/items").is_empty());
}

#[tokio::test]
async fn without_a_vault_there_are_no_items() {
    let owner = Owner::without_vault().await;
    let change = owner.device.change(&[item_put(&owner.device.device_id, 0, "x")]).send().await;
    change.expect_error(404, "not_found", NO_VAULT);
    let read = owner.device.client.get(&owner.device.items_path()).send().await;
    read.expect_error(404, "not_found", NOT_YOURS);
}

#[tokio::test]
async fn changes_that_make_no_sense_are_refused_one_by_one() {
    let mut owner = Owner::with_vault().await;
    let item = owner.new_id();
    owner.device.change(&[item_put(&item, 0, "x")]).send().await.expect(200);
    let mut deletion_with_content = item_put(&item, 1, "x");
    deletion_with_content["deleted"] = json!(true);
    for (change, why) in [
        (deletion_with_content, "A deletion has no key, overview or details."),
        (item_deletion(&item, 0), "A deletion needs the revision that it deletes."),
        (
            json!({ "itemId": item, "baseRevision": 1, "overview": "o", "details": "d" }),
            "An item needs a key, an overview and details.",
        ),
    ] {
        let answer = owner.device.change(&[change]).send().await.expect(200);
        let rejected = json!({ "itemId": item, "status": "rejected", "code": "invalid", "error": why });
        assert_eq!(answer.json["results"], Value::Array(vec![rejected]));
    }
    assert_eq!(owner.device.index().await.int("/revision"), 1);
}
