//! Pull requests: their life, what pushes make of them, and who may merge them.

use serde_json::{Value, json};

use super::{Workshop, key};
use crate::harness::Answer;

impl Workshop {
    /// A shop with `main` and a branch `feature` with two commits more, pushed; `main` has gone on since.
    pub(super) async fn forked() -> Self {
        let shop = Self::new().await;
        shop.begin("ada", 2).await;
        shop.git("ada", &["checkout", "--quiet", "-b", "feature"]).await;
        shop.commit("ada", "one", "1\n").await;
        shop.commit("ada", "two", "2\n").await;
        shop.git("ada", &["checkout", "--quiet", "main"]).await;
        shop.commit("ada", "three", "3\n").await;
        shop.git("ada", &["push", "--quiet", "origin", "--all"]).await;
        shop
    }

    /// Opens a pull request; what was answered.
    pub(super) async fn open(&self, head: &str, base: &str) -> Answer {
        let body = json!({ "title": format!("Add {head}"), "head": head, "base": base });
        self.repos.ada.client.post(&self.repos.at("web/pulls")).json(&body).send().await
    }

    pub(super) async fn pull(&self, number: i64) -> Value {
        let answer = self.repos.ada.client.get(&self.repos.at(&format!("web/pulls/{number}"))).send().await;
        answer.expect(200).json["pull"].clone()
    }

    async fn patch(&self, number: i64, body: Value) -> Answer {
        self.repos.ada.client.patch(&self.repos.at(&format!("web/pulls/{number}"))).json(&body).send().await
    }

    /// Asks for something of a pull request, as whoever sees its head as it is.
    pub(super) async fn act(&self, number: i64, act: &str, mut body: Value) -> Answer {
        if body["head"].is_null() {
            body["head"] = self.pull(number).await["headCommitId"].clone();
        }
        let path = self.repos.at(&format!("web/pulls/{number}/{act}"));
        self.repos.ada.client.post(&path).json(&body).send().await
    }

    pub(super) async fn merge(&self, number: i64, method: &str) -> Answer {
        self.act(number, "merge", json!({ "method": method })).await
    }

    pub(super) async fn oid(&self, name: &str) -> String {
        self.git("ada", &["rev-parse", name]).await
    }

    async fn mergeability(&self, number: i64) -> Value {
        let path = self.repos.at(&format!("web/pulls/{number}/mergeability"));
        self.repos.ada.client.get(&path).send().await.expect(200).json
    }

    async fn listed(&self, query: &str) -> Vec<i64> {
        let answer = self.repos.ada.client.get(&self.repos.at(&format!("web/pulls{query}"))).send().await.expect(200);
        answer.list("/pulls").iter().map(|pull| pull["number"].as_i64().unwrap()).collect()
    }
}

const MOVED: &str = "The pull request changed since you opened it.";

