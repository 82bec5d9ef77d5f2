//! Git repositories, who has a part in them, and machines' keys (contract C 2.2, 4.3; `docs/decisions/git.md`).

mod access;
mod command_line;
mod credentials;
mod removal;
mod repositories;
mod rules;
mod wire;

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    accounts::{join, org},
    harness::{Answer, Client, Person, Server},
};

/// An organization with repositories.
struct Repos {
    server: Server,
    /// Owns the organization.
    ada: Person,
    /// `/v1/orgs/:orgId`
    org: String,
}

impl Repos {
    async fn new() -> Self {
        Self::with(&[]).await
    }

    /// With these settings beside the usual ones.
    async fn with(settings: &[&str]) -> Self {
        let server = Server::with(settings).await;
        let ada = server.person("ada").await;
        let org = org(&ada, "Acme").await;
        Self { server, ada, org }
    }

    /// Somebody else in the organization.
    async fn member(&self, name: &str, role: &str) -> Person {
        let person = self.server.person(name).await;
        join(&self.ada, &self.org, &person, role).await;
        person
    }

    /// The path of a repository, or of what is below it.
    fn at(&self, rest: &str) -> String {
        format!("{}/repos/{rest}", self.org)
    }

    async fn create(&self, body: Value) -> Answer {
        self.ada.client.post(&format!("{}/repos", self.org)).json(&body).send().await
    }

    async fn make(&self, name: &str, visibility: &str) -> String {
        let made = self.create(json!({ "name": name, "visibility": visibility })).await.expect(201);
        // Ids of one moment have no order.
        self.server.clock.advance(Duration::from_millis(1));
        made.str("/repository/resourceId").to_owned()
    }

    /// The names of the repositories that `client` finds.
    async fn listed(&self, client: &Client, query: &str) -> Vec<String> {
        let answer = client.get(&format!("{}/repos{query}", self.org)).send().await.expect(200);
        let names = answer.list("/repositories").iter();
        names.map(|repository| repository["name"].as_str().unwrap().to_owned()).collect()
    }

    /// What the audit trail says of acts that begin so, in the order of their names.
    async fn audited(&self, beginning: &str) -> Vec<String> {
        let answer = self.ada.client.get(&format!("{}/audit", self.org)).send().await.expect(200);
        let actions = answer.list("/events").iter().map(|entry| entry["action"].as_str().unwrap().to_owned());
        let mut found: Vec<_> = actions.filter(|action| action.starts_with(beginning)).collect();
        found.sort_unstable();
        found
    }
}

/// The data of the newest notice of an event of this type, once it is there.
async fn notice(server: &Server, client: &Client, event: &str) -> Value {
    server
        .eventually("a notice", async || {
            let answer = client.get("/v1/me/notifications").send().await.expect(200);
            answer.list("/notices").iter().find(|notice| notice["event"] == event).cloned()
        })
        .await
}
