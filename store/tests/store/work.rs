use std::{collections::BTreeMap, time::Duration};

use domain::{
    Tenant, Timestamp,
    id::{OrgId, UserId},
};
use store::{Change, Claimed, Clock, CommitError, NewWork, Permits, Purge, Store, Turns, Work, WorkState, testing};

use crate::{LEASE, START, commit, open, purge};

const TOPIC: &str = "test";

fn work(tenant: impl Into<Tenant>, number: u32) -> NewWork {
    NewWork::new(TOPIC, tenant, &number)
}

async fn claim(store: &Store, turns: &Turns) -> Vec<Work> {
    store.work_claim(TOPIC, turns, LEASE).await.expect("claims").taken()
}

/// Claims with as many permits, none of which is held before or after.
async fn claim_of(store: &Store, permits: u32) -> Vec<Work> {
    claim(store, &Turns::new(Permits::shared(permits))).await
}

fn by_tenant(claimed: &[Work]) -> BTreeMap<Tenant, usize> {
    claimed.iter().fold(BTreeMap::new(), |mut counts, work| {
        *counts.entry(work.tenant).or_default() += 1;
        counts
    })
}

#[tokio::test]
async fn work_is_claimed_in_the_order_of_its_commits_and_comes_back_as_written() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let person = UserId::new(START);
        for number in 0..3 {
            commit(&store, |change| change.work_add(START, work(person, number))).await;
        }
        store.work_changed(TOPIC).notified().await;
        let claimed = claim_of(&store, 10).await;
        assert!(claimed.is_sorted_by_key(|work| work.seq));
        assert_eq!(claimed.iter().map(|work| work.payload.as_str()).collect::<Vec<_>>(), ["0", "1", "2"]);
        assert!(claimed.iter().all(|work| work.tenant == person.into() && (work.attempts, work.fence) == (1, 1)));
        assert_eq!(
            store.work_claim(TOPIC, &Turns::new(Permits::shared(1)), LEASE).await.expect("claims"),
            Claimed::NothingDue
        );
    }
}

#[tokio::test]
async fn tenants_take_turns_however_much_one_of_them_has_waiting() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let (loud, quiet) = (OrgId::new(START), UserId::new(START));
        commit(&store, |change| (0..2_000).for_each(|number| change.work_add(START, work(loud, number)))).await;
        commit(&store, |change| {
            (0..2).for_each(|number| change.work_add(START, work(quiet, number)));
            change.work_add(START, work(Tenant::System, 0));
        })
        .await;
        let first = claim_of(&store, 9).await;
        let expected = [(Tenant::System, 1), (loud.into(), 3), (quiet.into(), 2)].into_iter().collect();
        assert_eq!(by_tenant(&first), expected, "each a third of nine, as far as they have it");
    }
}

#[tokio::test]
async fn every_tenant_has_a_turn_before_one_has_its_second() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let tenants: Vec<Tenant> = (0..43 * 7).map(|_| OrgId::new(START).into()).collect();
        commit(&store, |change| {
            for tenant in &tenants {
                (0..3).for_each(|number| change.work_add(START, work(*tenant, number)));
            }
        })
        .await;
        let turns = Turns::new(Permits::shared(7));
        let mut served = Vec::new();
        while served.len() < tenants.len() {
            served.extend(claim(&store, &turns).await.iter().map(|work| work.tenant));
        }
        served.truncate(tenants.len());
        served.sort_unstable();
        served.dedup();
        assert_eq!(served.len(), tenants.len());
    }
}

#[tokio::test]
async fn a_tenant_with_its_permits_in_use_leaves_room_for_others() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let (loud, quiet) = (OrgId::new(START), OrgId::new(START));
        commit(&store, |change| (0..20).for_each(|number| change.work_add(START, work(loud, number)))).await;
        let turns = Turns::new(Permits::with_spare(3, 1));
        let claimed = claim(&store, &turns).await;
        assert_eq!(claimed.len(), 3);
        let held: Vec<_> = claimed.iter().map(|work| turns.take(work.tenant)).collect();
        assert_eq!(store.work_claim(TOPIC, &turns, LEASE).await.expect("claims"), Claimed::NoRoom);
        commit(&store, |change| change.work_add(START, work(quiet, 0))).await;
        assert_eq!(by_tenant(&claim(&store, &turns).await), [(quiet.into(), 1)].into_iter().collect());
        drop(held);
        assert_eq!(claim(&store, &turns).await.len(), 3);
    }
}