#[tokio::test]
async fn a_pull_request_is_opened_listed_and_changed() {
    let shop = Workshop::forked().await;
    let opened = shop.open("feature", "main").await.expect(201);
    let pull = &opened.json["pull"];
    assert_eq!((&pull["number"], &pull["state"], &pull["draft"]), (&json!(1), &json!("open"), &json!(false)));
    assert_eq!((&pull["head"], &pull["base"], &pull["body"]), (&json!("feature"), &json!("main"), &json!("")));
    assert_eq!(pull["headCommitId"], shop.oid("feature").await);
    assert_eq!(pull["baseCommitId"], shop.oid("main").await);
    assert_eq!(pull["author"], shop.repos.ada.user_id);
    let again = shop.open("feature", "main").await;
    let again = again.expect_error(409, "pull_exists", "There is an open pull request for these branches already.");
    assert_eq!(again.int("/number"), 1);
    shop.git("ada", &["push", "--quiet", "origin", "main:other", "feature:second"]).await;
    assert_eq!(shop.open("feature", "other").await.expect(201).int("/pull/number"), 2);
    assert_eq!(shop.open("second", "main").await.expect(201).int("/pull/number"), 3);
    for (query, numbers) in [
        ("", &[3, 2, 1][..]),
        ("?head=feature", &[2, 1]),
        ("?base=other", &[2]),
        ("?q=ADD%20SEC", &[3]),
        ("?q=%25", &[]),
        ("?state=closed", &[]),
        ("?state=open&limit=1", &[3]),
        (&format!("?author={}", shop.repos.ada.user_id), &[3, 2, 1]),
    ] {
        assert_eq!(shop.listed(query).await, numbers, "{query}");
    }
    let client = &shop.repos.ada.client;
    let page = client.get(&shop.repos.at("web/pulls?limit=2")).send().await.expect(200);
    assert_eq!(shop.listed(&format!("?cursor={}", page.str("/cursor"))).await, [1]);
    let branches = client.get(&shop.repos.at("web/branches")).send().await.expect(200);
    let feature = branches.list("/branches").iter().find(|it| it["name"] == "feature").unwrap();
    assert_eq!(feature["openPull"], 2);
    let repository = client.get(&shop.repos.at("web")).send().await.expect(200);
    assert_eq!(repository.int("/repository/openPulls"), 3);
    let all = client.get(&format!("{}/repos", shop.repos.org)).send().await.expect(200);
    assert_eq!(all.int("/repositories/0/openPulls"), 3);

    let body = json!({ "title": " New ", "body": "A\n\ttext", "draft": true });
    let changed = shop.patch(1, body).await.expect(200);
    assert_eq!((changed.str("/pull/title"), changed.str("/pull/body")), ("New", "A\n\ttext"));
    assert_eq!(shop.pull(1).await, changed.json["pull"]);
    let exists = "There is an open pull request for these branches already.";
    shop.patch(1, json!({ "base": "other" })).await.expect_error(409, "pull_exists", exists);
    assert_eq!(shop.patch(3, json!({ "base": "other" })).await.expect(200).str("/pull/base"), "other");
    for (body, field) in [
        (json!({ "base": "nothing" }), "base"),
        (json!({ "base": "feature" }), "base"),
        (json!({ "state": "merged" }), "state"),
        (json!({ "title": "" }), "title"),
    ] {
        shop.patch(1, body).await.expect_problems(&[field]);
    }
    shop.patch(9, json!({ "title": "x" })).await.expect_error(404, "not_found", "Pull request not found");
    for bad in ["0", "01", "x", "4294967296", "9"] {
        let answer = client.get(&shop.repos.at(&format!("web/pulls/{bad}"))).send().await;
        answer.expect_error(404, "not_found", "Pull request not found");
    }
}

