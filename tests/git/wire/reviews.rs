//! Reviews of pull requests: who gives them, which of them count, and what is merged with them.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Workshop, key};
use crate::harness::{Answer, Client, Person};

const MISSING: &str = "This pull request needs one more approval.";
const MOVED: &str = "The pull request changed since you opened it.";
const NOT_CURRENT: &str = "Only the latest review of somebody who approves, or asks for changes, can be dismissed.";

impl Workshop {
    /// The path of what is below the first pull request.
    pub(super) fn pull_at(&self, rest: &str) -> String {
        self.repos.at(&format!("web/pulls/1/{rest}"))
    }

    /// Lets a moment pass: ids of one moment have no order.
    pub(super) fn tick(&self) {
        self.repos.server.clock.advance(Duration::from_millis(1));
    }

    /// A shop with an open pull request of Ada's into `main`, for which a rule asks for this.
    pub(super) async fn asked_for(require: Value) -> Self {
        let shop = Self::forked().await;
        shop.rule(json!({ "name": "Reviewed", "patterns": ["main", "other"], "requirePull": require })).await;
        shop.open("feature", "main").await.expect(201);
        shop
    }

    pub(super) async fn review(&self, who: &Person, body: Value) -> Answer {
        self.tick();
        who.client.post(&self.pull_at("reviews")).json(&body).send().await
    }

    pub(super) async fn approve(&self, who: &Person) -> String {
        let answer = self.review(who, json!({ "verdict": "approve" })).await;
        answer.expect(201).str("/review/reviewId").to_owned()
    }

    /// What stands in the way of the merge.
    pub(super) async fn reasons(&self) -> Value {
        let answer = self.repos.ada.client.get(&self.pull_at("mergeability")).send().await.expect(200);
        assert_eq!(answer.str("/state") == "blocked", !answer.list("/reasons").is_empty(), "{}", answer.text);
        answer.json["reasons"].clone()
    }

    /// The verdicts and states of all reviews.
    async fn verdicts(&self) -> Vec<String> {
        let answer = self.repos.ada.client.get(&self.pull_at("reviews")).send().await.expect(200);
        let told = |it: &Value| format!("{} {}", it["verdict"].as_str().unwrap(), it["state"].as_str().unwrap());
        answer.list("/reviews").iter().map(told).collect()
    }

    /// The types of what happened.
    pub(super) async fn happened(&self) -> Vec<String> {
        let answer = self.repos.ada.client.get(&self.pull_at("timeline")).send().await.expect(200);
        answer.list("/entries").iter().map(|it| it["type"].as_str().unwrap().to_owned()).collect()
    }

    async fn push_more(&self, file: &str) {
        self.git("ada", &["checkout", "--quiet", "feature"]).await;
        self.commit("ada", file, "more\n").await;
        self.git("ada", &["push", "--quiet", "origin", "feature"]).await;
    }

    async fn ask_reviewers(&self, body: Value) -> Answer {
        self.repos.ada.client.put(&self.pull_at("reviewers")).json(&body).send().await
    }
}

