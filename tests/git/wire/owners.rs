//! Who owns what a pull request changes: they are asked for reviews, and rules ask for their approval.

use serde_json::{Value, json};

use super::Workshop;
use crate::harness::Person;

const UNAPPROVED: &str = "The owners of what this pull request changes haven't approved it.";

/// A repository in which people and a team own files.
struct Owned {
    shop: Workshop,
    bob: Person,
    cleo: Person,
    /// In the team `Front End`.
    dev: Person,
    team: String,
}

impl Owned {
    /// With a branch `feature` that changes `lib/a.rs`, which Bob owns.
    async fn new() -> Self {
        let shop = Workshop::new().await;
        let bob = shop.repos.member("bob", "developer").await;
        let cleo = shop.repos.member("cleo", "developer").await;
        let dev = shop.repos.member("dev", "developer").await;
        let vic = shop.repos.member("vic", "viewer").await;
        let teams = format!("{}/teams", shop.repos.org);
        let team = shop.repos.ada.client.post(&teams).json(&json!({ "name": "Front End" })).send().await.expect(201);
        let team = team.str("/team/teamId").to_owned();
        let member = json!({ "userId": dev.user_id });
        shop.repos.ada.client.post(&format!("{teams}/{team}/members")).json(&member).send().await.expect_success();
        shop.begin("ada", 1).await;
        let org = shop.repos.org.rsplit('/').next().unwrap().to_owned();
        let text = format!(
            "# Who owns what\n\
             *.rs      {bob} {ada} {vic} nobody@example.org\n\
             /web/     @{org}/front-end\n\
             /web/*.md @{cleo} # by id\n\
             /free/\n",
            bob = bob.email,
            ada = shop.repos.ada.email,
            vic = vic.email,
            cleo = cleo.user_id,
        );
        shop.commit("ada", ".github/CODEOWNERS", &text).await;
        // Only the first of the files counts.
        shop.commit("ada", "CODEOWNERS", &format!("* {}\n", cleo.email)).await;
        shop.git("ada", &["checkout", "--quiet", "-b", "feature"]).await;
        shop.commit("ada", "lib/a.rs", "fn a() {}\n").await;
        // What the head says of owners doesn't count.
        shop.commit("ada", ".github/CODEOWNERS", &format!("* {}\n", dev.email)).await;
        shop.git("ada", &["push", "--quiet", "origin", "--all"]).await;
        Self { shop, bob, cleo, dev, team }
    }

    /// Pushes one more file to the branch.
    async fn push(&self, file: &str) {
        self.shop.commit("ada", file, "more\n").await;
        self.shop.git("ada", &["push", "--quiet", "origin", "feature"]).await;
    }

