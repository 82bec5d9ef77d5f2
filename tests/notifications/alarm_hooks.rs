//! `/v1/orgs/:orgId/notify/hooks` and `/v1/hooks/ops/:hookId/:hookToken`

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{all_is_out, key, key_with, notices};
use crate::{
    accounts::{join, letters},
    harness::{Answer, Client, Person, Server},
};

const FIRING: &str = include_str!("fixtures/alertmanager-0.25-firing.json");
const ONE_RESOLVED: &str = include_str!("fixtures/alertmanager-0.25-one-resolved.json");
const GRAFANA: &str = include_str!("fixtures/grafana-11.json");

/// Makes a hook; the answer.
pub async fn make(owner: &Client, org: &str, name: &str) -> Answer {
    owner.post(&format!("{org}/notify/hooks")).json(&json!({ "name": name })).send().await
}

/// An organization of this person's, and the path of a new hook of its own.
async fn hooked(server: &Server, owner: &Person) -> (String, String) {
    let org = format!("/v1/orgs/{}", owner.client.org("Acme").await);
    let made = make(&owner.client, &org, "Alertmanager").await.expect(201);
    let path = made.str("/url").strip_prefix(&server.url).expect("an address of this server").to_owned();
    (org, path)
}

async fn post(server: &Server, path: &str, body: &str) -> Answer {
    server.client().post(path).raw(body.to_owned()).send().await
}

/// The person's alarms, oldest first, once there are so many.
pub async fn alarms(server: &Server, person: &Person, many: usize) -> Vec<Value> {
    server
        .eventually("alarms", async || {
            let mut found = notices(&person.client).await;
            found.retain(|notice| notice["event"] == "ops.alarm");
            found.reverse();
            (found.len() >= many).then_some(found)
        })
        .await
}

#[tokio::test]
async fn a_hook_shows_its_address_once_and_is_listed_without_it() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let org = format!("/v1/orgs/{}", ada.client.org("Acme").await);
    let made = make(&ada.client, &org, " Alertmanager ").await.expect(201);
    let hook_id = made.str("/hook/hookId").to_owned();
    assert!(hook_id.starts_with("ahk_"));
    let start = format!("{}/v1/hooks/ops/{hook_id}/trp_h_", server.url);
    assert!(made.str("/url").starts_with(&start), "{}", made.text);
    let hook = json!({
        "hookId": hook_id, "name": "Alertmanager", "createdBy": ada.user_id,
        "createdAt": server.clock.now().as_millis(), "lastUsedAt": null
    });
    assert_eq!(made.json["hook"], hook);
    let listed = ada.client.get(&format!("{org}/notify/hooks")).send().await.expect(200);
    assert_eq!(listed.json, json!({ "hooks": [hook] }));
}

#[tokio::test]
async fn a_name_has_1_to_80_characters() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let org = format!("/v1/orgs/{}", ada.client.org("Acme").await);
    for (name, status) in [("", 400), ("  ", 400), ("a", 201), (&"ä".repeat(80), 201), (&"ä".repeat(81), 400)] {
        make(&ada.client, &org, name).await.expect(status);
    }
}

#[tokio::test]
async fn an_organization_has_at_most_50_hooks() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let org = format!("/v1/orgs/{}", ada.client.org("Acme").await);
    let mut last = String::new();
    for _ in 0..50 {
        last = make(&ada.client, &org, "One of many").await.expect(201).str("/hook/hookId").to_owned();
    }
    let message = "An organization has at most 50 alarm hooks.";
    make(&ada.client, &org, "One too many").await.expect_error(400, "limit_reached", message);
    ada.client.delete(&format!("{org}/notify/hooks/{last}")).send().await.expect(200);
    make(&ada.client, &org, "In its place").await.expect(201);
}

#[tokio::test]
async fn hooks_belong_to_people_who_may_write_the_organization() {
    let server = Server::start().await;
    let (ada, vera) = (server.person("ada").await, server.person("vera").await);
    let (org, _) = hooked(&server, &ada).await;
    join(&ada, &org, &vera, "viewer").await;
    vera.client.get(&format!("{org}/notify/hooks")).send().await.expect(200);
    let missing = "This needs the org:write permission.";
    make(&vera.client, &org, "Mine").await.expect_error(403, "missing_scope", missing);
}

