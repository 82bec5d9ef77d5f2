//! Statuses of commits, and rules that ask for them.

use serde_json::json;

use super::Workshop;

#[tokio::test]
async fn a_branch_that_asks_for_checks_moves_to_commits_for_which_they_succeeded() {
    let shop = Workshop::new().await;
    shop.begin("ada", 2).await;
    shop.git("ada", &["push", "--quiet", "origin", "main~1:refs/heads/main", "main:refs/heads/next"]).await;
    let client = &shop.repos.ada.client;
    let rule = json!({ "name": "Tested", "patterns": ["main"], "requireChecks": ["ci/test"] });
    client.post(&shop.repos.at("web/rules")).json(&rule).send().await.expect(201);
    let head = shop.git("ada", &["rev-parse", "main"]).await;
    let path = shop.repos.at(&format!("web/commits/{head}/statuses"));
    let refused = async |reason: &str| {
        let ran = shop.try_git("ada", &["push", "origin", "main"]).await;
        assert!(!ran.is_ok && ran.err.contains(reason), "{}", ran.err);
    };
    refused("The check ci/test hasn't run.").await;
    for (state, reason) in [("pending", "isn't done."), ("failure", "failed."), ("error", "failed.")] {
        let body = json!({ "context": "ci/test", "state": state });
        client.post(&path).json(&body).send().await.expect(201);
        refused(&format!("The check ci/test {reason}")).await;
    }
    let body =
        json!({ "context": "ci/test", "state": "success", "description": "2 tests", "url": "https://ci.example" });
    let set = client.post(&path).json(&body).send().await.expect(201);
    assert_eq!((set.str("/status/state"), set.str("/status/setBy")), ("success", shop.repos.ada.user_id.as_str()));
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    client.post(&path).json(&json!({ "context": "lint", "state": "pending" })).send().await.expect(201);
    let answer = client.get(&path).send().await.expect(200);
    assert_eq!(answer.str("/state"), "pending");
    let contexts: Vec<_> = answer.list("/statuses").iter().map(|it| it["context"].as_str().unwrap()).collect();
    assert_eq!(contexts, ["ci/test", "lint"]);
}

#[tokio::test]
async fn only_a_commit_of_the_repository_has_statuses() {
    let shop = Workshop::new().await;
    shop.begin("ada", 1).await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    let (head, tree) =
        (shop.git("ada", &["rev-parse", "main"]).await, shop.git("ada", &["rev-parse", "main^{tree}"]).await);
    let dev = shop.repos.member("dev", "viewer").await;
    let client = &shop.repos.ada.client;
    let body = json!({ "context": "ci", "state": "success" });
    let unknown = "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0";
    for sha in [tree.as_str(), unknown, &head[..10], "main"] {
        let path = shop.repos.at(&format!("web/commits/{sha}/statuses"));
        client.post(&path).json(&body).send().await.expect_error(404, "not_found", "Commit not found");
        client.get(&path).send().await.expect_error(404, "not_found", "Commit not found");
    }
    let path = shop.repos.at(&format!("web/commits/{head}/statuses"));
    assert_eq!(dev.client.get(&path).send().await.expect(200).str("/state"), "pending");
    dev.client.post(&path).json(&body).send().await.expect(403);
    let bad = json!({ "context": "", "state": "success", "description": "a".repeat(141), "url": "ftp://a" });
    client.post(&path).json(&bad).send().await.expect_problems(&["context", "description", "url"]);
    client.post(&path).json(&json!({ "context": "a", "state": "done" })).send().await.expect_problems(&["state"]);
    for at in 0..200 {
        let body = json!({ "context": format!("check {at}"), "state": "success" });
        client.post(&path).json(&body).send().await.expect(201);
    }
    let more = client.post(&path).json(&body).send().await;
    more.expect_error(400, "limit_reached", "A commit has at most 200 statuses.");
    let again = json!({ "context": "check 0", "state": "error" });
    client.post(&path).json(&again).send().await.expect(201);
    assert_eq!(client.get(&path).send().await.expect(200).str("/state"), "failure");
}
