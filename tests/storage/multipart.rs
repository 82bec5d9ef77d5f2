//! `POST …/uploads/multipart`, `…/parts`, `…/complete`, `…/abort`, and `PUT /v1/storage/files/:resourceId`

use std::time::Duration;

use serde_json::{Value, json};

use super::Files;
use crate::harness::Answer;

const MIB: usize = 1024 * 1024;

/// An upload of a file of this size.
struct Upload<'f> {
    files: &'f Files,
    key: String,
    id: String,
}

impl<'f> Upload<'f> {
    async fn new(files: &'f Files, key: &str, size: usize) -> Self {
        let body = json!({ "key": key, "contentType": "video/mp4", "size": size });
        let made = create(files, body).await.expect(201);
        Self { files, key: key.to_owned(), id: made.str("/uploadId").to_owned() }
    }

    async fn post(&self, about: &str, mut body: Value) -> Answer {
        body["key"] = json!(self.key);
        body["uploadId"] = json!(self.id);
        let path = format!("{}/uploads/multipart/{about}", self.files.path);
        self.files.client().post(&path).json(&body).send().await
    }

    async fn address(&self, number: u64) -> String {
        let answer = self.post("parts", json!({ "partNumbers": [number] })).await.expect(200);
        assert_eq!((answer.int("/expiresIn"), answer.int("/urls/0/partNumber")), (900, i64::try_from(number).unwrap()));
        let url = answer.str("/urls/0/url").to_owned();
        url[url.find("/v1/storage/files/").unwrap()..].to_owned()
    }

    async fn try_send(&self, number: u64, bytes: Vec<u8>) -> Answer {
        let address = self.address(number).await;
        self.files.client().nobody().put(&address).body("application/octet-stream", bytes).send().await
    }

    /// Sends a part; its tag.
    async fn send(&self, number: u64, bytes: Vec<u8>) -> String {
        let sent = self.try_send(number, bytes).await.expect(200);
        assert_eq!(sent.header("access-control-expose-headers"), Some("ETag"));
        sent.header("etag").unwrap().to_owned()
    }

    async fn complete(&self, parts: &[(u64, &str)]) -> Answer {
        let part = |(number, etag): &(u64, &str)| json!({ "partNumber": number, "etag": etag });
        self.post("complete", json!({ "parts": parts.iter().map(part).collect::<Vec<_>>() })).await
    }
}

async fn create(files: &Files, body: Value) -> Answer {
    files.client().post(&format!("{}/uploads/multipart", files.path)).json(&body).send().await
}

#[tokio::test]
async fn parts_become_a_file() {
    let files = Files::new().await;
    let body = json!({ "key": "a", "contentType": "video/mp4", "size": 20 * MIB });
    let made = create(&files, body).await.expect(201);
    let expected = json!({
        "key": "a", "uploadId": made.str("/uploadId"), "partSize": 8 * MIB, "parts": 3, "contentType": "video/mp4"
    });
    assert_eq!(made.json, expected);
    let upload = Upload { files: &files, key: "a".to_owned(), id: made.str("/uploadId").to_owned() };
    let third = upload.send(3, vec![b'3'; 4 * MIB]).await;
    let first = upload.send(1, vec![b'1'; 8 * MIB]).await;
    upload.send(2, vec![b'x'; 8 * MIB]).await;
    let second = upload.send(2, vec![b'2'; 8 * MIB]).await;
    files.get("a").await.expect(404);
    let parts = [(1, first.as_str()), (2, second.as_str()), (3, third.as_str())];
    let whole = upload.complete(&parts).await.expect(200);
    assert_eq!((whole.int("/object/size"), whole.str("/object/contentType")), (20 * 1024 * 1024, "video/mp4"));
    assert!(whole.str("/object/etag").ends_with("-3"));
    assert_eq!(files.get("a").await.expect(200).json, whole.json);
    let address = files.address("a").await;
    let sent = files.fetch(&address, &[("range", "bytes=8388606-8388609")]).await.expect(206);
    assert_eq!(sent.text, "1122");
    assert_eq!(files.fetch(&address, &[]).await.expect(200).bytes.len(), 20 * MIB);
    assert_eq!(files.usage().await, (1, 0, 20 * 1024 * 1024));
    // Once more with the same parts answers the same for a day, whatever has become of the file.
    assert_eq!(upload.complete(&parts).await.expect(200).json, whole.json);
    files.put("a", "another").await;
    assert_eq!(upload.complete(&parts).await.expect(200).json, whole.json);
    files.delete("a").await;
    assert_eq!(upload.complete(&parts).await.expect(200).json, whole.json);
    files.get("a").await.expect(404);
    assert_eq!(files.usage().await, (0, 0, 0));
    files.put("a", "a third").await;
    let gone = "Upload not found.";
    upload.complete(&parts[..2]).await.expect_error(404, "not_found", gone);
    upload.post("parts", json!({ "partNumbers": [1] })).await.expect_error(404, "not_found", gone);
    upload.post("abort", json!({})).await.expect_error(404, "not_found", gone);
    files.server.clock.advance(Duration::from_secs(24 * 60 * 60 - 1));
    assert_eq!(upload.complete(&parts).await.expect(200).json, whole.json);
    files.server.clock.advance(Duration::from_secs(1));
    files
        .server
        .eventually("the upload's end", async || (upload.complete(&parts).await.status == 404).then_some(()))
        .await;
    files.get("a").await.expect(200);
}

