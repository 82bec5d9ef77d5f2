//! Files that are sent before the commit that takes them.

use std::time::Duration;

use domain::git::web::{WEB_COMMIT_BODY_MAX, WEB_COMMIT_BYTES_MAX};
use serde_json::{Value, json};

use super::put;
use crate::{
    git::wire::Workshop,
    harness::{Answer, Client},
};

const DAY: Duration = Duration::from_hours(24);
const MISSING: &str = "An uploaded file is missing. Upload the files again.";
const TOO_LARGE: &str = "Web commits can change up to 1000 files and 50 MB of content. Push larger changes with git.";

/// An upload that has begun.
struct Upload {
    id: String,
    /// Paths to send files to.
    places: Vec<String>,
}

impl Workshop {
    async fn upload(&self, sizes: &[u64]) -> Answer {
        let files: Vec<_> = sizes.iter().map(|size| json!({ "size": size })).collect();
        let path = self.repos.at("web/contents/uploads");
        self.repos.ada.client.post(&path).json(&json!({ "files": files })).send().await
    }

    async fn upload_begun(&self, sizes: &[u64]) -> Upload {
        let answer = self.upload(sizes).await.expect(201);
        let id = answer.str("/uploadId").to_owned();
        assert!(id.len() == 32 && id.bytes().all(|it| it.is_ascii_digit() || (b'a'..=b'f').contains(&it)), "{id}");
        let place = |(at, it): (usize, &Value)| {
            assert_eq!(it["index"], at);
            let url = it["url"].as_str().unwrap();
            url[url.find("/v1/").unwrap()..].to_owned()
        };
        Upload { id, places: answer.list("/uploads").iter().enumerate().map(place).collect() }
    }

    /// Sends a file without a credential.
    async fn send(&self, place: &str, bytes: impl Into<Vec<u8>>) -> Answer {
        let nobody = Client::new(self.repos.server.client().base().to_owned());
        nobody.put(place).body("application/octet-stream", bytes.into()).send().await
    }

    async fn commit_uploaded(&self, client: &Client, upload: &Upload, files: &[(&str, u64)]) -> Answer {
        let change = |(path, index): &(&str, u64)| json!({ "op": "put", "path": path, "upload": index });
        let changes: Vec<_> = files.iter().map(change).collect();
        let body = json!({
            "branch": "main", "parentCommitId": self.named("main").await, "message": "Add them",
            "uploadId": upload.id, "changes": changes
        });
        self.web_commit_as(client, &body).await
    }
}

#[tokio::test]
async fn uploaded_files_are_committed_and_spent() {
    let shop = Workshop::furnished().await;
    let client = &shop.repos.ada.client;
    let large: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    let upload = shop.upload_begun(&[0, 5, large.len() as u64]).await;
    let answer = shop.commit_uploaded(client, &upload, &[("small", 1)]).await;
    answer.expect_error(400, "upload_missing", MISSING);
    shop.send(&upload.places[0], "").await.expect(204);
    shop.send(&upload.places[1], "four").await.expect_error(400, "wrong_size", "Send exactly 5 bytes.");
    shop.send(&upload.places[1], "sixsix").await.expect(413);
    shop.send(&upload.places[1], "first").await.expect(204);
    shop.send(&upload.places[1], "again").await.expect(204);
    shop.send(&upload.places[2], large.clone()).await.expect(204);
    let forged = upload.places[1].replace("index=1", "index=0");
    shop.send(&forged, "again").await.expect_error(403, "file_address", "This address was not signed here.");
    shop.commit_uploaded(client, &upload, &[("x", 3)]).await.expect_error(400, "upload_missing", MISSING);
    let other = shop.repos.member("bob", "developer").await;
    let theirs = shop.commit_uploaded(&other.client, &upload, &[("small", 1)]).await;
    theirs.expect_error(400, "upload_missing", MISSING);
    let files = [("empty", 0), ("small", 1), ("bin/large", 2), ("bin/twice", 2)];
    shop.commit_uploaded(client, &upload, &files).await.expect(201);
    shop.tree_there("copy").await;
    for (name, bytes) in [("empty", b"".as_slice()), ("small", b"again"), ("bin/large", &large), ("bin/twice", &large)]
    {
        assert!(std::fs::read(shop.at("copy").join(name)).unwrap() == bytes, "{name}");
    }
    shop.commit_uploaded(client, &upload, &[("more", 1)]).await.expect_error(400, "upload_missing", MISSING);
    shop.send(&upload.places[1], "again").await.expect_error(404, "not_found", "Upload not found.");
}

#[tokio::test]
async fn an_address_works_for_an_hour_and_an_upload_waits_for_a_day() {
    let shop = Workshop::furnished().await;
    let upload = shop.upload_begun(&[4]).await;
    shop.send(&upload.places[0], "text").await.expect(204);
    shop.repos.server.clock.advance(Duration::from_hours(1));
    shop.send(&upload.places[0], "text").await.expect_error(403, "file_address", "This address has expired.");
    shop.repos.server.clock.advance(DAY);
    let (store, stored) = (shop.repos.server.store().await, shop.stored().await);
    let made_by = shop.repos.ada.user_id.parse().unwrap();
    let gone = async || (store.web_uploads_of(stored.no, made_by).await.unwrap() == 0).then_some(());
    shop.repos.server.in_time("the upload goes", gone).await;
    let answer = shop.commit_uploaded(&shop.repos.ada.client, &upload, &[("file", 0)]).await;
    answer.expect_error(400, "upload_missing", MISSING);
}

