//! Who calls, and what the paths' parameters name.

use serde_json::json;

use super::table::{Row, Who};
use crate::{
    accounts::App,
    harness::{Client, Dice, Person, Server, VaultDevice},
};

/// A server with an organization, and everybody who plays a part.
pub struct Cast {
    pub server: Server,
    pub nobody: Client,
    /// Owns the organization; has a vault.
    pub owner: Client,
    /// The owner, in the authenticator app.
    pub authenticator: Client,
    /// The owner, in an app on an iPhone.
    pub iphone: Client,
    /// Somebody of the organization on the command line, who has just shown their second factor.
    pub command_line: Client,
    /// A viewer in the organization.
    pub viewer: Client,
    /// A key of the organization that has a scope which no endpoint asks for.
    pub key: Client,
    /// Owns the platform's organization.
    pub operator: Client,
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
        let iphone = owner.sign_in("maps", "ios").await;
        let device = VaultDevice::new(authenticator.clone(), server.clock.clone(), &mut Dice::new(1));
        device.create().await;
        let org_id = owner.client.org("Acme").await;
        let key = make_key(&owner.client, &org_id).await;
        let other_org = stranger.client.org("Elsewhere").await;
        let strange_key = make_key(&stranger.client, &other_org).await.1;
        join(&owner.client, &org_id, &viewer, "viewer").await;
        let path = format!("/v1/orgs/{org_id}");
        let team =
            owner.client.post(&format!("{path}/teams")).json(&json!({ "name": "A team" })).send().await.expect(201);
        let body = json!({ "email": "guest@example.org", "role": "viewer" });
        let invite = owner.client.post(&format!("{path}/invites")).json(&body).send().await.expect(201);
        let (protocol, rota) = make_protocol_and_rota(&owner, &path).await;
        let hook = owner.client.post(&format!("{path}/notify/hooks")).json(&json!({ "name": "A hook" })).send().await;
        let hook = hook.expect(201);
        let hook_token = hook.str("/url").rsplit('/').next().expect("a token").to_owned();
        let page =
            owner.client.post(&format!("{path}/pages")).json(&json!({ "title": "A page" })).send().await.expect(201);
        let table = json!({ "name": "A-table", "partitionKey": { "name": "id", "type": "S" } });
        let database = owner.client.post(&format!("{path}/databases")).json(&table).send().await.expect(201);
        let bucket = json!({ "name": "a-bucket" });
        let bucket = owner.client.post(&format!("{path}/storage")).json(&bucket).send().await.expect(201);
        let repository = json!({ "name": "a-repository" });
        owner.client.post(&format!("{path}/repos")).json(&repository).send().await.expect(201);
        let rule = json!({ "name": "A rule", "patterns": ["main"] });
        let rules = format!("{path}/repos/a-repository/rules");
        let rule = owner.client.post(&rules).json(&rule).send().await.expect(201);
        let command_line = on_command_line(&server, &owner.client, &org_id).await;
        let sign_ins = owner.client.get("/v1/me/sign-ins").send().await.expect(200);
        let names = vec![
            ("owner", org_id.clone()),
            ("orgId", org_id),
            ("userId", viewer.user_id.clone()),
            ("teamId", team.str("/team/teamId").to_owned()),
            ("inviteId", invite.str("/invite/inviteId").to_owned()),
            ("keyId", key.0),
            ("accessKeyId", "TRPAK7QW2MZ5N3XD4RHB".to_owned()),
            ("signInId", sign_ins.str("/signIns/0/signInId").to_owned()),
            ("vaultId", device.vault_id.clone()),
            ("deliveryId", "dlv_01jd7rt4m5e9fv2w8x3c6k0hqz".to_owned()),
            ("deviceId", device.device_id.clone()),
            ("token", "trp_i_made_up".to_owned()),
            ("hookId", hook.str("/hook/hookId").to_owned()),
            ("hookToken", hook_token),
            ("installId", "an-install".to_owned()),
            ("activityId", "an-activity".to_owned()),
            ("protocolId", protocol),
            ("rotaId", rota),
            ("overrideId", "rov_01jd7rt4m5e9fv2w8x3c6k0hqz".to_owned()),
            ("resourceType", "project".to_owned()),
            ("resourceId", bucket.str("/bucket/resourceId").to_owned()),
            ("noticeId", "nte_01jd7rt4m5e9fv2w8x3c6k0hqz".to_owned()),
            ("escalationId", "esc_01jd7rt4m5e9fv2w8x3c6k0hqz".to_owned()),
            ("pageId", page.str("/page/pageId").to_owned()),
            ("databaseId", database.str("/database/resourceId").to_owned()),
            ("name", "a-repository".to_owned()),
            ("repository", "a-repository.git".to_owned()),
            ("lockId", "lck_01jd7rt4m5e9fv2w8x3c6k0hqz".to_owned()),
            ("ruleId", rule.str("/rule/ruleId").to_owned()),
            ("sha", "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0".to_owned()),
            ("fingerprint", "5f2b8c1d9e0a4b7c8d6e3f1a2b4c5d6e".to_owned()),
            ("number", "1".to_owned()),
            ("reviewId", "prv_01jd7rt4m5e9fv2w8x3c6k0hqz".to_owned()),
            ("threadId", "pth_01jd7rt4m5e9fv2w8x3c6k0hqz".to_owned()),
            ("pullCommentId", "pcm_01jd7rt4m5e9fv2w8x3c6k0hqz".to_owned()),
            ("runId", "run_01jd7rt4m5e9fv2w8x3c6k0hqz".to_owned()),
            ("jobId", "job_01jd7rt4m5e9fv2w8x3c6k0hqz".to_owned()),
            ("artifactId", "art_01jd7rt4m5e9fv2w8x3c6k0hqz".to_owned()),
            ("fileId", "art_01jd7rt4m5e9fv2w8x3c6k0hqz".to_owned()),
            ("runnerId", "rnr_01jd7rt4m5e9fv2w8x3c6k0hqz".to_owned()),
            ("principal", viewer.user_id.clone()),
            ("indexName", "by-email".to_owned()),
            ("commentId", "pgc_01jd7rt4m5e9fv2w8x3c6k0hqz".to_owned()),
            ("version", "1".to_owned()),
            ("type", "ops.alarm".to_owned()),
            ("key", "drive/a-blob".to_owned()),
            ("file", "main.js".to_owned()),
            ("path", "actors".to_owned()),
            ("kind", "organization".to_owned()),
            ("actorKey", "org_01jd7rt4m5e9fv2w8x3c6k0hqz".to_owned()),
            ("act", "restart".to_owned()),
            ("deadLetterSeq", "1".to_owned()),
            ("jobSeq", "1".to_owned()),
            ("importId", "imp_01jd7rt4m5e9fv2w8x3c6k0hqz".to_owned()),
        ];
        Self {
            nobody: server.client(),
            owner: owner.client,
            authenticator,
            iphone,
            command_line,
            viewer: viewer.client,
            operator: server.owner(),
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
            Who::Anyone | Who::TicketHolder | Who::AddressHolder | Who::SecretHolder => &self.nobody,
            Who::Authenticator(_) => &self.authenticator,
            Who::MobileApp(_) | Who::IphoneApp(_) => &self.iphone,
            Who::CommandLine(_) | Who::Git(_) | Who::GitLfs(_) => &self.command_line,
            Who::Platform(_) | Who::Console => &self.operator,
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

/// The ids of a notification protocol and of an on-call rota.
async fn make_protocol_and_rota(owner: &Person, org: &str) -> (String, String) {
    let template = json!({ "template": "vip-mail" });
    let protocol = owner.client.post(&format!("{org}/notify/protocols")).json(&template).send().await.expect(201);
    let body = json!({ "name": "Ops", "people": [owner.user_id], "handover": { "every": "day", "at": "09:00" } });
    let rota = owner.client.post(&format!("{org}/notify/rotas")).json(&body).send().await.expect(201);
    (protocol.str("/protocol/protocolId").to_owned(), rota.str("/rota/rotaId").to_owned())
}

/// A member of the organization on the command line, who has just enrolled a second factor.
async fn on_command_line(server: &Server, owner: &Client, org_id: &str) -> Client {
    let person = server.person("committer").await;
    join(owner, org_id, &person, "developer").await;
    let client = person.sign_in("git", "cli").await;
    App::enrol(server, &Person { client: client.clone(), ..person }).await;
    client
}

async fn join(owner: &Client, org_id: &str, person: &Person, role: &str) {
    let body = json!({ "userId": person.user_id, "role": role });
    owner.post(&format!("/v1/orgs/{org_id}/members")).json(&body).send().await.expect(201);
    person.client.get(&format!("/v1/orgs/{org_id}")).send().await.expect(200);
}
