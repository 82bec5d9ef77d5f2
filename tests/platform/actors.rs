//! `/v1/platform/actors`, `crashes`, `slow`, `nodes`

use std::time::Duration;

use actors::platform::{AWAY_AFTER, SLOW_AFTER};
use serde_json::{Value, json};
use store::{Change, Node, NodeHealth};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{organization, with_an_actor};
use crate::harness::{Answer, Server};

const MILLISECOND: Duration = Duration::from_millis(1);

fn keys(answer: &Answer) -> Vec<String> {
    answer.list("/actors").iter().map(|actor| actor["key"].as_str().unwrap().to_owned()).collect()
}

fn kind<'a>(answer: &'a Answer, name: &str) -> &'a Value {
    answer.list("/kinds").iter().find(|kind| kind["kind"] == name).unwrap_or_else(|| panic!("no kind {name}"))
}

#[tokio::test]
async fn kinds_show_their_totals_their_times_and_their_policies() {
    let (server, operator, _) = with_an_actor().await;
    let answer = operator.get("/v1/platform/actors").send().await.expect(200);
    let organizations = kind(&answer, "organization");
    assert!(organizations["resident"].as_i64() >= Some(1), "{organizations}");
    assert_eq!((&organizations["crashes"], &organizations["quarantined"]), (&json!(0), &json!(0)));
    assert!(organizations["policy"]["queueLenMax"].as_u64() >= Some(1));
    let commands = organizations["commands"].as_array().unwrap();
    assert!(commands.iter().any(|command| command["handled"].as_u64() >= Some(1)), "{commands:?}");
    assert!(commands.iter().all(|command| command["handledTime"]["p99Us"].is_number()), "{commands:?}");
    assert_eq!((&answer.json["deadLetters"], &answer.json["lastDeadLetters"]), (&json!(0), &json!([])));
    let nodes = operator.get("/v1/platform/nodes").send().await.expect(200);
    assert_eq!(answer.json["node"], nodes.json["node"]);
    drop(server);
}

#[tokio::test]
async fn actors_are_found_by_what_they_say_and_stand_in_the_order_that_was_asked_for() {
    let (server, operator, org_id) = with_an_actor().await;
    let other = server.person("grace").await.client.org("Elsewhere").await;
    let path = "/v1/platform/actors/organization";
    let all = operator.get(&format!("{path}?sort=key")).send().await.expect(200);
    let mut sorted = keys(&all);
    assert!(sorted.contains(&org_id) && sorted.contains(&other), "{}", all.text);
    assert!(sorted.is_sorted());
    assert_eq!((&all.json["cursor"], &all.json["total"]), (&json!(null), &json!(sorted.len())));
    sorted.reverse();
    let reversed = operator.get(&format!("{path}?sort=key&order=desc")).send().await.expect(200);
    assert_eq!(keys(&reversed), sorted);
    let found = operator.get(&format!("{path}?q={}", org_id.to_uppercase())).send().await.expect(200);
    assert_eq!(keys(&found), [org_id.as_str()]);
    assert_eq!(found.json["actors"][0]["waiting"], 0);
    for state in ["busy", "crashed", "quarantined"] {
        let none = operator.get(&format!("{path}?state={state}&q={org_id}")).send().await.expect(200);
        assert!(keys(&none).is_empty(), "{state}: {}", none.text);
    }
}

#[tokio::test]
async fn actors_come_in_pages_of_which_each_says_where_the_next_one_starts() {
    let (server, operator, _) = with_an_actor().await;
    server.person("grace").await.client.org("Elsewhere").await;
    let path = "/v1/platform/actors/organization";
    let all = operator.get(&format!("{path}?sort=key&order=desc")).send().await.expect(200);
    let mut read = Vec::new();
    let mut next = String::new();
    loop {
        let page = operator.get(&format!("{path}?sort=key&order=desc&limit=1{next}")).send().await.expect(200);
        assert_eq!((page.list("/actors").len(), &page.json["total"]), (1, &all.json["total"]));
        read.extend(keys(&page));
        let Some(cursor) = page.json["cursor"].as_str() else { break };
        next = format!("&cursor={cursor}");
    }
    assert_eq!(read, keys(&all));
    for other in ["sort=key&order=asc", "sort=crashes&order=desc", "q=x"] {
        let refused = operator.get(&format!("{path}?{other}{next}")).send().await;
        refused.expect_error(400, "invalid_cursor", "Invalid cursor");
    }
    let other_kind = operator.get(&format!("/v1/platform/actors/person?sort=key&order=desc{next}")).send().await;
    other_kind.expect_error(400, "invalid_cursor", "Invalid cursor");
}

