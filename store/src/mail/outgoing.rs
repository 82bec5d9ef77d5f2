//! Messages on their way out, a row for each recipient, and the jobs that send them: one for each message and domain.

use std::time::Duration;

use domain::{
    Timestamp,
    id::{MailMessageId, MailboxId, OrgId},
    mail::{DeliveryState, Outgoing, domain_of},
};
use sea_orm::Value;
use serde::{Deserialize, Serialize};

use crate::{Change, Expect, NewWork, Purge, Store, StoreError, reader::row, sql::Sql};

/// The topic of the jobs that send.
pub const MAIL_SENDING: &str = "mail.sending";
/// How long it is kept what became of a message.
const KEPT_FOR: Duration = Duration::from_hours(90 * 24);
/// The time in which recipients are counted.
const DAY: Duration = Duration::from_hours(24);

const COLUMNS: &str = "mailbox_id, message_id, recipient, org_id, sender, raw_id, state, due, tries, reply, host, tls, \
                       leaves_at, is_delay_told, created_at";

/// What a job sends: a message to its recipients of one domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MailSending {
    /// Whose message.
    pub mailbox_id: MailboxId,
    /// Which one.
    pub message_id: MailMessageId,
    /// The domain of these recipients.
    pub domain: String,
}

/// What waits to leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MailQueue {
    /// How many recipients.
    pub recipients: i64,
    /// When the first of them was to be reached, where there is any.
    pub since: Option<Timestamp>,
}

row! {
    struct OutgoingRow {
        mailbox_id: String,
        message_id: String,
        recipient: String,
        org_id: String,
        sender: String,
        raw_id: String,
        state: String,
        due: i64,
        tries: i64,
        reply: Option<String>,
        host: Option<String>,
        tls: bool,
        leaves_at: i64,
        is_delay_told: bool,
        created_at: i64,
    }
}

row! {
    struct QueueRow {
        recipients: i64,
        since: Option<i64>,
    }
}

row! {
    struct SentRow {
        sent: i64,
    }
}

row! {
    struct MadeRow {
        created_at: i64,
    }
}

fn read(row: OutgoingRow) -> Result<Outgoing, StoreError> {
    let corrupt = || StoreError::corrupt(format_args!("mail_outgoing {}", row.message_id));
    Ok(Outgoing {
        org_id: row.org_id.parse().map_err(|_| corrupt())?,
        mailbox_id: row.mailbox_id.parse().map_err(|_| corrupt())?,
        message_id: row.message_id.parse().map_err(|_| corrupt())?,
        raw_id: row.raw_id.parse().map_err(|_| corrupt())?,
        sender: row.sender.parse().map_err(|_| corrupt())?,
        recipient: row.recipient.parse().map_err(|_| corrupt())?,
        state: DeliveryState::from_name(&row.state).ok_or_else(corrupt)?,
        due: Timestamp(row.due),
        tries: u32::try_from(row.tries).map_err(|_| corrupt())?,
        tls: row.tls,
        leaves_at: Timestamp(row.leaves_at),
        is_delay_told: row.is_delay_told,
        created_at: Timestamp(row.created_at),
        reply: row.reply,
        host: row.host,
    })
}

impl Store {
    /// What became of a message for each of its recipients, in the order of their addresses.
    pub async fn mail_outgoing(
        &self,
        mailbox_id: MailboxId,
        message_id: MailMessageId,
    ) -> Result<Vec<Outgoing>, StoreError> {
        let statement =
            format!("SELECT {COLUMNS} FROM mail_outgoing WHERE mailbox_id = $1 AND message_id = $2 ORDER BY recipient");
        let values = [mailbox_id.to_string().into(), message_id.to_string().into()];
        let rows: Vec<OutgoingRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        rows.into_iter().map(read).collect()
    }

    /// To how many recipients the mailbox sent in the last day.
    pub async fn mail_sent_in_a_day(&self, mailbox_id: MailboxId, now: Timestamp) -> Result<u64, StoreError> {
        let statement = "SELECT COUNT(*) AS sent FROM mail_outgoing WHERE mailbox_id = $1 AND created_at > $2";
        let values = [mailbox_id.to_string().into(), now.before(DAY).0.into()];
        let row: Option<SentRow> = self.reader().row(&Sql::new(statement, values)).await?;
        u64::try_from(row.map_or(0, |row| row.sent)).map_err(StoreError::corrupt)
    }

    /// When so many of those in the last day, 1 and more, don't count any more.
    pub async fn mail_day_has_room(
        &self,
        mailbox_id: MailboxId,
        now: Timestamp,
        for_recipients: u64,
    ) -> Result<Timestamp, StoreError> {
        let statement = "SELECT created_at FROM mail_outgoing WHERE mailbox_id = $1 AND created_at > $2 \
                         ORDER BY created_at LIMIT 1 OFFSET $3";
        let skipped = i64::try_from(for_recipients.saturating_sub(1)).unwrap_or(i64::MAX);
        let values = [mailbox_id.to_string().into(), now.before(DAY).0.into(), skipped.into()];
        let row: Option<MadeRow> = self.reader().row(&Sql::new(statement, values)).await?;
        Ok(row.map_or(now, |row| Timestamp(row.created_at)).after(DAY))
    }

