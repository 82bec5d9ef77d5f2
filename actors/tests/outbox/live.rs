use std::time::{Duration, Instant};

use actors::live::{Feed, LiveFrame};
use domain::{Timestamp, id::UserId};
use serde_json::{Value, json};
use store::{Change, OutboxEntry, PURGE_ROWS_MAX, Permits, Purge, Turns, outbox};

use crate::node::{Node, START, soon};

async fn feed(node: &Node, user_id: UserId, after: Option<i64>) -> Feed {
    Feed::open(&node.services.store, &node.services.hub, user_id, after).await.expect("a feed")
}

async fn next(feed: &mut Feed) -> Value {
    let LiveFrame { seq, text } = soon(feed.next()).await.expect("a message");
    let message: Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!(message["seq"], seq);
    message
}

/// Whether nothing comes although everything was delivered.
async fn is_quiet(feed: &mut Feed) -> bool {
    tokio::select! {
        biased;
        _ = feed.next() => false,
        () = tokio::task::yield_now() => true,
    }
}

fn numbered(number: u64) -> Value {
    json!({"type": "test", "number": number})
}

#[tokio::test]
async fn a_message_reaches_the_persons_sockets_and_nobody_elses() {
    let node = Node::new().await;
    let (ada, eve) = (UserId::new(START), UserId::new(START));
    let mut phone = feed(&node, ada, None).await;
    let mut laptop = feed(&node, ada, None).await;
    let mut eves = feed(&node, eve, None).await;
    node.commit_live(ada, json!({"type": "vault.changed", "revision": 4})).await;
    node.dispatcher().work_due().await.expect("delivered");
    for feed in [&mut phone, &mut laptop] {
        assert_eq!(next(feed).await, json!({"type": "vault.changed", "revision": 4, "seq": 1}));
        assert!(is_quiet(feed).await);
    }
    assert!(is_quiet(&mut eves).await);
    assert_eq!(node.next(outbox::LIVE).await, None, "settled");
}

#[tokio::test]
async fn a_commit_wakes_the_dispatcher() {
    let node = Node::new().await;
    let ada = UserId::new(START);
    let mut feed = feed(&node, ada, None).await;
    let _running = node.dispatcher().start();
    let mut waits = Vec::new();
    for number in 1..=40 {
        let begun = Instant::now();
        node.commit_live(ada, numbered(number)).await;
        assert_eq!(next(&mut feed).await["number"], number);
        waits.push(begun.elapsed());
    }
    waits.sort_unstable();
    // Looked for once a second, most would have waited for most of it.
    assert!(waits[waits.len() / 2] < Duration::from_millis(450), "{waits:?}");
}

