//! `/console`: the page, its sign-in, and what its cookie opens.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{
    accounts::App,
    harness::{Answer, Client, Person, Request, Server},
};

const OTHER_ORIGIN: (u16, &str, &str) = (403, "other_origin", "The console answers its own pages only.");

/// A browser that is signed in to the console.
struct Browser {
    client: Client,
    cookie: String,
}

impl Browser {
    async fn sign_in(server: &Server) -> Self {
        Self::of(server, &server.owner_email, &server.owner_password).await
    }

    async fn of(server: &Server, email: &str, password: &str) -> Self {
        let answer = sign_in(&server.client(), email, password).await.expect(200);
        Self { client: server.client(), cookie: cookie(&answer) }
    }

    fn get(&self, path: &str) -> Request {
        self.client.get(path).header("cookie", &self.cookie)
    }

    /// As a page of this server does.
    fn post(&self, path: &str) -> Request {
        self.client.post(path).header("cookie", &self.cookie).header("origin", self.client.base())
    }

    fn sign_out(&self) -> Request {
        self.client.delete("/console/session").header("cookie", &self.cookie).header("origin", self.client.base())
    }
}

async fn sign_in(client: &Client, email: &str, password: &str) -> Answer {
    client.post("/console/session").json(&json!({ "email": email, "password": password })).send().await
}

async fn sign_in_with(client: &Client, person: &Person, otp: &str) -> Answer {
    let body = json!({ "email": person.email, "password": person.password, "otp": otp });
    client.post("/console/session").json(&body).send().await
}

/// Somebody else who owns the platform's organization, and that organization's address.
async fn second_owner(server: &Server, name: &str) -> (Person, String) {
    let person = server.person(name).await;
    let organization = super::organization(&server.owner()).await;
    let body = json!({ "userId": person.user_id, "role": "owner" });
    server.owner().post(&format!("{organization}/members")).json(&body).send().await.expect(201);
    (person, organization)
}

fn cookie(answer: &Answer) -> String {
    let set = answer.header("set-cookie").expect("a cookie");
    set.split(';').next().expect("its value").to_owned()
}

#[tokio::test]
async fn the_page_lets_a_browser_run_nothing_but_its_own_files() {
    let server = Server::start().await;
    let page = server.client().get("/console").send().await.expect(200);
    assert!(page.header("content-type").is_some_and(|kind| kind.starts_with("text/html")));
    let policy = page.header("content-security-policy").expect("a policy");
    for part in ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    let named: Vec<_> = page.text.split("/console/files/").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(named.contains(&"main.js") && named.contains(&"console.css"), "{named:?}");
    for file in named {
        let file = server.client().get(&format!("/console/files/{file}")).send().await.expect(200);
        assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
    }
    server.client().get("/console/files/secret").send().await.expect(404);
}

#[tokio::test]
async fn the_token_comes_as_a_cookie_that_no_script_and_no_other_site_gets() {
    let server = Server::start().await;
    let answer = sign_in(&server.client(), &server.owner_email, &server.owner_password).await.expect(200);
    let set = answer.header("set-cookie").expect("a cookie").to_owned();
    for attribute in ["HttpOnly", "SameSite=Strict", "Path=/console", "Max-Age=43200"] {
        assert!(set.split("; ").any(|one| one == attribute), "{set}");
    }
    assert!(!set.contains("Secure"), "over plain HTTP a browser would drop it: {set}");
    assert!(!answer.text.contains("trp_p_"), "{}", answer.text);
    assert_eq!(answer.str("/email"), server.owner_email);
    let https = Server::with(&["server.public_url=https://troupe.example.com"]).await;
    let answer = sign_in(&https.client(), &https.owner_email, &https.owner_password).await.expect(200);
    assert!(answer.header("set-cookie").is_some_and(|set| set.ends_with("; Secure")));
}

