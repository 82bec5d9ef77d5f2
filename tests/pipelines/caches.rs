//! Caches: saved, found, gone.

use std::time::Duration;

use serde_json::{Value, json};

use super::sent::{Job, Sent};
use crate::harness::Answer;

const DAY: Duration = Duration::from_hours(24);

fn version(digit: char) -> String {
    digit.to_string().repeat(64)
}

fn cache(key: &str, size: usize) -> Value {
    json!({ "key": key, "version": version('a'), "size": size })
}

/// Saves a cache.
async fn save(sent: &Sent, job: &Job, key: &str, bytes: &[u8]) {
    sent.server.clock.advance(Duration::from_millis(1));
    let url = job.ask("cache/save", cache(key, bytes.len())).await.expect(200).str("/url").to_owned();
    sent.put(&url, bytes).await.expect(204);
    assert_eq!(job.ask("cache/commit", cache(key, bytes.len())).await.expect(200).json, json!({ "ok": true }));
}

async fn restore(job: &Job, key: &str, others: &[&str]) -> Answer {
    let body = json!({ "key": key, "restoreKeys": others, "version": version('a') });
    job.ask("cache/restore", body).await.expect(200)
}

#[tokio::test]
async fn a_cache_is_found_by_its_key_and_by_how_that_begins() {
    let sent = Sent::new().await;
    let job = sent.job("refs/heads/main").await;
    assert_eq!(restore(&job, "npm-1", &["npm-"]).await.json, json!({ "hit": "none" }));
    save(&sent, &job, "npm-1", b"one").await;
    save(&sent, &job, "npm-2", b"two").await;
    save(&sent, &job, "cargo_%", b"cargo").await;
    let exact = restore(&job, "npm-1", &["npm-"]).await;
    assert_eq!((exact.str("/hit"), exact.str("/key"), exact.int("/size")), ("exact", "npm-1", 3));
    assert_eq!(sent.fetch(exact.str("/url")).await, Ok(b"one".to_vec()));
    let partial = restore(&job, "npm-3", &["yarn-", "npm-"]).await;
    assert_eq!((partial.str("/hit"), partial.str("/key")), ("partial", "npm-2"));
    assert_eq!(restore(&job, "cargo", &["cargoX", "%"]).await.str("/hit"), "none");
    let other = json!({ "key": "npm-1", "restoreKeys": ["npm-"], "version": version('b') });
    assert_eq!(job.ask("cache/restore", other).await.expect(200).json, json!({ "hit": "none" }));
    assert_eq!(job.ask("cache/save", cache("npm-1", 9)).await.expect(200).json, json!({ "exists": true }));
    sent.counted().await;
}

#[tokio::test]
async fn a_job_looks_in_its_own_ref_and_in_the_default_branch() {
    let sent = Sent::new().await;
    let (main, topic) = (sent.job("refs/heads/main").await, sent.job("refs/heads/topic").await);
    let other = sent.job("refs/heads/other").await;
    save(&sent, &main, "npm-1", b"main").await;
    assert_eq!(sent.fetch(restore(&topic, "npm-1", &[]).await.str("/url")).await, Ok(b"main".to_vec()));
    save(&sent, &topic, "npm-1", b"topic").await;
    assert_eq!(sent.fetch(restore(&topic, "npm-1", &[]).await.str("/url")).await, Ok(b"topic".to_vec()));
    assert_eq!(sent.fetch(restore(&main, "npm-1", &[]).await.str("/url")).await, Ok(b"main".to_vec()));
    assert_eq!(sent.fetch(restore(&other, "npm-1", &[]).await.str("/url")).await, Ok(b"main".to_vec()));
    save(&sent, &topic, "only-here", b"topic").await;
    assert_eq!(restore(&other, "only-here", &["only"]).await.str("/hit"), "none");
}

#[tokio::test]
async fn what_another_job_sends_just_now_is_not_sent_twice() {
    let sent = Sent::new().await;
    let (one, two) = (sent.job("refs/heads/main").await, sent.job("refs/heads/main").await);
    one.ask("cache/save", cache("npm", 3)).await.expect(200).str("/url");
    assert_eq!(two.ask("cache/save", cache("npm", 3)).await.expect(200).json, json!({ "exists": true }));
    let missing = "Upload the file first.";
    one.ask("cache/commit", cache("npm", 3)).await.expect_error(409, "upload_missing", missing);
    sent.server.clock.advance(Duration::from_secs(599));
    assert_eq!(two.ask("cache/save", cache("npm", 3)).await.expect(200).json, json!({ "exists": true }));
    sent.server.clock.advance(Duration::from_secs(1));
    let url = two.ask("cache/save", cache("npm", 3)).await.expect(200).str("/url").to_owned();
    sent.put(&url, b"two").await.expect(204);
    two.ask("cache/commit", cache("npm", 4)).await.expect_error(409, "upload_missing", missing);
    one.ask("cache/commit", cache("npm", 3)).await.expect_error(409, "upload_missing", missing);
    two.ask("cache/commit", cache("npm", 3)).await.expect(200);
}