#[tokio::test]
async fn a_pull_request_is_merged_once_somebody_who_writes_approves_it() {
    let shop = Workshop::asked_for(json!({ "approvals": 1 })).await;
    let (dev, vic) = (shop.repos.member("dev", "developer").await, shop.repos.member("vic", "viewer").await);
    shop.merge(1, "merge").await.expect_error(403, "branch_rule", MISSING);
    let own = "You opened this pull request. Others approve it, or ask for changes.";
    for verdict in ["approve", "changes"] {
        let body = json!({ "verdict": verdict, "body": "Fine." });
        shop.review(&shop.repos.ada, body).await.expect_error(403, "own_pull", own);
    }
    let seen = shop.review(&vic, json!({ "verdict": "approve", "body": " Fine. " })).await.expect(201);
    assert_eq!((seen.str("/review/body"), seen.str("/review/state")), ("Fine.", "current"));
    assert_eq!(seen.str("/review/author"), vic.user_id);
    assert_eq!(seen.str("/review/commitId"), shop.oid("feature").await);
    assert_eq!(shop.reasons().await, json!([MISSING]));
    shop.review(&dev, json!({ "verdict": "changes", "body": "No." })).await.expect(201);
    assert_eq!(shop.reasons().await, json!([MISSING, "A review of this pull request asks for changes."]));
    shop.review(&dev, json!({ "verdict": "comment", "body": "Hm." })).await.expect(201);
    shop.merge(1, "merge").await.expect_error(403, "branch_rule", MISSING);
    shop.approve(&dev).await;
    assert_eq!(shop.reasons().await, json!([]));
    assert_eq!(shop.verdicts().await, ["approve current", "changes replaced", "comment current", "approve current"]);
    shop.merge(1, "squash").await.expect(200);
    let merged = "This pull request is merged.";
    shop.review(&vic, json!({ "verdict": "approve" })).await.expect_error(409, "pull_merged", merged);
    shop.review(&vic, json!({ "verdict": "comment", "body": "Thanks." })).await.expect(201);
    let happened = ["opened", "reviewed", "reviewed", "reviewed", "reviewed", "merged", "reviewed"];
    assert_eq!(shop.happened().await, happened);
    let path = shop.pull_at("timeline?limit=5");
    let page = shop.repos.ada.client.get(&path).send().await.expect(200);
    let rest = format!("{path}&cursor={}", page.str("/cursor"));
    let rest = shop.repos.ada.client.get(&rest).send().await.expect(200);
    assert_eq!((rest.str("/entries/0/type"), rest.str("/entries/0/method")), ("merged", "squash"));
    assert_eq!((rest.int("/entries/1/number"), &rest.json["cursor"]), (7, &Value::Null));
}

#[tokio::test]
async fn a_push_dismisses_what_approved_another_head_where_a_rule_says_so() {
    let shop = Workshop::asked_for(json!({ "approvals": 1, "dismissStale": true })).await;
    let dev = shop.repos.member("dev", "developer").await;
    shop.approve(&dev).await;
    assert_eq!(shop.reasons().await, json!([]));
    let old = shop.oid("feature").await;
    shop.push_more("more").await;
    assert_eq!(shop.reasons().await, json!([MISSING]));
    shop.merge(1, "merge").await.expect_error(403, "branch_rule", MISSING);
    let listed = shop.repos.ada.client.get(&shop.pull_at("reviews")).send().await.expect(200);
    assert_eq!((listed.str("/reviews/0/state"), listed.str("/reviews/0/commitId")), ("dismissed", &*old));
    assert_eq!(listed.str("/reviews/0/dismissalReason"), "The head moved.");
    assert_eq!(listed.str("/reviews/0/dismissedBy"), shop.repos.ada.user_id);
    assert_eq!(shop.happened().await, ["opened", "reviewed", "pushed", "review_dismissed"]);
    // What somebody looked at is what they approve.
    let late = shop.review(&dev, json!({ "verdict": "approve", "head": old })).await;
    late.expect_error(409, "head_moved", MOVED);

    // Bringing the base in changes what was approved, too.
    shop.approve(&dev).await;
    shop.act(1, "update", json!({})).await.expect(200);
    assert_eq!(shop.reasons().await, json!([MISSING]));
    // So does another base.
    shop.approve(&dev).await;
    shop.repos
        .ada
        .client
        .post(&shop.repos.at("web/branches"))
        .json(&json!({ "name": "other", "from": "main" }))
        .send()
        .await
        .expect(201);
    let pull = shop.repos.at("web/pulls/1");
    shop.repos.ada.client.patch(&pull).json(&json!({ "base": "other" })).send().await.expect(200);
    assert_eq!(shop.reasons().await, json!([MISSING]));
    let listed = shop.repos.ada.client.get(&shop.pull_at("reviews")).send().await.expect(200);
    assert_eq!(listed.str("/reviews/2/dismissalReason"), "The base changed.");
    // Whoever asked for changes still does.
    shop.review(&dev, json!({ "verdict": "changes", "body": "No." })).await.expect(201);
    shop.git("ada", &["push", "--quiet", "--force", "origin", "feature~1:feature"]).await;
    assert_eq!(shop.reasons().await, json!([MISSING, "A review of this pull request asks for changes."]));
    assert_eq!(shop.happened().await.last().unwrap(), "forced");
}

