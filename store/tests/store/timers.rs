use std::time::Duration;

use store::{Change, Clock, CommitError, Timer, testing};

use crate::{LEASE, START, commit, open};

fn timer(name: &str, seconds: u64) -> Timer {
    Timer {
        kind: "vault".into(),
        key: "usr_1".into(),
        name: name.into(),
        due: START.after(Duration::from_secs(seconds)),
    }
}

fn set(change: &mut Change, timer: &Timer) {
    change.timer_set(&timer.kind, &timer.key, &timer.name, timer.due);
}

#[tokio::test]
async fn a_timer_is_claimed_when_it_is_due_and_not_before() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        let (soon, late) = (timer("soon", 10), timer("late", 20));
        commit(&store, |change| [&late, &soon].into_iter().for_each(|timer| set(change, timer))).await;
        assert_eq!(store.timers_next().await.expect("reads"), Some(soon.due));
        clock.set(soon.due.before(Duration::from_millis(1)));
        assert!(store.timers_claim(10, LEASE).await.expect("claims").is_empty());
        clock.set(soon.due);
        assert_eq!(store.timers_claim(10, LEASE).await.expect("claims"), [soon]);
        clock.set(late.due);
        assert_eq!(store.timers_claim(10, LEASE).await.expect("claims"), [late]);
    }
}

#[tokio::test]
async fn setting_a_timer_again_moves_it_and_cancelling_removes_it() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        let moved = timer("reset", 20);
        commit(&store, |change| set(change, &timer("reset", 10))).await;
        commit(&store, |change| set(change, &moved)).await;
        assert_eq!(store.timer_get("vault", "usr_1", "reset").await.expect("reads"), Some(moved));
        commit(&store, |change| change.timer_cancel("vault", "usr_1", "reset")).await;
        clock.advance(Duration::from_mins(1));
        assert!(store.timers_claim(10, LEASE).await.expect("claims").is_empty());
        assert_eq!(store.timers_next().await.expect("reads"), None);
    }
}

#[tokio::test]
async fn a_claimed_timer_comes_again_after_its_lease_unless_it_is_done() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        let due = timer("step", 0);
        commit(&store, |change| set(change, &due)).await;
        assert_eq!(store.timers_claim(10, LEASE).await.expect("claims").len(), 1);
        assert!(store.timers_claim(10, LEASE).await.expect("claims").is_empty());
        assert_eq!(store.timers_next().await.expect("reads"), Some(START.after(LEASE)));
        clock.advance(LEASE);
        assert_eq!(store.timers_claim(10, LEASE).await.expect("claims"), std::slice::from_ref(&due));
        commit(&store, |change| change.timer_done(&due)).await;
        clock.advance(LEASE);
        assert!(store.timers_claim(10, LEASE).await.expect("claims").is_empty());
    }
}

#[tokio::test]
async fn what_a_timer_causes_happens_once_and_not_after_it_was_moved() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let (first, moved) = (timer("step", 0), timer("step", 10));
        commit(&store, |change| set(change, &first)).await;
        commit(&store, |change| set(change, &moved)).await;
        let mut late = Change::new();
        late.timer_done(&first);
        assert_eq!(store.commit(late).await, Err(CommitError::Stale));
        commit(&store, |change| {
            change.timer_done(&moved);
            set(change, &moved);
        })
        .await;
        assert_eq!(store.timer_get("vault", "usr_1", "step").await.expect("reads"), Some(moved));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_never_claim_the_same_timer() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let nodes = [open(&scratch, &clock).await, open(&scratch, &clock).await];
        commit(&nodes[0], |change| (0..200).for_each(|number| set(change, &timer(&format!("t{number}"), 0)))).await;
        let claiming = (0..8).map(|claimer| {
            let node = nodes[claimer % 2].clone();
            tokio::spawn(async move {
                let mut claimed = Vec::new();
                while node.timers_next().await.expect("reads").is_some_and(|next| next <= START) {
                    claimed
                        .extend(node.timers_claim(7, LEASE).await.expect("claims").into_iter().map(|timer| timer.name));
                }
                claimed
            })
        });
        let mut claimed = Vec::new();
        for claims in futures::future::join_all(claiming).await {
            claimed.extend(claims.expect("does not panic"));
        }
        let count = claimed.len();
        claimed.sort_unstable();
        claimed.dedup();
        assert_eq!((count, claimed.len()), (200, 200));
    }
}

#[tokio::test]
async fn a_commit_that_sets_a_timer_tells_who_waits_for_it() {
    let scratch = testing::Scratch::sqlite().expect("makes a folder");
    let store = open(&scratch, &Clock::manual(START)).await;
    commit(&store, |change| set(change, &timer("step", 5))).await;
    store.timers_changed().notified().await;
}
