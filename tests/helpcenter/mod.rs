//! Help centers (contract B 2.4, 4.4; `docs/decisions/helpcenter.md`).

mod approvals;
mod articles;
mod attachments;
mod clocks;
mod doors;
mod leaks;
mod limits;
mod mail;
mod mail_hooks;
mod mail_loops;
mod participants;
mod queues;
mod requests;
mod warnings;

use serde_json::{Value, json};

use crate::{
    accounts::{join, org},
    harness::{Answer, Client, Person, Server},
};

/// A desk whose help center is open to everybody with an account.
struct Desk {
    server: Server,
    /// Owns the organization, and answers.
    ada: Person,
    /// Has no part in the organization.
    eve: Person,
    /// `/v1/orgs/:orgId`
    org: String,
    /// `/v1/portal/issues/:org/HELP`
    portal: String,
}

impl Desk {
    async fn new() -> Self {
        Self::on(Server::start().await).await
    }

    async fn on(server: Server) -> Self {
        let (ada, eve) = (server.person("ada").await, server.person("eve").await);
        let org = org(&ada, "Acme").await;
        let space = json!({ "key": "HELP", "name": "Help", "template": "service" });
        ada.client.post(&format!("{org}/issues/spaces")).json(&space).send().await.expect(201);
        let slug = ada.client.get(&org).send().await.expect(200).str("/org/slug").to_owned();
        let desk = Self { server, ada, eve, org, portal: format!("/v1/portal/issues/{slug}/HELP") };
        desk.configure(|config| {
            config["portal"] = json!({ "enabled": true, "title": "Ask us", "intro": "Hello", "access": "any" });
        })
        .await;
        desk
    }

    /// Changes what the desk offers.
    async fn configure(&self, change: impl FnOnce(&mut Value)) {
        let path = format!("{}/issues/spaces/HELP", self.org);
        let mut config = self.ada.client.get(&path).send().await.expect(200).json["space"]["config"].clone();
        change(&mut config["servicedesk"]);
        self.ada.client.patch(&path).json(&json!({ "config": config })).send().await.expect(200);
    }

    /// Raises a request; its path.
    async fn request(&self, client: &Client, summary: &str) -> String {
        let body = json!({ "requestType": "get_help", "summary": summary, "description": "Please." });
        let raised = client.post(&format!("{}/requests", self.portal)).json(&body).send().await.expect(201);
        format!("{}/requests/{}", self.portal, raised.str("/key"))
    }

    /// The path of the issue that a request is, for members.
    fn issue(&self, request: &str) -> String {
        format!("{}/issues/{}", self.org, request.rsplit('/').next().expect("a key"))
    }

    /// What an agent says about a request.
    async fn say(&self, request: &str, body: &str, public: bool) -> Answer {
        let said = json!({ "body": body, "public": public });
        self.ada.client.post(&format!("{}/comments", self.issue(request))).json(&said).send().await.expect(201)
    }

    /// Moves a request by a transition.
    async fn transition(&self, request: &str, id: &str) {
        let path = format!("{}/transitions", self.issue(request));
        self.ada.client.post(&path).json(&json!({ "transitionId": id })).send().await.expect(200);
    }

    /// Somebody else in the organization.
    async fn member(&self, name: &str, role: &str) -> Person {
        let person = self.server.person(name).await;
        join(&self.ada, &self.org, &person, role).await;
        person
    }
}

/// Gone, as far as who asks is told.
fn no_help_center(answer: Answer) {
    answer.expect_error(404, "not_found", "Help center not found.");
}
