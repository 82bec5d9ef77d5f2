//! `POST /v1/orgs/:orgId/storage/:resourceId/objects/copy`

use serde_json::{Value, json};

use super::{Files, NEVER};
use crate::harness::Answer;

fn pair(from: &str, to: &str) -> Value {
    json!({ "from": from, "to": to })
}

async fn copy(files: &Files, body: Value) -> Answer {
    files.client().post(&format!("{}/objects/copy", files.path)).json(&body).send().await
}

#[tokio::test]
async fn copies_share_what_their_files_say_and_keep_it_when_those_go() {
    let files = Files::new().await;
    let large = "l".repeat(100_000);
    files.put("a", &large).await;
    files.put("b", "b").await;
    let tags = json!({ "tags": [{ "key": "team", "value": "x" }], "metadata": { "n": "1" } });
    files.client().patch(&format!("{}/object?key=a", files.path)).json(&tags).send().await.expect(200);
    let body = json!({ "files": [pair("a", "c"), pair("a", "d"), pair("b", "e")] });
    assert_eq!(copy(&files, body).await.expect(200).json, json!({ "copied": 3 }));
    assert_eq!(copy(&files, json!({ "files": [pair("d", "f")] })).await.expect(200).json, json!({ "copied": 1 }));
    assert_eq!(copy(&files, json!({ "files": [] })).await.expect(200).json, json!({ "copied": 0 }));
    assert_eq!(files.usage().await, (6, 0, 400_002));
    let (one, other) = (files.get("a").await.expect(200), files.get("f").await.expect(200));
    for field in ["etag", "size", "contentType", "metadata", "tags"] {
        assert_eq!(one.json["object"][field], other.json["object"][field], "{field}");
    }
    for key in ["a", "c", "d"] {
        files.delete(key).await;
    }
    assert_eq!((files.text("f").await, files.text("e").await), (large, "b".to_owned()));
    assert_eq!(files.usage().await, (3, 0, 100_002));
}

#[tokio::test]
async fn files_are_copied_as_they_were_before_the_others_were() {
    let files = Files::new().await;
    for key in ["a", "b"] {
        files.put(key, key).await;
    }
    let swap = json!({ "files": [pair("a", "b"), pair("b", "a"), pair("a", "c")] });
    let exists = "A file with this name already exists.";
    copy(&files, swap.clone()).await.expect_error(409, "file_exists", exists);
    copy(&files, json!({ "files": [pair("a", "b")] })).await.expect_error(409, "file_exists", exists);
    assert_eq!(files.usage().await, (2, 0, 2));
    let mut swap = swap;
    swap["overwrite"] = json!(true);
    copy(&files, swap).await.expect(200);
    assert_eq!(
        (files.text("a").await, files.text("b").await, files.text("c").await),
        ("b".into(), "a".into(), "a".into())
    );
}

#[tokio::test]
async fn an_earlier_version_is_copied_and_a_copy_is_one_more() {
    let files = Files::versioned().await;
    let first = files.put("a", "one").await;
    files.put("a", "two").await;
    let earlier = json!({ "from": "a", "to": "b", "versionId": first });
    copy(&files, json!({ "files": [earlier] })).await.expect(200);
    assert_eq!(files.text("b").await, "one");
    let back = json!({ "from": "a", "to": "a", "versionId": first });
    copy(&files, json!({ "files": [back, pair("a", "b")], "overwrite": true })).await.expect(200);
    assert_eq!((files.text("a").await, files.text("b").await), ("one".to_owned(), "two".to_owned()));
    assert_eq!(files.versions("a").await.expect(200).list("/versions").len(), 3);
    files.delete("a").await;
    copy(&files, json!({ "files": [pair("a", "c")] })).await.expect_error(404, "not_found", "File not found.");
    let marker = files.versions("a").await.expect(200).str("/versions/0/versionId").to_owned();
    for version in [marker.as_str(), "null"] {
        let none = json!({ "from": "a", "to": "c", "versionId": version });
        let missing = (404, "not_found", "Version not found.");
        copy(&files, json!({ "files": [none.clone()] })).await.expect_error(missing.0, missing.1, missing.2);
        copy(&files, json!({ "files": [none, pair("b", "d")] })).await.expect_error(missing.0, missing.1, missing.2);
    }
    files.get("d").await.expect(404);
}

#[tokio::test]
async fn files_are_copied_to_another_bucket_as_far_as_it_has_room() {
    let files = Files::new().await;
    files.put("a", "12345").await;
    files.put("b", "67890").await;
    let other = json!({ "name": "other", "quotaBytes": 9 });
    let made = files.client().post(&files.buckets).json(&other).send().await.expect(201);
    let other = made.str("/bucket/resourceId").to_owned();
    let to = |pairs: &[Value]| json!({ "files": pairs, "to": { "resourceId": other } });
    let full = "This bucket is full.";
    let both = [pair("a", "a"), pair("b", "b")];
    copy(&files, to(&both)).await.expect_error(403, "quota_exceeded", full);
    copy(&files, to(&both[..1])).await.expect(200);
    copy(&files, to(&both[1..])).await.expect_error(403, "quota_exceeded", full);
    let path = format!("{}/{other}", files.buckets);
    let usage = files.client().get(&path).send().await.expect(200);
    assert_eq!((usage.int("/usage/objects"), usage.int("/usage/sizeBytes")), (1, 5));
    for (id, message) in [(NEVER, "Bucket not found"), ("nothing", "Bucket not found")] {
        let body = json!({ "files": both[..1], "to": { "resourceId": id } });
        copy(&files, body).await.expect_error(404, "not_found", message);
    }
    files.client().delete(&format!("{path}?force=1")).send().await.expect(202);
    let deleting = copy(&files, to(&[pair("a", "c")])).await;
    assert!(matches!(deleting.status, 404 | 409), "{}", deleting.text);
}