#[tokio::test]
async fn a_cache_that_nobody_uses_goes_after_seven_days() {
    let sent = Sent::new().await;
    let job = sent.job("refs/heads/main").await;
    save(&sent, &job, "used", b"used").await;
    save(&sent, &job, "unused", b"unused").await;
    sent.server.clock.advance(6 * DAY);
    assert_eq!(restore(&job, "used", &[]).await.str("/hit"), "exact");
    sent.server.clock.advance(DAY);
    assert_eq!(restore(&job, "unused", &[]).await.str("/hit"), "none");
    assert_eq!(restore(&job, "used", &[]).await.str("/hit"), "exact");
    let listed = sent.get("caches").await.expect(200);
    assert_eq!((listed.list("/caches").len(), listed.int("/usage/count"), listed.int("/usage/sizeBytes")), (1, 1, 4));
    assert_eq!(listed.int("/usage/quotaBytes"), 10_737_418_240);
}

#[tokio::test]
async fn people_list_and_delete_caches() {
    let sent = Sent::new().await;
    let (main, topic) = (sent.job("refs/heads/main").await, sent.job("refs/heads/topic").await);
    save(&sent, &main, "npm-1", b"1").await;
    save(&sent, &topic, "npm-1", b"2").await;
    save(&sent, &main, "cargo", b"3").await;
    let keys = async |query: &str| -> Vec<String> {
        let listed = sent.get(&format!("caches{query}")).await.expect(200);
        listed.list("/caches").iter().map(|it| it["key"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(keys("").await, ["cargo", "npm-1", "npm-1"]);
    assert_eq!(keys("?key=npm&ref=refs/heads/topic").await, ["npm-1"]);
    let page = sent.get("caches?limit=2").await.expect(200);
    assert_eq!(keys(&format!("?limit=2&cursor={}", page.str("/cursor"))).await, ["npm-1"]);
    let delete = async |query: &str| sent.ada.client.delete(&sent.at(&format!("caches{query}"))).send().await;
    delete("").await.expect_problems(&["key"]);
    assert_eq!(delete("?key=npm").await.expect(200).int("/deleted"), 0);
    assert_eq!(delete("?key=npm-1&ref=refs/heads/main").await.expect(200).int("/deleted"), 1);
    assert_eq!(delete("?key=npm-1").await.expect(200).int("/deleted"), 1);
    assert_eq!(keys("").await, ["cargo"]);
    sent.counted().await;
}

#[tokio::test]
async fn what_is_asked_of_caches_has_limits() {
    let sent = Sent::new().await;
    let job = sent.job("refs/heads/main").await;
    for key in ["", &"a".repeat(513), "a\nb"] {
        job.ask("cache/save", cache(key, 1)).await.expect_problems(&["key"]);
        job.ask("cache/commit", cache(key, 1)).await.expect_problems(&["key"]);
    }
    let bad = json!({ "key": "", "restoreKeys": vec!["a"; 11], "version": "A".repeat(64) });
    job.ask("cache/restore", bad).await.expect_problems(&["key", "restoreKeys", "version"]);
    let bad = json!({ "key": "a", "restoreKeys": ["a", ""], "version": version('a') });
    job.ask("cache/restore", bad).await.expect_problems(&["restoreKeys[1]"]);
    let fits = json!({ "key": "é".repeat(512), "restoreKeys": vec!["a"; 10], "version": version('f') });
    job.ask("cache/restore", fits).await.expect(200);
    job.ask("cache/save", json!({ "key": "a", "version": version('a'), "size": 0 })).await.expect_problems(&["size"]);
    let sized = |size: u64| json!({ "key": "a", "version": version('a'), "size": size });
    job.ask("cache/save", sized(5_368_709_120)).await.expect(200);
    let refused = job.ask("cache/save", sized(5_368_709_121)).await;
    refused.expect_error(413, "too_large", "A cache has at most 5 GiB.");
}

#[tokio::test]
async fn what_is_sent_and_not_committed_has_a_bound() {
    const GIB: u64 = 1024 * 1024 * 1024;
    let sent = Sent::new().await;
    let (job, other) = (sent.job("refs/heads/main").await, sent.job("refs/heads/topic").await);
    let sized = |key: &str, size: u64| json!({ "key": key, "version": version('a'), "size": size });
    job.ask("cache/save", sized("a", 5 * GIB)).await.expect(200);
    // Another address for the same doesn't count twice.
    job.ask("cache/save", sized("a", 5 * GIB)).await.expect(200);
    let message = "The caches that jobs of this repository send and haven't committed have at most 10 GiB.";
    other.ask("cache/save", sized("b", 5 * GIB)).await.expect(200);
    other.ask("cache/save", sized("c", 1)).await.expect_error(400, "limit_reached", message);
    // What can't be sent any more makes room.
    sent.server.clock.advance(Duration::from_hours(2));
    other.ask("cache/save", sized("c", 1)).await.expect(200);
    for at in 1..50 {
        other.ask("cache/save", sized(&format!("c{at}"), 1)).await.expect(200);
    }
    let message = "A job sends at most 50 caches before it commits them.";
    other.ask("cache/save", sized("c50", 1)).await.expect_error(400, "limit_reached", message);
    job.ask("cache/save", sized("c50", 1)).await.expect(200);
    sent.counted().await;
}
