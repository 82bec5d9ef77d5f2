//! Deleting repositories, restoring them, and what is left of them.

use std::time::Duration;

use serde_json::json;

use super::{Repos, notice};

const DAY: Duration = Duration::from_hours(24);
const DELETED: &str = "This repository is deleted. Restore it first.";

#[tokio::test]
async fn a_deleted_repository_is_restored_as_it_was() {
    let repos = Repos::new().await;
    let before = repos.create(json!({ "name": "web", "description": "What people see" })).await.expect(201);
    let client = &repos.ada.client;
    let restore = repos.at("web/restore");
    client.post(&restore).send().await.expect_error(409, "repository_not_deleted", "This repository isn't deleted.");
    let deleted = client.delete(&repos.at("web")).send().await.expect(202);
    assert_eq!(deleted.str("/repository/status"), "deleting");
    let until = repos.server.clock.now().after(7 * DAY);
    assert_eq!(deleted.int("/repository/purgeAt"), until.as_millis());
    client.delete(&repos.at("web")).send().await.expect_error(409, "repository_deleted", DELETED);
    let body = json!({ "description": "" });
    client.patch(&repos.at("web")).json(&body).send().await.expect_error(409, "repository_deleted", DELETED);
    let grant = client.put(&repos.at(&format!("web/access/{}", repos.ada.user_id))).json(&json!({ "level": "read" }));
    grant.send().await.expect_error(409, "repository_deleted", DELETED);
    let taken = repos.create(json!({ "name": "WEB" })).await;
    taken.expect_error(409, "repository_exists", "A repository with this name already exists.");
    repos.server.clock.advance(7 * DAY - Duration::from_millis(1));
    let restored = client.post(&restore).send().await.expect(200);
    for field in ["resourceId", "name", "status", "description", "visibility", "createdAt"] {
        assert_eq!(restored.json["repository"][field], before.json["repository"][field], "{field}");
    }
    assert!(restored.json["repository"].get("purgeAt").is_none());
    notice(&repos.server, client, "security.repo_access").await;
    assert_eq!(repos.audited("repository.").await, ["repository.created", "repository.deleted", "repository.restored"]);
}

#[tokio::test]
async fn after_seven_days_a_deleted_repository_is_gone_and_its_name_is_free() {
    let repos = Repos::new().await;
    let first = repos.make("web", "restricted").await;
    let client = &repos.ada.client;
    client.delete(&repos.at("web")).send().await.expect(202);
    repos.server.clock.advance(7 * DAY);
    client.post(&repos.at("web/restore")).send().await.expect_error(404, "not_found", "Repository not found");
    let again = repos
        .server
        .in_time("the name of a deleted repository", async || {
            let made = repos.create(json!({ "name": "web" })).await;
            (made.status == 201).then(|| made.str("/repository/resourceId").to_owned())
        })
        .await;
    assert_ne!(first, again);
    assert_eq!(repos.listed(client, "").await, ["web"]);
}

#[tokio::test]
async fn a_restored_repository_outlives_the_end_that_it_had() {
    let repos = Repos::new().await;
    let id = repos.make("web", "organization").await;
    let client = &repos.ada.client;
    client.delete(&repos.at("web")).send().await.expect(202);
    client.post(&repos.at("web/restore")).send().await.expect(200);
    repos.server.clock.advance(8 * DAY);
    // Whatever was due has been done once this has.
    repos.make("other", "organization").await;
    client.delete(&repos.at("other")).send().await.expect(202);
    repos.server.clock.advance(8 * DAY);
    repos
        .server
        .in_time("the end of the other one", async || (repos.listed(client, "").await == ["web"]).then_some(()))
        .await;
    let read = client.get(&repos.at("web")).send().await.expect(200);
    assert_eq!(read.str("/repository/resourceId"), id);
}

#[tokio::test]
async fn the_repositories_of_a_deleted_organization_are_deleted() {
    let repos = Repos::new().await;
    let id = repos.make("web", "restricted").await;
    repos.ada.client.delete(&repos.org).send().await.expect_success();
    let store = repos.server.store().await;
    repos
        .server
        .eventually("the end of the repository", async || {
            store.repository_org(id.parse().unwrap()).await.unwrap().is_none().then_some(())
        })
        .await;
}
