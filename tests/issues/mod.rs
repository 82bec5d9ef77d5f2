//! Issue tracking (contract B 2.1 to 2.3, 4.1 to 4.3).

mod agenda;
mod boards;
mod bulk;
mod configuration;
mod filters;
mod following;
mod functions;
mod life;
mod mentions;
mod moves;
mod parts;
mod places;
mod plans;
mod removal;
mod search;
mod sight;
mod subscriptions;
mod transfer;
mod trash;

use serde_json::{Value, json};

use crate::{
    accounts::{join, org},
    harness::{Answer, Person, Server},
};

/// An organization with a space.
struct Desk {
    server: Server,
    /// Owns the organization.
    ada: Person,
    /// `/v1/orgs/:orgId/issues`
    path: String,
}

impl Desk {
    async fn new() -> Self {
        let server = Server::start().await;
        let ada = server.person("ada").await;
        let path = format!("{}/issues", org(&ada, "Acme").await);
        let desk = Self { server, ada, path };
        desk.space("WEB").await;
        desk
    }

    fn org(&self) -> &str {
        self.path.trim_end_matches("/issues")
    }

    async fn space(&self, key: &str) -> Answer {
        let space = json!({ "key": key, "name": "A space", "template": "basic" });
        self.ada.client.post(&format!("{}/spaces", self.path)).json(&space).send().await.expect(201)
    }

    /// Somebody else in the organization.
    async fn member(&self, name: &str, role: &str) -> Person {
        let person = self.server.person(name).await;
        join(&self.ada, self.org(), &person, role).await;
        person
    }

    /// Makes an issue in the first space; its key.
    async fn issue(&self, body: Value) -> String {
        let mut body = body;
        if body.get("space").is_none() {
            body["space"] = json!("WEB");
        }
        let made = self.ada.client.post(&self.path).json(&body).send().await.expect(201);
        made.str("/issue/key").to_owned()
    }

    async fn shown(&self, key: &str) -> Answer {
        self.ada.client.get(&format!("{}/{key}", self.path)).send().await.expect(200)
    }

    async fn search_as(&self, person: &Person, jql: &str) -> Answer {
        let body = json!({ "jql": jql });
        person.client.post(&format!("{}/search", self.path)).json(&body).send().await
    }

    /// The keys that a query finds, in their order, and their total.
    async fn found(&self, person: &Person, jql: &str) -> Vec<String> {
        let answer = self.search_as(person, jql).await.expect(200);
        let keys: Vec<String> = answer.json["issues"]
            .as_array()
            .expect("issues")
            .iter()
            .map(|issue| issue["key"].as_str().expect("a key").to_owned())
            .collect();
        assert_eq!(answer.json["total"], keys.len(), "{jql}");
        keys
    }
}
