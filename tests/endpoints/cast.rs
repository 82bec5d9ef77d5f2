//! Who calls, and what the paths' parameters name.

use base64::{Engine, engine::general_purpose::STANDARD};
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
    /// The secret of a runner.
    pub runner: String,
    /// The token of a job that the runner has.
    pub job: String,
    names: Vec<(&'static str, String)>,
}

/// What paths name that need not be there.
const MADE_UP: &[(&str, &str)] = &[
    ("accessKeyId", "TRPAK7QW2MZ5N3XD4RHB"),
    ("deliveryId", "dlv_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("token", "trp_i_made_up"),
    ("installId", "an-install"),
    ("activityId", "an-activity"),
    ("overrideId", "rov_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("resourceType", "project"),
    ("noticeId", "nte_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("escalationId", "esc_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("name", "a-repository"),
    ("repository", "a-repository.git"),
    ("lockId", "lck_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("sha", "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0"),
    ("fingerprint", "5f2b8c1d9e0a4b7c8d6e3f1a2b4c5d6e"),
    ("number", "1"),
    ("reviewId", "prv_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("threadId", "pth_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("pullCommentId", "pcm_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("runId", "run_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("jobId", "job_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("environment", "production"),
    ("repositoryId", "res_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("artifactId", "art_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("fileId", "art_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("secret", "DEPLOY_KEY"),
    ("variable", "REGION"),
    ("environment", "production"),
    ("runnerId", "rnr_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("indexName", "by-email"),
    ("issueKey", "WEB-1"),
    ("issueJobId", "ijb_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("sprintId", "spr_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("boardId", "brd_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("queueId", "unassigned"),
    ("approvalId", "apv_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("componentId", "cmp_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("versionId", "ver_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("issueId", "iss_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("spaceKey", "WEB"),
    ("issueCommentId", "icm_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("mailHookId", "imh_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("mailHookToken", "trp_h_made_up"),
    ("attachmentId", "att_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("who", "usr_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("linkId", "ilk_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("workflowId", "wf_basic"),
    ("commentId", "pgc_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("version", "1"),
    ("type", "ops.alarm"),
    ("key", "drive/a-blob"),
    ("file", "main.js"),
    ("path", "actors"),
    ("kind", "organization"),
    ("actorKey", "org_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("act", "restart"),
    ("deadLetterSeq", "1"),
    ("jobSeq", "1"),
    ("importId", "imp_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("appPasswordId", "apw_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("eventId", "evt_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("mailThreadId", "thr_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("messageId", "msg_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("draftId", "msg_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("part", "2"),
    ("mailImportId", "imp_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("mailExportId", "exp_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("labelId", "lbl_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("mailFilterId", "flt_01jd7rt4m5e9fv2w8x3c6k0hqz"),
    ("action", "add"),
    ("address", "alias@example.org"),
    ("sender", "bob@example.org"),
];

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
        let (mailbox, domain, calendar) = make_mailbox(&owner, &path).await;
        let (filter, slug) = make_issue_and_filter(&owner.client, &path).await;
        let command_line = on_command_line(&server, &owner.client, &org_id).await;
        let (runner, job) = at_work(&server, &owner.client, &path).await;
        let sign_ins = owner.client.get("/v1/me/sign-ins").send().await.expect(200);
        let mut names = vec![
            ("owner", org_id.clone()),
            ("org", slug),
            ("orgId", org_id),
            ("userId", viewer.user_id.clone()),
            ("teamId", team.str("/team/teamId").to_owned()),
            ("inviteId", invite.str("/invite/inviteId").to_owned()),
            ("keyId", key.0),
            ("signInId", sign_ins.str("/signIns/0/signInId").to_owned()),
            ("vaultId", device.vault_id.clone()),
            ("deviceId", device.device_id.clone()),
            ("hookId", hook.str("/hook/hookId").to_owned()),
            ("hookToken", hook_token),
            ("protocolId", protocol),
            ("rotaId", rota),
            ("resourceId", bucket.str("/bucket/resourceId").to_owned()),
            ("pageId", page.str("/page/pageId").to_owned()),
            ("databaseId", database.str("/database/resourceId").to_owned()),
            ("ruleId", rule.str("/rule/ruleId").to_owned()),
            ("filterId", filter),
            ("principal", viewer.user_id.clone()),
            ("mailboxId", mailbox),
            ("domain", domain),
            ("calendarId", calendar),
        ];
        names.extend(MADE_UP.iter().map(|(name, value)| (*name, (*value).to_owned())));
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
            runner,
            job,
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
            Who::Anyone | Who::TicketHolder | Who::AddressHolder | Who::SecretHolder | Who::Runner | Who::Job => {
                &self.nobody
            }
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

/// The id of a mailbox of the owner's, its domain, and the id of its first calendar.
async fn make_mailbox(owner: &Person, org: &str) -> (String, String, String) {
    let slug = owner.client.get(org).send().await.expect(200).str("/org/slug").to_owned();
    let domain = format!("{slug}.localhost.localdomain");
    let body = json!({ "localPart": "owner", "domain": domain, "members": [owner.user_id] });
    let made = owner.client.post(&format!("{org}/mail/admin/mailboxes")).json(&body).send().await.expect(201);
    let mailbox = made.str("/mailbox/mailboxId").to_owned();
    let calendars = owner.client.get(&format!("{org}/mail/mailboxes/{mailbox}/calendars")).send().await.expect(200);
    (mailbox, domain, calendars.str("/calendars/0/calendarId").to_owned())
}

/// The ids of a notification protocol and of an on-call rota.
async fn make_protocol_and_rota(owner: &Person, org: &str) -> (String, String) {
    let template = json!({ "template": "vip-mail" });
    let protocol = owner.client.post(&format!("{org}/notify/protocols")).json(&template).send().await.expect(201);
    let body = json!({ "name": "Ops", "people": [owner.user_id], "handover": { "every": "day", "at": "09:00" } });
    let rota = owner.client.post(&format!("{org}/notify/rotas")).json(&body).send().await.expect(201);
    (protocol.str("/protocol/protocolId").to_owned(), rota.str("/rota/rotaId").to_owned())
}

/// A runner of the organization and a job that it has: its secret, and the job's token.
async fn at_work(server: &Server, owner: &Client, org: &str) -> (String, String) {
    owner.post(&format!("{org}/repos")).json(&json!({ "name": "at-work" })).send().await.expect(201);
    let text = "on: push\njobs:\n  test:\n    runs-on: linux\n    steps:\n      - run: make test\n";
    let change = json!({ "op": "put", "path": ".service/workflows/ci.yml", "content": STANDARD.encode(text) });
    let commit = json!({ "branch": "main", "message": "Begin", "changes": [change] });
    owner.post(&format!("{org}/repos/at-work/contents")).json(&commit).send().await.expect(201);
    let token = owner.post(&format!("{org}/pipelines/runners/token")).json(&json!({})).send().await.expect(201);
    let body = json!({ "token": token.str("/token"), "name": "a-runner", "labels": [], "os": "linux", "arch": "x64" });
    let runner = server.client().post("/v1/runner/register").json(&body).send().await.expect(201);
    let secret = runner.str("/secret").to_owned();
    let asked = json!({ "version": "0.1.0", "labels": [], "running": 0, "wait": 20 });
    let poll = server.client().post("/v1/runner/poll").header("x-service-runner", &secret).json(&asked);
    let token = poll.send().await.expect(200).str("/job/token").to_owned();
    server.client().get("/v1/runner/job").header("x-service-job", &token).send().await.expect(200);
    (secret, token)
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

/// A desk with one request, and a filter; the filter's id, and the organization's slug.
async fn make_issue_and_filter(owner: &Client, path: &str) -> (String, String) {
    let issues = format!("{path}/issues");
    let space = json!({ "key": "WEB", "name": "A space", "template": "service" });
    let made = owner.post(&format!("{issues}/spaces")).json(&space).send().await.expect(201);
    let mut config = made.json["space"]["config"].clone();
    config["servicedesk"]["portal"]["enabled"] = json!(true);
    owner.patch(&format!("{issues}/spaces/WEB")).json(&json!({ "config": config })).send().await.expect(200);
    let slug = owner.get(path).send().await.expect(200).str("/org/slug").to_owned();
    let request = json!({ "requestType": "get_help", "summary": "A request" });
    owner.post(&format!("/v1/portal/issues/{slug}/WEB/requests")).json(&request).send().await.expect(201);
    let filter = json!({ "name": "A filter", "jql": "" });
    let filter = owner.post(&format!("{issues}/filters")).json(&filter).send().await.expect(201);
    (filter.str("/filter/filterId").to_owned(), slug)
}
