use std::time::Duration;

use domain::{Tenant, id::OrgId};
use store::{Change, Claimed, Clock, CommitError, Permits, Store, Timer, Turns, testing};

use crate::{LEASE, START, commit, open};

fn timer(name: &str, seconds: u64) -> Timer {
    Timer {
        kind: "vault".into(),
        key: "usr_1".into(),
        name: name.into(),
        due: START.after(Duration::from_secs(seconds)),
        tenant: Tenant::System,
    }
}

async fn claim(store: &Store, limit: u32) -> Vec<Timer> {
    store.timers_claim("vault", &Turns::new(Permits::shared(limit)), LEASE).await.expect("claims").taken()
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
        assert!(claim(&store, 10).await.is_empty());
        clock.set(soon.due);
        assert_eq!(claim(&store, 10).await, [soon]);
        clock.set(late.due);
        assert_eq!(claim(&store, 10).await, [late]);
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
        assert!(claim(&store, 10).await.is_empty());
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
        assert_eq!(claim(&store, 10).await.len(), 1);
        assert!(claim(&store, 10).await.is_empty());
        assert_eq!(store.timers_next().await.expect("reads"), Some(START.after(LEASE)));
        clock.advance(LEASE);
        assert_eq!(claim(&store, 10).await, std::slice::from_ref(&due));
        commit(&store, |change| change.timer_done(&due)).await;
        clock.advance(LEASE);
        assert!(claim(&store, 10).await.is_empty());
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
                    claimed.extend(claim(&node, 7).await.into_iter().map(|timer| timer.name));
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

#[tokio::test]
async fn timers_are_claimed_by_kind_and_in_turns_by_tenant() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let (loud, quiet) = (OrgId::new(START), OrgId::new(START));
        commit(&store, |change| {
            (0..500)
                .for_each(|number| change.timer_set_for(loud, "escalation", &format!("esc_{number}"), "step", START));
            change.timer_set("page_tree", &loud.to_string(), "purge", START);
            change.timer_set_for(quiet, "escalation", "esc_quiet", "step", START.after(LEASE));
        })
        .await;
        let kinds = store.timers_next_by_kind().await.expect("reads");
        assert_eq!(kinds, [("escalation".to_owned(), START), ("page_tree".to_owned(), START)]);
        let turns = Turns::new(Permits::with_spare(4, 1));
        let claimed = store.timers_claim("escalation", &turns, LEASE).await.expect("claims").taken();
        assert_eq!(claimed.len(), 4, "no more than there are permits for");
        let _held: Vec<_> = claimed.iter().map(|timer| turns.take(timer.tenant)).collect();
        assert_eq!(store.timers_claim("escalation", &turns, LEASE).await.expect("claims"), Claimed::NoRoom);
        commit(&store, |change| change.timer_set_for(quiet, "escalation", "esc_quiet", "step", START)).await;
        let claimed = store.timers_claim("escalation", &turns, LEASE).await.expect("claims").taken();
        assert_eq!(claimed.iter().map(|timer| timer.key.as_str()).collect::<Vec<_>>(), ["esc_quiet"]);
        let other =
            store.timers_claim("page_tree", &Turns::new(Permits::shared(9)), LEASE).await.expect("claims").taken();
        assert_eq!(other.iter().map(|timer| timer.tenant).collect::<Vec<_>>(), [loud.into()]);
    }
}
