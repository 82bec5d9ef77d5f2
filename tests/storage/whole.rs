//! `POST …/uploads` and `PUT /v1/storage/files/:resourceId`

use std::time::Duration;

use serde_json::{Value, json};

use super::Files;
use crate::harness::{Answer, Client, Person};

const GIB: u64 = 1024 * 1024 * 1024;
const OVER: &str = "Whoever made this address may not write here any more.";

/// Asks for an address.
async fn ask(files: &Files, client: &Client, body: Value) -> Answer {
    client.post(&format!("{}/uploads", files.path)).json(&body).send().await
}

/// The path and query of the address to send a file of so many bytes to.
async fn address(files: &Files, client: &Client, key: &str, size: usize) -> String {
    path(&ask(files, client, json!({ "key": key, "size": size, "contentType": "text/plain" })).await)
}

fn path(answer: &Answer) -> String {
    assert_eq!((answer.status, answer.json["expiresIn"].as_u64()), (201, Some(900)), "{}", answer.text);
    let url = answer.str("/url");
    url[url.find("/v1/storage/files/").unwrap()..].to_owned()
}

/// Sends bytes of another type than the address says.
async fn send(files: &Files, address: &str, text: &str) -> Answer {
    files.client().nobody().put(address).body("text/html", text.to_owned()).send().await
}

#[tokio::test]
async fn a_file_is_sent_to_an_address_and_has_what_that_says() {
    let files = Files::new().await;
    let address = address(&files, files.client(), "folder/a é.txt", 5).await;
    files.get("folder/a é.txt").await.expect(404);
    let sent = send(&files, &address, "12345").await.expect(200);
    assert_eq!(sent.header("etag"), Some("\"827ccb0eea8a706c4c34a16891f84e7b\""));
    assert_eq!(sent.header("access-control-expose-headers"), Some("ETag"));
    let file = files.get("folder/a é.txt").await.expect(200);
    assert_eq!((file.int("/object/size"), file.str("/object/contentType")), (5, "text/plain"));
    assert_eq!(files.text("folder/a é.txt").await, "12345");
    // Without a type, and without bytes.
    let none = path(&ask(&files, files.client(), json!({ "key": "b", "size": 0 })).await);
    send(&files, &none, "").await.expect(200);
    let file = files.get("b").await.expect(200);
    assert_eq!((file.int("/object/size"), &file.json["object"]["contentType"]), (0, &Value::Null));
    let path = format!("{}/audit?action=object.put", files.buckets.trim_end_matches("/storage"));
    let audit = files.client().get(&path).send().await.expect(200);
    assert_eq!(audit.list("/events").len(), 2, "{}", audit.text);
    assert_eq!(audit.str("/events/0/actor/id"), files.ada.user_id);
}

#[tokio::test]
async fn an_address_is_asked_for_what_a_file_can_be() {
    let files = Files::new().await;
    let with = async |body: Value| ask(&files, files.client(), body).await;
    with(json!({ "key": "a", "size": 5 * GIB })).await.expect(201);
    let parts = "Send files over 5 GB in parts.";
    with(json!({ "key": "a", "size": 5 * GIB + 1 })).await.expect_error(413, "too_large", parts);
    with(json!({ "key": "a/", "size": 0 })).await.expect_error(400, "invalid_key", "File names can't end with /.");
    with(json!({ "key": "k".repeat(1_024), "size": 0 })).await.expect(201);
    let long = "Keys have at most 1,024 bytes.";
    with(json!({ "key": "k".repeat(1_025), "size": 0 })).await.expect_error(400, "invalid_key", long);
    with(json!({ "key": "", "size": 0 })).await.expect(400);
    for size in [json!(-1), json!(1.5), json!("1"), Value::Null] {
        with(json!({ "key": "a", "size": size })).await.expect_problems(&["size"]);
    }
    let longest = format!("a/{}", "b".repeat(253));
    with(json!({ "key": "a", "size": 1, "contentType": longest })).await.expect(201);
    for refused in [format!("{longest}b"), "nothing".to_owned(), "text/plain\n".to_owned()] {
        with(json!({ "key": "a", "size": 1, "contentType": refused })).await.expect_problems(&["contentType"]);
    }
}

#[tokio::test]
async fn an_address_takes_exactly_its_bytes() {
    let files = Files::new().await;
    let address = address(&files, files.client(), "a", 10).await;
    send(&files, &address, "123456789").await.expect_error(400, "wrong_size", "Send exactly 10 bytes.");
    send(&files, &address, "12345678901").await.expect_error(413, "too_large", "The request is too large.");
    let put = || files.client().nobody().put(&address);
    let wrong = "The bytes that came have another checksum.";
    let other = put().header("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg==").plain("1234567890").send().await;
    other.expect_error(400, "checksum_wrong", wrong);
    let unknown = put().header("x-amz-checksum-crc32", "AAAAAA==").plain("1234567890").send().await;
    unknown.expect_error(400, "checksum_unknown", "Use Content-MD5 or x-amz-checksum-sha256.");
    files.get("a").await.expect(404);
    put().header("content-md5", "6Afx/PgtEy+bsBjKZzihnw==").plain("1234567890").send().await.expect(200);
    assert_eq!(files.text("a").await, "1234567890");
}

