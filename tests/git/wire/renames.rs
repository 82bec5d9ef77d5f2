//! Renaming branches.

use serde_json::{Value, json};

use super::{Workshop, key};
use crate::harness::{Answer, Client};

impl Workshop {
    async fn rename(&self, name: &str, new_name: &str) -> Answer {
        self.rename_as(&self.repos.ada.client, name, new_name).await
    }

    async fn rename_as(&self, client: &Client, name: &str, new_name: &str) -> Answer {
        let body = json!({ "name": name, "newName": new_name });
        client.patch(&self.repos.at("web/branches")).json(&body).send().await
    }
}

#[tokio::test]
async fn a_renamed_branch_takes_its_pull_requests_along() {
    let shop = Workshop::forked().await;
    shop.git("ada", &["push", "--quiet", "origin", "main:next"]).await;
    for base in ["main", "next"] {
        shop.open("feature", base).await.expect(201);
    }
    let renamed = shop.rename("feature", "features/one").await.expect(200);
    assert_eq!(renamed.json["branch"], json!({ "name": "features/one", "commitId": shop.oid("feature").await }));
    shop.rename("next", "later").await.expect(200);
    for (number, base) in [(1, "main"), (2, "later")] {
        let pull = shop.pull(number).await;
        assert_eq!((&pull["state"], &pull["head"]), (&json!("open"), &json!("features/one")));
        assert_eq!((&pull["base"], &pull["headCommitId"]), (&json!(base), &json!(shop.oid("feature").await)));
    }
    assert_eq!(shop.repos.audited("branch.").await, ["branch.renamed", "branch.renamed"]);
    for (number, from, to) in [(1, "feature", "features/one"), (2, "next", "later")] {
        let answer = shop.ask(&format!("pulls/{number}/timeline")).await.expect(200);
        let last = answer.list("/entries").last().unwrap();
        assert_eq!((&last["type"], &last["by"]), (&json!("branch_renamed"), &json!(shop.repos.ada.user_id)));
        assert_eq!((&last["from"], &last["to"]), (&json!(from), &json!(to)));
    }
    // What is pushed to the new name moves the pull request's head.
    shop.git("ada", &["checkout", "--quiet", "feature"]).await;
    shop.commit("ada", "four", "4\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "feature:features/one"]).await;
    assert_eq!(shop.pull(1).await["headCommitId"], shop.oid("feature").await);
    shop.merge(1, "merge").await.expect(200);
}

#[tokio::test]
async fn the_default_branch_stays_that_under_another_name() {
    let shop = Workshop::pushed(2).await;
    let tip = shop.tip("main").await;
    let renamed = shop.rename("main", "trunk").await.expect(200);
    assert_eq!(renamed.str("/branch/commitId"), tip);
    let answer = shop.ask("branches").await.expect(200);
    assert_eq!((answer.str("/defaultBranch"), answer.list("/branches").len()), ("trunk", 1));
    shop.git(".", &["clone", "--quiet", &shop.web(), "fresh"]).await;
    assert_eq!(shop.git("fresh", &["branch", "--show-current"]).await, "trunk");
    let mia = shop.repos.member("mia", "developer").await;
    let refused = shop.rename_as(&mia.client, "trunk", "hers").await;
    assert_eq!(refused.status, 403);
    assert_eq!(shop.ask("branches").await.str("/defaultBranch"), "trunk");
}

#[tokio::test]
async fn only_a_branch_that_is_there_gets_a_name_that_is_free() {
    let shop = Workshop::pushed(1).await;
    shop.git("ada", &["push", "--quiet", "origin", "main:one", "main:two/deep", "main:refs/tags/v1"]).await;
    shop.rename("three", "four").await.expect_error(404, "not_found", "Branch not found.");
    shop.rename("..", "four").await.expect_error(404, "not_found", "Branch not found.");
    for taken in ["two/deep", "two", "main", "two/deep/er"] {
        shop.rename("one", taken).await.expect_error(409, "branch_exists", "A branch with this name already exists.");
    }
    shop.rename("one", "v1").await.expect_error(409, "tag_exists", "A tag with this name already exists.");
    let broken = shop.rename("one", "a..b").await.expect(400);
    assert_eq!((broken.str("/code"), broken.str("/problems/0/path")), ("invalid", "newName"));
    shop.rename("one", &"n".repeat(257)).await.expect(400);
    shop.rename("one", &"n".repeat(200)).await.expect(200);
    let same = shop.rename("main", "main").await.expect(200);
    assert_eq!(same.str("/branch/name"), "main");
    assert_eq!(shop.repos.audited("branch.").await, ["branch.renamed"]);
}

#[tokio::test]
async fn a_rule_keeps_a_branch_its_name() {
    let shop = Workshop::forked().await;
    shop.open("feature", "main").await.expect(201);
    shop.rule(json!({ "name": "kept", "patterns": ["feature"] })).await;
    let refused = shop.rename("feature", "other").await;
    assert_eq!((refused.status, refused.str("/code")), (403, "branch_rule"));
    assert_ne!(refused.json["rule"], Value::Null);
    assert_eq!(shop.pull(1).await["head"], "feature");
    let reader = key(&shop.repos, &shop.repos.ada.client, &["git:read"]).await;
    let reader = shop.repos.server.client().with_token(&reader);
    assert_eq!(shop.rename_as(&reader, "main", "other").await.status, 403);
}
