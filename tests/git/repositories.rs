//! Making, listing, reading and changing repositories.

use serde_json::json;

use super::Repos;

const NOT_FOUND: &str = "Repository not found";

#[tokio::test]
async fn a_repository_is_made_with_its_record_and_settings() {
    let repos = Repos::new().await;
    let made = repos.create(json!({ "name": "Web-App" })).await.expect(201);
    let repository = &made.json["repository"];
    assert_eq!(repository["type"], "repository");
    assert_eq!((&repository["name"], &repository["status"]), (&json!("Web-App"), &json!("active")));
    assert_eq!((&repository["defaultBranch"], &repository["visibility"]), (&json!("main"), &json!("organization")));
    assert_eq!((&repository["description"], &repository["createdBy"]), (&json!(""), &json!(repos.ada.user_id)));
    let read = repos.ada.client.get(&repos.at("web-APP")).send().await.expect(200);
    assert_eq!(read.json, made.json);

    let body =
        json!({ "name": "api", "description": " Serves. ", "defaultBranch": "trunk", "visibility": "restricted" });
    let made = repos.create(body).await.expect(201);
    let repository = &made.json["repository"];
    assert_eq!((&repository["description"], &repository["defaultBranch"]), (&json!("Serves."), &json!("trunk")));
    assert_eq!(repository["visibility"], "restricted");
    assert_eq!(repos.audited("repository.").await, ["repository.created", "repository.created"]);
}

#[tokio::test]
async fn names_are_unique_in_an_organization_regardless_of_case() {
    let repos = Repos::new().await;
    repos.make("web", "organization").await;
    let message = "A repository with this name already exists.";
    repos.create(json!({ "name": "WEB" })).await.expect_error(409, "repository_exists", message);
    let elsewhere = repos.ada.client.org("Elsewhere").await;
    let body = json!({ "name": "web" });
    repos.ada.client.post(&format!("/v1/orgs/{elsewhere}/repos")).json(&body).send().await.expect(201);
}

#[tokio::test]
async fn what_a_repository_is_made_of_is_checked_at_its_limits() {
    let repos = Repos::new().await;
    for name in ["", &"a".repeat(101), "a b", ".a", "-a", "a.git", "a.Lock", "a/b"] {
        repos.create(json!({ "name": name })).await.expect_problems(&["name"]);
    }
    let everything =
        json!({ "name": "é", "description": "a".repeat(501), "defaultBranch": "a..b", "visibility": "public" });
    repos.create(everything).await.expect_problems(&["defaultBranch", "description", "name", "visibility"]);
    let body = json!({ "name": "a".repeat(100), "description": "a".repeat(500), "defaultBranch": "b".repeat(256) });
    repos.create(body).await.expect(201);
    repos.create(json!({ "name": "b", "defaultBranch": "b".repeat(257) })).await.expect_problems(&["defaultBranch"]);
}

#[tokio::test]
async fn repositories_are_listed_in_pages_and_found_by_a_part_of_their_names() {
    let repos = Repos::new().await;
    for name in ["web-app", "Api", "web_docs"] {
        repos.make(name, "organization").await;
    }
    let client = &repos.ada.client;
    assert_eq!(repos.listed(client, "").await, ["web-app", "Api", "web_docs"]);
    assert_eq!(repos.listed(client, "?q=WEB").await, ["web-app", "web_docs"]);
    assert_eq!(repos.listed(client, "?q=b_d").await, ["web_docs"]);
    assert_eq!(repos.listed(client, "?q=%25").await, [""; 0]);
    let first = client.get(&repos.at("?limit=2").replace("/?", "?")).send().await.expect(200);
    let next = format!("?limit=2&cursor={}", first.str("/cursor"));
    assert_eq!(repos.listed(client, &next).await, ["web_docs"]);
    let path = format!("{}/repos", repos.org);
    client.get(&format!("{path}?cursor=nonsense")).send().await.expect_error(400, "invalid_cursor", "Invalid cursor");
    client.get(&format!("{path}?q=")).send().await.expect_problems(&["q"]);
    client.get(&format!("{path}?q={}", "a".repeat(101))).send().await.expect_problems(&["q"]);
}

#[tokio::test]
async fn a_repository_is_renamed_and_its_settings_change() {
    let repos = Repos::new().await;
    let id = repos.make("web", "organization").await;
    repos.make("api", "organization").await;
    let client = &repos.ada.client;
    let taken = client.patch(&repos.at("web")).json(&json!({ "name": "API" })).send().await;
    taken.expect_error(409, "repository_exists", "A repository with this name already exists.");
    let body = json!({ "name": "WEB", "description": "What people see", "defaultBranch": "trunk" });
    let changed = client.patch(&repos.at("web")).json(&body).send().await.expect(200);
    assert_eq!(changed.str("/repository/resourceId"), id);
    assert_eq!(changed.str("/repository/name"), "WEB");
    assert_eq!(changed.str("/repository/defaultBranch"), "trunk");
    client.patch(&repos.at("web")).json(&json!({ "name": "site" })).send().await.expect(200);
    client.get(&repos.at("web")).send().await.expect_error(404, "not_found", NOT_FOUND);
    let read = client.get(&repos.at("site")).send().await.expect(200);
    assert_eq!(read.str("/repository/description"), "What people see");
    assert_eq!(repos.audited("repository.renamed").await.len(), 2);
}

#[tokio::test]
async fn each_act_takes_its_scope() {
    let repos = Repos::new().await;
    repos.make("web", "organization").await;
    let (viewer, developer) = (repos.member("vic", "viewer").await, repos.member("dev", "developer").await);
    let body = json!({ "name": "mine" });
    let path = format!("{}/repos", repos.org);
    let refused = viewer.client.post(&path).json(&body).send().await;
    refused.expect_error(403, "missing_scope", "This needs the git:write permission.");
    developer.client.post(&path).json(&body).send().await.expect(201);
    viewer.client.get(&repos.at("mine")).send().await.expect(200);
    for request in [
        developer.client.patch(&repos.at("mine")).json(&json!({ "description": "" })),
        developer.client.delete(&repos.at("mine")),
        developer.client.post(&repos.at("mine/restore")),
    ] {
        request.send().await.expect_error(403, "missing_scope", "This needs the git:admin permission.");
    }
}
