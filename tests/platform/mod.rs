//! What operators see of the platform, and have it do.

mod actors;
mod console;
mod jobs;
mod quarantine;
mod queues;

use crate::harness::{Client, Server};

/// The path of the platform's organization.
async fn organization(operator: &Client) -> String {
    let orgs = operator.get("/v1/orgs").send().await.expect(200);
    format!("/v1/orgs/{}", orgs.str("/orgs/0/orgId"))
}

/// A server, its operator, and the id of an organization whose actor is resident.
async fn with_an_actor() -> (Server, Client, String) {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let org_id = ada.org("Acme").await;
    let operator = server.owner();
    (server, operator, org_id)
}