    async fn reviewers(&self) -> Vec<String> {
        let answer = self.shop.repos.ada.client.get(&self.shop.pull_at("reviewers")).send().await.expect(200);
        answer.list("/reviewers").iter().map(|it| it["principal"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until these are asked, and nobody else.
    async fn asked(&self, wanted: &[&str]) {
        let mut wanted: Vec<String> = wanted.iter().map(|&it| it.to_owned()).collect();
        wanted.sort_unstable();
        let is_so = async || {
            let mut asked = self.reviewers().await;
            asked.sort_unstable();
            (asked == wanted).then_some(())
        };
        self.shop.repos.server.in_time("asking the owners", is_so).await;
    }

    async fn rule(&self, mut require: Value) {
        require["codeOwners"] = json!(true);
        self.shop.rule(json!({ "name": "Owned", "patterns": ["main"], "requirePull": require })).await;
    }
}

#[tokio::test]
async fn owners_are_asked_when_a_pull_request_is_opened_and_for_what_a_push_adds() {
    let owned = Owned::new().await;
    let (bob, cleo, team) = (&*owned.bob.user_id, &*owned.cleo.user_id, &*owned.team);
    owned.shop.open("feature", "main").await.expect(201);
    // Who opened it isn't asked, nor who can't write, or isn't there.
    owned.asked(&[bob]).await;
    assert_eq!(owned.shop.happened().await, ["opened", "reviewers_changed"]);
    // Whoever was taken off, or has answered, isn't asked again for what they were asked for.
    owned.shop.repos.ada.client.put(&owned.shop.pull_at("reviewers")).json(&json!({})).send().await.expect(200);
    owned.shop.commit("ada", "lib/b.rs", "fn b() {}\n").await;
    owned.push("web/page.html").await;
    owned.asked(&[team]).await;
    owned.push("web/page.md").await;
    owned.asked(&[cleo, team]).await;
    owned.shop.approve(&owned.dev).await;
    owned.asked(&[cleo]).await;
}

#[tokio::test]
async fn owners_of_a_draft_are_asked_once_it_is_none() {
    let owned = Owned::new().await;
    let body = json!({ "title": "Draft", "head": "feature", "base": "main", "draft": true });
    let client = &owned.shop.repos.ada.client;
    client.post(&owned.shop.repos.at("web/pulls")).json(&body).send().await.expect(201);
    owned.push("web/page.html").await;
    assert!(owned.reviewers().await.is_empty());
    client.patch(&owned.shop.repos.at("web/pulls/1")).json(&json!({ "draft": false })).send().await.expect(200);
    owned.asked(&[&*owned.bob.user_id, &*owned.team]).await;
    assert_eq!(owned.shop.happened().await, ["opened", "pushed", "readied", "reviewers_changed"]);
}

#[tokio::test]
async fn a_rule_asks_for_the_approval_of_an_owner_of_each_file() {
    let owned = Owned::new().await;
    owned.rule(json!({ "approvals": 1 })).await;
    let missing = "This pull request needs one more approval.";
    owned.shop.open("feature", "main").await.expect(201);
    owned.asked(&[&*owned.bob.user_id]).await;
    owned.push("web/page.html").await;
    owned.push("free/of/charge").await;
    owned.asked(&[&*owned.bob.user_id, &*owned.team]).await;
    assert_eq!(owned.shop.reasons().await, json!([missing, UNAPPROVED]));
    owned.shop.approve(&owned.cleo).await;
    assert_eq!(owned.shop.reasons().await, json!([UNAPPROVED]));
    owned.shop.merge(1, "merge").await.expect_error(403, "branch_rule", UNAPPROVED);
    owned.shop.approve(&owned.bob).await;
    assert_eq!(owned.shop.reasons().await, json!([UNAPPROVED]));
    owned.shop.approve(&owned.dev).await;
    assert_eq!(owned.shop.reasons().await, json!([]));
    owned.shop.merge(1, "merge").await.expect(200);
}

#[tokio::test]
async fn an_owner_approves_the_head_where_a_rule_dismisses_other_approvals() {
    let owned = Owned::new().await;
    owned.rule(json!({ "approvals": 0, "dismissStale": true })).await;
    owned.shop.open("feature", "main").await.expect(201);
    let bob = &*owned.bob.user_id;
    owned.asked(&[bob]).await;
    owned.shop.approve(&owned.bob).await;
    assert_eq!(owned.shop.reasons().await, json!([]));
    owned.push("lib/c.rs").await;
    assert_eq!(owned.shop.reasons().await, json!([UNAPPROVED]));
    // Whose approval was dismissed is asked again.
    owned.asked(&[bob]).await;
    owned.shop.approve(&owned.bob).await;
    owned.shop.merge(1, "squash").await.expect(200);
}

#[tokio::test]
async fn what_nobody_owns_needs_no_owner() {
    let shop = Workshop::asked_for(json!({ "approvals": 0, "codeOwners": true })).await;
    assert_eq!(shop.reasons().await, json!([]));
    shop.merge(1, "merge").await.expect(200);
}
