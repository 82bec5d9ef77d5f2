use std::time::Duration;

use serde_json::json;
use store::{Clock, EmailTo, OutboxEntry, Purge, RevocationKind, Store, outbox::OutboxLane, testing};

use crate::{LEASE, START, commit, open, purge};

fn event(number: u32) -> OutboxEntry {
    OutboxEntry::Event { event: json!({ "type": "test", "number": number }) }
}

async fn add(store: &Store, entry: &OutboxEntry) {
    commit(store, |change| change.outbox_add(store.now(), entry)).await;
}

#[tokio::test]
async fn entries_are_claimed_in_the_order_of_their_commits_and_come_back_as_written() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let user_id = domain::id::UserId::new(START);
        let entries = [
            OutboxEntry::Live { user_id, message: json!({ "type": "vault.changed" }) },
            OutboxEntry::Revoked { kind: RevocationKind::SignIn, target_id: "sgn_1".into() },
            event(1),
        ];
        for entry in &entries {
            add(&store, entry).await;
        }
        store.outbox_changed().notified().await;
        let claimed = store.outbox_claim(OutboxLane::Prompt, 10, LEASE).await.expect("claims");
        assert!(claimed.is_sorted_by_key(|claim| claim.seq));
        assert!(claimed.iter().all(|claim| claim.attempts == 1 && claim.created_at == START));
        assert_eq!(claimed.into_iter().map(|claim| claim.entry).collect::<Vec<_>>(), entries);
    }
}

#[tokio::test]
async fn no_more_is_claimed_than_was_asked_for() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        commit(&store, |change| (0..10).for_each(|number| change.outbox_add(START, &event(number)))).await;
        for count in [4, 4, 2] {
            assert_eq!(store.outbox_claim(OutboxLane::Prompt, 4, LEASE).await.expect("claims").len(), count);
        }
    }
}

#[tokio::test]
async fn e_mails_wait_on_a_lane_of_their_own() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let to = [EmailTo::Person(domain::id::UserId::new(START)), EmailTo::Address("a@example.com".into())];
        let emails = to.map(|to| OutboxEntry::Email { to, subject: "A".into(), body: "B\n".into() });
        for email in &emails {
            add(&store, email).await;
        }
        assert!(store.outbox_claim(OutboxLane::Prompt, 10, LEASE).await.expect("claims").is_empty());
        let claimed = store.outbox_claim(OutboxLane::Email, 10, LEASE).await.expect("claims");
        assert_eq!(claimed.into_iter().map(|claim| claim.entry).collect::<Vec<_>>(), emails);
    }
}

#[tokio::test]
async fn an_entry_that_was_given_up_is_kept_for_operators_until_it_is_old() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        add(&store, &event(1)).await;
        let claim = store.outbox_claim(OutboxLane::Prompt, 10, LEASE).await.expect("claims").remove(0);
        commit(&store, |change| change.outbox_park(claim.seq, "no such person")).await;
        clock.advance(Duration::from_secs(1_000_000));
        assert!(store.outbox_claim(OutboxLane::Prompt, 10, LEASE).await.expect("claims").is_empty());
        assert_eq!(store.outbox_parked_len().await.expect("counts"), 1);
        purge(&store, Purge::outbox(clock.now())).await;
        assert_eq!(store.outbox_parked_len().await.expect("counts"), 0);
    }
}

#[tokio::test]
async fn an_entry_comes_again_after_its_lease_until_it_is_done() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        add(&store, &event(1)).await;
        let first = store.outbox_claim(OutboxLane::Prompt, 10, LEASE).await.expect("claims").remove(0);
        assert!(store.outbox_claim(OutboxLane::Prompt, 10, LEASE).await.expect("claims").is_empty());
        clock.advance(LEASE);
        let second = store.outbox_claim(OutboxLane::Prompt, 10, LEASE).await.expect("claims").remove(0);
        assert_eq!((second.seq, second.attempts), (first.seq, 2));
        commit(&store, |change| change.outbox_done([second.seq])).await;
        clock.advance(LEASE);
        assert!(store.outbox_claim(OutboxLane::Prompt, 10, LEASE).await.expect("claims").is_empty());
    }
}

#[tokio::test]
async fn a_failed_entry_comes_again_when_it_may() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        add(&store, &event(1)).await;
        let claim = store.outbox_claim(OutboxLane::Prompt, 10, LEASE).await.expect("claims").remove(0);
        let again = START.after(Duration::from_secs(5));
        commit(&store, |change| change.outbox_failed(claim.seq, "no route", again)).await;
        assert_eq!(store.outbox_next(OutboxLane::Prompt).await.expect("reads"), Some(again));
        assert!(store.outbox_claim(OutboxLane::Prompt, 10, LEASE).await.expect("claims").is_empty());
        clock.set(again);
        assert_eq!(store.outbox_claim(OutboxLane::Prompt, 10, LEASE).await.expect("claims").len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_never_claim_the_same_entry() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let nodes = [open(&scratch, &clock).await, open(&scratch, &clock).await];
        commit(&nodes[0], |change| (0..200).for_each(|number| change.outbox_add(START, &event(number)))).await;
        let claiming = (0..8).map(|claimer| {
            let node = nodes[claimer % 2].clone();
            tokio::spawn(async move {
                let mut claimed = Vec::new();
                while node.outbox_next(OutboxLane::Prompt).await.expect("reads").is_some_and(|next| next <= START) {
                    claimed.extend(
                        node.outbox_claim(OutboxLane::Prompt, 7, LEASE)
                            .await
                            .expect("claims")
                            .into_iter()
                            .map(|claim| claim.seq),
                    );
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