#[tokio::test]
async fn what_can_not_be_looked_for_is_400_and_what_is_not_there_is_404() {
    let (_server, operator, org_id) = with_an_actor().await;
    let path = "/v1/platform/actors/organization";
    let text = |len: usize| "x".repeat(len);
    for (query, problem) in [
        ("limit=0".to_owned(), "limit"),
        ("limit=501".to_owned(), "limit"),
        ("q=".to_owned(), "q"),
        (format!("q={}", text(201)), "q"),
        ("sort=size".to_owned(), "sort"),
        ("order=up".to_owned(), "order"),
        ("state=gone".to_owned(), "state"),
    ] {
        operator.get(&format!("{path}?{query}")).send().await.expect_problems(&[problem]);
    }
    for query in ["limit=1".to_owned(), "limit=500".to_owned(), "q=x".to_owned(), format!("q={}", text(200))] {
        operator.get(&format!("{path}?{query}")).send().await.expect(200);
    }
    let no_kind = operator.get("/v1/platform/actors/nothing").send().await;
    no_kind.expect_error(404, "not_found", "Kind not found.");
    for path in ["/v1/platform/actors/nothing/x", "/v1/platform/actors/nothing/%00"] {
        operator.get(path).send().await.expect_error(404, "not_found", "Kind not found.");
    }
    for key in ["nonsense", "org_01jd7rt4m5e9fv2w8x3c6k0hqz", "a%2Fb"] {
        let answer = operator.get(&format!("{path}/{key}")).send().await;
        answer.expect_error(404, "not_found", "There is no such actor on this node.");
    }
    for path in [path.to_owned(), format!("{path}/{org_id}"), "/v1/platform/crashes".to_owned()] {
        let answer = operator.get(&format!("{path}?node=elsewhere")).send().await;
        answer.expect_error(404, "not_found", "Node not found.");
    }
}

#[tokio::test]
async fn an_actor_shows_its_last_eight_commands_with_the_requests_that_they_came_from() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let org_id = ada.org("Acme").await;
    for number in 0..9 {
        let body = json!({ "name": format!("Acme {number}") });
        let request = ada.patch(&format!("/v1/orgs/{org_id}")).json(&body);
        request.header("x-request-id", format!("request-{number}")).send().await.expect(200);
    }
    let missing = ada.delete(&format!("/v1/orgs/{org_id}/invites/inv_01jd7rt4m5e9fv2w8x3c6k0hqz"));
    missing.header("x-request-id", "request-missing").send().await.expect(404);
    let operator = server.owner();
    let answer = operator.get(&format!("/v1/platform/actors/organization/{org_id}")).send().await.expect(200);
    assert_eq!(answer.str("/actor/key"), org_id);
    let recent = answer.list("/recent");
    let ids: Vec<_> = recent.iter().map(|command| command["requestId"].as_str().unwrap()).collect();
    let expected: Vec<_> = (2..9).rev().map(|number| format!("request-{number}")).collect();
    assert_eq!((ids[0], &ids[1..]), ("request-missing", &expected.iter().map(String::as_str).collect::<Vec<_>>()[..]));
    assert_eq!((&recent[0]["outcome"], &recent[1]["outcome"]), (&json!("not_found"), &json!("ok")));
    assert!(recent[1]["handledUs"].as_u64() > Some(0), "{}", answer.text);
}

