//! Pull requests that are merged as soon as nothing stands against it.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use store::testing::Scratch;

use super::{Workshop, key};
use crate::harness::{Answer, Client, Launch};

impl Workshop {
    /// A shop with an open pull request of Ada's into `main`, for which a rule asks for these.
    async fn guarded(rule: Value) -> Self {
        let shop = Self::forked().await;
        shop.guard(rule).await;
        shop.open("feature", "main").await.expect(201);
        shop
    }

    /// Makes a rule of `main`; its path.
    async fn guard(&self, mut rule: Value) -> String {
        rule["name"] = json!("Guarded");
        rule["patterns"] = json!(["main"]);
        self.repos.at(&format!("web/rules/{}", self.rule(rule).await))
    }

    async fn merge_when_ready(&self, method: &str) -> Answer {
        self.act(1, "merge", json!({ "method": method, "when": "ready" })).await
    }

    /// Asks for the merge, which has to wait.
    async fn wait(&self, method: &str) {
        let waiting = self.merge_when_ready(method).await.expect(202);
        assert_eq!(waiting.str("/pull/autoMerge/method"), method);
    }

    async fn check(&self, context: &str, state: &str) {
        let head = self.pull(1).await["headCommitId"].as_str().unwrap().to_owned();
        let path = self.repos.at(&format!("web/commits/{head}/statuses"));
        let body = json!({ "context": context, "state": state });
        self.repos.ada.client.post(&path).json(&body).send().await.expect(201);
    }

    /// Waits until the pull request is merged.
    async fn merged(&self) -> Value {
        let found = async || Some(self.pull(1).await).filter(|pull| pull["state"] == "merged");
        let pull = self.repos.server.eventually("a merge", found).await;
        assert_eq!(pull["autoMerge"], Value::Null);
        assert_eq!(pull["mergedBy"], self.repos.ada.user_id);
        pull
    }

    /// Waits until the merge isn't waited for any more: why.
    async fn over(&self) -> String {
        let found = async || Some(self.pull(1).await).filter(|pull| pull["autoMerge"].is_null());
        assert_ne!(self.repos.server.eventually("an end", found).await["state"], "merged");
        let entries = self.repos.ada.client.get(&self.pull_at("timeline")).send().await.expect(200);
        let ended: Vec<_> =
            entries.list("/entries").iter().filter(|entry| entry["type"] == "auto_merge_ended").cloned().collect();
        assert_eq!(ended.len(), 1, "{}", entries.text);
        assert!(!ended[0]["reason"].as_str().unwrap().is_empty());
        assert_eq!(self.repos.audited("pull.auto_merge_").await, ["pull.auto_merge_ended", "pull.auto_merge_set"]);
        ended[0]["end"].as_str().unwrap().to_owned()
    }

    /// How many pushes were refused.
    async fn refusals(&self) -> usize {
        self.ask("pushes?verdict=refused").await.expect(200).list("/pushes").len()
    }
}

#[tokio::test]
async fn what_nothing_stands_against_is_merged_at_once() {
    let shop = Workshop::forked().await;
    shop.open("feature", "main").await.expect(201);
    for when in ["", "later", "READY"] {
        shop.act(1, "merge", json!({ "method": "merge", "when": when })).await.expect_problems(&["when"]);
    }
    let stale = json!({ "method": "merge", "when": "ready", "head": shop.oid("main").await });
    let moved = "The pull request changed since you opened it.";
    shop.act(1, "merge", stale).await.expect_error(409, "head_moved", moved);
    let merged = shop.merge_when_ready("merge").await.expect(200);
    assert_eq!(shop.merged().await["mergeCommitId"], merged.json["commitId"]);
    shop.merge_when_ready("merge").await.expect_error(409, "pull_merged", "This pull request is merged.");
}

