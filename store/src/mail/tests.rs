use std::time::Duration;

use bytes::Bytes;
use domain::{
    Timestamp,
    id::{MailArrivalId, MailMessageId, MailThreadId, MailboxId, OrgId},
    mail::{
        Arrival, DeliveryState, MailBox, MailCategory, MailMessage, MailPeople, MailWords, Outgoing, Placing, RawId,
        Verdict,
    },
};

use migrations::{Migrator, MigratorTrait};
use sea_orm::ConnectionTrait;

use crate::{Change, Clock, Store, reader::row, sql::Sql, testing};

const START: Timestamp = Timestamp(1_800_000_000_000);
const HOUR: Duration = Duration::from_hours(1);

/// A message that came, of which nothing is known but its bytes.
pub(super) fn message(raw_id: RawId) -> MailMessage {
    MailMessage {
        placing: Placing {
            id: MailMessageId::new(START),
            place: MailBox::Inbox,
            is_incoming: true,
            is_unread: true,
            is_starred: false,
            category: MailCategory::Primary,
            at: START,
        },
        raw_id,
        size: 1,
        head: String::new(),
        envelope_from: "ada@example.org".to_owned(),
        people: MailPeople::default(),
        subject: String::new(),
        snippet: String::new(),
        sent_at: None,
        files: Vec::new(),
        verdict: Verdict::default(),
        rule: String::new(),
        is_unparsed: false,
    }
}

async fn add(store: &Store, mailbox: MailboxId, message: &MailMessage) {
    let mut change = Change::new();
    change.mail_message_add(mailbox, MailThreadId::new(START), message, &MailWords::default(), 1);
    store.commit(change).await.expect("a message");
}

#[tokio::test]
async fn what_a_mailbox_sent_did_not_come_to_it() {
    for scratch in testing::backends().await {
        let store = Store::connect(&scratch.options(), Clock::manual(START)).await.expect("a store");
        let (mailbox, raw_id) = (MailboxId::new(START), RawId::of(b"to myself"));
        let has = async || store.mail_has(mailbox, raw_id, "ada@example.org", START).await.expect("a read");
        let mut sent = message(raw_id);
        (sent.placing.place, sent.placing.is_incoming) = (MailBox::Sent, false);
        add(&store, mailbox, &sent).await;
        assert!(!has().await);
        add(&store, mailbox, &message(raw_id)).await;
        assert!(has().await);
    }
}

async fn sweep(store: &Store) {
    loop {
        let mut batch = store.mail_set_aside_sweep_next(1).await.expect("a look");
        if batch.rows.is_empty() {
            batch = store.mail_raw_sweep_next(1).await.expect("a look");
        }
        if batch.rows.is_empty() {
            return;
        }
        store.commit(batch.change).await.expect("a sweep");
    }
}

#[tokio::test]
async fn bytes_stay_while_recipients_wait_for_them_and_go_afterwards() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = Store::connect(&scratch.options(), clock.clone()).await.expect("a store");
        let (org_id, mailbox_id) = (OrgId::new(START), MailboxId::new(START));
        let raw = store.mail_raw_write(org_id, Bytes::from_static(b"to somebody")).await.expect("bytes");
        let sent = message(raw.id());
        let mut row = Outgoing {
            org_id,
            mailbox_id,
            message_id: sent.placing.id,
            raw_id: raw.id(),
            sender: "ada@example.org".parse().expect("an address"),
            recipient: "bob@example.com".parse().expect("an address"),
            state: DeliveryState::Deferred,
            due: START,
            tries: 1,
            reply: None,
            host: None,
            tls: false,
            leaves_at: START,
            is_delay_told: false,
            created_at: START,
        };
        let mut change = Change::new();
        change.mail_raw_name(START, &raw);
        change.mail_outgoing_add(START, std::slice::from_ref(&row));
        store.commit(change).await.expect("a message on its way");
        // The sender deletes their copy.
        let mut change = Change::new();
        change.mail_raw_release(START, [raw.id()]);
        store.commit(change).await.expect("a deletion");
        clock.advance(50 * HOUR);
        sweep(&store).await;
        assert!(store.mail_raw(raw.id()).await.expect("a read").is_some(), "somebody waits for them");
        row.state = DeliveryState::Sent;
        let mut change = Change::new();
        change.mail_outgoing_set(&row);
        store.commit(change).await.expect("a delivery");
        sweep(&store).await;
        assert!(store.mail_raw(raw.id()).await.expect("a read").is_none(), "nobody waits any more");
    }
}

