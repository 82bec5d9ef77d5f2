use std::{num::NonZeroUsize, time::Duration};

use actors::{Actors, kernel::KernelOptions};
use domain::id::UserId;
use serde_json::json;
use store::{Change, KeptMessage, RevocationKind};

use crate::node::{Node, START, soon};

const HOUR: Duration = Duration::from_hours(1);
const MONTH: Duration = Duration::from_hours(30 * 24);

fn start(node: &Node) -> Actors {
    let options = KernelOptions { arbiters: NonZeroUsize::MIN, ..KernelOptions::new("test") };
    Actors::start(&node.services, options).expect("actors")
}

/// Returns once the timer is set to `after` the start.
async fn armed(node: &Node, after: Duration) {
    soon(async {
        let due = Some(START.after(after));
        while node.services.store.timers_next().await.expect("a read") != due {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

async fn keep(node: &Node) {
    let mut change = Change::new();
    let created_at = node.clock.now();
    change.kept_add(KeptMessage {
        gateway: "console".into(),
        channel: "email".into(),
        recipient: "ada@example.org".into(),
        subject: None,
        body: String::new(),
        created_at,
    });
    change.revocation_add(created_at, RevocationKind::Key, "key_1");
    node.services.store.commit(change).await.expect("a commit");
}

async fn kept(node: &Node) -> (usize, usize) {
    let store = &node.services.store;
    let messages = store.kept_list(None, 10).await.expect("a read").len();
    (messages, store.revocations_since(START).await.expect("a read").len())
}

#[tokio::test]
async fn what_is_over_is_thrown_away_every_hour_and_nothing_before_its_time() {
    let node = Node::new().await;
    let ada = UserId::new(START);
    let actors = start(&node);
    armed(&node, HOUR).await;
    node.commit_live(ada, json!({"type": "early"})).await;
    keep(&node).await;
    soon(async {
        while node.services.store.live_seq(ada).await.expect("a read") == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;

    node.clock.advance(HOUR);
    armed(&node, 2 * HOUR).await;
    assert_eq!(node.services.store.live_after(ada, 0, 10).await.expect("a read").len(), 1, "an hour old, to the ms");
    node.clock.advance(HOUR);
    armed(&node, 3 * HOUR).await;
    assert!(node.services.store.live_after(ada, 0, 10).await.expect("a read").is_empty());
    assert_eq!(node.services.store.live_seq(ada).await.expect("a read"), 1, "numbers go on");
    assert_eq!(kept(&node).await, (1, 1));

    node.clock.set(START.after(26 * HOUR));
    armed(&node, 27 * HOUR).await;
    assert_eq!(kept(&node).await, (1, 0));
    node.clock.set(START.after(MONTH + HOUR));
    armed(&node, MONTH + 2 * HOUR).await;
    assert_eq!(kept(&node).await, (0, 0));
    actors.shutdown(Duration::from_secs(10)).await;
}

#[tokio::test]
async fn a_restart_leaves_the_timer_where_it_is() {
    let node = Node::new().await;
    let actors = start(&node);
    armed(&node, HOUR).await;
    actors.shutdown(Duration::from_secs(10)).await;
    drop(actors);
    let node = node.restarted().await;
    node.clock.advance(HOUR / 2);
    let actors = start(&node);
    armed(&node, HOUR).await;
    node.clock.advance(HOUR / 2);
    armed(&node, 2 * HOUR).await;
    actors.shutdown(Duration::from_secs(10)).await;
}
