use store::{Clock, KeptMessage, PURGE_ROWS_MAX, Purge, RevocationKind, Store, testing};

use crate::{START, commit, open, purge_up_to};

fn message() -> KeptMessage {
    KeptMessage {
        gateway: "console".into(),
        channel: "email".into(),
        recipient: "ada@example.org".into(),
        subject: None,
        body: String::new(),
        created_at: START,
    }
}

async fn keep(store: &Store, count: u32) {
    commit(store, |change| (0..count).for_each(|_| change.kept_add(message()))).await;
}

#[tokio::test]
async fn a_purge_throws_away_so_many_rows_at_a_time_and_says_how_many() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        keep(&store, 5).await;
        let purge = Purge::kept_messages(START.after(std::time::Duration::from_millis(1)));
        for (thrown_away, left) in [(2, 3), (2, 1), (1, 0), (0, 0)] {
            assert_eq!(purge_up_to(&store, std::slice::from_ref(&purge), 2).await, thrown_away);
            assert_eq!(store.kept_list(None, 10).await.expect("reads").len(), left);
        }
    }
}

#[tokio::test]
async fn a_batch_has_so_many_rows_altogether_whatever_they_are() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        keep(&store, 3).await;
        commit(&store, |change| {
            (0..3).for_each(|number| change.revocation_add(START, RevocationKind::Key, format!("key_{number}")));
        })
        .await;
        let later = START.after(std::time::Duration::from_millis(1));
        let purges = [Purge::kept_messages(later), Purge::revocations(later)];
        let batch = store.purge_next(&purges, 5).await.expect("reads");
        assert_eq!(batch.rows, [("kept messages", 3), ("revocations", 2)]);
        store.commit(batch.change).await.expect("commits");
        let batch = store.purge_next(&purges, 5).await.expect("reads");
        assert_eq!(batch.rows, [("revocations", 1)]);
    }
}

#[tokio::test]
async fn nothing_to_throw_away_is_nothing_to_commit() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        keep(&store, 1).await;
        let batch = store.purge_next(&[Purge::kept_messages(START)], PURGE_ROWS_MAX).await.expect("reads");
        assert!(batch.change.is_empty() && batch.rows.is_empty());
    }
}