#[tokio::test]
async fn a_key_keeps_hooks_within_its_scopes() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let program = key(&ada).await;
    let theirs = program.get("/v1/orgs").send().await.expect(200);
    let org = format!("/v1/orgs/{}", theirs.str("/orgs/0/orgId"));
    let made = make(&program, &org, "Alertmanager").await.expect(201);
    assert_eq!(made.str("/hook/createdBy"), ada.user_id, "what a key makes, its maker made");
    let path = made.str("/url").strip_prefix(&server.url).expect("an address of this server");
    assert_eq!(post(&server, path, FIRING).await.expect(200).json, json!({ "accepted": 2 }));
    let listed = program.get(&format!("{org}/notify/hooks")).send().await.expect(200);
    assert_eq!(listed.list("/hooks").len(), 1);
    let hook = format!("{org}/notify/hooks/{}", made.str("/hook/hookId"));
    let reader = key_with(&ada, &org, &["org:read"]).await;
    let missing = "This needs the org:write permission.";
    make(&reader, &org, "Mine").await.expect_error(403, "missing_scope", missing);
    reader.delete(&hook).send().await.expect_error(403, "missing_scope", missing);
    program.delete(&hook).send().await.expect(200);
}

#[tokio::test]
async fn each_alert_of_alertmanager_is_an_alarm_to_owners_and_admins() {
    let server = Server::start().await;
    let people = [server.person("ada").await, server.person("grace").await, server.person("vera").await];
    let [ada, grace, vera] = &people;
    let (org, path) = hooked(&server, ada).await;
    join(ada, &org, grace, "admin").await;
    join(ada, &org, vera, "viewer").await;
    assert_eq!(post(&server, &path, FIRING).await.expect(200).json, json!({ "accepted": 2 }));
    for person in [ada, grace] {
        let alarms = alarms(&server, person, 2).await;
        assert_eq!(alarms.len(), 2);
        assert_eq!(alarms[0]["title"], "The disk of db-1 is full");
        assert_eq!(alarms[0]["body"], "97 % of /var are in use.");
        assert_eq!(alarms[0]["url"], "http://prometheus.example.org:9090/graph?g0.expr=node_filesystem_avail_bytes");
        assert_eq!(alarms[1]["title"], "The disk of db-2 is nearly full");
    }
    assert!(notices(&vera.client).await.iter().all(|notice| notice["event"] != "ops.alarm"));
    let hooks = ada.client.get(&format!("{org}/notify/hooks")).send().await.expect(200);
    assert_eq!(hooks.int("/hooks/0/lastUsedAt"), server.clock.now().as_millis());
}

#[tokio::test]
async fn grafana_s_alerts_are_alarms_too() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let (_, path) = hooked(&server, &ada).await;
    assert_eq!(post(&server, &path, GRAFANA).await.expect(200).json, json!({ "accepted": 2 }));
    let alarms = alarms(&server, &ada, 1).await;
    assert_eq!(alarms[0]["title"], "Orders are stuck");
    assert_eq!(alarms[0]["body"], "No order left the queue for ten minutes.");
    assert_eq!(alarms[0]["url"], "https://grafana.example.org/d/shop?orgId=1&viewPanel=4");
}

