//! What lifecycle rules come to, with a clock that is moved.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Files, keys};

const DAY: Duration = Duration::from_hours(24);
/// The time of day at which every bucket was looked at.
const LOOKED_AT: Duration = Duration::from_hours(2);

impl Files {
    async fn with_rule(settings: Value, rule: Value) -> Self {
        let files = Self::with(settings).await;
        files
            .client()
            .put(&format!("{}/lifecycle", files.path))
            .json(&json!({ "rules": [rule] }))
            .send()
            .await
            .expect(200);
        files
    }

    /// Moves the clock to so many midnights later, behind the moment at which rules are looked at.
    fn days_later(&self, days: u32) {
        let now = self.server.clock.now();
        let midnight = domain::storage::next_midnight(now.after(Duration::from_millis(1)));
        let moment = midnight.after(DAY * (days - 1)).after(LOOKED_AT);
        self.server.clock.advance(Duration::from_millis(u64::try_from(moment.0 - now.0).unwrap()));
    }

    async fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        for prefix in ["logs/", ""] {
            let listed = self.list(&format!("prefix={prefix}")).await.expect(200);
            found.extend(keys(listed.list("/files")).into_iter().map(str::to_owned));
        }
        found
    }

    async fn files_become(&self, expected: &[&str]) {
        let looked = async || {
            // A job that a jump of the clock has broken off is tried again a little later.
            self.server.clock.advance(Duration::from_secs(1));
            (self.files().await == expected).then_some(())
        };
        self.server.eventually("the files", looked).await;
    }
}

#[tokio::test]
async fn files_expire_at_the_midnight_after_their_days_and_others_stay() {
    let rule = json!({ "enabled": true, "filter": { "prefix": "logs/" }, "expireDays": 2 });
    let files = Files::with_rule(json!({}), rule).await;
    for key in ["logs/a", "logs/b", "other"] {
        files.put(key, "text").await;
    }
    files.days_later(1);
    files.put("logs/b", "newer").await;
    files.put("logs/c", "newer").await;
    files.days_later(2);
    files.files_become(&["logs/b", "logs/c", "other"]).await;
    files.days_later(1);
    files.files_become(&["other"]).await;
    assert_eq!(files.usage().await, (1, 0, 4));
}

#[tokio::test]
async fn an_expired_file_of_a_versioned_bucket_gets_a_delete_marker_and_goes_for_good_later() {
    let rule = json!({ "enabled": true, "expireDays": 1, "oldVersionDays": 1 });
    let files = Files::with_rule(json!({ "versioning": "Enabled" }), rule).await;
    files.put("a", "one").await;
    files.put("a", "two").await;
    files.days_later(2);
    files.files_become(&[]).await;
    // What became an old one by that goes after days of its own, and with it the marker that is left.
    files.days_later(2);
    files.server.eventually("an empty bucket", async || (files.usage().await == (0, 0, 0)).then_some(())).await;
}

#[tokio::test]
async fn the_newest_old_versions_are_kept() {
    let rule = json!({ "enabled": true, "oldVersionDays": 1, "oldVersionsKept": 2 });
    let files = Files::with_rule(json!({ "versioning": "Enabled" }), rule).await;
    for at in 0..6 {
        files.put("a", &at.to_string()).await;
    }
    files.put("b", "alone").await;
    files.days_later(2);
    files.server.eventually("fewer versions", async || (files.usage().await.1 == 2).then_some(())).await;
    let versions = files.versions("a").await.expect(200);
    assert_eq!(versions.list("/versions").len(), 3);
    assert_eq!((files.text("a").await, files.text("b").await), ("5".to_owned(), "alone".to_owned()));
}

