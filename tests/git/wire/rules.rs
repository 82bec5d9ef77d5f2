//! What rules refuse of a push, whom they let by, and what is said of either.

use serde_json::{Value, json};

use super::{Ran, Workshop, key, refusals::key_of};

const DELETING: &str = "A rule of this repository doesn't allow deleting this branch.";
const FORCING: &str = "A rule of this repository doesn't allow force pushes to this branch.";
const NEEDS_PULL: &str = "This branch needs a pull request.";

impl Workshop {
    /// A shop with three commits on `main`, and the first two of them in `web`, on `main` and on `side`.
    async fn stocked() -> Self {
        let shop = Self::new().await;
        shop.begin("ada", 3).await;
        shop.git("ada", &["push", "--quiet", "origin", "main~1:refs/heads/main", "main~1:refs/heads/side"]).await;
        shop
    }

    /// Makes a rule; its id.
    pub(super) async fn rule(&self, body: Value) -> String {
        let answer = self.repos.ada.client.post(&self.repos.at("web/rules")).json(&body).send().await.expect(201);
        // Ids of one moment have no order.
        self.repos.server.clock.advance(std::time::Duration::from_millis(1));
        answer.str("/rule/ruleId").to_owned()
    }

    async fn push(&self, arguments: &[&str]) -> Ran {
        self.try_git("ada", &[&["push"], arguments].concat()).await
    }

    async fn refused(&self, arguments: &[&str], reason: &str) {
        let ran = self.push(arguments).await;
        assert!(!ran.is_ok && ran.err.contains(reason), "{arguments:?}: {}", ran.err);
    }

    async fn passes(&self, arguments: &[&str]) {
        let ran = self.push(arguments).await;
        assert!(ran.is_ok, "{arguments:?}: {}", ran.err);
    }
}

#[tokio::test]
async fn a_branch_that_a_rule_covers_is_neither_deleted_nor_rewritten() {
    let shop = Workshop::stocked().await;
    shop.rule(json!({ "name": "Kept", "patterns": ["side", "release/**"] })).await;
    shop.refused(&["origin", "--delete", "side"], DELETING).await;
    shop.refused(&["--force", "origin", "main~2:side"], FORCING).await;
    shop.passes(&["origin", "main:side", "main:refs/heads/release/1/2"]).await;
    shop.refused(&["origin", "--delete", "release/1/2"], DELETING).await;
    assert!(shop.git("ada", &["ls-remote", "origin"]).await.contains("refs/heads/release/1/2"));
}

#[tokio::test]
async fn what_a_rule_refuses_is_reported_for_its_ref_and_noted() {
    let shop = Workshop::stocked().await;
    let id = shop.rule(json!({ "name": "Kept", "patterns": ["side"] })).await;
    let ran = shop.push(&["--force", "origin", "main~2:side", "main:refs/heads/other"]).await;
    assert!(!ran.is_ok && ran.err.contains(FORCING), "{}", ran.err);
    assert!(shop.git("ada", &["ls-remote", "origin"]).await.contains("refs/heads/other"));
    let pushes = shop.repos.ada.client.get(&shop.repos.at("web/pushes?verdict=refused")).send().await.expect(200);
    let refs = pushes.list("/pushes/0/refs");
    let refused = refs.iter().find(|it| it["ref"] == "refs/heads/side").unwrap();
    assert_eq!((&refused["verdict"], &refused["reason"]), (&json!("refused"), &json!(FORCING)));
    // Once the rule is disabled it holds no more, and once it is gone neither.
    let rule = shop.repos.at(&format!("web/rules/{id}"));
    shop.repos.ada.client.patch(&rule).json(&json!({ "enabled": false })).send().await.expect(200);
    shop.passes(&["--force", "origin", "main~2:side"]).await;
    shop.repos.ada.client.patch(&rule).json(&json!({ "enabled": true })).send().await.expect(200);
    shop.refused(&["origin", "--delete", "side"], DELETING).await;
    shop.repos.ada.client.delete(&rule).send().await.expect(204);
    shop.passes(&["origin", "--delete", "side"]).await;
    assert_eq!(
        shop.repos.audited("branch_rule.").await,
        ["branch_rule.changed", "branch_rule.changed", "branch_rule.created", "branch_rule.deleted"]
    );
    assert!(shop.repos.audited("push.").await.is_empty());
}

