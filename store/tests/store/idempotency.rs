use std::time::Duration;

use store::{
    Change, Clock, CommitError, Idempotency, IdempotencyAnswer, IdempotencyRequest, OutboxEntry, Store,
    idempotency::KEPT_FOR, outbox, testing,
};

use crate::{LEASE, START, commit, open};

fn request(key: &str, fingerprint: &str) -> IdempotencyRequest {
    IdempotencyRequest { caller: "usr_1".into(), key: key.into(), fingerprint: fingerprint.into() }
}

async fn claim(store: &Store, request: &IdempotencyRequest) -> Idempotency {
    store.idempotency_claim(request, LEASE).await.expect("claims")
}

async fn claimed(store: &Store, request: &IdempotencyRequest) -> std::sync::Arc<str> {
    match claim(store, request).await {
        Idempotency::Claimed(claim) => claim,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_key_is_claimed_done_and_answered_the_same_way_again() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        let first = request("k", "f");
        let id = claimed(&store, &first).await;
        assert_eq!(claim(&store, &first).await, Idempotency::InProgress);
        commit(&store, |change| change.idempotency_commit(&id)).await;
        assert_eq!(claim(&store, &first).await, Idempotency::InProgress, "its answer may still come");
        clock.advance(LEASE);
        assert_eq!(claim(&store, &first).await, Idempotency::AnswerLost);
        let answer =
            IdempotencyAnswer { status: 201, headers: vec![("etag".into(), "\"1\"".into())], body: b"{\0}".to_vec() };
        store.idempotency_answer(&id, &answer).await.expect("stores");
        assert_eq!(claim(&store, &first).await, Idempotency::Answered(answer));
        assert_eq!(claim(&store, &request("k", "other")).await, Idempotency::Mismatch);
        claimed(&store, &IdempotencyRequest { caller: "usr_2".into(), ..first }).await;
    }
}

#[tokio::test]
async fn a_repeated_key_is_looked_up_and_has_nothing_committed() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        let first = request("k", "f");
        let id = claimed(&store, &first).await;
        commit(&store, |change| change.idempotency_commit(&id)).await;
        let before = store.writer_stats();
        for _ in 0..3 {
            claim(&store, &first).await;
            claim(&store, &request("k", "other")).await;
        }
        assert_eq!(store.writer_stats(), before);
    }
}

#[tokio::test]
async fn of_many_at_once_one_does_the_work() {
    for scratch in testing::backends().await {
        let nodes = [open(&scratch, &Clock::manual(START)).await, open(&scratch, &Clock::manual(START)).await];
        let first = request("k", "f");
        let claims = futures::future::join_all((0..20).map(|place| claim(&nodes[place % 2], &first))).await;
        let won = claims.iter().filter(|claim| matches!(claim, Idempotency::Claimed(_))).count();
        assert_eq!(won, 1);
        assert!(claims.iter().all(|claim| matches!(claim, Idempotency::Claimed(_) | Idempotency::InProgress)));
    }
}

#[tokio::test]
async fn an_abandoned_claim_is_taken_over_and_its_first_owner_can_commit_no_more() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        let first = request("k", "f");
        let lost = claimed(&store, &first).await;
        clock.advance(LEASE);
        let taken = claimed(&store, &first).await;
        let mut late = Change::new();
        late.outbox_add(START, &OutboxEntry::Event { event: serde_json::Value::Null });
        late.idempotency_commit(&lost);
        assert_eq!(store.commit(late).await, Err(CommitError::Stale));
        assert_eq!(store.work_next(outbox::EVENT).await.expect("reads"), None);
        commit(&store, |change| change.idempotency_commit(&taken)).await;
        let mut twice = Change::new();
        twice.idempotency_commit(&taken);
        assert_eq!(store.commit(twice).await, Err(CommitError::Stale));
    }
}

#[tokio::test]
async fn a_released_key_is_free_unless_its_work_was_committed() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let first = request("k", "f");
        let id = claimed(&store, &first).await;
        store.idempotency_release(&id).await.expect("releases");
        let id = claimed(&store, &request("k", "other")).await;
        commit(&store, |change| change.idempotency_commit(&id)).await;
        store.idempotency_release(&id).await.expect("does nothing");
        assert_eq!(claim(&store, &request("k", "other")).await, Idempotency::AnswerLost);
    }
}

#[tokio::test]
async fn a_key_is_forgotten_after_a_day_and_not_before() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        let id = claimed(&store, &request("k", "f")).await;
        commit(&store, |change| change.idempotency_commit(&id)).await;
        clock.set(START.after(KEPT_FOR).before(Duration::from_millis(1)));
        assert_eq!(claim(&store, &request("k", "other")).await, Idempotency::Mismatch);
        clock.set(START.after(KEPT_FOR));
        claimed(&store, &request("k", "other")).await;
    }
}