#[tokio::test]
async fn a_post_with_no_alerts_is_taken_and_does_nothing() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let (_, path) = hooked(&server, &ada).await;
    assert_eq!(post(&server, &path, r#"{"alerts": []}"#).await.expect(200).json, json!({ "accepted": 0 }));
}

#[tokio::test]
async fn what_is_of_neither_form_is_refused_with_where() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let (_, path) = hooked(&server, &ada).await;
    for (body, at) in [
        (r#"{"title": "old", "state": "alerting"}"#, "alerts"),
        (r#"{"alerts": {}}"#, "alerts"),
        (r#"{"alerts": [{"labels": {}}]}"#, "alerts[0].status"),
        (r#"{"alerts": [{"status": "pending", "labels": {}}]}"#, "alerts[0].status"),
        (r#"{"alerts": [{"status": "firing", "labels": {"a": 1}}]}"#, "alerts[0].labels.a"),
    ] {
        let refused = post(&server, &path, body).await.expect(400);
        assert_eq!((refused.str("/code"), refused.str("/problems/0/path")), ("invalid", at), "{}", refused.text);
    }
    post(&server, &path, "{").await.expect(400);
    assert!(notices(&ada.client).await.iter().all(|notice| notice["event"] != "ops.alarm"));
}

#[tokio::test]
async fn a_wrong_token_and_a_wrong_hook_read_the_same() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let (org, path) = hooked(&server, &ada).await;
    let other = make(&ada.client, &org, "Grafana").await.expect(201);
    let (hook, token) = path.rsplit_once('/').expect("a token");
    let other_token = other.str("/url").rsplit('/').next().expect("a token");
    let sign_in = server.owner_token.clone();
    for wrong in [
        format!("{hook}/{other_token}"),
        format!("{hook}/trp_h_made_up"),
        format!("{hook}/{sign_in}"),
        format!("/v1/hooks/ops/ahk_01jd7rt4m5e9fv2w8x3c6k0hqz/{token}"),
        format!("/v1/hooks/ops/nonsense/{token}"),
    ] {
        post(&server, &wrong, FIRING).await.expect_error(404, "not_found", "Hook not found.");
        post(&server, &wrong, "{").await.expect_error(404, "not_found", "Hook not found.");
    }
    let as_credential = server.client().with_token(token).get("/v1/me").send().await;
    as_credential.expect_error(401, "unauthenticated", "Sign in to continue.");
}

#[tokio::test]
async fn a_deleted_hook_takes_nothing() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let (org, path) = hooked(&server, &ada).await;
    let hook_id = path.split('/').nth(4).expect("an id").to_owned();
    server.clock.advance(Duration::from_secs(1));
    let deleted = ada.client.delete(&format!("{org}/notify/hooks/{hook_id}")).send().await.expect(200);
    assert_eq!(deleted.json, json!({ "ok": true }));
    post(&server, &path, FIRING).await.expect_error(404, "not_found", "Hook not found.");
    let again = ada.client.delete(&format!("{org}/notify/hooks/{hook_id}")).send().await;
    again.expect_error(404, "not_found", "Hook not found.");
    let audit = ada.client.get(&format!("{org}/audit?target={hook_id}")).send().await.expect(200);
    let actions: Vec<_> = audit.list("/events").iter().filter_map(|event| event["action"].as_str()).collect();
    assert_eq!(actions, ["alarm_hook.deleted", "alarm_hook.made"]);
}

#[tokio::test]
async fn a_hook_of_an_organization_that_is_gone_takes_nothing() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let (org, path) = hooked(&server, &ada).await;
    ada.client.delete(&org).send().await.expect_success();
    post(&server, &path, FIRING).await.expect_error(404, "not_found", "Hook not found.");
}

#[tokio::test]
async fn a_hook_takes_120_posts_a_minute_and_a_wrong_token_uses_none_up() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let (_, path) = hooked(&server, &ada).await;
    for _ in 0..130 {
        post(&server, &format!("{path}x"), "{}").await.expect(404);
    }
    let (begun, mut taken) = (Instant::now(), 0);
    let refused = loop {
        let answer = post(&server, &path, r#"{"alerts": []}"#).await;
        if answer.status != 200 {
            break answer;
        }
        taken += 1;
        // Redis forgets a count by its own clock, two posts a second.
        let forgotten = begun.elapsed().as_millis() / 500 + 1;
        assert!(taken <= 120 + forgotten, "{taken} posts were taken");
    };
    assert!(taken >= 120, "only {taken} posts were taken");
    let message = "A hook takes 120 posts a minute; try again later.";
    let refused = refused.expect_error(429, "rate_limited", message);
    assert!(refused.header("retry-after").is_some());
    server.clock.advance(Duration::from_secs(60));
    post(&server, &path, FIRING).await.expect(200);
}

#[tokio::test]
async fn a_post_has_at_most_1_mb() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let (_, path) = hooked(&server, &ada).await;
    let empty = r#"{"alerts": []}"#;
    let of_length = |length: usize| empty.to_owned() + &" ".repeat(length - empty.len());
    for (length, status) in [(1_048_575, 200), (1_048_576, 200), (1_048_577, 413)] {
        post(&server, &path, &of_length(length)).await.expect(status);
    }
}

#[tokio::test]
async fn an_alert_that_is_posted_again_and_resolved_is_told_as_one() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let (_, path) = hooked(&server, &ada).await;
    let mailed = async |subject: &str| letters(&server, &ada.email, subject).await;
    for _ in 0..5 {
        assert_eq!(post(&server, &path, FIRING).await.expect(200).json, json!({ "accepted": 2 }));
        all_is_out(&server).await;
    }
    assert_eq!(mailed("The disk of db-1 is full").await, 1, "five posts of one alert");
    assert_eq!(mailed("The disk of db-2 is nearly full").await, 1);
    assert_eq!(alarms(&server, &ada, 2).await.len(), 2);

    for _ in 0..3 {
        post(&server, &path, ONE_RESOLVED).await.expect(200);
        all_is_out(&server).await;
    }
    assert_eq!(mailed("Resolved: The disk of db-1 is full").await, 1, "what is over is over once");
    assert_eq!(mailed("The disk of db-2 is nearly full").await, 1, "the other one goes on");

    post(&server, &path, FIRING).await.expect(200);
    all_is_out(&server).await;
    assert_eq!(mailed("The disk of db-1 is full").await, 2, "it is another outage");
    assert_eq!(mailed("The disk of db-2 is nearly full").await, 1);
}