#[tokio::test]
async fn what_a_pull_request_cannot_be_is_said_of_each_field() {
    let shop = Workshop::forked().await;
    let client = &shop.repos.ada.client;
    let create = async |body: Value| client.post(&shop.repos.at("web/pulls")).json(&body).send().await;
    let bad = json!({ "title": "a".repeat(257), "head": "a..b", "base": "", "body": "\u{1}" });
    create(bad).await.expect_problems(&["title", "head", "base", "body"]);
    create(json!({ "title": "a", "head": "main", "base": "main" })).await.expect_problems(&["head"]);
    create(json!({ "title": "a", "head": "gone", "base": "nowhere" })).await.expect_problems(&["head", "base"]);
    let large = "é".repeat(65_537);
    create(json!({ "title": "a", "head": "feature", "base": "main", "body": large })).await.expect_problems(&["body"]);
    for query in ["?state=x", "?author=x", "?head=", "?q=", "?limit=0"] {
        client.get(&shop.repos.at(&format!("web/pulls{query}"))).send().await.expect(400);
    }
    shop.git("ada", &["push", "--quiet", "origin", "main~1:refs/heads/old"]).await;
    shop.git("ada", &["checkout", "--quiet", "--orphan", "alone"]).await;
    shop.commit("ada", "alone", "alone\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "alone"]).await;
    let nothing = "The base has all commits of the head already.";
    shop.open("old", "main").await.expect_error(409, "nothing_to_merge", nothing);
    shop.open("alone", "main").await.expect_error(409, "unrelated", "The branches have no commit in common.");
    let fits =
        json!({ "title": "é".repeat(256), "head": "feature", "base": "main", "body": &large[2..], "draft": true });
    create(fits).await.expect(201);
    for (body, field) in [
        (json!({ "method": "paint" }), "method"),
        (json!({ "method": "merge", "head": "main" }), "head"),
        (json!({ "method": "merge", "message": "" }), "message"),
        (json!({ "method": "rebase", "message": "x" }), "message"),
    ] {
        shop.act(1, "merge", body).await.expect_problems(&[field]);
    }
}

#[tokio::test]
async fn a_pull_request_follows_its_branches() {
    let shop = Workshop::forked().await;
    shop.open("feature", "main").await.expect(201);
    shop.git("ada", &["checkout", "--quiet", "feature"]).await;
    shop.commit("ada", "more", "more\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "feature"]).await;
    assert_eq!(shop.pull(1).await["headCommitId"], shop.oid("feature").await);
    let listed = shop.git("ada", &["ls-remote", "origin", "refs/pull/*/head"]).await;
    assert_eq!(listed, format!("{}\trefs/pull/1/head", shop.oid("feature").await));
    shop.git("ada", &["push", "--quiet", "--force", "origin", "feature~1:feature"]).await;
    assert_eq!(shop.pull(1).await["headCommitId"], shop.oid("feature~1").await);
    // Its commits are those that the base hasn't.
    let path = shop.repos.at("web/pulls/1/commits");
    let page = shop.repos.ada.client.get(&format!("{path}?limit=1")).send().await.expect(200);
    let rest = format!("{path}?cursor={}", page.str("/cursor"));
    let rest = shop.repos.ada.client.get(&rest).send().await.expect(200);
    let ids = [page.str("/commits/0/id"), rest.str("/commits/0/id")].map(str::to_owned);
    assert_eq!(ids, [shop.oid("feature~1").await, shop.oid("feature~2").await]);
    assert_eq!((rest.list("/commits").len(), &rest.json["cursor"]), (1, &Value::Null));

    // Whoever deletes the head closes it; its commits stay, and it can be opened again once the branch is there.
    shop.git("ada", &["push", "--quiet", "origin", ":feature"]).await;
    let closed = shop.pull(1).await;
    assert_eq!((&closed["state"], &closed["closedBy"]), (&json!("closed"), &json!(shop.repos.ada.user_id)));
    assert!(shop.git("ada", &["ls-remote", "origin", "refs/pull/1/head"]).await.starts_with(&ids[0]));
    assert_eq!(shop.repos.ada.client.get(&path).send().await.expect(200).list("/commits").len(), 2);
    shop.patch(1, json!({ "state": "open" })).await.expect_problems(&["head"]);
    shop.patch(1, json!({ "draft": true })).await.expect_error(409, "pull_closed", "This pull request is closed.");
    shop.git("ada", &["push", "--quiet", "origin", "feature"]).await;
    let opened = shop.patch(1, json!({ "state": "open" })).await.expect(200);
    assert_eq!(opened.str("/pull/headCommitId"), shop.oid("feature").await);
    assert_eq!(opened.json["pull"]["closedAt"], Value::Null);
    assert_eq!(shop.patch(1, json!({ "state": "closed" })).await.expect(200).str("/pull/state"), "closed");
    shop.patch(1, json!({ "state": "open" })).await.expect(200);

    // Whoever pushes its commits to the base merges it, also where both move at once.
    shop.git("ada", &["push", "--quiet", "origin", "main:base"]).await;
    shop.open("feature", "base").await.expect(201);
    shop.commit("ada", "last", "last\n").await;
    shop.git("ada", &["checkout", "--quiet", "main"]).await;
    shop.git("ada", &["merge", "--quiet", "--no-edit", "feature"]).await;
    shop.git("ada", &["push", "--quiet", "origin", "feature", "main"]).await;
    let merged = shop.pull(1).await;
    assert_eq!((&merged["state"], &merged["mergedBy"]), (&json!("merged"), &json!(shop.repos.ada.user_id)));
    assert_eq!(merged["mergeCommitId"], shop.oid("main").await);
    assert_eq!(merged["headCommitId"], shop.oid("feature").await);
    assert_eq!(shop.repos.audited("pull.").await, ["pull.merged"]);
    shop.patch(1, json!({ "state": "open" })).await.expect_error(409, "pull_merged", "This pull request is merged.");
    shop.patch(1, json!({ "title": "Done" })).await.expect(200);
    assert_eq!(shop.pull(2).await["state"], "open");
    shop.git("ada", &["push", "--quiet", "origin", ":base"]).await;
    assert_eq!(shop.pull(2).await["state"], "closed");
    assert_eq!(shop.listed("?state=merged").await, [1]);
}

#[tokio::test]
async fn a_test_merge_is_fetched_and_passes_for_nothing_that_was_pushed() {
    let shop = Workshop::forked().await;
    shop.open("feature", "main").await.expect(201);
    let name = "refs/pull/1/merge";
    let listed = async || {
        let listed = shop.git("ada", &["ls-remote", "origin", name]).await;
        listed.split('\t').next().filter(|oid| !oid.is_empty()).map(str::to_owned)
    };
    let merge = shop.repos.server.eventually("a test merge", listed).await;
    shop.git("ada", &["fetch", "--quiet", "origin", name]).await;
    assert_eq!(shop.oid("FETCH_HEAD").await, merge);
    let parents = shop.git("ada", &["rev-parse", "FETCH_HEAD^1", "FETCH_HEAD^2"]).await;
    assert_eq!(parents, format!("{}\n{}", shop.oid("main").await, shop.oid("feature").await));
    // Its files are those that git comes to, too.
    shop.git("ada", &["checkout", "--quiet", "--detach", "main"]).await;
    shop.git("ada", &["merge", "--quiet", "--no-edit", "feature"]).await;
    assert_eq!(shop.oid("HEAD^{tree}").await, shop.oid("FETCH_HEAD^{tree}").await);
    // By its name alone, in an empty folder, as a job does it.
    shop.git(".", &["init", "--quiet", "job"]).await;
    shop.git("job", &["fetch", "--quiet", "--depth=1", &shop.web(), &merge]).await;
    assert_eq!(shop.git("job", &["rev-parse", "FETCH_HEAD"]).await, merge);
    shop.mirrored("mirror").await;
    let ran = shop.try_git("ada", &["push", "origin", &format!("main:{name}")]).await;
    assert!(!ran.is_ok && ran.err.contains("Only branches, tags and notes can be pushed."), "{}", ran.err);
    // A branch that takes no merge commits doesn't take this one, though it is there.
    shop.rule(json!({ "name": "Linear", "patterns": ["new/*"], "linear": true })).await;
    let ran = shop.try_git("ada", &["push", "origin", &format!("{merge}:refs/heads/new/a")]).await;
    assert!(!ran.is_ok, "{}", ran.err);
    shop.git("ada", &["push", "--quiet", "origin", &format!("{merge}:refs/heads/other")]).await;
}

#[tokio::test]
async fn nobody_pushes_the_refs_of_pull_requests() {
    let shop = Workshop::forked().await;
    shop.open("feature", "main").await.expect(201);
    let ran = shop.try_git("ada", &["push", "origin", "main:refs/pull/1/head"]).await;
    assert!(!ran.is_ok && ran.err.contains("Only branches, tags and notes can be pushed."), "{}", ran.err);
    // A mirror doesn't ask for them to be deleted.
    shop.git(".", &["clone", "--quiet", "--bare", &shop.web(), "bare"]).await;
    shop.git("bare", &["push", "--quiet", "--mirror", &shop.web()]).await;
    shop.git("ada", &["fetch", "--quiet", "origin", "refs/pull/1/head"]).await;
    assert_eq!(shop.oid("FETCH_HEAD").await, shop.oid("feature").await);
    shop.mirrored("mirror").await;
}

#[tokio::test]
async fn whether_it_can_be_merged_is_said_with_the_reasons() {
    let shop = Workshop::forked().await;
    let stands = async |number| {
        let found = shop.mergeability(number).await;
        (found["state"].as_str().unwrap().to_owned(), found["reasons"].clone(), found["conflicts"].clone())
    };
    shop.open("feature", "main").await.expect(201);
    assert_eq!(stands(1).await, ("behind".to_owned(), json!([]), json!([])));
    let updated = shop.act(1, "update", json!({})).await.expect(200);
    assert_eq!(shop.pull(1).await["headCommitId"], updated.json["commitId"]);
    assert_eq!(stands(1).await.0, "clean");
    shop.git("ada", &["fetch", "--quiet", "origin"]).await;
    shop.git("ada", &["checkout", "--quiet", "feature"]).await;
    shop.git("ada", &["merge", "--quiet", "--no-edit", "main"]).await;
    assert_eq!(shop.oid("feature^{tree}").await, shop.oid("origin/feature^{tree}").await);
    assert_eq!(shop.oid("feature^@").await, shop.oid("origin/feature^@").await);
    let message = shop.git("ada", &["log", "-1", "--format=%B", "origin/feature"]).await;
    assert_eq!(message, "Merge branch 'main' into feature");
    let up_to_date = "The head has all commits of the base already.";
    shop.act(1, "update", json!({})).await.expect_error(409, "up_to_date", up_to_date);
    shop.act(1, "update", json!({ "head": shop.oid("main").await })).await.expect_error(409, "head_moved", MOVED);

    shop.patch(1, json!({ "draft": true })).await.expect(200);
    assert_eq!(stands(1).await, ("blocked".to_owned(), json!(["This pull request is a draft."]), json!([])));
    shop.merge(1, "merge").await.expect_error(409, "pull_draft", "This pull request is a draft.");
    shop.patch(1, json!({ "draft": false })).await.expect(200);
    let rule = shop
        .rule(json!({ "name": "Reviewed", "patterns": ["main"], "linear": true, "requirePull": { "approvals": 1 } }))
        .await;
    let missing = "This pull request needs one more approval.";
    assert_eq!(stands(1).await, ("blocked".to_owned(), json!([missing]), json!([])));
    let refused = shop.merge(1, "squash").await.expect_error(403, "branch_rule", missing);
    assert_eq!(refused.str("/rule"), rule);
    let rule = shop.repos.at(&format!("web/rules/{rule}"));
    let body = json!({ "requirePull": { "approvals": 0 } });
    shop.repos.ada.client.patch(&rule).json(&body).send().await.expect(200);
    assert_eq!(stands(1).await.0, "clean");
    let main = shop.oid("main").await;
    shop.merge(1, "merge").await.expect_error(403, "branch_rule", "This branch takes no merge commits.");
    assert!(shop.git("ada", &["ls-remote", "origin", "refs/heads/main"]).await.starts_with(&main));
    let refused = shop.repos.ada.client.get(&shop.repos.at("web/pushes?verdict=refused")).send().await.expect(200);
    assert!(refused.text.contains("This branch takes no merge commits."), "{}", refused.text);
    shop.merge(1, "squash").await.expect(200);
    assert_eq!(stands(1).await, ("blocked".to_owned(), json!(["This pull request is merged."]), json!([])));
}

#[tokio::test]
async fn what_both_changed_is_named_and_not_merged() {
    let shop = Workshop::forked().await;
    for (branch, text) in [("feature", "mine\n"), ("main", "yours\n")] {
        shop.git("ada", &["checkout", "--quiet", branch]).await;
        shop.commit("ada", "folder/a file", text).await;
    }
    shop.git("ada", &["push", "--quiet", "origin", "--all"]).await;
    shop.open("feature", "main").await.expect(201);
    let found = shop.mergeability(1).await;
    assert_eq!((&found["state"], &found["conflicts"]), (&json!("conflict"), &json!(["folder/a file"])));
    for method in ["merge", "squash", "rebase"] {
        let message = "The branches have changes that can't be merged by themselves.";
        let refused = shop.merge(1, method).await.expect_error(409, "conflict", message);
        assert_eq!(refused.json["conflicts"], json!(["folder/a file"]), "{method}");
    }
    shop.act(1, "update", json!({})).await.expect(409);
    assert_eq!(shop.pull(1).await["state"], "open");
}

#[tokio::test]
async fn only_what_was_seen_is_merged() {
    let shop = Workshop::forked().await;
    shop.open("feature", "main").await.expect(201);
    let seen = shop.pull(1).await["headCommitId"].clone();
    shop.git("ada", &["checkout", "--quiet", "feature"]).await;
    shop.commit("ada", "more", "more\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "feature"]).await;
    let stale = shop.act(1, "merge", json!({ "method": "merge", "head": seen })).await;
    stale.expect_error(409, "head_moved", MOVED);
    let (one, two) = tokio::join!(shop.merge(1, "merge"), shop.merge(1, "squash"));
    let statuses = [one.status, two.status];
    assert!(statuses.contains(&200) && statuses.contains(&409), "{} {}", one.text, two.text);
    let (won, lost) = if one.status == 200 { (one, two) } else { (two, one) };
    assert!(["head_moved", "pull_merged", "nothing_to_merge"].contains(&lost.str("/code")), "{}", lost.text);
    assert_eq!(shop.pull(1).await["mergeCommitId"], won.json["commitId"]);
    assert!(shop.git("ada", &["ls-remote", "origin", "main"]).await.starts_with(won.str("/commitId")));
    shop.merge(1, "merge").await.expect_error(409, "pull_merged", "This pull request is merged.");
    shop.act(1, "update", json!({})).await.expect_error(409, "pull_merged", "This pull request is merged.");
}

#[tokio::test]
async fn a_push_while_it_is_merged_is_not_lost() {
    let shop = Workshop::forked().await;
    shop.git(".", &["clone", "--quiet", &shop.web(), "bob"]).await;
    for at in 0..6 {
        let branch = format!("feature-{at}");
        shop.git("ada", &["checkout", "--quiet", "-b", &branch, "main"]).await;
        shop.commit("ada", &branch, "text\n").await;
        shop.git("ada", &["push", "--quiet", "origin", &branch]).await;
        let number = shop.open(&branch, "main").await.expect(201).int("/pull/number");
        shop.git("bob", &["pull", "--quiet", "--rebase"]).await;
        shop.commit("bob", &format!("bob-{at}"), "text\n").await;
        let (merged, pushed) =
            tokio::join!(shop.merge(number, "merge"), shop.try_git("bob", &["push", "origin", "main"]));
        match merged.status {
            200 => assert_eq!(shop.pull(number).await["state"], "merged"),
            _ => drop(merged.expect_error(409, "head_moved", MOVED)),
        }
        shop.git("ada", &["fetch", "--quiet", "origin"]).await;
        let there = shop.git("ada", &["ls-tree", "--name-only", "origin/main"]).await;
        assert_eq!(there.contains(&format!("bob-{at}")), pushed.is_ok, "{}", pushed.err);
        let is_merged = shop.pull(number).await["state"] == "merged";
        assert_eq!(there.contains(&branch), is_merged);
    }
}

#[tokio::test]
async fn a_branch_may_go_with_its_merge() {
    let shop = Workshop::forked().await;
    shop.open("feature", "main").await.expect(201);
    shop.git("ada", &["push", "--quiet", "origin", "main:other"]).await;
    shop.open("feature", "other").await.expect(201);
    let kept = shop.rule(json!({ "name": "Kept", "patterns": ["feature"] })).await;
    let refused = shop.act(1, "merge", json!({ "method": "merge", "deleteBranch": true })).await;
    let reason = "A rule of this repository doesn't allow deleting this branch.";
    assert_eq!(refused.expect_error(403, "branch_rule", reason).str("/rule"), kept);
    assert_eq!(shop.pull(1).await["state"], "open");
    shop.repos.ada.client.delete(&shop.repos.at(&format!("web/rules/{kept}"))).send().await.expect(204);
    shop.act(1, "merge", json!({ "method": "merge", "deleteBranch": true })).await.expect(200);
    assert_eq!(shop.pull(1).await["state"], "merged");
    assert_eq!(shop.pull(2).await["state"], "closed");
    let heads = shop.git("ada", &["ls-remote", "--heads", "origin"]).await;
    assert!(!heads.contains("feature"), "{heads}");
    assert_eq!(shop.repos.audited("branch.").await, ["branch.deleted"]);
    assert_eq!(shop.repos.audited("pull.").await, ["pull.merged"]);
    let back = shop.open("main", "other").await.expect(201).int("/pull/number");
    let refused = shop.act(back, "merge", json!({ "method": "merge", "deleteBranch": true })).await;
    refused.expect_error(400, "default_branch", "The default branch can't be deleted.");
}

#[tokio::test]
async fn checks_and_pull_requests_are_asked_of_merges() {
    let shop = Workshop::forked().await;
    let client = &shop.repos.ada.client;
    shop.rule(json!({ "name": "Tested", "patterns": ["main"], "requireChecks": ["ci"], "requirePull": {} })).await;
    shop.git("ada", &["checkout", "--quiet", "main"]).await;
    shop.commit("ada", "direct", "direct\n").await;
    let ran = shop.try_git("ada", &["push", "origin", "main"]).await;
    assert!(!ran.is_ok && ran.err.contains("This branch needs a pull request."), "{}", ran.err);
    shop.open("feature", "main").await.expect(201);
    shop.merge(1, "rebase").await.expect_error(403, "branch_rule", "The check ci hasn't run.");
    let head = shop.oid("feature").await;
    let path = shop.repos.at(&format!("web/commits/{head}/statuses"));
    client.post(&path).json(&json!({ "context": "ci", "state": "success" })).send().await.expect(201);
    shop.merge(1, "rebase").await.expect(200);
}

#[tokio::test]
async fn secrets_that_a_base_would_gain_are_refused() {
    let shop = Workshop::forked().await;
    let secret = format!("sk_live_{}", "4eC39HqLyjWDarjtT1zdp7dc");
    shop.git("ada", &["checkout", "--quiet", "feature"]).await;
    shop.commit("ada", "env", &format!("KEY={secret}\n")).await;
    let ran = shop.try_git("ada", &["push", "origin", "feature"]).await;
    assert!(!ran.is_ok && ran.err.contains("stripe_key "), "{}", ran.err);
    let fingerprint = ran.err.split("stripe_key ").nth(1).unwrap()[..32].to_owned();
    let allowing = format!("secret.allow={fingerprint}");
    shop.git("ada", &["push", "--quiet", "-o", &allowing, "origin", "feature"]).await;
    shop.open("feature", "main").await.expect(201);
    let path = shop.repos.at(&format!("web/secret-findings/{fingerprint}/allow"));
    shop.repos.ada.client.delete(&path).send().await.expect(204);
    let refused = shop.merge(1, "squash").await.expect(422);
    assert_eq!((refused.str("/code"), refused.str("/findings/0/rule")), ("secret_detected", "stripe_key"));
    assert_eq!(refused.str("/findings/0/fingerprint"), fingerprint);
    assert!(!refused.text.contains(&secret));
    assert_eq!(shop.pull(1).await["state"], "open");
    shop.repos.ada.client.post(&path).json(&json!({ "reason": "test" })).send().await.expect(200);
    shop.merge(1, "squash").await.expect(200);
}

#[tokio::test]
async fn who_only_reads_opens_and_merges_nothing() {
    let shop = Workshop::forked().await;
    shop.open("feature", "main").await.expect(201);
    let viewer = shop.repos.member("vic", "viewer").await;
    let at = |rest: &str| shop.repos.at(&format!("web/pulls{rest}"));
    let merge = json!({ "method": "merge", "head": shop.oid("feature").await });
    for rest in ["", "/1", "/1/commits", "/1/mergeability"] {
        viewer.client.get(&at(rest)).send().await.expect(200);
    }
    let body = json!({ "title": "a", "head": "feature", "base": "main" });
    viewer.client.post(&at("")).json(&body).send().await.expect(403);
    viewer.client.post(&at("/1/merge")).json(&merge).send().await.expect(403);
    viewer.client.patch(&at("/1")).json(&json!({ "state": "closed" })).send().await.expect(403);
    let stranger = shop.repos.server.person("sam").await;
    stranger.client.post(&at("/1/merge")).json(&merge).send().await.expect(404);
    // A program merges in the name of who made its key.
    let program = shop
        .repos
        .server
        .client()
        .with_token(&key(&shop.repos, &shop.repos.ada.client, &["git:write", "git:read"]).await);
    let merged = program.post(&at("/1/merge")).json(&merge).send().await.expect(200);
    shop.git("ada", &["fetch", "--quiet", "origin"]).await;
    let named = shop.git("ada", &["log", "-1", "--format=%cn <%ce>", merged.str("/commitId")]).await;
    assert!(named.contains("ada@"), "{named}");
    assert_eq!(shop.pull(1).await["mergedBy"], shop.repos.ada.user_id);
    shop.repos.ada.client.delete(&shop.repos.at("web")).send().await.expect(202);
    let message = "This repository is deleted. Restore it first.";
    shop.open("feature", "other").await.expect_error(409, "repository_deleted", message);
    shop.patch(1, json!({ "title": "x" })).await.expect_error(409, "repository_deleted", message);
}