#[tokio::test]
async fn an_upload_and_a_commit_have_limits() {
    let shop = Workshop::furnished().await;
    shop.upload(&[]).await.expect_problems(&["files"]);
    shop.upload(&vec![0; 1_001]).await.expect_problems(&["files"]);
    shop.upload(&[0, 52_428_801]).await.expect_problems(&["files[1].size"]);
    let message = "Web commits are limited to 50 MB. Push larger changes with git.";
    shop.upload(&[52_428_800, 1]).await.expect_error(413, "too_large", message);
    let path = shop.repos.at("web/contents/uploads");
    for size in [json!(-1), json!(1.5), json!("1"), Value::Null] {
        let body = json!({ "files": [{ "size": size }] });
        shop.repos.ada.client.post(&path).json(&body).send().await.expect_problems(&["files[0].size"]);
    }
    shop.upload(&vec![0; 1_000]).await.expect(201);
    let upload = shop.upload_begun(&[52_428_799, 1]).await;
    shop.send(&upload.places[0], vec![b'a'; 52_428_799]).await.expect(204);
    shop.send(&upload.places[1], "b").await.expect(204);
    let client = &shop.repos.ada.client;
    let more = shop.commit_uploaded(client, &upload, &[("a", 0), ("b", 1), ("c", 1)]).await;
    more.expect_error(413, "too_large", TOO_LARGE);
    shop.commit_uploaded(client, &upload, &[("a", 0), ("b", 1)]).await.expect(201);
    let many = |count: usize| (0..count).map(|at| put(&format!("many/{at}"), "x")).collect::<Vec<_>>();
    shop.change(json!(many(1_001))).await.expect_error(413, "too_large", TOO_LARGE);
    shop.change(json!(many(1_000))).await.expect(201);
}

/// A commit of these changes on `main`, behind so much white space that its body has `len` bytes.
async fn padded(shop: &Workshop, changes: Value, len: usize) -> Answer {
    let parent = shop.named("main").await;
    let body = json!({ "branch": "main", "parentCommitId": parent, "message": "Change it", "changes": changes });
    let body = format!("{}{body}", " ".repeat(len - body.to_string().len()));
    shop.repos.ada.client.post(&shop.repos.at("web/contents")).body("application/json", body).send().await
}

#[tokio::test]
async fn the_body_of_a_commit_has_a_limit_and_so_have_the_files_in_it() {
    let shop = Workshop::furnished().await;
    for (at, len) in [WEB_COMMIT_BODY_MAX - 1, WEB_COMMIT_BODY_MAX].into_iter().enumerate() {
        padded(&shop, json!([put(&format!("file-{at}"), "x")]), len).await.expect(201);
    }
    let more = padded(&shop, json!([put("more", "x")]), WEB_COMMIT_BODY_MAX + 1).await;
    more.expect_error(413, "too_large", TOO_LARGE);
    let text = "a".repeat(usize::try_from(WEB_COMMIT_BYTES_MAX).unwrap());
    let more = shop.change(json!([put("large", &text), put("more", "x")])).await;
    more.expect_error(413, "too_large", TOO_LARGE);
    shop.change(json!([put("large", &text)])).await.expect(201);
}

#[tokio::test]
async fn several_large_commits_at_once_are_all_made() {
    let shop = Workshop::furnished().await;
    let parent = shop.named("main").await;
    // Each is so large that it needs room.
    let text = "large\n".repeat(7 << 18);
    let body = |at: usize| {
        json!({
            "branch": "main", "newBranch": format!("branch-{at}"), "parentCommitId": parent, "message": "Change it",
            "changes": [put("large", &text)],
        })
    };
    let bodies: Vec<Value> = (0..4).map(body).collect();
    for answer in futures::future::join_all(bodies.iter().map(|body| shop.web_commit(body))).await {
        answer.expect(201);
    }
    let heads = shop.git(".", &["ls-remote", "--heads", &shop.web()]).await;
    assert_eq!(heads.lines().count(), 5);
}

#[tokio::test]
async fn a_hundred_uploads_of_one_person_wait_for_their_commits() {
    let shop = Workshop::furnished().await;
    for _ in 0..100 {
        shop.upload(&[1]).await.expect(201);
    }
    let message = "You have at most 100 uploads that aren't committed in a repository.";
    shop.upload(&[1]).await.expect_error(400, "limit_reached", message);
    shop.repos.server.clock.advance(DAY);
    let again = async || Some(shop.upload(&[1]).await).filter(|answer| answer.status == 201);
    shop.repos.server.in_time("the uploads go", again).await;
}
