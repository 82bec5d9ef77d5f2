//! A node is told to stop under load, behind a second one: no request fails that it accepted, and sockets hear 1012.
//!
//! A client can't tell a request that the node never took from one whose answer was lost: both end in a broken connection.
//! So each goes under an `Idempotency-Key`, by which the second node would tell that the first one had done it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::future::join_all;
use serde_json::json;

use crate::{
    harness::{Client, Socket},
    nodes::Pair,
};

const CLIENTS: usize = 16;
const SOCKETS: usize = 8;
/// Requests that each client has had answered before the node is told to stop, and after it has ended.
const EACH: u64 = 20;

/// A client that turns to the second node where the first one doesn't take its request.
struct Shopper {
    nodes: [Client; 2],
    org_id: String,
    answered: Arc<AtomicU64>,
    made: Vec<String>,
    /// Requests that the first node did not take.
    turned: u64,
}

impl Shopper {
    async fn enrol(clients: &[Client; 2], number: usize) -> Self {
        let client = clients[0].with_authenticator(&format!("shopper{number}")).await;
        let org_id = client.org("Stop").await;
        let nodes = [client.clone(), client.at(clients[1].base())];
        Self { nodes, org_id, answered: Arc::default(), made: Vec::new(), turned: 0 }
    }

    /// Makes pages one after the other until it is enough; each request is sent once, to whom takes it.
    async fn work(mut self, enough: Arc<AtomicBool>) -> Self {
        while !enough.load(Ordering::Relaxed) {
            let title = format!("Page {}", self.made.len());
            let path = format!("/v1/orgs/{}/pages", self.org_id);
            let body = json!({ "title": title, "parentId": "root", "kind": "doc" });
            let ask = |node: &Client| node.post(&path).header("Idempotency-Key", &title).json(&body);
            // Once the node has ended, another test's server may have its port, and knows nobody.
            let answer = ask(&self.nodes[0]).try_send().await.filter(|answer| answer.status != 401);
            let answer = if let Some(answer) = answer {
                answer
            } else {
                self.turned += 1;
                let answer = ask(&self.nodes[1]).send().await;
                assert_eq!(answer.header("idempotency-replayed"), None, "{title} was done, and its answer lost");
                answer
            };
            self.made.push(answer.expect(201).str("/page/pageId").to_owned());
            self.answered.fetch_add(1, Ordering::Relaxed);
        }
        self
    }

    /// Each page is there, and no other.
    async fn verify(&self) {
        let path = format!("/v1/orgs/{}/pages", self.org_id);
        let answer = self.nodes[1].get(&path).send().await.expect(200);
        let mut found: Vec<_> = answer.list("/pages").iter().map(|page| page["pageId"].as_str().unwrap()).collect();
        let mut made: Vec<_> = self.made.iter().map(String::as_str).collect();
        found.sort_unstable();
        made.sort_unstable();
        assert_eq!(found, made);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_is_told_to_stop_fails_no_request_that_it_accepted() {
    // A deadline that passed, or a grace, would be a request that fails by being slow.
    let settings = ["shutdown.grace=60s", "server.request_timeout=10m"];
    let Some(pair) = Pair::start(&settings).await else { return };
    let clients = pair.clients();
    let shoppers = join_all((0..CLIENTS).map(|number| Shopper::enrol(&clients, number))).await;
    let answered: Vec<_> = shoppers.iter().map(|shopper| shopper.answered.clone()).collect();
    let sockets = join_all(shoppers.iter().take(SOCKETS).map(|shopper| Socket::live(&shopper.nodes[0], 0))).await;
    let told = sockets.into_iter().map(|mut socket| tokio::spawn(async move { socket.closed().await }));
    let told: Vec<_> = told.collect();
    let enough = Arc::<AtomicBool>::default();
    let working: Vec<_> = shoppers.into_iter().map(|shopper| tokio::spawn(shopper.work(enough.clone()))).collect();

    more(&answered).await;
    let [first, second] = pair.nodes;
    let status = tokio::task::spawn_blocking(move || first.terminate()).await.unwrap();
    assert_eq!(status, Some(0), "the node ended in order");
    more(&answered).await;
    enough.store(true, Ordering::Relaxed);
    for code in join_all(told).await {
        assert_eq!(code.unwrap(), Some(1012));
    }
    let mut turned = 0;
    for shopper in join_all(working).await {
        let shopper = shopper.expect("no request failed");
        shopper.verify().await;
        turned += shopper.turned;
    }
    eprintln!("{turned} requests went to the second node");
    drop(second);
}

/// Waits until each client has had more requests answered.
async fn more(answered: &[Arc<AtomicU64>]) {
    let before: Vec<_> = answered.iter().map(|count| count.load(Ordering::Relaxed)).collect();
    for _ in 0..12_000 {
        let counts = answered.iter().map(|count| count.load(Ordering::Relaxed));
        if counts.zip(&before).all(|(count, before)| count >= before + EACH) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("work does not go on");
}