#[tokio::test]
async fn a_file_of_a_suspended_bucket_expires_as_if_somebody_deleted_it() {
    let rule = json!({ "enabled": true, "expireDays": 1, "oldVersionDays": 30 });
    let files = Files::with_rule(json!({}), rule).await;
    files.put("a", "null").await;
    files.switch("Enabled").await;
    files.put("a", "kept").await;
    files.switch("Suspended").await;
    files.days_later(2);
    files.files_become(&[]).await;
    let versions = files.versions("a").await;
    let versions = versions.expect(200);
    let ids: Vec<_> = versions.list("/versions").iter().map(|version| version["versionId"].as_str().unwrap()).collect();
    assert_eq!((ids.len(), ids[0]), (2, "null"));
}

#[tokio::test]
async fn thousands_of_keys_and_versions_go_in_bounded_steps() {
    let rule = json!({ "enabled": true, "expireDays": 1, "oldVersionDays": 1 });
    let files = Files::with_rule(json!({ "versioning": "Enabled" }), rule).await;
    for at in 0..1_050 {
        files.put_at(at).await;
    }
    for _ in 0..1_050 {
        files.put("0500", "again").await;
    }
    files.days_later(2);
    files.files_become(&[]).await;
    files.days_later(2);
    files.server.eventually("an empty bucket", async || (files.usage().await == (0, 0, 0)).then_some(())).await;
}

#[tokio::test]
async fn an_unfinished_upload_ends_when_the_rules_say_so() {
    let rule = json!({ "enabled": true, "filter": { "prefix": "a" }, "abortUploadDays": 1 });
    let files = Files::with_rule(json!({}), rule).await;
    let begin = async |key: &str| {
        let body = json!({ "key": key, "size": 10 });
        let path = format!("{}/uploads/multipart", files.path);
        files.client().post(&path).json(&body).send().await.expect(201).str("/uploadId").to_owned()
    };
    let parts = async |key: &str, id: &str| {
        let body = json!({ "key": key, "uploadId": id, "partNumbers": [1] });
        files.client().post(&format!("{}/uploads/multipart/parts", files.path)).json(&body).send().await.status
    };
    let (soon, later) = (begin("a").await, begin("b").await);
    files.days_later(2);
    files.server.eventually("its end", async || (parts("a", &soon).await == 404).then_some(())).await;
    assert_eq!(parts("b", &later).await, 200);
    // A rule that comes later counts for what is under way.
    let rules = json!({ "rules": [{ "enabled": true, "abortUploadDays": 1 }] });
    files.client().put(&format!("{}/lifecycle", files.path)).json(&rules).send().await.expect(200);
    files.days_later(1);
    files.server.eventually("its end", async || (parts("b", &later).await == 404).then_some(())).await;
}

#[tokio::test]
async fn a_run_whose_commits_fail_or_are_never_heard_of_goes_on() {
    let rule = json!({ "enabled": true, "expireDays": 1 });
    let files = Files::with_rule(json!({}), rule).await;
    for at in 0..1_100 {
        files.put_at(at).await;
    }
    let faults = "commit:storage.lifecycle=fail;times=1\ncommit:storage.lifecycle=lose;times=1";
    files.server.faults.set(faults).unwrap();
    files.days_later(2);
    let is_over = async || {
        // Tries have pauses between them.
        files.server.clock.advance(Duration::from_secs(20));
        files.files().await.is_empty().then_some(())
    };
    files.server.eventually("an empty bucket", is_over).await;
    assert_eq!(files.usage().await, (0, 0, 0));
}

#[tokio::test]
async fn a_version_that_somebody_restores_meanwhile_is_not_taken_away() {
    let rule = json!({ "enabled": true, "oldVersionDays": 1 });
    let files = Files::with_rule(json!({ "versioning": "Enabled" }), rule).await;
    let first = files.put("a", "one").await;
    files.put("a", "two").await;
    files.server.faults.set("commit:storage.lifecycle=stall(2s);times=1").unwrap();
    files.days_later(2);
    files.restore("a", &first).await.expect(200);
    files
        .server
        .eventually("the end of the run", async || {
            files.server.clock.advance(Duration::from_secs(20));
            (files.usage().await.1 == 1).then_some(())
        })
        .await;
    assert_eq!(files.text("a").await, "one");
}