#[tokio::test]
async fn what_can_not_become_a_file_is_refused() {
    let files = Files::new().await;
    let upload = Upload::new(&files, "a", 9 * MIB).await;
    let first = upload.send(1, vec![b'1'; 8 * MIB]).await;
    let second = upload.send(2, vec![b'2'; MIB]).await;
    let missing = |at: u64| format!("Part {at} is missing or has another ETag.");
    upload.complete(&[(1, &first), (3, &second)]).await.expect_error(400, "invalid_parts", &missing(3));
    upload.complete(&[(1, &second)]).await.expect_error(400, "invalid_parts", &missing(1));
    let order = "Parts must be in order.";
    upload.complete(&[(2, &second), (1, &first)]).await.expect_error(400, "invalid_parts", order);
    upload.complete(&[]).await.expect_problems(&["parts"]);
    upload.complete(&[(0, &first)]).await.expect_problems(&["parts[0].partNumber"]);
    for number in [0, 10_001] {
        upload.post("parts", json!({ "partNumbers": [number] })).await.expect_problems(&["partNumbers[0]"]);
    }
    upload.post("parts", json!({ "partNumbers": [] })).await.expect_problems(&["partNumbers"]);
    upload.post("parts", json!({ "partNumbers": [3] })).await.expect_problems(&["partNumbers"]);
    // What isn't listed is left out.
    let whole = upload.complete(&[(1, &first)]).await.expect(200);
    assert_eq!(whole.int("/object/size"), 8 * 1024 * 1024);
    assert_eq!(files.usage().await, (1, 0, 8 * 1024 * 1024));
}

#[tokio::test]
async fn an_upload_begins_with_what_a_file_can_be() {
    let files = Files::new().await;
    let five_tb: u64 = 5 * 1024 * 1024 * 1024 * 1024;
    let with = async |key: &str, content_type: &str, size: u64| {
        create(&files, json!({ "key": key, "contentType": content_type, "size": size })).await
    };
    with("a/", "", 1).await.expect_error(400, "invalid_key", "File names can't end with /.");
    with("a", "", five_tb + 1).await.expect_error(413, "too_large", "Files can have up to 5 TB.");
    assert_eq!(with("a", "", five_tb).await.expect(201).str("/contentType"), "");
    with("a", "", 0).await.expect_problems(&["size"]);
    with("a", "nothing", 1).await.expect_problems(&["contentType"]);
    let longest = format!("a/{}", "b".repeat(253));
    with("a", &longest, 1).await.expect(201);
    with("a", &format!("{longest}b"), 1).await.expect_problems(&["contentType"]);
    with(&"k".repeat(1_025), "", 1).await.expect_error(400, "invalid_key", "Keys have at most 1,024 bytes.");
}

#[tokio::test]
async fn ids_of_uploads_have_1_to_1024_characters() {
    let files = Files::new().await;
    let parts = json!([{ "partNumber": 1, "etag": "x" }]);
    for (about, body) in
        [("parts", json!({ "partNumbers": [1] })), ("complete", json!({ "parts": parts })), ("abort", json!({}))]
    {
        let post = async |id: String| Upload { files: &files, key: "a".to_owned(), id }.post(about, body.clone()).await;
        for len in [1, 1_024] {
            post("é".repeat(len)).await.expect_error(404, "not_found", "Upload not found.");
        }
        for len in [0, 1_025] {
            post("é".repeat(len)).await.expect_problems(&["uploadId"]);
        }
    }
}

#[tokio::test]
async fn an_address_takes_exactly_its_part_for_15_minutes() {
    let files = Files::new().await;
    let upload = Upload::new(&files, "a", 10).await;
    upload.try_send(1, vec![0; 9]).await.expect_error(400, "wrong_size", "Send exactly 10 bytes.");
    upload.try_send(1, vec![0; 11]).await.expect_error(413, "too_large", "The request is too large.");
    let address = upload.address(1).await;
    let put = async |address: &str| {
        files.client().nobody().put(address).body("application/octet-stream", vec![0; 10]).send().await
    };
    let forged = "This address was not signed here.";
    for changed in [address.replace("part=1", "part=2"), address.replace("size=10", "size=11")] {
        put(&changed).await.expect_error(403, "file_address", forged);
    }
    put(&address).await.expect(200);
    files.server.clock.advance(Duration::from_secs(15 * 60));
    put(&address).await.expect_error(403, "file_address", "This address has expired.");
}