#[tokio::test]
async fn the_cookie_opens_the_console_and_nothing_else_does_and_it_opens_nothing_else() {
    let server = Server::start().await;
    let browser = Browser::sign_in(&server).await;
    let actors = browser.get("/console/api/actors").send().await.expect(200);
    assert!(actors.json["kinds"].is_array(), "{}", actors.text);
    browser.get("/console/session").send().await.expect(200);
    browser.get("/console/api/actors/nothing").send().await.expect_error(404, "not_found", "Kind not found.");
    for path in ["/console/api/nothing", "/console/api/", "/console/api/../me", "/console/api/%2e%2e/me"] {
        assert_eq!(browser.get(path).send().await.status, 404, "{path}");
    }
    for path in ["/v1/platform/actors", "/v1/me", "/v1/orgs"] {
        browser.get(path).send().await.expect_error(401, "unauthenticated", "Sign in to continue.");
    }
    for path in ["/console/api/actors", "/console/session", "/console/live"] {
        server.owner().get(path).send().await.expect_error(401, "unauthenticated", "Sign in to continue.");
        let garbage = server.client().get(path).header("cookie", "troupe_console=nonsense").send().await;
        garbage.expect_error(401, "unauthenticated", "Sign in to continue.");
    }
}

#[tokio::test]
async fn what_changes_something_must_come_from_a_page_of_this_server() {
    let server = Server::with(&["server.cors_origins=https://app.example.com"]).await;
    let browser = Browser::sign_in(&server).await;
    let path = "/console/api/actors/organization/org_01jd7rt4m5e9fv2w8x3c6k0hqz/restart";
    let (status, code, message) = OTHER_ORIGIN;
    let bare = || browser.client.post(path).header("cookie", &browser.cookie);
    bare().send().await.expect_error(status, code, message);
    for origin in ["https://evil.example.com", "https://app.example.com", "null", "", "http://127.0.0.1"] {
        bare().header("origin", origin).send().await.expect_error(status, code, message);
        for read in ["/console/api/actors", "/console/session", "/console/live"] {
            browser.get(read).header("origin", origin).send().await.expect_error(status, code, message);
        }
        let body = json!({ "email": server.owner_email, "password": server.owner_password });
        let sign_in = server.client().post("/console/session").json(&body).header("origin", origin).send().await;
        sign_in.expect_error(status, code, message);
    }
    browser.post(path).send().await.expect_error(404, "not_found", "There is no such actor on this node.");
    let stay = browser.client.delete("/console/session").header("cookie", &browser.cookie).send().await;
    stay.expect_error(status, code, message);
}

#[tokio::test]
async fn what_is_done_in_the_console_is_done_by_whoever_is_signed_in() {
    let server = Server::start().await;
    let org_id = server.person("ada").await.client.org("Acme").await;
    let browser = Browser::sign_in(&server).await;
    browser.post(&format!("/console/api/actors/organization/{org_id}/restart")).send().await.expect(200);
    let organization = super::organization(&server.owner()).await;
    let trail = server.owner().get(&format!("{organization}/audit?action=actor")).send().await.expect(200);
    assert_eq!((trail.str("/events/0/action"), trail.str("/events/0/actor/type")), ("actor.restarted", "user"));
}

#[tokio::test]
async fn whoever_lacks_the_permission_is_not_signed_in() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let refused = sign_in(&server.client(), &ada.email, &ada.password).await;
    assert_eq!(refused.header("set-cookie"), None);
    let refused = refused.expect_error(403, "missing_scope", "This needs the platform:infra permission.");
    assert_eq!(refused.json["scope"], "platform:infra");
    let sign_ins = ada.client.get("/v1/me/sign-ins").send().await.expect(200);
    assert_eq!(sign_ins.list("/signIns").len(), 1, "{}", sign_ins.text);
    let wrong = sign_in(&server.client(), &server.owner_email, "not the password").await;
    wrong.expect_error(401, "wrong_credentials", "That email or password is wrong.");
}

