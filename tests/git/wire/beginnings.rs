//! Repositories that begin with a commit.

use std::time::Duration;

use serde_json::json;

use super::{Workshop, key};

#[tokio::test]
async fn a_repository_begins_with_a_readme_where_it_is_to() {
    let shop = Workshop::new().await;
    let body = json!({
        "name": "docs", "description": "What we know.", "defaultBranch": "trunk", "visibility": "restricted", "readme": true
    });
    let made = shop.repos.create(body).await.expect(201);
    let repository = &made.json["repository"];
    assert_eq!((&repository["status"], &repository["defaultBranch"]), (&json!("active"), &json!("trunk")));
    assert!(repository["sizeBytes"].as_u64().unwrap() > 0 && repository["pushedAt"].is_i64(), "{repository}");

    shop.git(".", &["clone", "--quiet", &shop.url("docs", &shop.key), "docs"]).await;
    shop.git("docs", &["fsck", "--full", "--strict"]).await;
    assert_eq!(shop.git("docs", &["symbolic-ref", "HEAD"]).await, "refs/heads/trunk");
    assert_eq!(std::fs::read_to_string(shop.at("docs").join("README.md")).unwrap(), "# docs\n\nWhat we know.\n");
    let log = shop.git("docs", &["log", "--format=%an <%ae> %s"]).await;
    let email = &shop.repos.ada.email;
    assert!(log.ends_with(&format!(" <{email}> Begin with a README")) && log.lines().count() == 1, "{log}");
    // It is as if somebody had pushed it, and others go on from there.
    let head = shop.git("docs", &["rev-parse", "HEAD"]).await;
    let pushes = shop.repos.ada.client.get(&shop.repos.at("docs/pushes")).send().await.expect(200);
    let push = &pushes.list("/pushes")[0];
    assert_eq!((&push["refs"][0]["ref"], &push["refs"][0]["verdict"]), (&json!("refs/heads/trunk"), &json!("created")));
    assert_eq!((&push["refs"][0]["new"], &push["pushedBy"]), (&json!(head), &json!(shop.repos.ada.user_id)));
    shop.commit("docs", "more", "more\n").await;
    shop.git("docs", &["push", "--quiet", "origin", "trunk"]).await;
    assert_eq!(shop.git("docs", &["ls-remote", "--heads", "origin"]).await.lines().count(), 1);
}

#[tokio::test]
async fn a_key_makes_a_readme_in_the_name_of_its_maker() {
    let shop = Workshop::new().await;
    let writes = key(&shop.repos, &shop.repos.ada.client, &["git:read", "git:write"]).await;
    let client = shop.repos.server.client().with_token(&writes);
    let path = format!("{}/repos", shop.repos.org);
    client.post(&path).json(&json!({ "name": "plain", "readme": true })).send().await.expect(201);
    shop.git(".", &["clone", "--quiet", &shop.url("plain", &writes), "plain"]).await;
    assert_eq!(std::fs::read_to_string(shop.at("plain").join("README.md")).unwrap(), "# plain\n");
    assert_eq!(shop.git("plain", &["log", "--format=%ae"]).await, shop.repos.ada.email);
    let reads = key(&shop.repos, &shop.repos.ada.client, &["git:read"]).await;
    let client = shop.repos.server.client().with_token(&reads);
    client.post(&path).json(&json!({ "name": "other", "readme": true })).send().await.expect(403);
}

#[tokio::test]
async fn a_repository_and_its_readme_are_there_together_or_not_at_all() {
    let shop = Workshop::new().await;
    let body = json!({ "name": "docs", "readme": true });
    let (faults, clock) = (&shop.repos.server.faults, &shop.repos.server.clock);
    faults.set("commit:resource_book=fail;times=1").unwrap();
    shop.repos.create(body.clone()).await.expect(500);
    // So that no pause after a failure is waited for.
    clock.advance(Duration::from_secs(20));
    shop.repos.ada.client.get(&shop.repos.at("docs")).send().await.expect(404);
    // The commit is made, and nobody hears so.
    faults.set("commit:resource_book=lose;times=1").unwrap();
    shop.repos.create(body.clone()).await.expect(503);
    clock.advance(Duration::from_secs(20));
    shop.git(".", &["clone", "--quiet", &shop.url("docs", &shop.key), "docs"]).await;
    assert_eq!(std::fs::read_to_string(shop.at("docs").join("README.md")).unwrap(), "# docs\n");
    let message = "A repository with this name already exists.";
    shop.repos.create(body).await.expect_error(409, "repository_exists", message);
    // Without it, or where it isn't asked for, a repository is empty.
    shop.repos.create(json!({ "name": "empty", "readme": false })).await.expect(201);
    assert_eq!(shop.git(".", &["ls-remote", &shop.url("empty", &shop.key)]).await, "");
    shop.repos.create(json!({ "name": "bad", "readme": "yes" })).await.expect(400);
}
