//! A bucket's quota, where it refuses before anything is kept: at the beginning of uploads, and of their parts.

use serde_json::json;

use super::{Files, query};
use crate::harness::Answer;

const FULL: &str = "This bucket is full.";

fn refused(answer: Answer) {
    answer.expect_error(403, "quota_exceeded", FULL);
}

/// Asks for an address to send a file to, and begins an upload in parts; both are answered alike.
async fn begin(files: &Files, key: &str, size: u64) -> Answer {
    let post = async |about: &str| {
        let body = json!({ "key": key, "size": size, "overwrite": true });
        files.client().post(&format!("{}/{about}", files.path)).json(&body).send().await
    };
    let (whole, parts) = (post("uploads").await, post("uploads/multipart").await);
    assert_eq!(whole.status, parts.status, "{} {}", whole.text, parts.text);
    parts
}

/// Begins an upload in parts, and sends the first one, of these bytes.
async fn send(files: &Files, key: &str, size: usize) -> (String, Answer) {
    let begun = begin(files, key, size as u64).await.expect(201);
    let id = begun.str("/uploadId").to_owned();
    let sent = again(files, key, &id, size).await;
    (id, sent)
}

/// Sends the first part of an upload.
async fn again(files: &Files, key: &str, id: &str, size: usize) -> Answer {
    let body = json!({ "key": key, "uploadId": id, "partNumbers": [1] });
    let post = files.client().post(&format!("{}/uploads/multipart/parts", files.path)).json(&body);
    let url = post.send().await.expect(200).str("/urls/0/url").to_owned();
    let address = &url[url.find("/v1/storage/files/").unwrap()..];
    files.client().nobody().put(address).body("application/octet-stream", vec![0; size]).send().await
}

async fn upload_bytes(files: &Files) -> i64 {
    let (listed, read) = (files.client().get(&files.buckets).send(), files.client().get(&files.path).send());
    let (listed, read) = (listed.await.expect(200), read.await.expect(200));
    assert_eq!(listed.int("/buckets/0/usage/uploadBytes"), read.int("/usage/uploadBytes"));
    read.int("/usage/uploadBytes")
}

#[tokio::test]
async fn what_has_no_room_is_not_begun() {
    let files = Files::with(json!({ "quotaBytes": 100 })).await;
    for size in [99, 100] {
        begin(&files, "a", size).await.expect(201);
    }
    refused(begin(&files, "a", 101).await);
    files.put("a", "1234567890").await;
    for size in [89, 90] {
        begin(&files, "b", size).await.expect(201);
    }
    refused(begin(&files, "b", 91).await);
    // What takes the place of a file may be as large as that and the room that is left.
    begin(&files, "a", 100).await.expect(201);
    refused(begin(&files, "a", 101).await);
    files.switch("Enabled").await;
    begin(&files, "a", 90).await.expect(201);
    refused(begin(&files, "a", 91).await);
    // Nor is what is announced of a file that is sent at once.
    let path = format!("{}/object?overwrite=1&key=a", files.path);
    let put = async |len: usize| files.client().put(&path).body("text/plain", "x".repeat(len)).send().await;
    refused(put(91).await);
    put(90).await.expect(200);
    assert_eq!(files.usage().await, (1, 1, 100));
}

#[tokio::test]
async fn an_address_of_a_file_looks_at_the_quota_when_bytes_come() {
    let files = Files::with(json!({ "quotaBytes": 100 })).await;
    let body = json!({ "key": "a", "size": 60 });
    let made = files.client().post(&format!("{}/uploads", files.path)).json(&body).send().await.expect(201);
    let url = made.str("/url");
    let address = &url[url.find("/v1/storage/files/").unwrap()..];
    let send = async || files.client().nobody().put(address).plain(vec![0; 60]).send().await;
    files.put("b", &"x".repeat(41)).await;
    refused(send().await);
    files.put("b", &"x".repeat(40)).await;
    send().await.expect(200);
    assert_eq!(files.usage().await, (2, 0, 100));
}

#[tokio::test]
async fn parts_that_wait_count_until_their_upload_ends() {
    let files = Files::with(json!({ "quotaBytes": 100 })).await;
    files.put("a", "1234567890").await;
    let (first, sent) = send(&files, "first", 50).await;
    let etag = sent.expect(200).header("etag").unwrap().to_owned();
    assert_eq!((upload_bytes(&files).await, files.usage().await), (50, (1, 0, 10)));
    for (key, size) in [("below", 39), ("at", 40)] {
        let (id, sent) = send(&files, key, size).await;
        sent.expect(200);
        let body = json!({ "key": key, "uploadId": id });
        files.client().post(&format!("{}/uploads/multipart/abort", files.path)).json(&body).send().await.expect(204);
    }
    let (_, sent) = send(&files, "above", 41).await;
    refused(sent);
    assert_eq!(upload_bytes(&files).await, 50);
    // A part that is sent again takes the place of itself.
    again(&files, "first", &first, 50).await.expect(200);
    assert_eq!(upload_bytes(&files).await, 50);
    let body = json!({ "key": "first", "uploadId": first, "parts": [{ "partNumber": 1, "etag": etag }] });
    files.client().post(&format!("{}/uploads/multipart/complete", files.path)).json(&body).send().await.expect(200);
    assert_eq!((upload_bytes(&files).await, files.usage().await), (0, (2, 0, 60)));
}

#[tokio::test]
async fn a_part_of_what_takes_a_files_place_has_the_room_of_that() {
    let files = Files::with(json!({ "quotaBytes": 100 })).await;
    files.put("a", &"x".repeat(80)).await;
    send(&files, "a", 100).await.1.expect(200);
    let over = files.client().get(&format!("{}/object?key={}", files.path, query("a"))).send().await.expect(200);
    assert_eq!(over.int("/object/size"), 80);
    // In a bucket without a quota nothing is counted.
    let free = Files::new().await;
    begin(&free, "a", 5 * 1024 * 1024 * 1024).await.expect(201);
    assert_eq!(upload_bytes(&free).await, 0);
}