#[tokio::test]
async fn an_actor_is_restarted_and_leaves_memory_and_both_are_written_down() {
    let (server, operator, org_id) = with_an_actor().await;
    let path = format!("/v1/platform/actors/organization/{org_id}");
    let loads = async || {
        let answer = operator.get("/v1/platform/actors").send().await.expect(200);
        kind(&answer, "organization")["loads"].as_u64().unwrap()
    };
    let before = loads().await;
    operator.post(&format!("{path}/restart")).send().await.expect(200);
    let ada = server.client().with_token(&sign_in_again(&server).await);
    ada.patch(&format!("/v1/orgs/{org_id}")).json(&json!({ "name": "Acme Ltd" })).send().await.expect(200);
    assert_eq!(loads().await, before + 1);
    let refused = operator.post(&format!("{path}/release")).send().await;
    refused.expect_error(409, "not_quarantined", "It has no crashes to forget.");
    operator.post(&format!("{path}/passivate")).send().await.expect(200);
    operator.get(&path).send().await.expect(404);
    operator.post(&format!("{path}/forget")).send().await.expect_error(
        404,
        "not_found",
        "There is nothing at this address.",
    );
    for act in ["restart", "passivate", "release"] {
        let gone = operator.post(&format!("{path}/{act}")).send().await;
        gone.expect_error(404, "not_found", "There is no such actor on this node.");
    }
    let trail = operator.get(&format!("{}/audit?action=actor", organization(&operator).await)).send().await.expect(200);
    let mut events: Vec<_> = trail.list("/events").iter().map(|event| event["action"].as_str().unwrap()).collect();
    events.sort_unstable();
    assert_eq!(events, ["actor.passivated", "actor.restarted"]);
    assert_eq!(trail.str("/events/0/target/id"), org_id);
    assert_eq!(trail.str("/events/0/target/label"), format!("organization {org_id}"));
    assert_eq!(trail.json["events"][0]["metadata"]["kind"], "organization");
}

async fn sign_in_again(server: &Server) -> String {
    let body = json!({
        "email": "ada@example.org", "password": "correct horse ada", "app": "account", "platform": "web"
    });
    server.client().post("/v1/auth/sign-in").json(&body).send().await.expect(200).str("/token").to_owned()
}

#[tokio::test]
async fn a_node_says_that_it_is_there_and_how_it_is() {
    let (server, operator, _) = with_an_actor().await;
    let nodes = server
        .eventually("the node says so", async || {
            let answer = operator.get("/v1/platform/nodes").send().await.expect(200);
            // The first time, it may not have reached the others yet.
            (answer.json["nodes"][0]["hub"]["status"] == "ok").then_some(answer)
        })
        .await;
    assert_eq!(nodes.list("/nodes").len(), 1, "{}", nodes.text);
    let node = &nodes.json["nodes"][0];
    assert_eq!((&node["status"], &node["node"]), (&json!("up"), &nodes.json["node"]));
    assert_eq!(node["version"], env!("CARGO_PKG_VERSION"));
    assert!(node["residentBytes"].as_u64() > Some(1_000_000), "{node}");
    let name = node["node"].as_str().unwrap();
    let asked = operator.get(&format!("/v1/platform/actors?node={name}")).send().await.expect(200);
    assert_eq!(asked.json["node"], node["node"]);
}

#[tokio::test]
async fn a_node_that_was_not_heard_of_for_a_while_is_away_and_a_day_later_forgotten() {
    let (server, operator, _) = with_an_actor().await;
    let store = server.store().await;
    let now = store.now();
    let node = |name: &str, seen_at| Node {
        name: name.to_owned(),
        version: "0.0.1".to_owned(),
        started_at: now.before(Duration::from_hours(48)),
        seen_at,
        health: NodeHealth::default(),
    };
    let mut change = Change::new();
    change.node_seen(&node("just up", now.before(AWAY_AFTER - MILLISECOND)));
    change.node_seen(&node("just away", now.before(AWAY_AFTER)));
    change.node_seen(&node("long gone", now.before(Duration::from_hours(24) + MILLISECOND)));
    store.commit(change).await.unwrap();
    let listed = async || operator.get("/v1/platform/nodes").send().await.expect(200);
    let status = |answer: &Answer, name: &str| {
        let nodes = answer.list("/nodes");
        nodes.iter().find(|node| node["node"] == name).map(|node| node["status"].as_str().unwrap().to_owned())
    };
    let nodes = listed().await;
    assert_eq!(status(&nodes, "just up").as_deref(), Some("up"));
    assert_eq!(status(&nodes, "just away").as_deref(), Some("away"));
    let gone = operator.get("/v1/platform/actors?node=just%20away").send().await;
    gone.expect_error(404, "not_found", "Node not found.");
    server
        .eventually("the next heartbeat forgets it", async || {
            status(&listed().await, "long gone").is_none().then_some(())
        })
        .await;
    assert_eq!(status(&listed().await, "just away").as_deref(), Some("away"));
}

