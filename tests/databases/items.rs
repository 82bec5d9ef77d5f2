//! `…/items`, `…/items/get`, `…/items/delete`, `…/items/batch-delete`, `…/items/import`

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use store::testing::DATABASE_URL_VARIABLE;

use super::{Tables, user, with};

const LIMIT: usize = 400 * 1024;
/// The same, as it is counted.
const LIMIT_COUNTED: i64 = 400 * 1024;
const TOO_LARGE: &str = "The item is larger than DynamoDB's 400 KB limit.";

/// A user of this many bytes, as DynamoDB counts them.
fn user_of(bytes: usize) -> Value {
    // `id` and `a`, `at` and a number of two bytes, `text` and the text.
    with(user("a", 1), "text", json!({"S": "x".repeat(bytes - 3 - 4 - 4)}))
}

#[tokio::test]
async fn an_item_is_put_read_and_deleted() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let item = json!({
        "id": {"S": "ada"}, "at": {"N": "1.50"}, "flag": {"BOOL": true}, "none": {"NULL": true}, "raw": {"B": "AAE="},
        "tags": {"SS": ["b", "a"]}, "numbers": {"NS": ["2", "1e1"]}, "list": {"L": [{"S": "x\u{0}\u{1f600}"}]},
        "map": {"M": {"k": {"N": "-0"}}}
    });
    let kept = json!({
        "id": {"S": "ada"}, "at": {"N": "1.5"}, "flag": {"BOOL": true}, "none": {"NULL": true}, "raw": {"B": "AAE="},
        "tags": {"SS": ["a", "b"]}, "numbers": {"NS": ["2", "10"]}, "list": {"L": [{"S": "x\u{0}\u{1f600}"}]},
        "map": {"M": {"k": {"N": "0"}}}
    });
    let put = table.put(json!({ "item": item })).await.expect(200);
    assert_eq!(put.json, json!({ "item": kept }));
    let key = json!({"id": {"S": "ada"}, "at": {"N": "15e-1"}});
    let got = table.get(key.clone()).await.expect(200);
    assert_eq!((&got.json, got.header("etag")), (&put.json, put.header("etag")));
    table.delete(key.clone()).await.expect(204);
    table.delete(key.clone()).await.expect(204);
    table.get(key).await.expect_error(404, "not_found", "Item not found");
    assert_eq!(table.counts().await, (0, 0));
}

#[tokio::test]
async fn a_put_makes_an_item_or_replaces_the_one_that_was_seen() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let (one, two) = (with(user("ada", 1), "n", json!({"N": "1"})), with(user("ada", 1), "n", json!({"N": "2"})));
    table.add(one.clone()).await;
    let again = table.put(json!({ "item": one })).await;
    again.expect_error(409, "item_exists", "An item with this key already exists.");
    table.put(json!({ "item": two, "original": one })).await.expect(200);
    let stale = table.put(json!({ "item": two, "original": one })).await;
    let stale = stale.expect_error(409, "stale_item", "This item changed since you opened it.");
    assert_eq!(stale.json["current"], two);
    let moved = with(user("ada", 2), "n", json!({"N": "3"}));
    table.put(json!({ "item": moved, "original": two })).await.expect(200);
    table.get(user("ada", 1)).await.expect(404);
    assert_eq!(table.get(user("ada", 2)).await.expect(200).json["item"], moved);
    let gone = table.put(json!({ "item": two, "original": two })).await;
    gone.expect_error(409, "item_deleted", "This item was deleted. Create it again instead.");
    table.add(two.clone()).await;
    let taken = table.put(json!({ "item": two, "original": moved })).await;
    taken.expect_error(409, "item_exists", "An item with this key already exists.");
    // To another partition, and so another slot, too.
    for at in 0..20 {
        let (from, to) = (user("x", at), user(&format!("y{at}"), at));
        table.add(from.clone()).await;
        table.put(json!({ "item": to, "original": from })).await.expect(200);
    }
    assert_eq!(table.counts().await.0, 22);
}

#[tokio::test]
async fn a_put_may_name_the_item_by_its_tag() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let made = table.put(json!({ "item": user("ada", 1) })).await.expect(200);
    let tag = made.header("etag").unwrap().to_owned();
    let put = async |tag: &str, body: Value| {
        tables.ada.client.put(&format!("{}/items", table.path)).header("if-match", tag).json(&body).send().await
    };
    let changed = with(user("ada", 1), "n", json!({"N": "1"}));
    put(&tag, json!({ "item": changed })).await.expect(200);
    let stale = put(&tag, json!({ "item": changed })).await;
    stale.expect_error(409, "stale_item", "This item changed since you opened it.");
    put(&tag, json!({ "item": user("ada", 9) })).await.expect(409);
    put("*", json!({ "item": changed })).await.expect_problems(&["If-Match"]);
    put(&tag, json!({ "item": changed, "original": changed })).await.expect_problems(&["original"]);
}

