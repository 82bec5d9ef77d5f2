use store::{Clock, KeptMessage, PURGE_ROWS_MAX, Purge, Store, testing};

use crate::{START, commit, open};

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
            assert_eq!(store.purge(&purge, 2).await.expect("purges"), thrown_away);
            assert_eq!(store.kept_list(None, 10).await.expect("reads").len(), left);
        }
    }
}

#[tokio::test]
async fn nothing_to_throw_away_is_no_commit() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        keep(&store, 1).await;
        let before = store.writer_stats().groups;
        assert_eq!(store.purge(&Purge::kept_messages(START), PURGE_ROWS_MAX).await.expect("purges"), 0);
        assert_eq!(store.writer_stats().groups, before);
    }
}
