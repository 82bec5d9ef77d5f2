//! `DELETE /v1/orgs/:orgId/storage/:resourceId`, and what comes after it

use domain::{id::ContentId, storage::FileKey};
use store::storage::StoredBucket;

use super::Files;

#[tokio::test]
async fn only_an_empty_bucket_is_deleted() {
    let files = Files::versioned().await;
    files.put("a", "one").await;
    let delete = async |about: &str| files.client().delete(&format!("{}{about}", files.path)).send().await;
    delete("").await.expect_error(409, "bucket_not_empty", "The bucket isn't empty.");
    files.delete("a").await;
    delete("?force=0").await.expect_error(409, "bucket_not_empty", "The bucket isn't empty.");
    delete("?force=2").await.expect_problems(&["force"]);
    let deleted = delete("?force=1").await.expect(202);
    assert_eq!(deleted.str("/bucket/status"), "deleting");
    gone(&files).await;
    delete("").await.expect_error(404, "not_found", "Bucket not found");
}

#[tokio::test]
async fn a_deleted_bucket_is_emptied_and_its_name_is_free_again() {
    let files = Files::versioned().await;
    for at in 0..1_100 {
        files.put_at(at).await;
    }
    for at in 0..40 {
        files.put_at(at).await;
        files.delete(&format!("{at:04}")).await;
    }
    let (bucket, content) = (bucket(&files).await, content(&files, "0500").await);
    let address = files.address("0500").await;
    files.client().delete(&format!("{}?force=1", files.path)).send().await.expect(202);
    gone(&files).await;
    files.fetch(&address, &[]).await.expect_error(404, "not_found", "Version not found.");
    let body = serde_json::json!({ "name": "files" });
    files.client().post(&files.buckets).json(&body).send().await.expect(201);
    let store = files.server.store().await;
    assert!(store.content(bucket.seen.org_id, content).await.unwrap().is_none());
    assert!(store.bucket_versions_next(bucket.seen.no).await.unwrap().is_empty());
    assert!(store.bucket_old_next(bucket.seen.no).await.unwrap().is_empty());
}

#[tokio::test]
async fn buckets_go_with_their_organization() {
    let files = Files::versioned().await;
    files.put("a", "one").await;
    let (bucket, content) = (bucket(&files).await, content(&files, "a").await);
    files.delete("a").await;
    let org = files.buckets.trim_end_matches("/storage").to_owned();
    files.client().delete(&org).send().await.expect(200);
    let store = files.server.store().await;
    files
        .server
        .eventually("the bucket's end", async || store.bucket_of(bucket.id()).await.unwrap().is_none().then_some(()))
        .await;
    assert!(store.content(bucket.seen.org_id, content).await.unwrap().is_none());
    assert!(store.bucket_old_next(bucket.seen.no).await.unwrap().is_empty());
}

/// The bucket, as the store has it.
async fn bucket(files: &Files) -> StoredBucket {
    let id = files.path.rsplit('/').next().unwrap().parse().unwrap();
    files.server.store().await.bucket_of(id).await.unwrap().unwrap()
}

/// What a file says, by its id.
async fn content(files: &Files, key: &str) -> ContentId {
    let no = bucket(files).await.seen.no;
    let file = files.server.store().await.file(no, &FileKey::parse(key).unwrap()).await.unwrap().unwrap();
    file.content.unwrap().content_id
}

/// Waits until nothing is left of the bucket.
async fn gone(files: &Files) {
    files
        .server
        .eventually("the bucket's end", async || {
            (files.client().get(&files.path).send().await.status == 404).then_some(())
        })
        .await;
}