#[tokio::test]
async fn an_approval_outlives_a_push_where_no_rule_says_otherwise() {
    let shop = Workshop::asked_for(json!({ "approvals": 1 })).await;
    let dev = shop.repos.member("dev", "developer").await;
    shop.approve(&dev).await;
    shop.push_more("more").await;
    assert_eq!(shop.reasons().await, json!([]));
    // A rule that is stricter from now on lets only what saw this head count.
    let rules = shop.repos.ada.client.get(&shop.repos.at("web/rules")).send().await.expect(200);
    let rule = shop.repos.at(&format!("web/rules/{}", rules.str("/rules/0/ruleId")));
    let stricter = json!({ "requirePull": { "approvals": 1, "dismissStale": true } });
    shop.repos.ada.client.patch(&rule).json(&stricter).send().await.expect(200);
    shop.merge(1, "merge").await.expect_error(403, "branch_rule", MISSING);
    shop.approve(&dev).await;
    // Whoever can't write any more doesn't count any more.
    let member = format!("{}/members/{}", shop.repos.org, dev.user_id);
    shop.repos.ada.client.delete(&member).send().await.expect_success();
    assert_eq!(shop.reasons().await, json!([MISSING]));
    shop.merge(1, "merge").await.expect_error(403, "branch_rule", MISSING);
}

#[tokio::test]
async fn a_review_is_dismissed_with_a_reason_by_who_writes() {
    let shop = Workshop::asked_for(json!({ "approvals": 0 })).await;
    let (dev, vic) = (shop.repos.member("dev", "developer").await, shop.repos.member("vic", "viewer").await);
    let asked = shop.review(&dev, json!({ "verdict": "changes", "body": "No." })).await.expect(201);
    let said = shop.review(&vic, json!({ "verdict": "comment", "body": "Hm." })).await.expect(201);
    let at = |id: &str| shop.pull_at(&format!("reviews/{id}/dismissal"));
    let dismiss = async |client: &Client, id: &str, reason: &str| {
        client.put(&at(id)).json(&json!({ "reason": reason })).send().await
    };
    let (asked, said) = (asked.str("/review/reviewId").to_owned(), said.str("/review/reviewId").to_owned());
    let refused = dismiss(&vic.client, &asked, "x").await;
    refused.expect_error(403, "missing_scope", "This needs the git:write permission.");
    let ada = &shop.repos.ada.client;
    for bad in ["", " ", &*"é".repeat(1_001)] {
        dismiss(ada, &asked, bad).await.expect_problems(&["reason"]);
    }
    dismiss(ada, &said, "x").await.expect_error(409, "review_not_current", NOT_CURRENT);
    for unknown in ["prv_01jd7rt4m5e9fv2w8x3c6k0hqz", "nothing"] {
        dismiss(ada, unknown, "x").await.expect_error(404, "not_found", "Review not found");
    }
    shop.merge(1, "merge").await.expect_error(403, "branch_rule", "A review of this pull request asks for changes.");
    let reason = "é".repeat(1_000);
    let done = dismiss(ada, &asked, &reason).await.expect(200);
    assert_eq!((done.str("/review/state"), done.str("/review/dismissalReason")), ("dismissed", &*reason));
    dismiss(ada, &asked, "x").await.expect_error(409, "review_not_current", NOT_CURRENT);
    shop.merge(1, "merge").await.expect(200);
    let merged = "This pull request is merged.";
    dismiss(ada, &asked, "x").await.expect_error(409, "pull_merged", merged);
}