#[tokio::test]
async fn it_is_merged_once_its_checks_have_succeeded() {
    let shop = Workshop::guarded(json!({ "requireChecks": ["build", "lint"] })).await;
    let body = json!({ "method": "squash", "when": "ready", "message": "Said", "deleteBranch": true });
    let waiting = shop.act(1, "merge", body).await.expect(202);
    let pull = shop.pull(1).await;
    assert_eq!(pull, waiting.json["pull"]);
    let since = shop.repos.server.clock.now().as_millis();
    assert_eq!(pull["autoMerge"], json!({ "method": "squash", "by": shop.repos.ada.user_id, "since": since }));
    shop.check("build", "success").await;
    shop.check("lint", "failure").await;
    assert_eq!(shop.pull(1).await["state"], "open");
    shop.check("lint", "success").await;
    let merged = shop.merged().await;
    shop.git("ada", &["fetch", "--quiet", "--prune", "origin"]).await;
    assert_eq!(shop.oid("origin/main").await, merged["mergeCommitId"].as_str().unwrap());
    assert_eq!(shop.git("ada", &["log", "-1", "--format=%s", "origin/main"]).await, "Said");
    assert!(!shop.try_git("ada", &["rev-parse", "--verify", "--quiet", "origin/feature"]).await.is_ok);
    assert_eq!(shop.happened().await, ["opened", "auto_merge_set", "merged"]);
    assert_eq!(shop.repos.audited("pull.").await, ["pull.auto_merge_set", "pull.merged"]);
    assert_eq!(shop.refusals().await, 0);
}

#[tokio::test]
async fn it_is_merged_once_it_is_approved_and_its_threads_are_resolved() {
    let shop = Workshop::guarded(json!({ "requirePull": { "approvals": 1, "resolveThreads": true } })).await;
    let dev = shop.repos.member("dev", "developer").await;
    let thread = json!({ "path": "one", "line": 1, "side": "new", "body": "Why?" });
    let thread = dev.client.post(&shop.pull_at("threads")).json(&thread).send().await.expect(201);
    shop.wait("merge").await;
    shop.approve(&dev).await;
    let path = shop.pull_at(&format!("threads/{}/resolve", thread.str("/thread/threadId")));
    shop.repos.ada.client.post(&path).send().await.expect(200);
    shop.merged().await;
    assert_eq!(shop.refusals().await, 0);
}

#[tokio::test]
async fn it_is_merged_once_whoever_asked_for_changes_is_content() {
    let shop = Workshop::guarded(json!({ "requirePull": { "approvals": 0 } })).await;
    let dev = shop.repos.member("dev", "developer").await;
    let review = shop.review(&dev, json!({ "verdict": "changes", "body": "No." })).await.expect(201);
    shop.wait("rebase").await;
    let path = shop.pull_at(&format!("reviews/{}/dismissal", review.str("/review/reviewId")));
    shop.repos.ada.client.put(&path).json(&json!({ "reason": "Yes." })).send().await.expect(200);
    shop.merged().await;
}

#[tokio::test]
async fn it_is_merged_once_it_is_no_draft() {
    let shop = Workshop::forked().await;
    let body = json!({ "title": "Add it", "head": "feature", "base": "main", "draft": true });
    shop.repos.ada.client.post(&shop.repos.at("web/pulls")).json(&body).send().await.expect(201);
    shop.wait("merge").await;
    shop.wait("squash").await;
    let ready = json!({ "draft": false });
    shop.repos.ada.client.patch(&shop.repos.at("web/pulls/1")).json(&ready).send().await.expect(200);
    shop.merged().await;
    let last = shop.repos.ada.client.get(&shop.pull_at("timeline")).send().await.expect(200);
    assert_eq!(last.list("/entries").last().unwrap()["method"], "squash");
}

#[tokio::test]
async fn it_is_merged_once_the_rule_is_gone() {
    let shop = Workshop::forked().await;
    let rule = shop.guard(json!({ "requireChecks": ["build"] })).await;
    shop.open("feature", "main").await.expect(201);
    shop.wait("merge").await;
    shop.repos.ada.client.patch(&rule).json(&json!({ "enabled": false })).send().await.expect(200);
    shop.merged().await;
}