#[tokio::test]
async fn numbers_have_no_gaps_and_follow_the_commits_with_two_dispatchers_at_work() {
    const MESSAGES: u64 = 150;
    let node = Node::new().await;
    let people = [UserId::new(START), UserId::new(START), UserId::new(START)];
    let (_one, _other) = (node.dispatcher().start(), node.dispatcher().start());
    let mut feeds = Vec::new();
    for user_id in people {
        feeds.push(feed(&node, user_id, None).await);
    }
    let readers = feeds.iter_mut().map(|feed| async move {
        for number in 1..=MESSAGES {
            let message = next(feed).await;
            assert_eq!((&message["seq"], &message["number"]), (&json!(number), &json!(number)));
        }
    });
    let writers = people.map(|user_id| {
        let node = &node;
        async move {
            for number in 1..=MESSAGES {
                node.commit_live(user_id, numbered(number)).await;
            }
        }
    });
    tokio::join!(futures::future::join_all(readers), futures::future::join_all(writers));
    soon(async {
        while node.next(outbox::LIVE).await.is_some() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn appending_twice_at_once_gives_each_message_one_number() {
    let node = Node::new().await;
    let ada = UserId::new(START);
    for number in 1..=50 {
        node.commit_live(ada, numbered(number)).await;
    }
    let store = &node.services.store;
    let drafts = store.outbox_live(&[ada], 100).await.expect("a read");
    let (one, other) = tokio::join!(store.live_append(&drafts), store.live_append(&drafts));
    let numbers = |messages: Vec<store::LiveMessage>| messages.iter().map(|message| message.seq).collect::<Vec<_>>();
    assert_eq!(numbers(one.expect("appended")), (1..=50).collect::<Vec<_>>());
    assert_eq!(numbers(other.expect("appended")), (1..=50).collect::<Vec<_>>());
    assert_eq!(store.live_seq(ada).await.expect("a read"), 50);
}

#[tokio::test]
async fn a_message_whose_process_died_before_it_was_numbered_is_delivered_after_the_restart() {
    let node = Node::new().await;
    let ada = UserId::new(START);
    node.commit_live(ada, numbered(1)).await;
    let node = node.restarted().await;
    let mut feed = feed(&node, ada, Some(0)).await;
    node.dispatcher().work_due().await.expect("delivered");
    assert_eq!(next(&mut feed).await["number"], 1);
}

#[tokio::test]
async fn a_message_whose_process_died_before_it_was_published_is_published_under_its_number() {
    let node = Node::new().await;
    let ada = UserId::new(START);
    node.commit_live(ada, numbered(1)).await;
    let store = &node.services.store;
    let lease = Duration::from_secs(30);
    let claimed = store.outbox_claim(outbox::LIVE, &Turns::new(Permits::shared(10)), lease).await;
    assert_eq!(claimed.expect("claimed").taken().len(), 1);
    let drafts = store.outbox_live(&[ada], 10).await.expect("a read");
    store.live_append(&drafts).await.expect("appended");

    let node = node.restarted().await;
    let mut listening = feed(&node, ada, Some(0)).await;
    assert_eq!(next(&mut listening).await["seq"], 1, "the store has it");
    node.dispatcher().work_due().await.expect("nothing is due while the dead process has its lease");
    assert!(node.next(outbox::LIVE).await.is_some());
    node.clock.advance(lease);
    node.dispatcher().work_due().await.expect("delivered");
    assert_eq!(node.next(outbox::LIVE).await, None);
    assert!(is_quiet(&mut listening).await, "the same number again is no new message");
    node.commit_live(ada, numbered(2)).await;
    node.dispatcher().work_due().await.expect("delivered");
    assert_eq!(next(&mut listening).await, json!({"type": "test", "number": 2, "seq": 2}));
}

#[tokio::test]
async fn a_reader_that_reconnects_gets_what_it_has_not_seen() {
    let node = Node::new().await;
    let ada = UserId::new(START);
    for number in 1..=5 {
        node.commit_live(ada, numbered(number)).await;
    }
    node.dispatcher().work_due().await.expect("delivered");
    let mut feed = feed(&node, ada, Some(2)).await;
    assert!(!feed.has_missed());
    for number in 3..=5 {
        assert_eq!(next(&mut feed).await["number"], number);
    }
    assert!(is_quiet(&mut feed).await);
}

#[tokio::test]
async fn a_reader_that_missed_a_message_on_the_hub_reads_it_from_the_store() {
    let node = Node::new().await;
    let ada = UserId::new(START);
    let mut feed = feed(&node, ada, None).await;
    node.commit_live(ada, numbered(1)).await;
    let store = &node.services.store;
    let drafts = store.outbox_live(&[ada], 10).await.expect("a read");
    store.live_append(&drafts).await.expect("numbered, and never published");
    let mut settled = Change::new();
    settled.outbox_done(drafts.iter().map(|draft| draft.source));
    store.commit(settled).await.expect("settled");
    node.commit_live(ada, numbered(2)).await;
    node.dispatcher().work_due().await.expect("delivered");
    assert_eq!(next(&mut feed).await["number"], 1);
    assert_eq!(next(&mut feed).await["number"], 2);
}

async fn purge(node: &Node, before: Timestamp) {
    let store = &node.services.store;
    let batch = store.purge_next(&[Purge::live_messages(before)], PURGE_ROWS_MAX).await.expect("a read");
    store.commit(batch.change).await.expect("purged");
}

#[tokio::test]
async fn a_reader_is_told_when_messages_are_gone_for_good() {
    let node = Node::new().await;
    let ada = UserId::new(START);
    for number in 1..=3 {
        node.commit_live(ada, numbered(number)).await;
        node.dispatcher().work_due().await.expect("delivered");
        node.clock.advance(Duration::from_mins(1));
    }
    purge(&node, START.after(Duration::from_secs(61))).await;
    assert!(feed(&node, ada, Some(0)).await.has_missed());
    let mut seen_two = feed(&node, ada, Some(2)).await;
    assert!(!seen_two.has_missed());
    assert_eq!(next(&mut seen_two).await["number"], 3);
    purge(&node, Timestamp(i64::MAX)).await;
    assert!(feed(&node, ada, Some(2)).await.has_missed());
    assert!(!feed(&node, ada, Some(3)).await.has_missed());
}

#[tokio::test]
async fn a_number_that_was_never_given_out_is_the_newest() {
    let node = Node::new().await;
    let ada = UserId::new(START);
    for after in [i64::MAX, 1, -1, i64::MIN] {
        let feed = feed(&node, ada, Some(after)).await;
        assert_eq!((feed.last(), feed.has_missed()), (0, false));
    }
    let mut feed = feed(&node, ada, Some(i64::MAX)).await;
    node.commit_live(ada, numbered(1)).await;
    node.dispatcher().work_due().await.expect("delivered");
    assert_eq!(next(&mut feed).await["number"], 1);
}

#[tokio::test]
async fn more_messages_than_are_read_at_once_arrive_all_the_same() {
    let node = Node::new().await;
    let ada = UserId::new(START);
    let entries: Vec<_> =
        (1..=1_200).map(|number| OutboxEntry::Live { user_id: ada, message: numbered(number) }).collect();
    node.commit(&entries).await;
    node.dispatcher().work_due().await.expect("delivered");
    let mut feed = feed(&node, ada, Some(0)).await;
    for number in 1..=1_200 {
        assert_eq!(next(&mut feed).await["number"], number);
    }
}