#[tokio::test]
async fn who_may_pass_a_rule_by_does_and_the_audit_trail_says_so() {
    let shop = Workshop::stocked().await;
    let dev = shop.repos.member("dev", "developer").await;
    let body = json!({
        "name": "Reviewed", "patterns": ["main"], "requirePull": { "approvals": 1 }, "bypass": { "roles": ["admin"] }
    });
    shop.rule(body).await;
    let (ada, dev) = (key_of(&shop, &shop.repos.ada).await, key_of(&shop, &dev).await);
    shop.refused(&[&shop.url("web", &dev), "main"], NEEDS_PULL).await;
    // The owner's program isn't the owner.
    shop.refused(&["origin", "main"], NEEDS_PULL).await;
    assert!(shop.repos.audited("push.").await.is_empty());
    shop.passes(&[&shop.url("web", &ada), "main"]).await;
    assert_eq!(shop.repos.audited("push.").await, ["push.bypassed"]);
    // A branch that the rule covers can be made, and another one be pushed to, without anything to pass by.
    shop.passes(&[&shop.url("web", &dev), "main:side"]).await;
    assert_eq!(shop.repos.audited("push.").await.len(), 1);
}

#[tokio::test]
async fn a_restricted_branch_takes_only_the_programs_and_teams_that_are_named() {
    let shop = Workshop::stocked().await;
    let dev = shop.repos.member("dev", "developer").await;
    // The only key by now is the one of `origin`.
    let keys = shop.repos.ada.client.get(&format!("{}/keys", shop.repos.org)).send().await.expect(200);
    let named = keys.str("/keys/0/keyId").to_owned();
    let other = key(&shop.repos, &shop.repos.ada.client, &["git:read", "git:write"]).await;
    let teams = format!("{}/teams", shop.repos.org);
    let team = shop.repos.ada.client.post(&teams).json(&json!({ "name": "Core" })).send().await.expect(201);
    let team = team.str("/team/teamId").to_owned();
    let body = json!({ "name": "Ours", "patterns": ["*"], "restrictTo": { "keys": [named], "teams": [team] } });
    shop.rule(body).await;
    let refusal = "A rule of this repository doesn't allow you to change this branch.";
    let devs = shop.url("web", &key_of(&shop, &dev).await);
    shop.refused(&[&shop.url("web", &other), "main"], refusal).await;
    shop.refused(&[&devs, "main"], refusal).await;
    shop.refused(&[&devs, "main:refs/heads/new"], refusal).await;
    shop.passes(&["origin", "main"]).await;
    let members = format!("{teams}/{team}/members");
    shop.repos.ada.client.post(&members).json(&json!({ "userId": dev.user_id })).send().await.expect_success();
    shop.passes(&[&devs, "main:refs/heads/new"]).await;
    shop.passes(&[&devs, "main:refs/heads/elsewhere/new"]).await;
}

#[tokio::test]
async fn tags_have_rules_of_their_own() {
    let shop = Workshop::stocked().await;
    shop.rule(json!({ "name": "Releases", "target": "tag", "patterns": ["v*"] })).await;
    shop.passes(&["origin", "main~1:refs/tags/v1", "main~1:refs/tags/other", "main~1:refs/heads/v1"]).await;
    let moving = "A rule of this repository doesn't allow moving this tag.";
    shop.refused(&["--force", "origin", "main:refs/tags/v1"], moving).await;
    let deleting = "A rule of this repository doesn't allow deleting this tag.";
    shop.refused(&["origin", "--delete", "refs/tags/v1"], deleting).await;
    shop.passes(&["--force", "origin", "main:refs/tags/other"]).await;
    shop.passes(&["origin", ":refs/tags/other", ":refs/heads/v1"]).await;
}