#[tokio::test]
async fn what_waiting_does_not_mend_is_refused_as_ever() {
    let shop = Workshop::guarded(json!({ "linear": true, "requireChecks": ["build"] })).await;
    let merges = shop.merge_when_ready("merge").await;
    merges.expect_error(403, "branch_rule", "This branch takes no merge commits.");
    assert_eq!(shop.pull(1).await["autoMerge"], Value::Null);
    let nobody = "Nobody asked for this pull request to be merged.";
    let path = shop.pull_at("merge");
    shop.repos.ada.client.delete(&path).send().await.expect_error(409, "not_waiting", nobody);
    shop.wait("squash").await;
    // A rule that nobody fulfils afterwards ends it, and nothing goes on trying.
    let dev = shop.repos.member("dev", "developer").await;
    shop.guard(json!({ "restrictTo": { "people": [dev.user_id] } })).await;
    let refused = shop.refusals().await;
    assert_eq!(shop.over().await, "refused");
    shop.check("build", "success").await;
    shop.repos.server.clock.advance(Duration::from_hours(2));
    assert_eq!(shop.pull(1).await["state"], "open");
    assert!(shop.refusals().await <= refused + 1);
}

#[tokio::test]
async fn a_head_that_moves_ends_it() {
    let shop = Workshop::guarded(json!({ "requireChecks": ["build"] })).await;
    shop.wait("merge").await;
    shop.git("ada", &["checkout", "--quiet", "feature"]).await;
    shop.commit("ada", "more", "more\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "feature"]).await;
    assert_eq!(shop.over().await, "head_moved");
    shop.check("build", "success").await;
    shop.repos.server.clock.advance(Duration::from_hours(2));
    assert_eq!(shop.pull(1).await["state"], "open");
}

#[tokio::test]
async fn another_base_its_closing_and_who_asked_end_it() {
    for (end, change) in [("base_changed", json!({ "base": "other" })), ("closed", json!({ "state": "closed" }))] {
        let shop = Workshop::guarded(json!({ "requireChecks": ["build"] })).await;
        shop.git("ada", &["push", "--quiet", "origin", "main:other"]).await;
        shop.wait("merge").await;
        shop.repos.ada.client.patch(&shop.repos.at("web/pulls/1")).json(&change).send().await.expect(200);
        assert_eq!(shop.over().await, end);
    }
    let shop = Workshop::guarded(json!({ "requireChecks": ["build"] })).await;
    shop.wait("merge").await;
    let stopped = shop.repos.ada.client.delete(&shop.pull_at("merge")).send().await.expect(200);
    assert_eq!(stopped.json["pull"], shop.pull(1).await);
    assert_eq!(shop.over().await, "withdrawn");
}

#[tokio::test]
async fn a_conflict_ends_it() {
    let shop = Workshop::guarded(json!({ "requirePull": { "approvals": 1 } })).await;
    shop.wait("merge").await;
    // The rule holds for pushes, too, so another pull request brings what can't be merged.
    shop.git("ada", &["checkout", "--quiet", "-b", "second", "main"]).await;
    shop.commit("ada", "one", "another\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "second"]).await;
    shop.open("second", "main").await.expect(201);
    let dev = shop.repos.member("dev", "developer").await;
    shop.tick();
    let path = shop.repos.at("web/pulls/2/reviews");
    dev.client.post(&path).json(&json!({ "verdict": "approve" })).send().await.expect(201);
    shop.merge(2, "merge").await.expect(200);
    assert_eq!(shop.over().await, "conflict");
    let conflict = "The branches have changes that can't be merged by themselves.";
    shop.merge_when_ready("merge").await.expect_error(409, "conflict", conflict);
}

#[tokio::test]
async fn who_lost_the_right_merges_nothing() {
    let shop = Workshop::guarded(json!({ "requireChecks": ["build"] })).await;
    let dev = shop.repos.member("dev", "developer").await;
    let head = shop.pull(1).await["headCommitId"].clone();
    let body = json!({ "method": "merge", "when": "ready", "head": head });
    let waiting = dev.client.post(&shop.pull_at("merge")).json(&body).send().await.expect(202);
    assert_eq!(waiting.str("/pull/autoMerge/by"), dev.user_id);
    let member = format!("{}/members/{}", shop.repos.org, dev.user_id);
    shop.repos.ada.client.delete(&member).send().await.expect(200);
    shop.repos.server.clock.advance(Duration::from_mins(61));
    assert_eq!(shop.over().await, "no_right");
    shop.check("build", "success").await;
    assert_eq!(shop.pull(1).await["state"], "open");
}

#[tokio::test]
async fn a_key_that_is_gone_merges_nothing() {
    let shop = Workshop::guarded(json!({ "requireChecks": ["build"] })).await;
    let token = key(&shop.repos, &shop.repos.ada.client, &["git:read", "git:write"]).await;
    let client = shop.repos.server.client().with_token(&token);
    let head = shop.pull(1).await["headCommitId"].clone();
    let body = json!({ "method": "merge", "when": "ready", "head": head });
    client.post(&shop.pull_at("merge")).json(&body).send().await.expect(202);
    let keys = format!("{}/keys", shop.repos.org);
    let listed = shop.repos.ada.client.get(&keys).send().await.expect(200);
    for key in listed.list("/keys") {
        let path = format!("{keys}/{}", key["keyId"].as_str().unwrap());
        shop.repos.ada.client.delete(&path).send().await.expect(200);
    }
    shop.check("build", "success").await;
    assert_eq!(shop.over().await, "no_right");
}

/// Commits a file to the repository without git; the commit.
async fn put(client: &Client, path: &str, mut body: Value) -> String {
    body["changes"] = json!([{ "op": "put", "path": "file", "content": STANDARD.encode(body.to_string()) }]);
    body["message"] = json!("Change it");
    client.post(&format!("{path}/contents")).json(&body).send().await.expect(201).str("/commitId").to_owned()
}

#[tokio::test]
async fn a_program_that_was_killed_goes_on_waiting() {
    let scratch = Scratch::new().await.unwrap();
    let launch = Launch::in_folder(scratch.folder()).set(format!("database.url={}", scratch.url()));
    let process = launch.start();
    let ada = process.client().with_authenticator("ada").await;
    let org = format!("/v1/orgs/{}", ada.org("Acme").await);
    ada.post(&format!("{org}/repos")).json(&json!({ "name": "web" })).send().await.expect(201);
    let key = json!({ "name": "Git", "kind": "api", "scopes": ["git:read", "git:write"] });
    let key = ada.post(&format!("{org}/keys")).json(&key).send().await.expect(201).str("/secret").to_owned();
    let (client, path) = (process.client().with_token(&key), format!("{org}/repos/web"));
    let main = put(&client, &path, json!({ "branch": "main" })).await;
    let body = json!({ "branch": "main", "parentCommitId": main, "newBranch": "feature" });
    let head = put(&client, &path, body).await;
    let rule = json!({ "name": "Tested", "patterns": ["main"], "requireChecks": ["build"] });
    ada.post(&format!("{path}/rules")).json(&rule).send().await.expect(201);
    let pull = json!({ "title": "Change it", "head": "feature", "base": "main" });
    client.post(&format!("{path}/pulls")).json(&pull).send().await.expect(201);
    let merge = json!({ "method": "merge", "when": "ready", "head": head });
    client.post(&format!("{path}/pulls/1/merge")).json(&merge).send().await.expect(202);
    process.kill();

    let process = launch.start();
    let client = process.client().with_token(&key);
    let waiting = client.get(&format!("{path}/pulls/1")).send().await.expect(200);
    assert_eq!(waiting.str("/pull/autoMerge/method"), "merge");
    let status = json!({ "context": "build", "state": "success" });
    client.post(&format!("{path}/commits/{head}/statuses")).json(&status).send().await.expect(201);
    for _ in 0..6_000 {
        let pull = client.get(&format!("{path}/pulls/1")).send().await.expect(200);
        if pull.str("/pull/state") == "merged" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it is never merged");
}