#[tokio::test]
async fn posts_that_come_together_tell_of_an_alert_once() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let (_, path) = hooked(&server, &ada).await;
    let posts = futures::future::join_all((0..20).map(|_| post(&server, &path, FIRING))).await;
    for answer in posts {
        answer.expect(200);
    }
    all_is_out(&server).await;
    assert_eq!(letters(&server, &ada.email, "The disk of db-1 is full").await, 1);
    assert_eq!(alarms(&server, &ada, 2).await.len(), 2);
}

#[tokio::test]
async fn whoever_is_an_admin_only_since_is_told_of_an_alert_that_goes_on_once_too() {
    let server = Server::start().await;
    let (ada, grace) = (server.person("ada").await, server.person("grace").await);
    let (org, path) = hooked(&server, &ada).await;
    post(&server, &path, FIRING).await.expect(200);
    all_is_out(&server).await;
    join(&ada, &org, &grace, "admin").await;
    for _ in 0..2 {
        post(&server, &path, FIRING).await.expect(200);
        all_is_out(&server).await;
    }
    for person in [&ada, &grace] {
        assert_eq!(letters(&server, &person.email, "The disk of db-1 is full").await, 1, "{}", person.email);
    }
}

#[tokio::test]
async fn an_alert_that_nobody_posts_for_a_week_counts_as_over() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let (_, path) = hooked(&server, &ada).await;
    for (days, told) in [(0, 1), (6, 1), (6, 1), (7, 2)] {
        server.clock.advance(Duration::from_hours(24 * days));
        post(&server, &path, FIRING).await.expect(200);
        all_is_out(&server).await;
        assert_eq!(letters(&server, &ada.email, "The disk of db-1 is full").await, told);
    }
}

#[tokio::test]
async fn a_post_has_at_most_500_alerts() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let (_, path) = hooked(&server, &ada).await;
    let alerts = |many: usize| {
        let alert = |number: usize| json!({ "status": "resolved", "labels": { "instance": number.to_string() } });
        json!({ "alerts": (0..many).map(alert).collect::<Vec<_>>() }).to_string()
    };
    assert_eq!(post(&server, &path, &alerts(500)).await.expect(200).json, json!({ "accepted": 500 }));
    let message = "A post has at most 500 alerts; send them in several.";
    post(&server, &path, &alerts(501)).await.expect_error(413, "too_large", message);
}
