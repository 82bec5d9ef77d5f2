//! Limits hold across nodes.

use std::time::Instant;

use super::Pair;
use crate::harness::Client;

/// How often a limit is tried out until Redis has had time for it.
const ROUNDS_MAX: usize = 20;

#[tokio::test(flavor = "multi_thread")]
async fn a_callers_rate_limit_is_one_on_both_nodes() {
    const PER_MINUTE: u64 = 30;
    let Some(pair) = Pair::start(&[&format!("server.requests_per_minute={PER_MINUTE}")]).await else { return };
    let clients = pair.clients();
    for round in 0..ROUNDS_MAX {
        let ada = clients[0].with_authenticator(&format!("ada{round}")).await;
        let before = counted_alone(&pair).await;
        let started = Instant::now();
        let mut passed = 0;
        for turn in 0..PER_MINUTE * 2 {
            let answer = ada.at(clients[usize::from(turn % 2 == 1)].base()).get("/v1/me").send().await;
            match answer.status {
                200 => passed += 1,
                _ => assert!(answer.expect(429).header("retry-after").is_some()),
            }
        }
        assert!(passed >= PER_MINUTE, "{passed} requests passed");
        // One more is allowed every two seconds.
        let earned = started.elapsed().as_secs() * PER_MINUTE / 60 + 1;
        if counted_alone(&pair).await == before {
            assert!(passed <= PER_MINUTE + earned, "{passed} requests passed");
            return;
        }
    }
    panic!("Redis was away time and again");
}

/// How often the nodes have each counted by themselves, because Redis was too slow to answer.
async fn counted_alone(pair: &Pair) -> Vec<String> {
    let mut counts = Vec::new();
    for node in &pair.nodes {
        let metrics = Client::new(&node.operators_url).get("/metrics").send().await.expect(200).text;
        let line = metrics.lines().find(|line| line.starts_with("troupe_hub_limit_fallback_total"));
        counts.push(line.expect("a count").to_owned());
    }
    counts
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_wrong_passwords_on_either_node_lock_the_account_on_both() {
    let Some(pair) = Pair::start(&[]).await else { return };
    let clients = pair.clients();
    let email = clients[0].register("ada").await;
    let wrong =
        serde_json::json!({ "email": email, "password": "not the password", "app": "account", "platform": "web" });
    for turn in 0..10 {
        clients[turn % 2].post("/v1/auth/sign-in").json(&wrong).send().await.expect(401);
    }
    for client in clients {
        client.post("/v1/auth/sign-in").json(&wrong).send().await.expect(429);
    }
}
