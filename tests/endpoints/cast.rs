//! Who calls, and what the paths' parameters name.

use serde_json::json;

use super::table::{Row, Who};
use crate::harness::{Client, Dice, Person, Server, VaultDevice};

/// A server with an organization, and everybody who plays a part.
pub struct Cast {
    pub server: Server,
    pub nobody: Client,
    /// Owns the organization; has a vault.
    pub owner: Client,
    /// The owner, in the authenticator app.
    pub authenticator: Client,
    /// A viewer in the organization.
    pub viewer: Client,
    /// A key of the organization that has a scope which no endpoint asks for.
    pub key: Client,
    /// A person with no part in the organization, who owns another.
    pub stranger: Client,
    /// A key of the stranger's organization, with the same scope.
    pub strange_key: Client,
    names: Vec<(&'static str, String)>,
}

impl Cast {
    pub async fn new() -> Self {
        let server = Server::start().await;
        let (owner, viewer, stranger) =
            (server.person("owner").await, server.person("viewer").await, server.person("stranger").await);
        let authenticator = owner.authenticator().await;
        let device = VaultDevice::new(authenticator.clone(), server.clock.clone(), &mut Dice::new(1));
        device.create().await;
        let org_id = owner.client.org("Acme").await;
        let key = make_key(&owner.client, &org_id).await;
        let other_org = stranger.client.org("Elsewhere").await;
        let strange_key = make_key(&stranger.client, &other_org).await.1;
        join(&owner.client, &org_id, &viewer).await;
        let path = format!("/v1/orgs/{org_id}");
        let team =
            owner.client.post(&format!("{path}/teams")).json(&json!({ "name": "A team" })).send().await.expect(201);
        let body = json!({ "email": "guest@example.org", "role": "viewer" });
        let invite = owner.client.post(&format!("{path}/invites")).json(&body).send().await.expect(201);
        let sign_ins = owner.client.get("/v1/me/sign-ins").send().await.expect(200);
        let names = vec![
            ("orgId", org_id),
            ("userId", viewer.user_id.clone()),
            ("teamId", team.str("/team/teamId").to_owned()),
            ("inviteId", invite.str("/invite/inviteId").to_owned()),
            ("keyId", key.0),
            ("signInId", sign_ins.str("/signIns/0/signInId").to_owned()),
            ("vaultId", device.vault_id.clone()),
            ("deviceId", device.device_id.clone()),
            ("token", "trp_i_made_up".to_owned()),
            ("key", "drive/a-blob".to_owned()),
        ];
        Self {
            nobody: server.client(),
            owner: owner.client,
            authenticator,
            viewer: viewer.client,
            key: key.1,
            stranger: stranger.client,
            strange_key,
            server,
            names,
        }
    }

    /// The row's path with what its parameters name.
    pub fn path(&self, row: &Row) -> String {
        let fill = |path: String, (name, value): &(&str, String)| path.replace(&format!("{{{name}}}"), value);
        let path = self.names.iter().fold(row.path.to_owned(), fill);
        assert!(!path.contains('{'), "{path}: nothing is there for one of its parameters");
        path
    }

    /// Somebody who may call it.
    pub fn entitled(&self, row: &Row) -> &Client {
        match row.who {
            Who::Anyone | Who::TicketHolder | Who::AddressHolder => &self.nobody,
            Who::Authenticator(_) => &self.authenticator,
            Who::Caller | Who::Person | Who::Member | Who::Scope(_) => &self.owner,
        }
    }
}

/// The id of a new key, and the key as a client.
async fn make_key(owner: &Client, org_id: &str) -> (String, Client) {
    let body = json!({ "name": "A program", "kind": "api", "scopes": ["weather:write"] });
    let key = owner.post(&format!("/v1/orgs/{org_id}/keys")).json(&body).send().await.expect(201);
    (key.str("/key/keyId").to_owned(), owner.with_token(key.str("/secret")))
}

async fn join(owner: &Client, org_id: &str, person: &Person) {
    let body = json!({ "userId": person.user_id, "role": "viewer" });
    owner.post(&format!("/v1/orgs/{org_id}/members")).json(&body).send().await.expect(201);
    person.client.get(&format!("/v1/orgs/{org_id}")).send().await.expect(200);
}
