//! Who has a part in a repository.

use serde_json::json;

use super::{Repos, notice};
use crate::harness::Person;

const NOT_FOUND: &str = "Repository not found";

async fn grant(repos: &Repos, repository: &str, principal: &str, level: &str) -> crate::harness::Answer {
    let path = repos.at(&format!("{repository}/access/{principal}"));
    repos.ada.client.put(&path).json(&json!({ "level": level })).send().await
}

async fn sees(repos: &Repos, person: &Person, repository: &str) -> bool {
    let answer = person.client.get(&repos.at(repository)).send().await;
    let is_listed = repos.listed(&person.client, "").await.contains(&repository.to_owned());
    assert_eq!(answer.status == 200, is_listed);
    if !is_listed {
        answer.expect_error(404, "not_found", NOT_FOUND);
    }
    is_listed
}

#[tokio::test]
async fn a_restricted_repository_is_not_there_for_who_was_granted_nothing() {
    let repos = Repos::new().await;
    let (dev, root) = (repos.member("dev", "developer").await, repos.member("root", "admin").await);
    repos.make("open", "organization").await;
    repos.make("secret", "restricted").await;
    assert!(sees(&repos, &dev, "open").await);
    assert!(!sees(&repos, &dev, "secret").await);
    assert!(sees(&repos, &root, "secret").await);
    grant(&repos, "secret", &dev.user_id, "read").await.expect(200);
    assert!(sees(&repos, &dev, "secret").await);
    let access = repos.ada.client.get(&repos.at("secret/access")).send().await.expect(200);
    assert_eq!(access.str("/visibility"), "restricted");
    let mut grants: Vec<_> =
        access.list("/grants").iter().map(|it| format!("{} {}", it["name"], it["level"])).collect();
    grants.sort_unstable();
    assert_eq!(grants, [r#""ada" "admin""#, r#""dev" "read""#]);
    let path = repos.at(&format!("secret/access/{}", dev.user_id));
    repos.ada.client.delete(&path).send().await.expect(204);
    assert!(!sees(&repos, &dev, "secret").await);
    repos.ada.client.delete(&path).send().await.expect_error(404, "not_found", "Grant not found");
}

#[tokio::test]
async fn a_team_brings_its_members_in_for_as_long_as_they_are_in_it() {
    let repos = Repos::new().await;
    let dev = repos.member("dev", "developer").await;
    repos.make("secret", "restricted").await;
    let teams = format!("{}/teams", repos.org);
    let team = repos.ada.client.post(&teams).json(&json!({ "name": "Core" })).send().await.expect(201);
    let team = team.str("/team/teamId").to_owned();
    grant(&repos, "secret", &team, "write").await.expect(200);
    assert!(!sees(&repos, &dev, "secret").await);
    let members = format!("{teams}/{team}/members");
    repos.ada.client.post(&members).json(&json!({ "userId": dev.user_id })).send().await.expect_success();
    assert!(sees(&repos, &dev, "secret").await);
    repos.ada.client.delete(&format!("{teams}/{team}")).send().await.expect_success();
    assert!(!sees(&repos, &dev, "secret").await);
    let access = repos.ada.client.get(&repos.at("secret/access")).send().await.expect(200);
    assert_eq!(access.list("/grants").len(), 1);
}

#[tokio::test]
async fn who_leaves_the_organization_leaves_its_grants() {
    let repos = Repos::new().await;
    let dev = repos.member("dev", "developer").await;
    repos.make("secret", "restricted").await;
    grant(&repos, "secret", &dev.user_id, "write").await.expect(200);
    let member = format!("{}/members/{}", repos.org, dev.user_id);
    repos.ada.client.delete(&member).send().await.expect_success();
    crate::accounts::join(&repos.ada, &repos.org, &dev, "developer").await;
    assert!(!sees(&repos, &dev, "secret").await);
}

#[tokio::test]
async fn grants_are_for_members_and_teams_of_the_organization() {
    let repos = Repos::new().await;
    let stranger = repos.server.person("eve").await;
    repos.make("secret", "restricted").await;
    grant(&repos, "secret", &stranger.user_id, "read").await.expect_error(404, "not_found", "Member not found.");
    let nobody = "tea_01jd7rt4m5e9fv2w8x3c6k0hqz";
    grant(&repos, "secret", nobody, "read").await.expect_error(404, "not_found", "Team not found.");
    grant(&repos, "secret", "key_01jd7rt4m5e9fv2w8x3c6k0hqz", "read").await.expect(404);
    grant(&repos, "secret", &repos.ada.user_id, "owner").await.expect_problems(&["level"]);
}

#[tokio::test]
async fn restricting_a_repository_and_granting_a_part_in_it_are_told_to_owners_and_whom_they_concern() {
    let repos = Repos::new().await;
    let dev = repos.member("dev", "developer").await;
    repos.make("web", "organization").await;
    grant(&repos, "web", &dev.user_id, "read").await.expect(200);
    let told = notice(&repos.server, &dev.client, "security.repo_access").await;
    assert!(told["title"].as_str().unwrap().contains("web"), "{told}");
    notice(&repos.server, &repos.ada.client, "security.repo_access").await;
    let body = json!({ "visibility": "restricted" });
    repos.ada.client.patch(&repos.at("web")).json(&body).send().await.expect(200);
    let access = repos.ada.client.get(&repos.at("web/access")).send().await.expect(200);
    assert_eq!(access.list("/grants").len(), 2);
    assert_eq!(repos.audited("repository.access").await, ["repository.access_changed"; 2]);
}

#[tokio::test]
async fn a_grant_gives_no_more_than_the_role_does_and_less_where_it_says_less() {
    let repos = Repos::new().await;
    let dev = repos.member("dev", "developer").await;
    repos.make("secret", "restricted").await;
    grant(&repos, "secret", &dev.user_id, "admin").await.expect(200);
    let refused = dev.client.delete(&repos.at("secret")).send().await;
    refused.expect_error(403, "missing_scope", "This needs the git:admin permission.");
}