#[tokio::test]
async fn whether_a_file_may_be_there_is_looked_at_when_all_has_come() {
    let files = Files::new().await;
    let refused = address(&files, files.client(), "a", 3).await;
    let overwrite = path(&ask(&files, files.client(), json!({ "key": "a", "size": 3, "overwrite": true })).await);
    files.put("a", "mine").await;
    let exists = "A file with this name already exists.";
    send(&files, &refused, "new").await.expect_error(409, "file_exists", exists);
    assert_eq!(files.text("a").await, "mine");
    // What the client adds permits nothing more.
    let etag = files.get("a").await.str("/object/etag").to_owned();
    let put = files.client().nobody().put(&refused).header("if-match", etag).plain("new").send().await;
    put.expect_error(409, "file_exists", exists);
    send(&files, &overwrite, "new").await.expect(200);
    assert_eq!(files.text("a").await, "new");
    files.delete("a").await;
    send(&files, &refused, "abc").await.expect(200);
    assert_eq!(files.text("a").await, "abc");
    assert_eq!(files.usage().await, (1, 0, 3));
}

#[tokio::test]
async fn an_address_that_is_changed_or_over_takes_nothing() {
    let files = Files::new().await;
    // A text that stands behind another one can't be taken for that.
    let address = address(&files, files.client(), "a\nb", 3).await;
    let forged = "This address was not signed here.";
    for (from, to) in [
        ("key=a%0Ab", "key=a%0Ac"),
        ("size=3", "size=4"),
        ("type=text%2Fplain", "type=text%2Fhtml"),
        ("type=text%2Fplain", "type="),
        ("overwrite=0", "overwrite=1"),
        ("maker=usr_", "maker=key_"),
        ("maker=usr_", "maker="),
        ("expires=1", "expires=2"),
        ("signature=", "signature=A"),
        (files.path.rsplit('/').next().unwrap(), super::NEVER),
    ] {
        let changed = address.replace(from, to);
        assert_ne!(changed, address);
        send(&files, &changed, "abc").await.expect_error(403, "file_address", forged);
    }
    send(&files, &format!("{address}&upload=upl_x&part=1"), "abc").await.expect_error(403, "file_address", forged);
    let shifted = address.replace("key=a%0Ab", "key=b").replace("type=text%2Fplain", "type=text%2Fplain%0Aa");
    send(&files, &shifted, "abc").await.expect_error(403, "file_address", forged);
    // Nor an address of a download for one of an upload.
    files.put("d", "abc").await;
    let download = files.address("d").await;
    let download = &download[download.find("/v1/storage/files/").unwrap()..];
    send(&files, &format!("{download}&size=3"), "abc").await.expect_error(403, "file_address", forged);
    files.server.clock.advance(Duration::from_secs(15 * 60 - 1));
    send(&files, &address, "abc").await.expect(200);
    files.server.clock.advance(Duration::from_secs(1));
    let over = "This address has expired.";
    send(&files, &address, "abc").await.expect_error(403, "file_address", over);
}

async fn role(files: &Files, who: &Person, role: &str) {
    let path = format!("{}/members/{}", files.buckets.trim_end_matches("/storage"), who.user_id);
    files.client().patch(&path).json(&json!({ "role": role })).send().await.expect(200);
}

#[tokio::test]
async fn an_address_dies_with_the_rights_of_whoever_made_it() {
    let files = Files::new().await;
    let grace = files.member("grace", "developer").await;
    let made = address(&files, &grace.client, "a", 3).await;
    role(&files, &grace, "viewer").await;
    send(&files, &made, "abc").await.expect_error(403, "file_address", OVER);
    role(&files, &grace, "developer").await;
    send(&files, &made, "abc").await.expect(200);
    // With the sign-in that asked for it.
    let second = grace.authenticator().await;
    let made = address(&files, &second, "b", 3).await;
    second.post("/v1/auth/sign-out").send().await.expect_success();
    send(&files, &made, "abc").await.expect_error(403, "file_address", OVER);
    // With the membership.
    let made = address(&files, &grace.client, "b", 3).await;
    let member = format!("{}/members/{}", files.buckets.trim_end_matches("/storage"), grace.user_id);
    files.client().delete(&member).send().await.expect(200);
    send(&files, &made, "abc").await.expect_error(403, "file_address", OVER);
    files.get("b").await.expect(404);
}

#[tokio::test]
async fn an_address_that_a_key_made_dies_with_the_key() {
    let files = Files::new().await;
    let keys = format!("{}/keys", files.buckets.trim_end_matches("/storage"));
    let body = json!({ "name": "Importer", "kind": "api", "scopes": ["resources:write"] });
    let key = files.client().post(&keys).json(&body).send().await.expect(201);
    let client = files.client().with_token(key.str("/secret"));
    let (first, second) = (address(&files, &client, "a", 3).await, address(&files, &client, "b", 3).await);
    send(&files, &first, "abc").await.expect(200);
    files.client().delete(&format!("{keys}/{}", key.str("/key/keyId"))).send().await.expect(200);
    send(&files, &second, "abc").await.expect_error(403, "file_address", OVER);
}

#[tokio::test]
async fn nobody_gets_an_address_who_may_not_write_nor_one_to_a_bucket_that_goes() {
    let files = Files::new().await;
    let viewer = files.member("vera", "viewer").await;
    ask(&files, &viewer.client, json!({ "key": "a", "size": 1 })).await.expect(403);
    let made = address(&files, files.client(), "a", 1).await;
    files.server.faults.set("commit:storage.removal=stall(2s)").unwrap();
    files.client().delete(&format!("{}?force=1", files.path)).send().await.expect(202);
    let deleting = "This bucket is being deleted.";
    ask(&files, files.client(), json!({ "key": "a", "size": 1 })).await.expect_error(409, "resource_busy", deleting);
    send(&files, &made, "a").await.expect_error(409, "resource_busy", deleting);
    files.server.faults.set("").unwrap();
    let gone = async || (files.client().get(&files.path).send().await.status == 404).then_some(());
    files.server.eventually("the bucket's end", gone).await;
    send(&files, &made, "a").await.expect_error(404, "not_found", "Bucket not found");
}