#[tokio::test]
async fn what_was_set_aside_goes_a_day_after_and_only_without_a_dead_letter() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = Store::connect(&scratch.options(), clock.clone()).await.expect("a store");
        let (org_id, mailbox_id) = (OrgId::new(START), MailboxId::new(START));
        let raw = store.mail_raw_write(org_id, Bytes::from_static(b"stuck")).await.expect("bytes");
        let arrival = Arrival {
            id: MailArrivalId::new(START),
            org_id,
            mailbox_id,
            raw_id: raw.id(),
            envelope_from: String::new(),
            envelope_to: String::new(),
            received_at: START,
            head: String::new(),
            verdict: Verdict::default(),
            tries: 6,
        };
        let mut change = Change::new();
        change.mail_arrive(START, &raw, std::slice::from_ref(&arrival));
        change.mail_arrival_set_aside(START, &arrival, "it is stuck");
        store.commit(change).await.expect("a message");
        let over = async || store.mail_set_aside_sweep_next(10).await.expect("a look").rows.len();
        clock.advance(100 * HOUR);
        assert_eq!(over().await, 0, "its dead letter is there");
        let seq = store.work_dead(1).await.expect("letters")[0].seq;
        let mut change = Change::new();
        change.work_drop(seq);
        store.commit(change).await.expect("a drop");
        assert_eq!(over().await, 1);
        // Its bytes are kept for a day from then on.
        sweep(&store).await;
        assert!(store.mail_raw(raw.id()).await.expect("a read").is_some());
        clock.advance(25 * HOUR);
        sweep(&store).await;
        assert!(store.mail_raw(raw.id()).await.expect("a read").is_none());
        assert_eq!(over().await, 0);
    }
}

/// What a release before the numbers left: messages of a conversation with a label, one of which is in the trash.
fn left_behind(mailbox: MailboxId) -> Vec<String> {
    let (thread, raw_id) = (MailThreadId::new(START), RawId::of(b""));
    let mut statements = vec![
        format!(
            "INSERT INTO mailboxes (id, org_id, address, display_name, version, created_at) \
             VALUES ('{mailbox}', '{}', 'ada@example.org', '', 1, 5000)",
            OrgId::new(START)
        ),
        format!(
            "INSERT INTO mail_states (mailbox_id, revision, signature, reminder_mail) VALUES ('{mailbox}', 9, '', FALSE)"
        ),
        format!("INSERT INTO mail_raw (raw_id, size, created_at, refs) VALUES ('{raw_id}', 0, 1, 3)"),
        format!(
            "INSERT INTO mail_places (mailbox_id, place, thread_id, sort_at, category) \
             VALUES ('{mailbox}', 'l:lbl_1', '{thread}', 1, 'primary'), ('{mailbox}', 'inbox', '{thread}', 1, 'primary')"
        ),
    ];
    for (at, place) in [(3, "inbox"), (2, "trash"), (1, "inbox")] {
        let message = MailMessageId::new(START);
        statements.push(format!(
            "INSERT INTO mail_messages (mailbox_id, message_id, thread_id, raw_id, size, head, envelope_from, received_at, people, \
             subject, snippet, files, verdict, rule, is_unparsed, box, is_incoming, is_unread, is_starred, category, modseq) \
             VALUES ('{mailbox}', '{message}', '{thread}', '{raw_id}', 1, '', '', {at}, '{{}}', '', '', '[]', '{{}}', '', FALSE, \
             '{place}', TRUE, TRUE, FALSE, 'primary', {at})"
        ));
    }
    statements
}

row! {
    struct EntryRow {
        entry: String,
    }
}

#[tokio::test]
async fn what_was_filed_before_there_were_numbers_has_them_in_its_order() {
    for scratch in testing::unmigrated_backends().await {
        let store = Store::connect(&scratch.options(), Clock::manual(START)).await.expect("a store");
        let connection = &store.parts.connections.writer;
        let pending = Migrator::get_pending_migrations(connection).await.expect("migrations");
        let before = pending.iter().position(|it| it.name() == "m0087_mail_folders").expect("the migration");
        Migrator::up(connection, Some(u32::try_from(before).expect("a count"))).await.expect("the release before");
        for statement in left_behind(MailboxId::new(START)) {
            connection.execute_unprepared(&statement).await.expect(&statement);
        }
        store.migrate().await.expect("the next release");
        let wrong = testing::recount::mail(&store).await.expect("a recount");
        assert_eq!(wrong, Vec::<String>::new());
        let statement = "SELECT e.folder_id || ' ' || e.uid || ' ' || e.modseq || ' ' || f.uid_next || ' ' || f.uid_validity AS entry \
                         FROM mail_folder_entries AS e JOIN mail_folders AS f ON f.mailbox_id = e.mailbox_id \
                         AND f.folder_id = e.folder_id ORDER BY e.folder_id, e.uid";
        let rows: Vec<EntryRow> = store.reader().rows_of_many(&Sql::new(statement, [])).await.expect("entries");
        let entries: Vec<&str> = rows.iter().map(|row| row.entry.as_str()).collect();
        let expected = ["inbox 1 1 3 5", "inbox 2 3 3 5", "l:lbl_1 1 1 3 5", "l:lbl_1 2 3 3 5", "trash 1 2 2 5"];
        assert_eq!(entries, expected);
    }
}
