//! Contents and comments of one page, written through two nodes at once.

use std::collections::BTreeSet;

use futures::future::join_all;
use serde_json::json;

use crate::{harness::Client, nodes::Pair};

const ROUNDS: i64 = 20;

/// A page, as the clients of both nodes know it.
async fn page(pair: &Pair) -> ([Client; 2], String) {
    let [left, right] = pair.clients();
    let email = left.register("ada").await;
    let left = left.sign_in(&email, "account", "web").await;
    let path = format!("/v1/orgs/{}/pages", left.org("Acme").await);
    let made = left.post(&path).json(&json!({ "title": "Plans" })).send().await.expect(201);
    let right = left.at(right.base());
    ([left, right], format!("{path}/{}", made.str("/page/pageId")))
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_writes_through_two_nodes_one_is_taken_and_the_other_hears_why() {
    let Some(pair) = Pair::start(&[]).await else { return };
    let (nodes, page) = page(&pair).await;
    for version in 0..ROUNDS {
        let writes = nodes.iter().enumerate().map(|(node, client)| {
            let body = json!({ "blocks": null, "markdown": format!("{version} {node}"), "baseVersion": version });
            client.put(&format!("{page}/content")).json(&body).send()
        });
        let answers = join_all(writes).await;
        let taken: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
        assert_eq!(taken.len(), 1, "{} {}", answers[0].text, answers[1].text);
        assert_eq!(taken[0].int("/version"), version + 1);
        let refused = answers.into_iter().find(|answer| answer.status != 200).unwrap();
        refused.expect_error(409, "stale_content", "This page changed since you opened it.");
    }
    for client in nodes {
        assert_eq!(client.get(&page).send().await.expect(200).int("/content/version"), ROUNDS);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_outlives_its_thread_whichever_node_is_faster() {
    let Some(pair) = Pair::start(&[]).await else { return };
    let (nodes, page) = page(&pair).await;
    let comments = format!("{page}/comments");
    for _ in 0..ROUNDS {
        let thread = nodes[0].post(&comments).json(&json!({ "body": "One" })).send().await.expect(201);
        let thread = thread.str("/comment/commentId");
        let (deleted, answered) = tokio::join!(
            nodes[0].delete(&format!("{comments}/{thread}")).send(),
            nodes[1].post(&comments).json(&json!({ "body": "Two", "threadId": thread })).send()
        );
        deleted.expect(200);
        assert!(matches!(answered.status, 201 | 400), "{}", answered.text);
    }
    let list = nodes[1].get(&format!("{comments}?limit=100")).send().await.expect(200);
    let ids: BTreeSet<_> = list.list("/comments").iter().map(|comment| comment["commentId"].to_string()).collect();
    let threads = list.list("/comments").iter().filter_map(|comment| comment.get("threadId"));
    assert!(threads.map(ToString::to_string).all(|thread| ids.contains(&thread)), "{}", list.text);
}