#[tokio::test]
async fn an_atomic_push_of_which_a_rule_refuses_a_part_does_nothing() {
    let shop = Workshop::stocked().await;
    shop.rule(json!({ "name": "Reviewed", "patterns": ["main"], "requirePull": {} })).await;
    let before = shop.git("ada", &["ls-remote", "origin"]).await;
    shop.refused(&["--atomic", "origin", "main", "main:refs/heads/new"], "atomic push fail").await;
    assert_eq!(shop.git("ada", &["ls-remote", "origin"]).await, before);
    shop.refused(&["origin", "main", "main:refs/heads/new"], NEEDS_PULL).await;
    assert!(shop.git("ada", &["ls-remote", "origin"]).await.contains("refs/heads/new"));
}

#[tokio::test]
async fn a_linear_branch_takes_no_merge_commits() {
    let shop = Workshop::stocked().await;
    shop.rule(json!({ "name": "Linear", "patterns": ["main", "new/*"], "linear": true })).await;
    shop.git("ada", &["checkout", "--quiet", "-b", "topic", "main~1"]).await;
    shop.commit("ada", "topic", "topic\n").await;
    shop.git("ada", &["checkout", "--quiet", "-b", "merged", "main"]).await;
    shop.git("ada", &["merge", "--quiet", "--no-ff", "-m", "Merge", "topic"]).await;
    let refusal = "This branch takes no merge commits.";
    shop.refused(&["origin", "merged:main"], refusal).await;
    shop.refused(&["origin", "merged:refs/heads/new/one"], refusal).await;
    shop.passes(&["origin", "main"]).await;
    shop.passes(&["origin", "topic:refs/heads/new/one", "merged:refs/heads/elsewhere"]).await;
    // A branch that is made of what is there already adds nothing; one that moves to it does.
    shop.passes(&["origin", "merged:refs/heads/new/two"]).await;
    shop.refused(&["origin", "merged:main"], refusal).await;
}

#[tokio::test]
async fn what_would_be_is_explained_as_it_would_be_decided() {
    let shop = Workshop::stocked().await;
    let dev = shop.repos.member("dev", "developer").await;
    let body = json!({
        "name": "Reviewed", "patterns": ["main"], "requirePull": { "approvals": 2 }, "bypass": { "people": [dev.user_id] }
    });
    let rule = shop.rule(body).await;
    shop.rule(json!({ "name": "Tags", "target": "tag", "patterns": ["**"] })).await;
    let path = shop.repos.at("web/rules/explain");
    let explain = async |body: Value| shop.repos.ada.client.post(&path).json(&body).send().await.expect(200).json;
    let answer = explain(json!({ "ref": "refs/heads/main", "change": "update" })).await;
    assert_eq!(answer["verdict"], "refused");
    let first = json!({ "ruleId": rule, "name": "Reviewed", "verdict": "refused", "reasons": [NEEDS_PULL] });
    assert_eq!((&answer["rules"][0], &answer["rules"][1]["verdict"]), (&first, &json!("other_refs")));
    let by_dev = json!({ "ref": "refs/heads/main", "change": "update", "who": dev.user_id });
    assert_eq!(explain(by_dev).await["verdict"], "bypassed");
    let merge =
        |approvals: u32| json!({ "ref": "refs/heads/main", "change": "merge", "pull": { "approvals": approvals } });
    assert_eq!(explain(merge(1)).await["rules"][0]["reasons"], json!(["This pull request needs one more approval."]));
    assert_eq!(explain(merge(2)).await["verdict"], "allowed");
    let client = &shop.repos.ada.client;
    let bad = json!({ "ref": "main", "change": "paint", "commit": "abc" });
    client.post(&path).json(&bad).send().await.expect_problems(&["ref", "change", "commit"]);
    for who in ["nobody", "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "key_01jd7rt4m5e9fv2w8x3c6k0hqz"] {
        let body = json!({ "ref": "refs/heads/main", "change": "update", "who": who });
        client.post(&path).json(&body).send().await.expect_problems(&["who"]);
    }
}
