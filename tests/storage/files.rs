//! `PUT`, `GET`, `PATCH` and `DELETE /v1/orgs/:orgId/storage/:resourceId/object`

use serde_json::json;

use super::{Files, query};

#[tokio::test]
async fn a_file_is_written_and_read() {
    let files = Files::new().await;
    let put = files.try_put("a folder/é.txt", "hello").await.expect(200);
    let object = json!({
        "key": "a folder/é.txt", "size": 5, "lastModified": files.server.clock.now().0,
        "etag": "5d41402abc4b2a76b9719d911017c592", "storageClass": "STANDARD", "contentType": "text/plain",
        "versionId": "null", "metadata": {}, "tags": []
    });
    assert_eq!(put.json, json!({ "object": object }));
    assert_eq!(files.get("a folder/é.txt").await.expect(200).json, json!({ "object": object }));
    assert_eq!(files.text("a folder/é.txt").await, "hello");
    files.get("a folder/é").await.expect_error(404, "not_found", "File not found.");
    assert_eq!(files.usage().await, (1, 0, 5));
}

#[tokio::test]
async fn keys_are_any_text_of_up_to_1024_bytes() {
    let files = Files::new().await;
    for key in [".", "..", "../a", "/", "a//b", "a", "a/", "a/b", " ", "%", "\n", &"k".repeat(1_024), &"é".repeat(512)]
    {
        let text = if key.ends_with('/') { "" } else { key };
        files.try_put(key, text).await.expect(200);
        assert_eq!(files.get(key).await.expect(200).str("/object/key"), key);
    }
    for key in ["k".repeat(1_025), "é".repeat(513)] {
        files.try_put(&key, "").await.expect_error(400, "invalid_key", "Keys have at most 1,024 bytes.");
        files.get(&key).await.expect_error(400, "invalid_key", "Keys have at most 1,024 bytes.");
    }
    files.try_put("", "").await.expect_error(400, "invalid_key", "Keys have at least one character.");
    let put = files.client().put(&format!("{}/object", files.path)).body("text/plain", "").send().await;
    put.expect_problems(&["key"]);
}

#[tokio::test]
async fn what_keeps_an_empty_folder_has_no_content() {
    let files = Files::new().await;
    let refused = "File names can't end with /.";
    files.try_put("a/", "x").await.expect_error(400, "invalid_key", refused);
    // Nor where nobody says how long it is.
    let pieces = futures::stream::iter([Ok::<_, std::io::Error>("x")]);
    let path = format!("{}/object?key={}", files.path, query("a/"));
    let put = files.client().put(&path).body("text/plain", reqwest::Body::wrap_stream(pieces)).send().await;
    put.expect_error(400, "invalid_key", refused);
    files.get("a/").await.expect(404);
    files.try_put("a/", "").await.expect(200);
    assert_eq!(files.usage().await, (1, 0, 0));
}

#[tokio::test]
async fn a_file_is_overwritten_only_where_the_request_says_so() {
    let files = Files::new().await;
    files.try_put("a", "one").await.expect(200);
    files.try_put("a", "two").await.expect_error(409, "file_exists", "A file with this name already exists.");
    assert_eq!(files.text("a").await, "one");
    files.put("a", "two").await;
    assert_eq!((files.text("a").await.as_str(), files.usage().await), ("two", (1, 0, 3)));
    let path = format!("{}/object?key=a&overwrite=2", files.path);
    files.client().put(&path).body("text/plain", "").send().await.expect_problems(&["overwrite"]);
}

#[tokio::test]
async fn a_write_is_made_where_its_conditions_hold() {
    let files = Files::new().await;
    files.put("a", "one").await;
    let etag = files.get("a").await.str("/object/etag").to_owned();
    let put = async |key: &str, name: &str, value: &str| {
        let path = format!("{}/object?overwrite=1&key={key}", files.path);
        files.client().put(&path).body("text/plain", "next").header(name, value).send().await
    };
    put("a", "if-none-match", "*").await.expect_error(409, "file_exists", "A file with this name already exists.");
    put("new", "if-none-match", "*").await.expect(200);
    let other = "\"00000000000000000000000000000000\"";
    put("a", "if-match", other).await.expect_error(409, "stale_file", "This file changed since you opened it.");
    put("none", "if-match", other).await.expect_error(404, "not_found", "File not found.");
    put("a", "if-match", &format!("\"{etag}\"")).await.expect(200);
    put("a", "if-match", &etag).await.expect_error(409, "stale_file", "This file changed since you opened it.");
}