#[tokio::test]
async fn a_commit_under_a_claim_that_was_lost_leaves_no_trace() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        commit(&store, |change| change.work_add(START, work(Tenant::System, 0))).await;
        let lost = claim_of(&store, 1).await.remove(0);
        clock.advance(LEASE);
        let held = claim_of(&store, 1).await.remove(0);
        assert_eq!((held.seq, held.attempts, held.fence), (lost.seq, 2, 2));
        let ends: [&dyn Fn(&mut Change); 4] = [
            &|change| change.work_done(&lost),
            &|change| change.work_put_off(TOPIC, &lost, "no", START),
            &|change| change.work_step(&lost, "1", START),
            &|change| change.work_release(&lost),
        ];
        for end in ends {
            let mut change = Change::new();
            change.work_add(START, work(Tenant::System, 1));
            end(&mut change);
            assert_eq!(store.commit(change).await, Err(CommitError::Stale));
        }
        commit(&store, |change| change.work_done(&held)).await;
        assert_eq!(store.work_next(TOPIC).await.expect("reads"), None, "nothing of the stale commits is there");
    }
}

#[tokio::test]
async fn what_failed_comes_again_when_it_may() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        commit(&store, |change| change.work_add(START, work(Tenant::System, 0))).await;
        let claimed = claim_of(&store, 1).await.remove(0);
        let again = START.after(Duration::from_secs(5));
        commit(&store, |change| change.work_put_off(TOPIC, &claimed, "no route", again)).await;
        assert_eq!(store.work_next(TOPIC).await.expect("reads"), Some(again));
        assert!(claim_of(&store, 1).await.is_empty());
        clock.set(again);
        let claimed = claim_of(&store, 1).await.remove(0);
        assert_eq!((claimed.attempts, claimed.last_error.as_deref()), (2, Some("no route")));
    }
}

#[tokio::test]
async fn a_key_is_queued_once_for_as_long_as_it_is_there() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let keyed = |number| work(Tenant::System, number).with_key("org_1");
        for number in 0..2 {
            commit(&store, |change| change.work_add(START, keyed(number))).await;
        }
        let claimed = claim_of(&store, 10).await;
        assert_eq!(claimed.iter().map(|work| work.payload.as_str()).collect::<Vec<_>>(), ["0"]);
        commit(&store, |change| change.work_done(&claimed[0])).await;
        commit(&store, |change| change.work_add(START, keyed(2))).await;
        assert_eq!(store.work_of_key(TOPIC, "org_1").await.expect("reads").expect("is there").payload, "2");
    }
}

#[tokio::test]
async fn a_dead_letter_waits_for_operators_who_repeat_or_drop_it() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        commit(&store, |change| (0..2).for_each(|number| change.work_add(START, work(Tenant::System, number)))).await;
        let claimed = claim_of(&store, 2).await;
        commit(&store, |change| claimed.iter().for_each(|work| change.work_given_up(work, "no such person"))).await;
        clock.advance(Duration::from_secs(1_000_000));
        assert!(claim_of(&store, 2).await.is_empty());
        let dead = store.work_dead(10).await.expect("reads");
        assert_eq!(dead.iter().map(|work| work.seq).collect::<Vec<_>>(), [claimed[1].seq, claimed[0].seq]);
        assert_eq!((dead[0].wake_at, dead[0].last_error.as_deref()), (None, Some("no such person")));
        commit(&store, |change| {
            change.work_repeat(dead[0].seq);
            change.work_drop(dead[1].seq);
        })
        .await;
        let again = claim_of(&store, 2).await;
        assert_eq!(
            again.iter().map(|work| (work.seq, work.attempts, work.fence)).collect::<Vec<_>>(),
            [(dead[0].seq, 1, 2)]
        );
        assert_eq!(store.work_dead_len().await.expect("counts"), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_never_claim_the_same_work() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let nodes = [open(&scratch, &clock).await, open(&scratch, &clock).await];
        let tenants: Vec<OrgId> = (0..5).map(|_| OrgId::new(START)).collect();
        commit(&nodes[0], |change| {
            (0..200).for_each(|number: u32| change.work_add(START, work(tenants[number as usize % 5], number)));
        })
        .await;
        let claiming = (0..8).map(|claimer| {
            let node = nodes[claimer % 2].clone();
            tokio::spawn(async move {
                let (turns, mut claimed) = (Turns::new(Permits::shared(7)), Vec::new());
                while node.work_next(TOPIC).await.expect("reads").is_some_and(|next: Timestamp| next <= START) {
                    claimed.extend(claim(&node, &turns).await.into_iter().map(|work| work.seq));
                }
                claimed
            })
        });
        let mut claimed = Vec::new();
        for claims in futures::future::join_all(claiming).await {
            claimed.extend(claims.expect("does not panic"));
        }
        claimed.sort_unstable();
        let count = claimed.len();
        claimed.dedup();
        assert_eq!((count, claimed.len()), (200, 200));
    }
}