    /// What waits to leave, on all nodes.
    pub async fn mail_queue(&self) -> Result<MailQueue, StoreError> {
        let statement = "SELECT COUNT(*) AS recipients, MIN(leaves_at) AS since FROM mail_outgoing \
                         WHERE state IN ('held', 'queued', 'deferred') AND leaves_at <= $1";
        let row: Option<QueueRow> = self.reader().row(&Sql::new(statement, [self.now().0.into()])).await?;
        let found = |row: QueueRow| MailQueue { recipients: row.recipients, since: row.since.map(Timestamp) };
        Ok(row.map(found).unwrap_or_default())
    }
}

impl Change {
    /// Adds messages on their way out, and a job for each domain of theirs, due with `leaves_at`.
    pub fn mail_outgoing_add(&mut self, now: Timestamp, rows: &[Outgoing]) {
        for row in rows {
            let statement = "INSERT INTO mail_outgoing (mailbox_id, message_id, recipient, org_id, domain, sender, raw_id, \
                             state, due, tries, reply, host, tls, leaves_at, is_delay_told, created_at) \
                             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)";
            let values: [Value; 16] = [
                row.mailbox_id.to_string().into(),
                row.message_id.to_string().into(),
                row.recipient.to_string().into(),
                row.org_id.to_string().into(),
                domain_of(&row.recipient).into(),
                row.sender.to_string().into(),
                row.raw_id.to_string().into(),
                row.state.as_str().into(),
                row.due.0.into(),
                i64::from(row.tries).into(),
                row.reply.clone().into(),
                row.host.clone().into(),
                row.tls.into(),
                row.leaves_at.0.into(),
                row.is_delay_told.into(),
                row.created_at.0.into(),
            ];
            self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        }
        self.mail_sending_add(now, rows);
    }

    /// Has these be sent when each is due: a job for each message and domain.
    pub fn mail_sending_add(&mut self, now: Timestamp, rows: &[Outgoing]) {
        let mut jobs: Vec<(OrgId, MailSending, Timestamp)> = Vec::new();
        for row in rows {
            let domain = domain_of(&row.recipient);
            let is_its = |job: &MailSending| job.domain == domain && job.message_id == row.message_id;
            if let Some((_, _, due)) = jobs.iter_mut().find(|(_, job, _)| is_its(job)) {
                *due = row.due.min(*due);
            } else {
                let (mailbox_id, message_id) = (row.mailbox_id, row.message_id);
                let job = MailSending { mailbox_id, message_id, domain: domain.to_owned() };
                jobs.push((row.org_id, job, row.due));
            }
        }
        for (org_id, job, due) in jobs {
            self.work_add(now, NewWork::new(MAIL_SENDING, org_id, &job).not_before(due));
        }
    }

    /// Writes what became of a message for a recipient. A row that is gone meanwhile stays so.
    pub fn mail_outgoing_set(&mut self, row: &Outgoing) {
        let statement = "UPDATE mail_outgoing SET state = $4, due = $5, tries = $6, reply = $7, host = $8, tls = $9, \
                         is_delay_told = $10 WHERE mailbox_id = $1 AND message_id = $2 AND recipient = $3";
        let values: [Value; 10] = [
            row.mailbox_id.to_string().into(),
            row.message_id.to_string().into(),
            row.recipient.to_string().into(),
            row.state.as_str().into(),
            row.due.0.into(),
            i64::from(row.tries).into(),
            row.reply.clone().into(),
            row.host.clone().into(),
            row.tls.into(),
            row.is_delay_told.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }

    /// Has what is held be on its way; stale where not all of these are held.
    pub fn mail_outgoing_release(&mut self, mailbox_id: MailboxId, message_id: MailMessageId, count: u64) {
        let statement = "UPDATE mail_outgoing SET state = 'queued' \
                         WHERE mailbox_id = $1 AND message_id = $2 AND state = 'held'";
        let values = [mailbox_id.to_string().into(), message_id.to_string().into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(count));
    }

    /// Takes back what is held; stale where not all of these are held.
    pub fn mail_outgoing_take_back(&mut self, mailbox_id: MailboxId, message_id: MailMessageId, count: u64) {
        let statement = "DELETE FROM mail_outgoing WHERE mailbox_id = $1 AND message_id = $2 AND state = 'held'";
        let values = [mailbox_id.to_string().into(), message_id.to_string().into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(count));
    }
}

impl Purge {
    /// What became of messages that were sent so long ago that nobody asks.
    pub fn mail_outgoing(now: Timestamp) -> Self {
        let names = [
            "mail_outgoing",
            "mailbox_id, message_id, recipient",
            "created_at < $1 AND state IN ('sent', 'delayed', 'failed', 'cancelled')",
        ];
        Self::new("deliveries of mail", names, now.before(KEPT_FOR).0)
    }
}