#[tokio::test]
async fn checksums_are_compared() {
    let files = Files::new().await;
    let put = async |name: &str, value: &str| {
        let path = format!("{}/object?overwrite=1&key=a", files.path);
        files.client().put(&path).body("text/plain", "hello").header(name, value).send().await
    };
    put("content-md5", "XUFAKrxLKna5cZ2REBfFkg==").await.expect(200);
    put("x-amz-checksum-sha256", "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=").await.expect(200);
    let wrong = "The bytes that came have another checksum.";
    put("content-md5", "AAAAAAAAAAAAAAAAAAAAAA==").await.expect_error(400, "checksum_wrong", wrong);
    put("content-md5", "nonsense").await.expect_problems(&["content-md5"]);
    let unknown = "Use Content-MD5 or x-amz-checksum-sha256.";
    put("x-amz-checksum-crc32", "NhCmhg==").await.expect_error(400, "checksum_unknown", unknown);
}

#[tokio::test]
async fn what_a_file_is_answered_with_is_changed_without_its_content() {
    let files = Files::new().await;
    files.put("a", "one").await;
    let address = format!("{}/object?key=a", files.path);
    let patch = async |body| files.client().patch(&address).json(&body).send().await;
    let body = json!({
        "contentType": "text/html", "cacheControl": "max-age=60", "contentDisposition": "inline",
        "contentEncoding": "identity", "metadata": { "Author": "Ada" }, "tags": [{ "key": "team", "value": "finance" }]
    });
    let changed = patch(body).await.expect(200);
    let object = &changed.json["object"];
    assert_eq!(object["contentType"], "text/html");
    assert_eq!((&object["metadata"], &object["cacheControl"]), (&json!({ "author": "Ada" }), &json!("max-age=60")));
    assert_eq!(object["tags"], json!([{ "key": "team", "value": "finance" }]));
    assert_eq!(files.get("a").await.json, changed.json);
    let cleared = patch(json!({ "cacheControl": "", "tags": [] })).await.expect(200);
    assert_eq!(cleared.json["object"].get("cacheControl"), None);
    assert_eq!((&cleared.json["object"]["tags"], cleared.str("/object/contentType")), (&json!([]), "text/html"));
    assert_eq!(files.text("a").await, "one");
    patch(json!({ "contentType": "nothing" })).await.expect_problems(&["contentType"]);
    let tags: Vec<_> = (0..11).map(|at| json!({ "key": at.to_string(), "value": "" })).collect();
    patch(json!({ "tags": tags })).await.expect_problems(&["tags"]);
    patch(json!({ "tags": &tags[..10] })).await.expect(200);
    patch(json!({ "metadata": { "n": "a".repeat(2_048) } })).await.expect_problems(&["metadata"]);
    patch(json!({ "metadata": { "n": "a".repeat(2_047) } })).await.expect(200);
    let missing = files.client().patch(&format!("{}/object?key=b", files.path)).json(&json!({})).send().await;
    missing.expect_error(404, "not_found", "File not found.");
}

#[tokio::test]
async fn a_file_is_deleted_also_where_there_is_none() {
    let files = Files::new().await;
    files.put("a/b", "one").await;
    files.delete("a/b").await;
    files.delete("a/b").await;
    files.get("a/b").await.expect_error(404, "not_found", "File not found.");
    assert_eq!(files.usage().await, (0, 0, 0));
    assert_eq!(files.deleted("").await.expect(200).json, json!({ "prefix": "", "files": [] }));
}

#[tokio::test]
async fn every_write_is_in_the_audit_trail() {
    let files = Files::versioned().await;
    let version = files.put("a", "one").await;
    files.delete("a").await;
    files.delete_version("a", &version).await.expect(204);
    let trail = files.client().get(&format!("{}/audit", files.buckets.trim_end_matches("/storage"))).send().await;
    let trail = trail.expect(200).json.to_string();
    for action in ["bucket.created", "object.put", "object.deleted", "object.version_deleted"] {
        assert!(trail.contains(action), "{action}: {trail}");
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_leaves_nothing() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let files = Files::new().await;
    let token = files.client().token.clone().unwrap();
    let address = files.client().base().trim_start_matches("http://").to_owned();
    let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
    let head = format!(
        "PUT {}/object?key={} HTTP/1.1\r\nHost: troupe\r\nAuthorization: Bearer {token}\r\nContent-Length: 100000\r\n\r\n",
        files.path,
        query("a")
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // More than is read of a request before it is handled.
    stream.write_all(&vec![b'x'; 70_000]).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    assert!(!String::from_utf8_lossy(&answer).contains(" 200 "));
    files.get("a").await.expect(404);
    assert_eq!(files.usage().await, (0, 0, 0));
}
