//! How much jobs may make is configured: runners are told, and the server holds jobs to it.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    CI, Works,
    sent::{Job, Sent},
};
use crate::harness::Server;

/// Small limits.
const SMALL: [&str; 4] =
    ["pipelines.log_max=20", "pipelines.artifact_max=1000", "pipelines.cache_max=1000", "pipelines.cache_quota=2000"];

fn cache(key: &str, size: usize) -> Value {
    json!({ "key": key, "version": "a".repeat(64), "size": size })
}

/// Sends and commits a cache of so many bytes.
async fn save(sent: &Sent, job: &Job, key: &str, size: usize) {
    sent.server.clock.advance(Duration::from_millis(1));
    let url = job.ask("cache/save", cache(key, size)).await.expect(200).str("/url").to_owned();
    sent.put(&url, &vec![b'x'; size]).await.expect(204);
    job.ask("cache/commit", cache(key, size)).await.expect(200);
}

#[tokio::test]
async fn an_artifact_has_as_many_bytes_as_are_configured() {
    let sent = Sent::with(&SMALL).await;
    let job = sent.job("refs/heads/main").await;
    let artifact = |size: usize| json!({ "name": "large", "size": size });
    for size in [999, 1_000] {
        let url = job.ask("artifacts/upload", artifact(size)).await.expect(200).str("/url").to_owned();
        sent.put(&url, &vec![b'x'; size]).await.expect(204);
    }
    let refused = job.ask("artifacts/upload", artifact(1_001)).await;
    refused.expect_error(413, "too_large", "An artifact has at most 1000 bytes.");
    job.ask("artifacts/commit", artifact(1_000)).await.expect(200);
    sent.counted().await;
}

#[tokio::test]
async fn a_cache_and_all_of_a_repository_have_as_many_bytes_as_are_configured() {
    let sent = Sent::with(&SMALL).await;
    let job = sent.job("refs/heads/main").await;
    let refused = job.ask("cache/save", cache("a", 1_001)).await;
    refused.expect_error(413, "too_large", "A cache has at most 1000 bytes.");
    // What is sent and not committed.
    for (key, size) in [("a", 1_000), ("b", 999), ("c", 1)] {
        job.ask("cache/save", cache(key, size)).await.expect(200);
    }
    let message = "The caches that jobs of this repository send and haven't committed have at most 2000 bytes.";
    job.ask("cache/save", cache("d", 1)).await.expect_error(400, "limit_reached", message);
}

#[tokio::test]
async fn caches_make_room_where_all_have_more_than_the_configured_bytes() {
    let sent = Sent::with(&SMALL).await;
    let job = sent.job("refs/heads/main").await;
    let kept = async || {
        let listed = sent.get("caches").await.expect(200);
        let usage = ["count", "sizeBytes", "quotaBytes"].map(|name| listed.int(&format!("/usage/{name}")));
        let keys = listed.list("/caches").iter().map(|it| it["key"].as_str().unwrap_or_default().to_owned());
        (usage, keys.collect::<Vec<_>>())
    };
    let named = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
    save(&sent, &job, "one", 1_000).await;
    save(&sent, &job, "two", 1_000).await;
    assert_eq!(kept().await, ([2, 2_000, 2_000], named(&["two", "one"])));
    save(&sent, &job, "three", 1).await;
    assert_eq!(kept().await, ([2, 1_001, 2_000], named(&["three", "two"])));
    sent.counted().await;
}

#[tokio::test]
async fn a_log_has_as_many_bytes_as_are_configured() {
    let sent = Sent::with(&SMALL).await;
    // Each line costs a byte beside its text.
    for (texts, dropped) in
        [(["aaaaaaaaa", "bbbbbbbb"], 0), (["aaaaaaaaa", "bbbbbbbbb"], 0), (["aaaaaaaaa", "bbbbbbbbbb"], 1)]
    {
        let job = sent.job("refs/heads/main").await;
        let lines: Vec<_> = texts.iter().map(|m| json!({ "t": 7, "m": m })).collect();
        assert_eq!(job.ask("logs", json!({ "lines": lines })).await.expect(200).int("/next"), 2);
        let read = sent.get(&job.log("")).await.expect(200);
        let last = if dropped == 0 {
            texts[1]
        } else {
            "The log is longer than 20 bytes. What follows is counted, and not kept."
        };
        assert_eq!((read.str("/lines/1/m"), read.int("/dropped")), (last, dropped));
    }
}

#[tokio::test]
async fn a_runner_is_told_what_is_configured() {
    let works = Works::on(Server::with(&SMALL).await).await;
    works.put("ci.yml", CI).await;
    works.run("").await;
    let plan = works.runner("box", &[]).await.take().await.plan().await.expect(200);
    let limits = json!({ "logBytes": 20, "summaryBytes": 65_536, "artifactBytes": 1_000, "cacheBytes": 1_000 });
    assert_eq!(plan.json["plan"]["limits"], limits);
}
