mod model;

use domain::{
    Timestamp,
    id::{MailMessageId, MailThreadId, MailboxId},
    mail::{MailQuestion, RawId},
    notify::Zone,
};
use migrations::{Migrator, MigratorTrait};
use sea_orm::ConnectionTrait;

use super::{Bound, found};
use crate::{Clock, Store, reader::row, sql::Sql, testing};

const START: Timestamp = Timestamp(1_800_000_000_000);

row! {
    struct FoundRow {
        thread_id: String,
    }
}

/// What a release before the index left of a message.
fn left_behind(mailbox: MailboxId, thread: MailThreadId) -> [String; 2] {
    let message = MailMessageId::new(START);
    let people = r#"{"from":{"name":"Björn","email":"bob@example.org"},"to":[{"email":"ada@example.org"}],"cc":[]}"#;
    [
        format!(
            "INSERT INTO mail_messages (mailbox_id, message_id, thread_id, raw_id, size, head, envelope_from, received_at, people, \
             subject, snippet, files, verdict, rule, is_unparsed, box, is_incoming, is_unread, is_starred, category, modseq) \
             VALUES ('{mailbox}', '{message}', '{thread}', '{}', 1, '', '', 1, '{people}', 'Lunch?', '', '[]', '{{}}', '', FALSE, \
             'inbox', TRUE, TRUE, FALSE, 'primary', 1)",
            RawId::of(b"")
        ),
        format!(
            "INSERT INTO mail_words (mailbox_id, message_id, words) \
             VALUES ('{mailbox}', '{message}', 'lunch?\nbjörn\nbob@example.org\nsee you in the café')"
        ),
    ]
}

async fn finds(store: &Store, mailbox: MailboxId, asked: &str) -> usize {
    let question = MailQuestion::parse(asked, &Zone::UTC, START).expect("a query").expect("something");
    let mut bound = Bound(vec![mailbox.to_string().into()]);
    let text = found(store.parts.connections.backend(), mailbox, &question, &mut bound);
    let rows: Vec<FoundRow> = store.reader().rows_of_many(&Sql::new(text, bound.0)).await.expect("a search");
    rows.iter().filter(|row| !row.thread_id.is_empty()).count()
}

#[tokio::test]
async fn what_was_filed_before_there_was_an_index_is_found_by_it() {
    for scratch in testing::unmigrated_backends().await {
        let store = Store::connect(&scratch.options(), Clock::manual(START)).await.expect("a store");
        let connection = &store.parts.connections.writer;
        let pending = Migrator::get_pending_migrations(connection).await.expect("migrations");
        let before = pending.iter().position(|it| it.name() == "m0076_mail_search").expect("the migration");
        Migrator::up(connection, Some(u32::try_from(before).expect("a count"))).await.expect("the release before");
        let (mailbox, other) = (MailboxId::new(START), MailboxId::new(START));
        for statement in left_behind(mailbox, MailThreadId::new(START)) {
            connection.execute_unprepared(&statement).await.expect(&statement);
        }
        store.migrate().await.expect("the next release");
        for asked in [
            "lunch",
            "caf",
            "bjorn",
            "from:bob",
            "to:ada",
            "subject:lunch",
            "\"in the cafe\"",
            "-from:eve",
            "is:unread",
        ] {
            assert_eq!(finds(&store, mailbox, asked).await, 1, "{asked}");
            assert_eq!(finds(&store, other, asked).await, 0, "{asked}");
        }
        // What has its own place among the words only since then.
        for asked in ["cc:ada", "has:invitation", "deliveredto:ada"] {
            assert_eq!(finds(&store, mailbox, asked).await, 0, "{asked}");
        }
        for asked in ["dinner", "from:ada", "from:name", "to:email", "subject:cafe", "\"the in\"", "-lunch", "is:read"]
        {
            assert_eq!(finds(&store, mailbox, asked).await, 0, "{asked}");
        }
    }
}
