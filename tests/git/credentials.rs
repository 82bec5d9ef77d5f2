//! Machines' keys (contract C 4.3, `git-credentials`).

use std::time::Duration;

use serde_json::json;

use super::{Repos, notice};
use crate::{
    accounts::App,
    harness::{Answer, Client, Person},
};

const COMMAND_LINE: &str = "Sign in with the command line to create git credentials.";
const DAY: Duration = Duration::from_hours(24);
const LAPTOP: &str = "8f14e45fceea167a";

/// Somebody on the command line.
struct Shell {
    client: Client,
    app: App,
}

impl Shell {
    /// With a second factor that was just shown.
    async fn of(repos: &Repos, person: &Person) -> Self {
        let client = person.sign_in("git", "cli").await;
        let on_cli = Person { client: client.clone(), ..person.clone() };
        Self { app: App::enrol(&repos.server, &on_cli).await, client }
    }

    async fn step_up(&self, repos: &Repos) {
        let body = json!({ "otp": self.app.code(&repos.server) });
        self.client.post("/v1/auth/step-up").json(&body).send().await.expect(200);
    }
}

fn keys(repos: &Repos) -> String {
    format!("{}/git-credentials", repos.org)
}

async fn make(repos: &Repos, client: &Client, machine_id: &str) -> Answer {
    let body = json!({ "machineId": machine_id, "machine": " ada-laptop " });
    client.post(&keys(repos)).json(&body).send().await
}

#[tokio::test]
async fn a_machine_gets_a_key_that_is_shown_once_and_lasts_90_days() {
    let repos = Repos::new().await;
    let shell = Shell::of(&repos, &repos.ada).await;
    let made = make(&repos, &shell.client, LAPTOP).await.expect(201);
    assert_eq!(made.str("/name"), "ada-laptop");
    assert_eq!(made.json["scopes"], json!(["git:read", "git:write"]));
    let until = repos.server.clock.now().after(90 * DAY);
    assert_eq!(made.int("/expiresAt"), until.as_millis());
    let listed = shell.client.get(&keys(&repos)).send().await.expect(200);
    assert!(!listed.text.contains(made.str("/key")));
    let key = &listed.list("/keys")[0];
    assert_eq!((&key["keyId"], &key["kind"]), (&made.json["keyId"], &json!("api")));
    assert_eq!((&key["machineId"], &key["createdBy"]), (&json!(LAPTOP), &json!(repos.ada.user_id)));
    assert_eq!(key["orgId"], repos.org.rsplit('/').next().unwrap());
    let all = repos.ada.client.get(&format!("{}/keys", repos.org)).send().await.expect(200);
    assert_eq!(all.list("/keys").len(), 1);
    let told = notice(&repos.server, &repos.ada.client, "security.git_key").await;
    assert!(told["title"].as_str().unwrap().contains("ada-laptop"), "{told}");
    assert_eq!(repos.audited("git_key.").await, ["git_key.made"]);
}

#[tokio::test]
async fn refusals_come_in_the_order_of_command_line_scope_step_up_and_body() {
    let repos = Repos::new().await;
    let body = json!({});
    let web = repos.ada.client.post(&keys(&repos)).json(&body).send().await;
    web.expect_error(403, "command_line_only", COMMAND_LINE);
    repos.ada.client.get(&keys(&repos)).send().await.expect_error(403, "command_line_only", COMMAND_LINE);
    let one = format!("{}/key_01jd7rt4m5e9fv2w8x3c6k0hqz", keys(&repos));
    repos.ada.client.delete(&one).send().await.expect_error(403, "command_line_only", COMMAND_LINE);

    let cli = repos.ada.sign_in("cloud", "cli").await;
    let stranger = repos.server.person("eve").await.sign_in("git", "cli").await;
    let elsewhere = stranger.post(&keys(&repos)).json(&body).send().await;
    elsewhere.expect_error(404, "not_found", "Organization not found.");
    let refused = cli.post(&keys(&repos)).json(&body).send().await;
    let refused = refused.expect_error(403, "step_up", "Confirm with your second factor first.");
    assert_eq!(refused.json["enrol"], true);

    let shell = Shell::of(&repos, &repos.ada).await;
    let other = cli.post(&keys(&repos)).json(&body).send().await;
    let other = other.expect_error(403, "step_up", "Confirm with your second factor first.");
    assert!(other.json.get("enrol").is_none());
    shell.client.post(&keys(&repos)).json(&body).send().await.expect(400);
    shell.client.delete(&one).send().await.expect_error(404, "not_found", "Key not found");
}