#[tokio::test]
async fn signing_out_ends_the_sign_in_itself() {
    let server = Server::start().await;
    let browser = Browser::sign_in(&server).await;
    let out = browser.sign_out().send().await.expect(204);
    assert!(
        out.header("set-cookie").is_some_and(|set| set.starts_with("troupe_console=;") && set.contains("Max-Age=0"))
    );
    for path in ["/console/session", "/console/api/actors", "/console/live"] {
        browser.get(path).send().await.expect_error(401, "unauthenticated", "Sign in to continue.");
    }
    assert_eq!(browser.sign_out().send().await.status, 401);
}

#[tokio::test]
async fn whoever_has_a_second_factor_shows_it_and_each_code_opens_the_console_once() {
    let server = Server::start().await;
    let (ada, _) = second_owner(&server, "ada").await;
    let app = App::enrol(&server, &ada).await;
    let client = server.client();
    let without = sign_in(&client, &ada.email, &ada.password).await;
    assert_eq!(without.header("set-cookie"), None);
    without.expect_error(401, "code_wanted", "Enter the code from your authenticator app.");
    let wrong = sign_in_with(&client, &ada, &app.wrong_code(&server)).await;
    assert_eq!(wrong.header("set-cookie"), None);
    wrong.expect_error(401, "wrong_code", "That code is wrong.");
    let code = app.code(&server);
    let signed_in = sign_in_with(&client, &ada, &code).await.expect(200);
    let browser = Browser { client: client.clone(), cookie: cookie(&signed_in) };
    browser.get("/console/api/actors").send().await.expect(200);
    let again = sign_in_with(&client, &ada, &code).await;
    assert_eq!(again.header("set-cookie"), None);
    again.expect_error(401, "wrong_code", "That code is wrong.");
    let recovery = &app.recovery_codes[0];
    let signed_in = sign_in_with(&client, &ada, recovery).await.expect(200);
    Browser { client: client.clone(), cookie: cookie(&signed_in) }.get("/console/session").send().await.expect(200);
    sign_in_with(&client, &ada, recovery).await.expect_error(401, "wrong_code", "That code is wrong.");
}

#[tokio::test]
async fn who_is_demoted_or_whose_sign_in_is_revoked_is_out_at_once() {
    let server = Server::start().await;
    let (ada, organization) = second_owner(&server, "ada").await;
    let browser = Browser::of(&server, &ada.email, &ada.password).await;
    let mut live = Live::open(&server, &browser).await;
    live.until(|text| text.contains("event: pulse\n")).await;
    let demoted = json!({ "role": "viewer" });
    let member = format!("{organization}/members/{}", ada.user_id);
    server.owner().patch(&member).json(&demoted).send().await.expect_success();
    for path in ["/console/session", "/console/api/actors", "/console/live"] {
        let refused = browser.get(path).send().await;
        refused.expect_error(403, "missing_scope", "This needs the platform:infra permission.");
    }
    live.end().await;

    let browser = Browser::sign_in(&server).await;
    let mut live = Live::open(&server, &browser).await;
    live.until(|text| text.contains("event: pulse\n")).await;
    let sign_ins = server.owner().get("/v1/me/sign-ins").send().await.expect(200);
    let console = sign_ins.list("/signIns").iter().find(|sign_in| sign_in["current"] == false).expect("the console's");
    let id = console["signInId"].as_str().unwrap();
    server.owner().delete(&format!("/v1/me/sign-ins/{id}")).send().await.expect_success();
    browser.get("/console/api/actors").send().await.expect_error(401, "unauthenticated", "Sign in to continue.");
    live.end().await;
}

