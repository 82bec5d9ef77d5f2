//! `/v1/orgs/:orgId/teams`

use serde_json::json;

use crate::{
    accounts::{join, org},
    harness::{Answer, Person, Server},
};

async fn make(by: &Person, org: &str, name: &str) -> Answer {
    by.client.post(&format!("{org}/teams")).json(&json!({ "name": name })).send().await
}

async fn team(by: &Person, org: &str, name: &str) -> String {
    let made = make(by, org, name).await.expect(201);
    format!("{org}/teams/{}", made.str("/team/teamId"))
}

#[tokio::test]
async fn teams_are_made_listed_changed_and_deleted() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let body = json!({ "name": " Support ", "description": "Answers within the hour" });
    let made = ada.client.post(&format!("{acme}/teams")).json(&body).send().await.expect(201);
    assert_eq!(made.str("/team/name"), "Support");
    let listed = ada.client.get(&format!("{acme}/teams")).send().await.expect(200);
    assert_eq!(listed.json, json!({ "teams": [made.json["team"]], "cursor": null }));

    let path = format!("{acme}/teams/{}", made.str("/team/teamId"));
    let changed = ada.client.patch(&path).json(&json!({ "description": "" })).send().await.expect(200);
    assert_eq!(changed.str("/team/name"), "Support");
    assert_eq!(changed.str("/team/description"), "");
    ada.client.delete(&path).send().await.expect(200);
    ada.client.get(&path).send().await.expect_error(404, "not_found", "Team not found.");
    ada.client.patch(&path).json(&json!({ "name": "Gone" })).send().await.expect(404);
    ada.client.delete(&path).send().await.expect(404);
}

#[tokio::test]
async fn names_are_unique_in_an_organization_whatever_the_case() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    let support = team(&ada, &acme, "Support").await;
    make(&ada, &acme, "SUPPORT").await.expect_error(409, "name_taken", "A team with this name exists.");
    team(&ada, &acme, "Sales").await;
    ada.client.patch(&support).json(&json!({ "name": "sales" })).send().await.expect(409);
    ada.client.patch(&support).json(&json!({ "name": "support" })).send().await.expect(200);
    let other = org(&ada, "Other").await;
    make(&ada, &other, "Support").await.expect(201);
}

#[tokio::test]
async fn members_of_the_organization_join_and_leave_teams() {
    let server = Server::start().await;
    let (ada, grace, eve) = (server.person("ada").await, server.person("grace").await, server.person("eve").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "viewer").await;
    let support = team(&ada, &acme, "Support").await;
    let members = format!("{support}/members");
    let add = |person: &Person| ada.client.post(&members).json(&json!({ "userId": person.user_id })).send();
    let added = add(&grace).await.expect(201);
    assert_eq!(added.str("/member/name"), "grace");
    add(&grace).await.expect_error(409, "already_in_team", "This person is in the team already.");
    add(&eve).await.expect_error(404, "not_found", "Member not found.");
    let seen = grace.client.get(&support).send().await.expect(200);
    assert_eq!(seen.str("/members/0/userId"), grace.user_id);
    ada.client.delete(&format!("{members}/{}", grace.user_id)).send().await.expect(200);
    ada.client.delete(&format!("{members}/{}", grace.user_id)).send().await.expect(404);
    assert_eq!(grace.client.get(&support).send().await.expect(200).list("/members").len(), 0);
}

#[tokio::test]
async fn whoever_leaves_the_organization_leaves_its_teams() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "viewer").await;
    let support = team(&ada, &acme, "Support").await;
    let body = json!({ "userId": grace.user_id });
    ada.client.post(&format!("{support}/members")).json(&body).send().await.expect(201);
    grace.client.delete(&format!("{acme}/members/{}", grace.user_id)).send().await.expect(200);
    assert_eq!(ada.client.get(&support).send().await.expect(200).list("/members").len(), 0);
}

#[tokio::test]
async fn a_team_is_found_in_its_own_organization_only() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let (acme, other) = (org(&ada, "Acme").await, org(&ada, "Other").await);
    let support = team(&ada, &acme, "Support").await;
    let elsewhere = support.replace(&acme, &other);
    ada.client.get(&elsewhere).send().await.expect(404);
    ada.client.delete(&elsewhere).send().await.expect(404);
    let body = json!({ "userId": ada.user_id });
    ada.client.post(&format!("{elsewhere}/members")).json(&body).send().await.expect(404);
}

#[tokio::test]
async fn viewers_read_teams_and_change_none() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let acme = org(&ada, "Acme").await;
    join(&ada, &acme, &grace, "viewer").await;
    let support = team(&ada, &acme, "Support").await;
    grace.client.get(&support).send().await.expect(200);
    make(&grace, &acme, "Mine").await.expect(403);
    grace.client.patch(&support).json(&json!({ "name": "Mine" })).send().await.expect(403);
    grace.client.delete(&support).send().await.expect(403);
}

#[tokio::test]
async fn names_and_descriptions_have_their_lengths() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    for (name, description, status) in [(80, 256, 201), (81, 0, 400), (1, 257, 400)] {
        let body = json!({ "name": "n".repeat(name), "description": "d".repeat(description) });
        ada.client.post(&format!("{acme}/teams")).json(&body).send().await.expect(status);
    }
}

#[tokio::test]
async fn an_organization_has_at_most_two_hundred_teams() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let acme = org(&ada, "Acme").await;
    for number in 0..200 {
        make(&ada, &acme, &format!("Team {number}")).await.expect(201);
    }
    let refused = make(&ada, &acme, "One more").await;
    refused.expect_error(400, "limit_reached", "An organization has at most 200 teams.");
}