#[tokio::test]
async fn the_second_factor_counts_for_ten_minutes() {
    let repos = Repos::new().await;
    let shell = Shell::of(&repos, &repos.ada).await;
    let since = Duration::from_secs(30);
    repos.server.clock.advance(Duration::from_mins(10) - since - Duration::from_millis(1));
    make(&repos, &shell.client, LAPTOP).await.expect(201);
    repos.server.clock.advance(Duration::from_millis(1));
    let late = make(&repos, &shell.client, LAPTOP).await;
    late.expect_error(403, "step_up", "Confirm with your second factor first.");
    shell.step_up(&repos).await;
    make(&repos, &shell.client, LAPTOP).await.expect(201);
}

#[tokio::test]
async fn machine_ids_and_names_are_checked_at_their_limits() {
    let repos = Repos::new().await;
    let shell = Shell::of(&repos, &repos.ada).await;
    let send = async |machine_id: &str, machine: &str| {
        let body = json!({ "machineId": machine_id, "machine": machine });
        shell.client.post(&keys(&repos)).json(&body).send().await
    };
    send(&"a".repeat(15), "").await.expect_problems(&["machineId", "machine"]);
    send(&"a".repeat(65), &"m".repeat(65)).await.expect_problems(&["machineId", "machine"]);
    send("0123456789.abcdef", " ").await.expect_problems(&["machineId", "machine"]);
    send(&"a".repeat(16), "m").await.expect(201);
    send(&"_".repeat(64), &format!(" {} ", "m".repeat(64))).await.expect(201);
}

#[tokio::test]
async fn a_machines_next_key_takes_the_place_of_its_last() {
    let repos = Repos::new().await;
    repos.make("web", "organization").await;
    let shell = Shell::of(&repos, &repos.ada).await;
    let first = make(&repos, &shell.client, LAPTOP).await.expect(201);
    let second = make(&repos, &shell.client, LAPTOP).await.expect(201);
    let listed = shell.client.get(&keys(&repos)).send().await.expect(200);
    let ids: Vec<_> = listed.list("/keys").iter().map(|key| &key["keyId"]).collect();
    assert_eq!(ids, [&second.json["keyId"]]);
    shell.client.with_token(second.str("/key")).get(&repos.at("web")).send().await.expect(200);
    shell.client.with_token(first.str("/key")).get(&repos.at("web")).send().await.expect(401);
}

#[tokio::test]
async fn a_machines_key_opens_repositories_as_far_as_its_person_may_and_nothing_else() {
    let repos = Repos::new().await;
    let dev = repos.member("dev", "developer").await;
    for (name, visibility) in [("open", "organization"), ("secret", "restricted")] {
        repos.make(name, visibility).await;
    }
    let shell = Shell::of(&repos, &dev).await;
    let made = make(&repos, &shell.client, LAPTOP).await.expect(201);
    let machine = shell.client.with_token(made.str("/key"));
    machine.get(&repos.at("open")).send().await.expect(200);
    machine.get(&repos.at("secret")).send().await.expect(404);
    let deleted = machine.delete(&repos.at("open")).send().await;
    deleted.expect_error(403, "missing_scope", "This needs the git:admin permission.");
    for path in [format!("{}/repos", repos.org), repos.org.clone(), keys(&repos), "/v1/me".to_owned()] {
        machine.get(&path).send().await.expect_error(403, "machine_key", "This key opens repositories only.");
    }
    let body = json!({ "name": "mine" });
    let refused = machine.post(&format!("{}/repos", repos.org)).json(&body).send().await;
    refused.expect_error(403, "machine_key", "This key opens repositories only.");
    let member = format!("{}/members/{}", repos.org, dev.user_id);
    repos.ada.client.delete(&member).send().await.expect_success();
    let left = machine.get(&repos.at("open")).send().await;
    assert!(matches!(left.status, 401 | 404), "{}", left.text);
}