#[tokio::test]
async fn the_stream_tells_of_the_platform_and_ends_with_the_sign_in() {
    let server = Server::start().await;
    server.person("ada").await.client.org("Acme").await;
    let browser = Browser::sign_in(&server).await;
    let mut live = Live::open(&server, &browser).await;
    live.until(has_kinds).await;
    // A database that is slow to answer, and what is only beginning, looks better the next time.
    let is_well = |health: &Value| health["databaseUs"].as_u64() > Some(0) && health["hubConnected"] == true;
    live.until(|text| events(text, "health").iter().any(is_well)).await;
    let counts_runs = |health: &Value| health["git"]["running"].is_u64() && health["git"]["waiting"].is_u64();
    assert!(events(&live.text, "health").iter().all(counts_runs), "{}", live.text);
    let has_timers = |queues: &Value| queues["timers"]["set"].as_u64() >= Some(1);
    live.until(|text| events(text, "queues").iter().any(has_timers)).await;
    for queues in events(&live.text, "queues") {
        assert_eq!((&queues["outbox"]["parked"], &queues["deliveries"]["failed"]), (&json!(0), &json!(0)), "{queues}");
        assert_eq!(queues["jobs"], json!({ "queued": 0, "oldestMs": null }), "{queues}");
    }
    browser.sign_out().send().await.expect(204);
    live.end().await;
}

/// A file with one job, which nobody takes.
const WORKFLOW: &str = "on: push\njobs:\n  test:\n    runs-on: linux\n    steps:\n      - run: make\n";

#[tokio::test]
async fn the_stream_tells_of_jobs_that_wait_for_runners() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let org = format!("/v1/orgs/{}", ada.org("Acme").await);
    ada.post(&format!("{org}/repos")).json(&json!({ "name": "web" })).send().await.expect(201);
    let file = json!({ "op": "put", "path": ".service/workflows/ci.yml", "content": STANDARD.encode(WORKFLOW) });
    let commit = json!({ "branch": "main", "message": "Begin", "changes": [file] });
    ada.post(&format!("{org}/repos/web/contents")).json(&commit).send().await.expect(201);
    let queued = async || {
        let queue = ada.get(&format!("{org}/pipelines/queue")).send().await.expect(200);
        (queue.list("/jobs").len() == 1).then_some(())
    };
    server.eventually("a job that waits", queued).await;
    server.clock.advance(Duration::from_secs(5));
    let mut live = Live::open(&server, &Browser::sign_in(&server).await).await;
    let waits = |queues: &Value| queues["jobs"]["queued"] == 1 && queues["jobs"]["oldestMs"].as_i64() >= Some(5_000);
    live.until(|text| events(text, "queues").iter().any(waits)).await;
}

/// The console's stream, as far as it was read.
struct Live {
    response: reqwest::Response,
    text: String,
}

impl Live {
    async fn open(server: &Server, browser: &Browser) -> Self {
        let http = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        let url = format!("{}/console/live", server.url);
        let response = http.get(url).header("cookie", &browser.cookie).send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: String::new() }
    }

    async fn chunk(&mut self) -> Option<String> {
        let chunk = tokio::time::timeout(Duration::from_secs(60), self.response.chunk()).await;
        let chunk = chunk.expect("the stream goes on, or ends").unwrap();
        chunk.map(|chunk| String::from_utf8(chunk.to_vec()).unwrap())
    }

    /// Reads on until what was read is enough.
    async fn until(&mut self, is_enough: impl Fn(&str) -> bool) {
        while !is_enough(&self.text) {
            let chunk = self.chunk().await.expect("more of the stream");
            self.text += &chunk;
        }
    }

    /// Reads on until the server ends it.
    async fn end(mut self) {
        while self.chunk().await.is_some() {}
    }
}

/// The events of this name that have come whole.
fn events(text: &str, name: &str) -> Vec<Value> {
    let whole = text.split_inclusive("\n\n").filter(|event| event.ends_with("\n\n"));
    let data = whole.filter_map(|event| event.trim_end().strip_prefix(&format!("event: {name}\ndata: ")));
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// Whether a pulse with the kind `organization` has come whole.
fn has_kinds(text: &str) -> bool {
    events(text, "pulse").iter().any(|answer| {
        let pulses = answer["pulses"].as_array().unwrap();
        pulses.iter().any(|pulse| pulse["kinds"].to_string().contains("\"organization\""))
    })
}
