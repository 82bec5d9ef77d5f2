//! What operators ask of one node through the other.

use std::time::Duration;

use serde_json::json;

use super::Pair;
use crate::harness::{Answer, Client, Request};

/// The operator on both nodes, and the names of these.
async fn operators(pair: &Pair) -> [(Client, String); 2] {
    let token = pair.nodes.iter().find_map(|node| node.owner_token.clone()).expect("an owner");
    let mut named: Vec<(Client, String)> = Vec::new();
    for client in pair.clients() {
        let operator = client.with_token(&token);
        let node = operator.get("/v1/platform/actors").send().await.expect(200).str("/node").to_owned();
        named.push((operator, node));
    }
    // Each knows of the other once that one has said that it is there.
    for _ in 0..600 {
        let nodes = named[0].0.get("/v1/platform/nodes").send().await.expect(200);
        if nodes.list("/nodes").len() == 2 {
            return named.try_into().expect("two nodes");
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the nodes did not say that they are there")
}

/// What a node answers through the other one: 503 says that it had no time, and that it may be asked again; and one that had
/// no time to say that it is there does so soon.
async fn answered(ask: impl Fn() -> Request) -> Answer {
    for _ in 0..60 {
        let answer = ask().send().await;
        if answer.status != 503 && answer.json["error"] != "Node not found." {
            return answer;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    panic!("the other node never answered")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_answers_for_its_own_actors_whichever_is_asked() {
    let Some(pair) = Pair::start(&[]).await else { return };
    let [(left, left_name), (right, right_name)] = operators(&pair).await;
    assert_ne!(left_name, right_name);
    let org_id = left.get("/v1/orgs").send().await.expect(200).str("/orgs/0/orgId").to_owned();
    left.patch(&format!("/v1/orgs/{org_id}")).json(&json!({ "name": "Platform!" })).send().await.expect(200);
    let path = format!("/v1/platform/actors/organization/{org_id}");
    let asked = answered(|| right.get(&format!("{path}?node={left_name}"))).await.expect(200);
    assert_eq!((asked.str("/node"), asked.str("/actor/key")), (left_name.as_str(), org_id.as_str()));
    let search = format!("/v1/platform/actors/organization?node={left_name}&q={org_id}");
    assert_eq!(answered(|| right.get(&search)).await.expect(200).list("/actors").len(), 1);
    let no_crash = answered(|| right.post(&format!("{path}/release?node={left_name}"))).await;
    no_crash.expect_error(409, "not_quarantined", "It has no crashes to forget.");
    // A 503 leaves open whether it was done.
    let passivated = answered(|| right.post(&format!("{path}/passivate?node={left_name}"))).await;
    assert!(matches!(passivated.status, 200 | 404), "{}", passivated.text);
    let gone = answered(|| right.get(&format!("{path}?node={left_name}"))).await;
    gone.expect_error(404, "not_found", "There is no such actor on this node.");
    let trail = right.get(&format!("/v1/orgs/{org_id}/audit?action=actor.passivated")).send().await.expect(200);
    assert_eq!(trail.str("/events/0/metadata/node"), left_name);
    let nodes = right.get("/v1/platform/nodes").send().await.expect(200);
    assert_eq!(nodes.list("/nodes").len(), 2, "{}", nodes.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_died_does_not_answer() {
    let Some(pair) = Pair::start(&[]).await else { return };
    let [(_, left_name), (right, _)] = operators(&pair).await;
    let [left_node, _right_node] = pair.nodes;
    left_node.kill();
    let silent = right.get(&format!("/v1/platform/crashes?node={left_name}")).send().await;
    if silent.status == 404 {
        // It died so long ago that it counts as away.
        let nodes = right.get("/v1/platform/nodes").send().await.expect(200);
        let left = nodes.list("/nodes").iter().find(|node| node["node"] == left_name).expect("the node");
        assert_eq!(left["status"], "away", "{left}");
        return;
    }
    assert!(silent.header("retry-after").is_some());
    silent.expect_error(503, "node_silent", "This node doesn't answer right now; try again.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_left_is_not_there() {
    let Some(pair) = Pair::start(&["shutdown.grace=60s"]).await else { return };
    let [(_, left_name), (right, right_name)] = operators(&pair).await;
    let [left_node, _right_node] = pair.nodes;
    assert_eq!(left_node.terminate(), Some(0));
    let gone = right.get(&format!("/v1/platform/crashes?node={left_name}")).send().await;
    gone.expect_error(404, "not_found", "Node not found.");
    let nodes = right.get("/v1/platform/nodes").send().await.expect(200);
    let names: Vec<_> = nodes.list("/nodes").iter().map(|node| node["node"].clone()).collect();
    assert_eq!(names, [json!(right_name)]);
}
