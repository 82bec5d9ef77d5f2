//! Downloads of files that are replaced or deleted meanwhile.

use std::time::Duration;

use serde_json::json;
use store::testing::recount::{self, Depth};

use super::Files;

const MIB: usize = 1024 * 1024;

impl Files {
    /// A file of three parts, each of one byte's value of its own.
    async fn put_in_parts(&self, key: &str) {
        let body = json!({ "key": key, "size": 20 * MIB });
        let post = async |about: &str, body: serde_json::Value| {
            let path = format!("{}/uploads/multipart{about}", self.path);
            self.client().post(&path).json(&body).send().await.expect_success()
        };
        let id = post("", body).await.str("/uploadId").to_owned();
        let mut parts = Vec::new();
        for (number, size) in [(1, 8 * MIB), (2, 8 * MIB), (3, 4 * MIB)] {
            let urls = post("/parts", json!({ "key": key, "uploadId": id, "partNumbers": [number] })).await;
            let url = urls.str("/urls/0/url");
            let address = &url[url.find("/v1/storage/files/").unwrap()..];
            let put = self.client().nobody().put(address).plain(vec![b'0' + number; size]).send().await.expect(200);
            parts.push(json!({ "partNumber": number, "etag": put.header("etag").unwrap() }));
        }
        post("/complete", json!({ "key": key, "uploadId": id, "parts": parts })).await;
    }

    /// Lets an hour pass, and waits until housekeeping has swept what was doomed before, but for so many rows.
    async fn swept(&self, left: i64) {
        let store = self.server.store().await;
        self.server.clock.advance(Duration::from_hours(1));
        let swept = async || {
            // A job that a jump of the clock has broken off is tried again a little later.
            self.server.clock.advance(Duration::from_secs(20));
            (recount::unswept(&store).await.unwrap() <= left).then_some(())
        };
        self.server.eventually("a sweep", swept).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_that_has_begun_is_whole_whatever_becomes_of_the_file() {
    let files = Files::new().await;
    files.put_in_parts("a").await;
    files.put("other", &"x".repeat(100_000)).await;
    let mut download = files.begin_fetch(&files.address("a").await).await;
    let mut read = download.chunk().await.unwrap().expect("the first bytes").to_vec();
    files.put("a", "another").await;
    files.delete("other").await;
    // What nobody reads goes, what is read stays.
    files.swept(1).await;
    assert_eq!(files.text("a").await, "another");
    while let Some(piece) = download.chunk().await.unwrap() {
        read.extend_from_slice(&piece);
    }
    let counts = [b'1', b'2', b'3'].map(|value| read.iter().map(|&byte| usize::from(byte == value)).sum::<usize>());
    assert_eq!((read.len(), counts), (20 * MIB, [8 * MIB, 8 * MIB, 4 * MIB]));
    assert!(read.is_sorted());
    // And goes when it was read.
    files.swept(0).await;
    let wrong = recount::storage(&files.server.store().await, Depth::Bytes).await.unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_that_is_left_holds_nothing() {
    let files = Files::new().await;
    files.put_in_parts("a").await;
    let mut download = files.begin_fetch(&files.address("a").await).await;
    download.chunk().await.unwrap().expect("the first bytes");
    files.delete("a").await;
    drop(download);
    files.swept(0).await;
}