#[tokio::test]
async fn dead_letters_are_forgotten_when_they_are_old_and_nothing_else_is() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        commit(&store, |change| (0..3).for_each(|number| change.work_add(START, work(Tenant::System, number)))).await;
        let claimed = claim_of(&store, 2).await;
        commit(&store, |change| claimed.iter().for_each(|work| change.work_given_up(work, "no such person"))).await;
        purge(&store, Purge::dead_letters(START)).await;
        assert_eq!(store.work_dead_len().await.expect("counts"), 2, "not before they are old");
        clock.advance(LEASE);
        purge(&store, Purge::dead_letters(clock.now())).await;
        assert_eq!(store.work_dead_len().await.expect("counts"), 0);
        assert_eq!(claim_of(&store, 2).await.len(), 1);
    }
}

#[tokio::test]
async fn what_there_is_of_a_topic_is_listed_newest_first_with_how_it_stands() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        let later = START.after(2 * LEASE);
        commit(&store, |change| {
            (0..2).for_each(|number| change.work_add(START, work(Tenant::System, number)));
            change.work_add(START, work(Tenant::System, 2).not_before(later));
            change.work_add(START, NewWork::new("another", Tenant::System, &()));
        })
        .await;
        claim_of(&store, 1).await;
        let stand = async || {
            let listed = store.work_listed(&[TOPIC], 10).await.expect("reads");
            listed.iter().filter_map(|work| work.state(clock.now())).collect::<Vec<_>>()
        };
        assert_eq!(stand().await, [WorkState::Delayed, WorkState::Waiting, WorkState::Running]);
        clock.advance(LEASE);
        assert_eq!(stand().await, [WorkState::Delayed, WorkState::Waiting, WorkState::Waiting], "the lease is over");
        assert_eq!(store.work_listed_len(&[TOPIC, "another"]).await.expect("counts"), 4);

        let given_up = claim_of(&store, 1).await.remove(0);
        commit(&store, |change| change.work_given_up(&given_up, "no such thing")).await;
        assert_eq!(store.work_listed_len(&[TOPIC]).await.expect("counts"), 2, "given up");
        let mut change = Change::new();
        change.work_cancel_one(TOPIC, given_up.seq);
        assert!(matches!(store.commit(change).await, Err(CommitError::Stale)), "a dead letter is not cancelled");
    }
}

#[tokio::test]
async fn what_is_cancelled_by_its_number_is_handed_over_at_once() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        commit(&store, |change| change.work_add(START, work(Tenant::System, 1).not_before(START.after(LEASE)))).await;
        let [waiting] = &store.work_listed(&[TOPIC], 10).await.expect("reads")[..] else { panic!("one entry") };
        commit(&store, |change| change.work_cancel_one(TOPIC, waiting.seq)).await;
        let claimed = claim_of(&store, 1).await;
        assert!(claimed[0].cancelled && claimed[0].seq == waiting.seq);
    }
}