#[tokio::test]
async fn keys_are_what_the_table_says() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let bad = "invalid_key";
    for (key, message) in [
        (json!({"id": {"S": "a"}}), "A key has only id and at."),
        (with(user("a", 1), "more", json!({"S": "x"})), "A key has only id and at."),
        (json!({"id": {"N": "1"}, "at": {"N": "1"}}), "id must be a string."),
        (json!({"id": {"S": ""}, "at": {"N": "1"}}), "id can't be empty."),
        (json!({"id": {"S": "a".repeat(2_049)}, "at": {"N": "1"}}), "id has at most 2,048 bytes."),
    ] {
        table.get(key.clone()).await.expect_error(400, bad, message);
        table.delete(key.clone()).await.expect_error(400, bad, message);
        table.post("items/batch-delete", json!({ "keys": [key] })).await.expect_error(400, bad, message);
    }
    table.get(json!({"id": {"S": "a".repeat(2_048)}, "at": {"N": "1"}})).await.expect(404);
    table.get(json!({"id": {"S": "a"}, "at": {"N": "x"}})).await.expect_problems(&["key.at.N"]);
    table.put(json!({ "item": {"id": {"S": "a"}} })).await.expect_error(400, bad, "A key has only id and at.");
    let wrong = table.put(json!({ "item": with(user("a", 1), "email", json!({"N": "1"})) })).await;
    wrong.expect_error(400, bad, "email must be a string.");
    table.put(json!({})).await.expect_problems(&["item"]);
    table.put(json!({ "item": [] })).await.expect_problems(&["item"]);
    let single = tables.make(json!({"name": "One", "partitionKey": {"name": "pk", "type": "B"}})).await;
    single.get(user("a", 1)).await.expect_error(400, bad, "A key has only pk.");
    single.get(json!({"pk": {"S": "a"}})).await.expect_error(400, bad, "pk must be binary.");
}

#[tokio::test]
async fn an_item_has_four_hundred_kilobytes() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    table.put(json!({ "item": user_of(LIMIT + 1) })).await.expect_error(413, "too_large", TOO_LARGE);
    let put = table.put(json!({ "item": user_of(LIMIT) })).await.expect(200);
    assert_eq!(table.counts().await, (1, LIMIT_COUNTED));
    // With its original it is too much for one request, so its tag does instead.
    let original = table.put(json!({ "item": user_of(LIMIT), "original": user_of(LIMIT) })).await;
    original.expect_error(413, "too_large", TOO_LARGE);
    let tag = put.header("etag").unwrap();
    let request = tables.ada.client.put(&format!("{}/items", table.path)).header("if-match", tag);
    request.json(&json!({ "item": user_of(LIMIT - 1) })).send().await.expect(200);
    assert_eq!(table.counts().await, (1, LIMIT_COUNTED - 1));
}

#[tokio::test]
async fn items_are_deleted_a_hundred_at_once() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let keys = |count: i64| (0..count).map(|at| user(&format!("u{at}"), at)).collect::<Vec<_>>();
    for item in keys(3) {
        table.add(item).await;
    }
    table.post("items/batch-delete", json!({ "keys": [] })).await.expect_problems(&["keys"]);
    table.post("items/batch-delete", json!({ "keys": keys(101) })).await.expect_problems(&["keys"]);
    let twice = table.post("items/batch-delete", json!({ "keys": [user("u1", 1), user("u1", 1)] })).await;
    twice.expect_error(400, "duplicate_key", "The same key is listed twice.");
    assert_eq!(table.counts().await.0, 3);
    let deleted = table.post("items/batch-delete", json!({ "keys": keys(100) })).await.expect(200);
    assert_eq!(deleted.json, json!({"deleted": 100, "failed": 0}));
    assert_eq!(table.counts().await, (0, 0));
}

#[tokio::test]
async fn an_import_writes_all_of_its_items_or_none() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let items = |count: i64, text: &str| {
        (0..count).map(|at| with(user(&format!("u{at}"), at), "t", json!({"S": text}))).collect::<Vec<_>>()
    };
    let import = async |body: Value| table.post("items/import", body).await;
    import(json!({ "items": [] })).await.expect_problems(&["items"]);
    import(json!({ "items": items(101, "a") })).await.expect_problems(&["items"]);
    import(json!({ "items": items(1, "a"), "mode": "merge" })).await.expect_problems(&["mode"]);
    let mut faulty = items(3, "a");
    faulty[1] = json!({"id": {"S": "x"}, "at": {"N": "no"}});
    faulty[2] = json!({"id": {"S": "x"}});
    import(json!({ "items": faulty })).await.expect_problems(&["items[1].at.N", "items[2]"]);
    let twice = import(json!({ "items": [user("a", 1), user("a", 1)] })).await;
    twice.expect_error(400, "duplicate_key", "The same key is listed twice.");
    assert_eq!(table.counts().await, (0, 0));
    let first = import(json!({ "items": items(50, "a") })).await.expect(200);
    assert_eq!(first.json, json!({"imported": 50, "skipped": 0}));
    let second = import(json!({ "items": items(100, "bb") })).await.expect(200);
    assert_eq!(second.json, json!({"imported": 50, "skipped": 50}));
    assert_eq!(table.get(user("u0", 0)).await.json["item"]["t"], json!({"S": "a"}));
    let third = import(json!({ "items": items(100, "c"), "mode": "overwrite" })).await.expect(200);
    assert_eq!(third.json, json!({"imported": 100, "skipped": 0}));
    assert_eq!(table.get(user("u0", 0)).await.json["item"]["t"], json!({"S": "c"}));
    assert_eq!(table.counts().await.0, 100);
}

