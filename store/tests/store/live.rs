use domain::id::UserId;
use serde_json::json;
use store::{Clock, LiveDraft, Purge, testing};

use crate::{START, open, purge};

fn draft(source: i64, user_id: UserId) -> LiveDraft {
    LiveDraft { source, user_id, message: json!({ "type": "test", "source": source }) }
}

#[tokio::test]
async fn messages_are_numbered_per_person_without_gaps() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let (one, two) = (UserId::new(START), UserId::new(START));
        assert_eq!(store.live_seq(one).await.expect("reads"), 0);
        let drafts = [draft(1, one), draft(2, two), draft(3, one), draft(4, one)];
        let appended = store.live_append(&drafts).await.expect("appends");
        let numbers = |user_id| {
            let of_person = appended.iter().filter(move |message| message.user_id == user_id);
            of_person.map(|message| (message.source, message.seq)).collect::<Vec<_>>()
        };
        assert_eq!((numbers(one), numbers(two)), (vec![(1, 1), (3, 2), (4, 3)], vec![(2, 1)]));
        assert_eq!(store.live_seq(one).await.expect("reads"), 3);
        let after = store.live_after(one, 1, 10).await.expect("reads");
        assert_eq!(after.iter().map(|message| message.seq).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(after[0].body.get(), r#"{"source":3,"type":"test"}"#);
    }
}

#[tokio::test]
async fn appending_a_message_again_gives_the_number_that_it_has() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let user_id = UserId::new(START);
        store.live_append(&[draft(1, user_id)]).await.expect("appends");
        let again = store.live_append(&[draft(1, user_id), draft(2, user_id)]).await.expect("appends");
        assert_eq!(again.iter().map(|message| message.seq).collect::<Vec<_>>(), [1, 2]);
    }
}

#[tokio::test]
async fn numbers_go_on_after_old_messages_were_forgotten() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        let user_id = UserId::new(START);
        store.live_append(&[draft(1, user_id)]).await.expect("appends");
        clock.advance(std::time::Duration::from_hours(1));
        purge(&store, Purge::live_messages(clock.now())).await;
        assert!(store.live_after(user_id, 0, 10).await.expect("reads").is_empty());
        assert_eq!(store.live_append(&[draft(2, user_id)]).await.expect("appends")[0].seq, 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_number_without_gaps_too() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let nodes = [open(&scratch, &clock).await, open(&scratch, &clock).await];
        let people = [UserId::new(START), UserId::new(START), UserId::new(START)];
        let appending = (0..8_i64).map(|writer| {
            let node = nodes[usize::try_from(writer).expect("fits") % 2].clone();
            tokio::spawn(async move {
                for round in 0..10 {
                    let drafts = people.map(|user_id| draft(0, user_id));
                    let first = (writer * 10 + round) * 3;
                    let drafts: Vec<_> =
                        (first..).zip(drafts).map(|(source, draft)| LiveDraft { source, ..draft }).collect();
                    node.live_append(&drafts).await.expect("appends");
                }
            })
        });
        for writer in futures::future::join_all(appending).await {
            writer.expect("does not panic");
        }
        for user_id in people {
            let messages = nodes[0].live_after(user_id, 0, 1_000).await.expect("reads");
            assert!(messages.iter().map(|message| message.seq).eq(1..=80));
        }
    }
}
