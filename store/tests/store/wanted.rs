//! Work that is wanted again while it is being done.

use domain::id::OrgId;
use store::{Clock, NewWork, Permits, Store, Turns, Work, testing};

use crate::{LEASE, START, commit, open};

const TOPIC: &str = "test";

fn work(tenant: OrgId, key: &str) -> NewWork {
    NewWork::new(TOPIC, tenant, &key).with_key(key)
}

async fn claim(store: &Store) -> Vec<Work> {
    store.work_claim(TOPIC, &Turns::new(Permits::shared(10)), LEASE).await.expect("claims").taken()
}

#[tokio::test]
async fn what_is_wanted_while_it_waits_is_done_once_and_what_is_wanted_once_it_began_is_done_again() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        let org = OrgId::new(START);
        for _ in 0..3 {
            commit(&store, |change| {
                change.work_wanted(START, work(org, "a"));
                change.work_wanted(START, work(org, "b"));
                change.work_wanted(START, work(org, "a"));
            })
            .await;
        }
        store.work_changed(TOPIC).notified().await;
        let claimed = claim(&store).await;
        let mut keys: Vec<_> = claimed.iter().filter_map(|work| work.key.as_deref()).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["a", "b"]);
        // Claimed, and not looked yet: what is wanted now is seen by the look.
        commit(&store, |change| change.work_wanted(START, work(org, "a"))).await;
        assert_eq!(claim(&store).await, []);
        let first = claimed.iter().find(|work| work.key.as_deref() == Some("a")).expect("an entry");
        commit(&store, |change| change.work_begun(first)).await;
        commit(&store, |change| change.work_wanted(START, work(org, "a"))).await;
        let again = claim(&store).await;
        assert_eq!(again.len(), 1);
        assert_eq!(again[0].key.as_deref(), Some("a"));
        assert_ne!(again[0].seq, first.seq);
        commit(&store, |change| change.work_done(first)).await;
    }
}

#[tokio::test]
async fn only_who_holds_the_claim_begins() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        commit(&store, |change| change.work_wanted(START, work(OrgId::new(START), "a"))).await;
        let first = claim(&store).await.remove(0);
        clock.advance(LEASE * 2);
        assert_eq!(claim(&store).await.len(), 1, "the lease is over");
        let mut change = store::Change::new();
        change.work_begun(&first);
        assert_eq!(store.commit(change).await, Err(store::CommitError::Stale));
    }
}

#[tokio::test]
async fn what_was_given_up_is_tried_again_when_it_is_wanted() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let org = OrgId::new(START);
        commit(&store, |change| change.work_wanted(START, work(org, "a"))).await;
        let first = claim(&store).await.remove(0);
        commit(&store, |change| change.work_given_up(&first, "broken")).await;
        assert_eq!(claim(&store).await, []);
        commit(&store, |change| change.work_wanted(START, work(org, "a"))).await;
        let again = claim(&store).await;
        assert_eq!(again.iter().map(|work| work.seq).collect::<Vec<_>>(), [first.seq]);
    }
}