#[tokio::test]
async fn people_and_teams_are_asked_who_can_read() {
    let shop = Workshop::asked_for(json!({})).await;
    let (dev, vic) = (shop.repos.member("dev", "developer").await, shop.repos.member("vic", "viewer").await);
    let stranger = shop.repos.server.person("eve").await;
    let teams = format!("{}/teams", shop.repos.org);
    let team = shop.repos.ada.client.post(&teams).json(&json!({ "name": "Core" })).send().await.expect(201);
    let team = team.str("/team/teamId").to_owned();
    let members = format!("{teams}/{team}/members");
    shop.repos.ada.client.post(&members).json(&json!({ "userId": dev.user_id })).send().await.expect_success();
    let nobody = "tea_01jd7rt4m5e9fv2w8x3c6k0hqz";
    let people = [&*shop.repos.ada.user_id, &stranger.user_id, &vic.user_id];
    let refused = shop.ask_reviewers(json!({ "people": people, "teams": [nobody] })).await;
    let refused = refused.expect_problems(&["people[0]", "people[1]", "teams[0]"]);
    assert!(refused.text.contains(&format!("{} can't read this repository.", stranger.user_id)), "{}", refused.text);
    assert!(refused.text.contains("Whoever opened a pull request doesn't review it."), "{}", refused.text);
    shop.ask_reviewers(json!({ "people": ["x"], "teams": [dev.user_id] }))
        .await
        .expect_problems(&["people[0]", "teams[0]"]);
    let many: Vec<String> = (0..21).map(|at| format!("usr_{at:026}")).collect();
    shop.ask_reviewers(json!({ "people": many })).await.expect_problems(&["people"]);
    let twenty = shop.ask_reviewers(json!({ "people": many[..20] })).await.expect(400);
    assert_eq!(twenty.list("/problems").len(), 20);

    let asked = shop.ask_reviewers(json!({ "people": [vic.user_id, vic.user_id], "teams": [team] })).await.expect(200);
    let kinds: Vec<_> = asked.list("/reviewers").iter().map(|it| it["kind"].clone()).collect();
    assert_eq!(kinds, ["team", "person"]);
    assert_eq!(
        shop.ask_reviewers(json!({ "people": [vic.user_id], "teams": [team] })).await.expect(200).json,
        asked.json
    );
    let refused = vic.client.put(&shop.pull_at("reviewers")).json(&json!({})).send().await;
    refused.expect_error(403, "missing_scope", "This needs the git:write permission.");
    let left = async || {
        let answer = vic.client.get(&shop.pull_at("reviewers")).send().await.expect(200);
        answer.list("/reviewers").iter().map(|it| it["principal"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(left().await, [&*team, &*vic.user_id]);
    // Whoever is in the team answers for it.
    shop.approve(&dev).await;
    assert_eq!(left().await, [&*vic.user_id]);
    assert!(shop.ask_reviewers(json!({})).await.expect(200).list("/reviewers").is_empty());
    assert_eq!(shop.happened().await, ["opened", "reviewers_changed", "reviewed", "reviewers_changed"]);

    // In a restricted repository, those are asked who were granted a part in it.
    let body = json!({ "visibility": "restricted" });
    shop.repos.ada.client.patch(&shop.repos.at("web")).json(&body).send().await.expect(200);
    let both = json!({ "people": [dev.user_id], "teams": [team] });
    shop.ask_reviewers(both.clone()).await.expect_problems(&["people[0]", "teams[0]"]);
    let grant = shop.repos.at(&format!("web/access/{team}"));
    shop.repos.ada.client.put(&grant).json(&json!({ "level": "read" })).send().await.expect(200);
    shop.ask_reviewers(both).await.expect(200);
    shop.merge(1, "merge").await.expect(200);
    let merged = "This pull request is merged.";
    shop.ask_reviewers(json!({})).await.expect_error(409, "pull_merged", merged);
}

#[tokio::test]
async fn reviewers_are_asked_with_the_pull_request() {
    let shop = Workshop::forked().await;
    let dev = shop.repos.member("dev", "developer").await;
    let open = async |people: &[&str]| {
        let body = json!({ "title": "a", "head": "feature", "base": "main", "reviewers": { "people": people } });
        shop.repos.ada.client.post(&shop.repos.at("web/pulls")).json(&body).send().await
    };
    open(&[&shop.repos.ada.user_id]).await.expect_problems(&["reviewers.people[0]"]);
    open(&["x"]).await.expect_problems(&["reviewers.people[0]"]);
    open(&[&dev.user_id]).await.expect(201);
    let asked = shop.repos.ada.client.get(&shop.pull_at("reviewers")).send().await.expect(200);
    assert_eq!(asked.str("/reviewers/0/principal"), dev.user_id);
    assert_eq!(shop.happened().await, ["opened", "reviewers_changed"]);
}

#[tokio::test]
async fn reviews_at_the_same_moment_all_count_and_one_person_has_one_verdict() {
    let shop = Workshop::asked_for(json!({ "approvals": 2 })).await;
    let (dev, bob) = (shop.repos.member("dev", "developer").await, shop.repos.member("bob", "developer").await);
    let (approve, changes) = (json!({ "verdict": "approve" }), json!({ "verdict": "changes", "body": "No." }));
    let answers = tokio::join!(
        shop.review(&dev, approve.clone()),
        shop.review(&dev, changes.clone()),
        shop.review(&dev, approve.clone()),
        shop.review(&bob, approve.clone()),
    );
    for answer in [answers.0, answers.1, answers.2, answers.3] {
        answer.expect(201);
    }
    let verdicts = shop.verdicts().await;
    assert_eq!(verdicts.iter().filter(|it| it.ends_with("current")).count(), 2, "{verdicts:?}");
    shop.approve(&dev).await;
    // An approval that is withdrawn while it is merged counts or doesn't, and what was merged stays so.
    let (merged, withdrawn) = tokio::join!(shop.merge(1, "merge"), shop.review(&bob, changes));
    if merged.status == 200 {
        assert!([201, 409].contains(&withdrawn.status), "{}", withdrawn.text);
    } else {
        withdrawn.expect(201);
        merged.expect_error(403, "branch_rule", MISSING);
    }
}

#[tokio::test]
async fn whoever_reads_reviews_and_a_key_that_only_reads_does_not() {
    let shop = Workshop::asked_for(json!({ "approvals": 1 })).await;
    let vic = shop.repos.member("vic", "viewer").await;
    let body = json!({ "verdict": "comment", "body": "Hm." });
    shop.review(&vic, body.clone()).await.expect(201);
    let program = async |scopes: &[&str]| {
        let secret = key(&shop.repos, &shop.repos.ada.client, scopes).await;
        shop.repos.server.client().with_token(&secret).post(&shop.pull_at("reviews")).json(&body).send().await
    };
    let refused = program(&["git:read"]).await;
    refused.expect_error(403, "missing_scope", "This needs the git:write permission.");
    let said = program(&["git:read", "git:write"]).await.expect(201);
    assert_eq!(said.str("/review/author"), shop.repos.ada.user_id);
    let stranger = shop.repos.server.person("eve").await;
    shop.review(&stranger, body.clone()).await.expect_error(404, "not_found", "Organization not found.");
    for (bad, fields) in [
        (json!({ "verdict": "paint" }), &["verdict"][..]),
        (json!({ "verdict": "changes" }), &["body"]),
        (json!({ "verdict": "comment", "body": " ", "comments": [] }), &["body"]),
        (json!({ "verdict": "approve", "body": "é".repeat(65_537) }), &["body"]),
        (json!({ "verdict": "approve", "head": "main" }), &["head"]),
    ] {
        shop.review(&vic, bad).await.expect_problems(fields);
    }
    shop.review(&vic, json!({ "verdict": "approve", "body": "é".repeat(65_536) })).await.expect(201);
    shop.repos.ada.client.delete(&shop.repos.at("web")).send().await.expect(202);
    let deleted = "This repository is deleted. Restore it first.";
    shop.review(&vic, body).await.expect_error(409, "repository_deleted", deleted);
}

#[tokio::test]
async fn a_pull_request_has_at_most_a_thousand_reviews() {
    let shop = Workshop::asked_for(json!({})).await;
    let vic = shop.repos.member("vic", "viewer").await;
    let body = json!({ "verdict": "comment", "body": "Hm." });
    for at in 0..1_000 {
        if at % 100 == 0 {
            // Nobody asks so often in a minute.
            shop.repos.server.clock.advance(Duration::from_mins(1));
        }
        shop.review(&vic, body.clone()).await.expect(201);
    }
    let message = "A pull request has at most 1000 reviews.";
    shop.review(&vic, body).await.expect_error(400, "limit_reached", message);
    let path = shop.pull_at("reviews?limit=100");
    let (mut seen, mut at) = (0, path.clone());
    loop {
        let page = vic.client.get(&at).send().await.expect(200);
        seen += page.list("/reviews").len();
        let Some(cursor) = page.json["cursor"].as_str() else { break };
        at = format!("{path}&cursor={cursor}");
    }
    assert_eq!(seen, 1_000);
}

#[tokio::test]
async fn what_happens_to_a_pull_request_is_told_in_its_order() {
    let shop = Workshop::forked().await;
    shop.open("feature", "main").await.expect(201);
    shop.git("ada", &["push", "--quiet", "origin", "main:other"]).await;
    let pull = shop.repos.at("web/pulls/1");
    let client = &shop.repos.ada.client;
    for body in [
        json!({ "title": "New", "draft": true }),
        json!({ "draft": false, "base": "other" }),
        json!({ "state": "closed" }),
        json!({ "body": "Words" }),
        json!({ "state": "open" }),
    ] {
        client.patch(&pull).json(&body).send().await.expect(200);
    }
    shop.git("ada", &["push", "--quiet", "origin", ":feature"]).await;
    let happened = ["opened", "renamed", "drafted", "base_changed", "readied", "closed", "reopened", "closed"];
    assert_eq!(shop.happened().await, happened);
    let answer = client.get(&shop.pull_at("timeline")).send().await.expect(200);
    let entry = |at: usize| answer.json["entries"][at].clone();
    assert_eq!(
        (&entry(0)["from"], &entry(0)["to"]),
        (&json!(shop.oid("main").await), &json!(shop.oid("feature").await))
    );
    assert_eq!((&entry(1)["from"], &entry(1)["to"]), (&json!("Add feature"), &json!("New")));
    assert_eq!((&entry(3)["from"], &entry(3)["to"]), (&json!("main"), &json!("other")));
    assert_eq!(entry(7)["by"], shop.repos.ada.user_id);
    client.get(&shop.pull_at("timeline?cursor=x")).send().await.expect_error(400, "invalid_cursor", "Invalid cursor");
}

#[tokio::test]
async fn the_files_of_a_pull_request_are_counted_and_paged() {
    let shop = Workshop::forked().await;
    shop.git("ada", &["checkout", "--quiet", "feature"]).await;
    shop.git("ada", &["mv", "file-0", "moved"]).await;
    shop.commit("ada", "file-1", "another\ntext\n").await;
    std::fs::write(shop.at("ada").join("bytes"), [0, 1, 2]).unwrap();
    shop.commit("ada", "folder/a", "1\n2\n3").await;
    shop.git("ada", &["push", "--quiet", "origin", "feature"]).await;
    shop.open("feature", "main").await.expect(201);
    let path = shop.pull_at("files");
    let client = &shop.repos.ada.client;
    let all = client.get(&path).send().await.expect(200);
    let told = |it: &Value| format!("{} {} {} {}", it["path"], it["status"], it["additions"], it["deletions"]);
    let all_told: Vec<_> = all.list("/files").iter().map(told).collect();
    let expected = [
        r#""bytes" "added" null null"#,
        r#""file-1" "modified" 2 1"#,
        r#""folder/a" "added" 3 0"#,
        r#""moved" "renamed" 0 0"#,
        r#""one" "added" 1 0"#,
        r#""two" "added" 1 0"#,
    ];
    assert_eq!(all_told, expected);
    assert_eq!((all.int("/count"), &all.json["cursor"]), (6, &Value::Null));
    assert_eq!(all.str("/mergeBase"), shop.git("ada", &["merge-base", "main", "feature"]).await);
    assert_eq!(all.str("/head"), shop.oid("feature").await);
    // The pages of a list show one head.
    let (mut paged, mut at) = (Vec::new(), format!("{path}?limit=2"));
    loop {
        let page = client.get(&at).send().await.expect(200);
        paged.extend(page.list("/files").iter().map(told));
        let Some(cursor) = page.json["cursor"].as_str() else { break };
        at = format!("{path}?limit=2&cursor={cursor}");
        shop.push_more(&format!("later-{}", paged.len())).await;
    }
    assert_eq!(paged, expected);
    client.get(&format!("{path}?cursor=x")).send().await.expect_error(400, "invalid_cursor", "Invalid cursor");
}