#[tokio::test]
async fn a_viewers_machine_reads_only() {
    let repos = Repos::new().await;
    let vic = repos.member("vic", "viewer").await;
    let shell = Shell::of(&repos, &vic).await;
    let made = make(&repos, &shell.client, LAPTOP).await.expect(201);
    assert_eq!(made.json["scopes"], json!(["git:read"]));
}

#[tokio::test]
async fn people_list_and_delete_their_own_keys() {
    let repos = Repos::new().await;
    let dev = repos.member("dev", "developer").await;
    let (adas, devs) = (Shell::of(&repos, &repos.ada).await, Shell::of(&repos, &dev).await);
    adas.step_up(&repos).await;
    let made = make(&repos, &adas.client, LAPTOP).await.expect(201);
    make(&repos, &devs.client, LAPTOP).await.expect(201);
    let listed = devs.client.get(&keys(&repos)).send().await.expect(200);
    assert_eq!(listed.list("/keys").len(), 1);
    let adas_key = format!("{}/{}", keys(&repos), made.str("/keyId"));
    devs.client.delete(&adas_key).send().await.expect_error(404, "not_found", "Key not found");
    adas.client.delete(&adas_key).send().await.expect(204);
    adas.client.delete(&adas_key).send().await.expect_error(404, "not_found", "Key not found");
    adas.client.with_token(made.str("/key")).get(&repos.at("web")).send().await.expect(401);
    assert_eq!(repos.audited("git_key.deleted").await.len(), 1);
}

#[tokio::test]
async fn a_person_has_keys_for_twenty_machines_and_ended_ones_do_not_count() {
    let repos = Repos::new().await;
    let shell = Shell::of(&repos, &repos.ada).await;
    for number in 0..20 {
        make(&repos, &shell.client, &format!("machine-number-{number:02}")).await.expect(201);
    }
    let message = "One person has keys for at most 20 machines.";
    make(&repos, &shell.client, LAPTOP).await.expect_error(400, "limit_reached", message);
    make(&repos, &shell.client, "machine-number-07").await.expect(201);
    repos.server.clock.advance(90 * DAY - Duration::from_millis(1));
    let cli = repos.ada.client.nobody();
    let body = json!({
        "email": repos.ada.email, "password": repos.ada.password, "app": "git", "platform": "cli",
        "otp": shell.app.code(&repos.server),
    });
    let token = cli.post("/v1/auth/sign-in").json(&body).send().await.expect(200);
    let later = cli.with_token(token.str("/token"));
    make(&repos, &later, LAPTOP).await.expect_error(400, "limit_reached", message);
    repos.server.clock.advance(Duration::from_millis(1));
    make(&repos, &later, "machine-number-07").await.expect(201);
    make(&repos, &later, LAPTOP).await.expect(201);
    assert_eq!(later.get(&keys(&repos)).send().await.expect(200).list("/keys").len(), 2);
}

#[tokio::test]
async fn whoever_has_a_key_is_told_seven_days_before_its_end() {
    let repos = Repos::new().await;
    let dev = repos.member("dev", "developer").await;
    let shell = Shell::of(&repos, &dev).await;
    make(&repos, &shell.client, LAPTOP).await.expect(201);
    repos.server.clock.advance(83 * DAY);
    let told = notice(&repos.server, &dev.client, "secret.rotation_due").await;
    assert!(told["title"].as_str().unwrap().contains("ada-laptop"), "{told}");
}