#[tokio::test]
async fn an_import_that_is_sent_twice_with_one_key_is_done_once() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let import = async |key: &str| {
        let request = tables.ada.client.post(&format!("{}/items/import", table.path)).header("idempotency-key", key);
        request.json(&json!({ "items": [user("a", 1), user("b", 1)] })).send().await.expect(200)
    };
    let (first, again) = (import("one").await, import("one").await);
    assert_eq!(first.json, json!({"imported": 2, "skipped": 0}));
    assert_eq!((&again.json, again.header("idempotency-replayed")), (&first.json, Some("true")));
    assert_eq!(import("two").await.json, json!({"imported": 0, "skipped": 2}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_import_takes_the_place_of_large_items() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let items = |text: &str| {
        let item = |at: i64| {
            let email = json!({"S": format!("{text}@{}", at % 3)});
            with(with(user(&format!("u{at}"), at), "email", email), "t", json!({"S": text.repeat(380_000)}))
        };
        (0..15).map(item).collect::<Vec<_>>()
    };
    let import = async |body: Value| table.post("items/import", body).await;
    let processor = async || {
        let actors = tables.server.owner().get("/v1/platform/actors").send().await.expect(200);
        actors.list("/processor").iter().map(|lane| lane["done"].as_i64().unwrap()).sum::<i64>()
    };
    let before = processor().await;
    import(json!({ "items": items("a") })).await.expect(200);
    let again = import(json!({ "items": items("b"), "mode": "overwrite" })).await.expect(200);
    assert_eq!(again.json, json!({"imported": 15, "skipped": 0}));
    super::model::check_rows(&tables, &table).await;
    // What reads an import, and what decides on it, is the pool's work: no thread that others wait for does it.
    assert!(processor().await >= before + 4);
}

#[tokio::test]
async fn the_trail_has_the_keys_of_items_and_never_what_they_say() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    table.add(with(user("ada", 1), "secret", json!({"S": "swordfish"}))).await;
    table.delete(user("ada", 1)).await.expect(204);
    table.post("items/import", json!({ "items": [user("ben", 1)] })).await.expect(200);
    let trail = tables.ada.client.get(&format!("{}/audit", tables.org())).send().await.expect(200);
    assert!(!trail.text.contains("swordfish"));
    let about = |action: &str| {
        let event = trail.list("/events").iter().find(|event| event["action"] == action).expect("an entry");
        assert_eq!(event["target"]["id"], table.id);
        event["metadata"].clone()
    };
    assert_eq!(about("item.put"), json!({ "key": user("ada", 1) }));
    assert_eq!(about("item.deleted"), json!({ "key": user("ada", 1) }));
    assert_eq!(about("item.imported"), json!({ "items": 1, "skipped": 0 }));
}

#[tokio::test]
async fn items_are_written_by_who_may() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    table.add(user("ada", 1)).await;
    let viewer = super::Table { client: tables.member("vic", "viewer").await.client, ..table.clone() };
    viewer.get(user("ada", 1)).await.expect(200);
    viewer.post("scan", json!({})).await.expect(200);
    let message = "This needs the resources:write permission.";
    viewer.put(json!({ "item": user("ben", 1) })).await.expect_error(403, "missing_scope", message);
    viewer.delete(user("ada", 1)).await.expect_error(403, "missing_scope", message);
    viewer.post("items/import", json!({ "items": [user("a", 1)] })).await.expect_error(403, "missing_scope", message);
}

#[tokio::test]
async fn keys_of_any_bytes_are_kept_or_refused_where_they_are_too_long_for_the_database() {
    let tables = Tables::new().await;
    let binary = |name: &str| json!({"name": name, "type": "B"});
    let table = tables.make(json!({"name": "Binary", "partitionKey": binary("pk"), "sortKey": binary("sk")})).await;
    // Bytes that can't be compressed.
    let bytes = |len: u32| {
        let bytes: Vec<u8> = (0..len).flat_map(|at| Sha256::digest(at.to_be_bytes())).collect();
        json!({"B": STANDARD.encode(&bytes[..usize::try_from(len).unwrap()])})
    };
    let most = json!({"pk": bytes(2_048), "sk": bytes(1_024)});
    let put = table.put(json!({ "item": most })).await;
    if std::env::var(DATABASE_URL_VARIABLE).is_ok_and(|url| !url.is_empty()) {
        put.expect_error(400, "key_too_long", "These keys are too long together for this server's database.");
        table.get(most).await.expect(404);
        table.add(json!({"pk": bytes(2_048), "sk": bytes(500)})).await;
    } else {
        put.expect(200);
        table.get(most).await.expect(200);
    }
}