#[tokio::test]
async fn a_calm_server_has_no_crashes() {
    let (_server, operator, _) = with_an_actor().await;
    let crashes = operator.get("/v1/platform/crashes").send().await.expect(200);
    assert_eq!(crashes.json["crashes"], json!([]));
}

#[tokio::test]
async fn a_request_that_took_a_second_is_listed_with_its_route_and_its_id() {
    let server = Server::start().await;
    let operator = server.owner();
    let path = organization(&operator).await;
    // Half of a body comes at once, the rest when the request is slow already.
    let mut wire = TcpStream::connect(server.url.trim_start_matches("http://")).await.unwrap();
    let body = json!({ "name": "Slow" }).to_string();
    let head = format!(
        "PATCH {path} HTTP/1.1\r\nHost: troupe\r\nAuthorization: Bearer {}\r\nX-Request-Id: the-slow-one\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        server.owner_token,
        body.len(),
    );
    let (first, rest) = body.split_at(3);
    wire.write_all((head + first).as_bytes()).await.unwrap();
    tokio::time::sleep(SLOW_AFTER + Duration::from_millis(100)).await;
    wire.write_all(rest.as_bytes()).await.unwrap();
    let mut answer = String::new();
    wire.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let slow = operator.get("/v1/platform/slow").send().await.expect(200);
    let request = slow.list("/requests").iter().find(|request| request["requestId"] == "the-slow-one");
    let request = request.unwrap_or_else(|| panic!("{}", slow.text));
    assert_eq!((&request["method"], &request["status"]), (&json!("PATCH"), &json!(200)));
    assert_eq!(request["route"], "/v1/orgs/{orgId}");
    assert!(request["tookUs"].as_u64() >= Some(1_000_000), "{request}");
}

#[tokio::test]
async fn a_turn_that_did_not_yield_is_listed_with_its_command() {
    let server = Server::start().await;
    let ada = server.person("ada").await.client;
    let org_id = ada.org("Acme").await;
    server.faults.set(&format!("handler:page_tree/create_page@{org_id}=spin(2500ms)")).expect("a rule");
    let body = json!({ "parentId": "root", "title": "A page", "kind": "doc" });
    ada.post(&format!("/v1/orgs/{org_id}/pages")).json(&body).send().await.expect(201);
    let slow = server.owner().get("/v1/platform/slow").send().await.expect(200);
    let stall = &slow.json["stalls"][0];
    assert_eq!((&stall["kind"], &stall["key"]), (&json!("page_tree"), &json!(org_id)), "{}", slow.text);
    assert_eq!(stall["command"], "create_page");
    assert!(stall["heldMs"].as_u64() >= Some(1_000), "{stall}");
}

#[tokio::test]
async fn what_takes_the_processor_is_counted_by_lane() {
    let (_server, operator, _) = with_an_actor().await;
    let actors = operator.get("/v1/platform/actors").send().await.expect(200);
    let lanes = actors.list("/processor");
    let names: Vec<_> = lanes.iter().map(|lane| &lane["lane"]).collect();
    assert_eq!(names, ["short", "long"]);
    assert!(lanes[0]["done"].as_u64() > Some(0), "somebody signed in: {}", actors.text);
    assert!(lanes.iter().all(|lane| lane["threads"].as_u64() > Some(0)));
}