#[tokio::test]
async fn an_upload_that_is_given_up_takes_nothing_more() {
    let files = Files::new().await;
    let upload = Upload::new(&files, "a", 10).await;
    let address = upload.address(1).await;
    upload.send(1, vec![0; 10]).await;
    upload.post("abort", json!({})).await.expect(204);
    let gone = "Upload not found.";
    upload.post("abort", json!({})).await.expect_error(404, "not_found", gone);
    let late = files.client().nobody().put(&address).body("application/octet-stream", vec![0; 10]).send().await;
    late.expect_error(404, "not_found", gone);
    let other = Upload { files: &files, key: "b".to_owned(), id: upload.id.clone() };
    other.post("abort", json!({})).await.expect_error(404, "not_found", gone);
    // One that nobody ends does so by itself.
    let forgotten = Upload::new(&files, "c", 10).await;
    forgotten.send(1, vec![0; 10]).await;
    files.server.clock.advance(Duration::from_secs(9 * 24 * 60 * 60));
    files
        .server
        .eventually("the upload's end", async || {
            (forgotten.post("parts", json!({ "partNumbers": [1] })).await.status == 404).then_some(())
        })
        .await;
}

#[tokio::test]
async fn a_bucket_is_deleted_with_the_uploads_in_it() {
    let files = Files::new().await;
    let upload = Upload::new(&files, "a", 100_000).await;
    upload.send(1, vec![0; 100_000]).await;
    let (store, id) = (files.server.store().await, upload.id.parse().unwrap());
    let bucket = store.bucket_of(files.path.rsplit('/').next().unwrap().parse().unwrap()).await.unwrap().unwrap();
    let part = store.upload_parts(id).await.unwrap()[0].content_id;
    assert!(store.upload(id).await.unwrap().is_some());
    assert!(store.content(bucket.seen.org_id, part).await.unwrap().is_some());
    files.client().delete(&files.path).send().await.expect(202);
    files
        .server
        .eventually("the bucket's end", async || {
            (files.client().get(&files.path).send().await.status == 404).then_some(())
        })
        .await;
    assert!(store.upload(id).await.unwrap().is_none() && store.upload_parts(id).await.unwrap().is_empty());
    assert!(store.content(bucket.seen.org_id, part).await.unwrap().is_none());
}

#[tokio::test]
async fn uploads_that_are_under_way_are_listed_with_what_has_come() {
    let files = Files::new().await;
    let mut ids = Vec::new();
    for key in ["b", "a", "b"] {
        ids.push(Upload::new(&files, key, 9 * MIB).await.id);
    }
    let list =
        async |about: &str| files.client().get(&format!("{}/uploads/multipart?{about}", files.path)).send().await;
    let all = list("").await.expect(200);
    let listed = |answer: &Answer| -> Vec<String> {
        answer.list("/uploads").iter().map(|upload| upload["uploadId"].as_str().unwrap().to_owned()).collect()
    };
    // Those of one key by their ids, which are of one moment here.
    let mut of_b = [ids[0].as_str(), &ids[2]];
    of_b.sort_unstable();
    assert_eq!(listed(&all), [ids[1].as_str(), of_b[0], of_b[1]]);
    assert_eq!(all.json["cursor"], Value::Null);
    let (mut paged, mut cursor) = (Vec::new(), String::new());
    for _ in 0..3 {
        let page = list(&format!("limit=1{cursor}")).await.expect(200);
        paged.extend(listed(&page));
        cursor = page.json["cursor"].as_str().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
    }
    assert_eq!((paged, cursor.as_str()), (listed(&all), ""));
    list("cursor=x").await.expect_error(400, "invalid_cursor", "Invalid cursor.");
    let upload = Upload { files: &files, key: "a".to_owned(), id: ids[1].clone() };
    let second = upload.send(2, vec![b'2'; MIB]).await;
    let parts = async |key: &str| {
        let path = format!("{}/uploads/multipart/parts?key={key}&uploadId={}", files.path, ids[1]);
        files.client().get(&path).send().await
    };
    let part = json!({ "partNumber": 2, "size": MIB, "etag": second.trim_matches('"') });
    assert_eq!(parts("a").await.expect(200).json, json!({ "parts": [part] }));
    parts("b").await.expect_error(404, "not_found", "Upload not found.");
    upload.post("abort", json!({})).await.expect(204);
    parts("a").await.expect(404);
    assert_eq!(listed(&list("").await.expect(200)), of_b);
}
