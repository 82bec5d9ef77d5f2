use std::time::Duration;

use domain::{
    Tenant, Timestamp,
    id::{OrgId, PageId},
    pages::search::Question,
};

use super::*;
use crate::{
    Clock, NewWork, Permits, Turns,
    testing::{self, Scratch},
};

const START: Timestamp = Timestamp(1_800_000_000_000);
const LEASE: Duration = Duration::from_secs(15);
/// Migrations of the release before the work queue.
const BEFORE_THE_QUEUE: u32 = 12;

/// What a node of that release left behind: entries of the outbox, timers, and a page.
fn left_behind(org_id: OrgId, page_id: PageId) -> Vec<String> {
    let timer = "INSERT INTO timers (kind, key, name, due, wake_at) VALUES";
    let entry =
        "INSERT INTO outbox (topic, lane, user_id, payload, created_at, attempts, not_before, last_error) VALUES";
    vec![
        format!("{entry} ('email', 'email', 'usr_1', '\"first\"', 5, 0, 0, NULL)"),
        format!("{entry} ('event', 'event', NULL, '\"second\"', 6, 2, {}, 'refused')", START.0 + 60_000),
        format!("{entry} ('email', 'email', 'usr_1', '\"gone\"', 7, 0, 0, NULL)"),
        "DELETE FROM outbox WHERE payload = '\"gone\"'".to_owned(),
        format!("{timer} ('page_tree', '{org_id}', 'purge', 7, 7)"),
        format!("{timer} ('housekeeping', 'house', 'purge', 8, 8)"),
        format!(
            "INSERT INTO page_texts (page_id, org_id, title_words, words) \
             VALUES ('{page_id}', '{org_id}', 'release plan', 'an apple as ever')"
        ),
        format!(
            "INSERT INTO pages (id, org_id, kind, is_row, title, position, content_version, version, created_at, created_by, \
             updated_at) VALUES ('{page_id}', '{org_id}', 'doc', FALSE, 'Release plan', 1, 1, 1, 5, 'usr_1', 5)"
        ),
    ]
}

async fn of_the_release_before(scratch: &Scratch, left: &[String]) -> Store {
    let store = Store::connect(&scratch.options(), Clock::manual(START)).await.expect("a store");
    let connection = &store.parts.connections.writer;
    Migrator::up(connection, Some(BEFORE_THE_QUEUE)).await.expect("the release before");
    for statement in left {
        connection.execute_unprepared(statement).await.expect(statement);
    }
    store
}

#[tokio::test]
async fn what_waited_in_the_release_before_is_worked_off_in_the_next() {
    for scratch in testing::unmigrated_backends().await {
        let (org_id, page_id) = (OrgId::new(START), PageId::new(START));
        let store = of_the_release_before(&scratch, &left_behind(org_id, page_id)).await;
        store.migrate().await.expect("the next release");

        let turns = || Turns::new(Permits::shared(10));
        let mails = store.work_claim("email", &turns(), LEASE).await.expect("claims").taken();
        let [mail] = &mails[..] else { panic!("{mails:?}") };
        assert_eq!((mail.seq, mail.payload.as_str(), mail.attempts), (1, "\"first\"", 1));
        assert_eq!(mail.tenant, Tenant::of_key("usr_1"));
        assert_eq!(store.work_claim("event", &turns(), LEASE).await.expect("claims").taken(), [], "it was put off");
        let event = store.work(2).await.expect("a read").expect("the event");
        assert_eq!((event.attempts, event.last_error.as_deref()), (2, Some("refused")));
        assert_eq!((event.wake_at, event.created_at), (Some(Timestamp(START.0 + 60_000)), Timestamp(6)));

        // Live messages remember numbers of the outbox: none is given out again.
        let mut change = crate::Change::new();
        change.work_add(START, NewWork::new("new", Tenant::System, &"next"));
        store.commit(change).await.expect("a commit");
        let new = store.work_claim("new", &turns(), LEASE).await.expect("claims").taken();
        assert!(new[0].seq > 1_000_000_000, "{new:?}");

        for kind in ["page_tree", "housekeeping"] {
            let claimed = store.timers_claim(kind, &turns(), LEASE).await.expect("claims").taken();
            assert_eq!(claimed.len(), 1, "{kind}");
        }

        let question = Question::parse("appl").expect("a question");
        let found = store.pages_search(org_id, &question).await.expect("a search");
        assert_eq!(found.iter().map(|hit| hit.id).collect::<Vec<_>>(), [page_id]);
        assert!(store.pages_search(OrgId::new(START), &question).await.expect("a search").is_empty());
        assert_eq!(store.pending_migrations().await.expect("a read"), Vec::<String>::new());
    }
}
