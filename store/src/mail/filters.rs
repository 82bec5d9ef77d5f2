//! Filters of mailboxes, what they find among what is there, and how far their application to it came.

use domain::{
    Timestamp,
    id::{MailFilterId, MailMessageId, MailThreadId, MailboxId},
    mail::{MailFilter, MailQuestion, Verdict},
};
use sea_orm::Value;

use super::{
    conversations::thread_id,
    search::{Bound, found},
};
use crate::{Change, Expect, Store, StoreError, json, reader::row, sql::Sql};

row! {
    struct FilterRow {
        filter_id: String,
        name: String,
        query: String,
        zone: String,
        actions: String,
        created_at: i64,
    }
}

row! {
    struct FoundRow {
        thread_id: String,
        message_id: String,
    }
}

row! {
    struct FilterJobRow {
        state: String,
        since: i64,
        behind: Option<String>,
        matched: i64,
        changed: i64,
        started_at: i64,
        ended_at: Option<i64>,
    }
}

/// How the application of a filter to what is there stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterJobState {
    /// It goes on.
    Running,
    /// It is through.
    Done,
    /// It was given up.
    Failed,
}

impl FilterJobState {
    const ALL: [Self; 3] = [Self::Running, Self::Done, Self::Failed];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

/// The last application of a filter to what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterJob {
    /// How it stands.
    pub state: FilterJobState,
    /// It looks at what came then or later.
    pub since: Timestamp,
    /// The last message that it looked at, and its conversation.
    pub behind: Option<(MailThreadId, MailMessageId)>,
    /// How many messages the filter found so far.
    pub matched: u64,
    /// How many of them changed.
    pub changed: u64,
    /// When it was asked for.
    pub started_at: Timestamp,
    /// When it was through.
    pub ended_at: Option<Timestamp>,
}

/// Which of the messages that a query finds.
#[derive(Clone, Copy, Debug)]
pub struct FoundWanted {
    /// Those that came then or later.
    pub since: Timestamp,
    /// Those behind this one.
    pub behind: Option<(MailThreadId, MailMessageId)>,
    /// So many at most.
    pub limit: u32,
}

fn filter(row: FilterRow) -> Result<MailFilter, StoreError> {
    let corrupt = || StoreError::corrupt(format_args!("mail_filters {}", row.filter_id));
    Ok(MailFilter {
        id: row.filter_id.parse().map_err(|_| corrupt())?,
        actions: json::read("mail_filters.actions", &row.actions)?,
        created_at: Timestamp(row.created_at),
        name: row.name,
        query: row.query,
        zone: row.zone,
    })
}

/// The place of a message in the order of conversations, as a row has it.
fn behind(text: &str) -> Result<(MailThreadId, MailMessageId), StoreError> {
    let corrupt = || StoreError::corrupt("mail_filter_jobs.behind");
    let (thread, message) = text.split_once(' ').ok_or_else(corrupt)?;
    Ok((thread_id(thread)?, message.parse().map_err(|_| corrupt())?))
}

fn key(mailbox_id: MailboxId, id: MailFilterId) -> [Value; 2] {
    [mailbox_id.to_string().into(), id.to_string().into()]
}

impl Store {
    /// The mailbox's filters, in the order in which they hold.
    pub async fn mail_filters(&self, mailbox_id: MailboxId) -> Result<Vec<MailFilter>, StoreError> {
        let statement = "SELECT filter_id, name, query, zone, actions, created_at FROM mail_filters \
                         WHERE mailbox_id = $1 ORDER BY place, filter_id";
        let rows: Vec<FilterRow> = self.reader().rows(&Sql::new(statement, [mailbox_id.to_string().into()])).await?;
        rows.into_iter().map(filter).collect()
    }

    /// The last application of a filter to what was there.
    pub async fn mail_filter_job(
        &self,
        mailbox_id: MailboxId,
        id: MailFilterId,
    ) -> Result<Option<FilterJob>, StoreError> {
        let statement = "SELECT state, since, behind, matched, changed, started_at, ended_at FROM mail_filter_jobs \
                         WHERE mailbox_id = $1 AND filter_id = $2";
        let row: Option<FilterJobRow> = self.reader().row(&Sql::new(statement, key(mailbox_id, id))).await?;
        let read = |row: FilterJobRow| {
            Ok(FilterJob {
                state: FilterJobState::from_name(&row.state)
                    .ok_or_else(|| StoreError::corrupt("mail_filter_jobs.state"))?,
                since: Timestamp(row.since),
                behind: row.behind.as_deref().map(behind).transpose()?,
                matched: u64::try_from(row.matched).map_err(StoreError::corrupt)?,
                changed: u64::try_from(row.changed).map_err(StoreError::corrupt)?,
                started_at: Timestamp(row.started_at),
                ended_at: row.ended_at.map(Timestamp),
            })
        };
        row.map(read).transpose()
    }

    /// Messages that came in and aren't in the trash for which the question holds, among the last 10,000 for which it does, with
    /// their conversations and in the order of these. Must not be asked of a question that asks nothing.
    pub async fn mail_messages_found(
        &self,
        mailbox_id: MailboxId,
        question: &MailQuestion,
        wanted: FoundWanted,
    ) -> Result<Vec<(MailThreadId, MailMessageId)>, StoreError> {
        let mut bound = Bound(vec![mailbox_id.to_string().into()]);
        let found = found(self.parts.connections.backend(), mailbox_id, question, &mut bound);
        let (is_incoming, since) = (bound.put(true), bound.put(wanted.since.0));
        let behind = wanted.behind.map_or_else(String::new, |(thread, message)| {
            let (thread, message) = (bound.put(thread.to_string()), bound.put(message.to_string()));
            format!(" AND (n.thread_id, n.message_id) > ({thread}, {message})")
        });
        let limit = bound.put(i64::from(wanted.limit));
        let text = format!(
            "SELECT n.thread_id AS thread_id, n.message_id AS message_id FROM ({found}) AS f CROSS JOIN mail_messages AS n \
             WHERE n.mailbox_id = $1 AND n.message_id = f.message_id AND n.is_incoming = {is_incoming} \
             AND n.received_at >= {since} AND n.box IN ('inbox', 'archive', 'spam'){behind} \
             ORDER BY n.thread_id, n.message_id LIMIT {limit}"
        );
        let rows: Vec<FoundRow> = self.reader().rows_of_many(&Sql::new(text, bound.0)).await?;
        let read = |row: FoundRow| {
            let id = row.message_id.parse().map_err(|_| StoreError::corrupt("mail_messages.message_id"))?;
            Ok((thread_id(&row.thread_id)?, id))
        };
        rows.into_iter().map(read).collect()
    }
}

impl Change {
    /// Adds a filter behind the others.
    pub fn mail_filter_add(&mut self, mailbox_id: MailboxId, filter: &MailFilter) {
        let statement = "INSERT INTO mail_filters (mailbox_id, filter_id, place, name, query, zone, actions, created_at) \
                         VALUES ($1, $2, (SELECT COALESCE(MAX(place), 0) + 1 FROM mail_filters WHERE mailbox_id = $1), \
                         $3, $4, $5, $6, $7)";
        let values: [Value; 7] = [
            mailbox_id.to_string().into(),
            filter.id.to_string().into(),
            filter.name.clone().into(),
            filter.query.clone().into(),
            filter.zone.clone().into(),
            json::text(&filter.actions).into(),
            filter.created_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Writes what a filter asks and does.
    pub fn mail_filter_set(&mut self, mailbox_id: MailboxId, filter: &MailFilter) {
        let statement = "UPDATE mail_filters SET name = $3, query = $4, zone = $5, actions = $6 \
                         WHERE mailbox_id = $1 AND filter_id = $2";
        let [mailbox, id] = key(mailbox_id, filter.id);
        let (name, query, zone) = (filter.name.clone(), filter.query.clone(), filter.zone.clone());
        let values = [mailbox, id, name.into(), query.into(), zone.into(), json::text(&filter.actions).into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Takes a filter away, and what is known of its application.
    pub fn mail_filter_remove(&mut self, mailbox_id: MailboxId, id: MailFilterId) {
        let statement = "DELETE FROM mail_filters WHERE mailbox_id = $1 AND filter_id = $2";
        self.run_statement(Sql::new(statement, key(mailbox_id, id)), Expect::Rows(1));
        let statement = "DELETE FROM mail_filter_jobs WHERE mailbox_id = $1 AND filter_id = $2";
        self.run_statement(Sql::new(statement, key(mailbox_id, id)), Expect::Any);
    }

    /// Has the mailbox's filters hold in this order.
    pub fn mail_filters_order(&mut self, mailbox_id: MailboxId, ids: &[MailFilterId]) {
        for (place, id) in (1_i64..).zip(ids) {
            let statement = "UPDATE mail_filters SET place = $3 WHERE mailbox_id = $1 AND filter_id = $2";
            let [mailbox, id] = key(mailbox_id, *id);
            self.run_statement(Sql::new(statement, [mailbox, id, place.into()]), Expect::Rows(1));
        }
    }

    /// Writes how the application of a filter stands.
    pub fn mail_filter_job_set(&mut self, mailbox_id: MailboxId, id: MailFilterId, job: &FilterJob) {
        let statement = "INSERT INTO mail_filter_jobs (mailbox_id, filter_id, state, since, behind, matched, changed, \
                         started_at, ended_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
                         ON CONFLICT (mailbox_id, filter_id) DO UPDATE SET state = excluded.state, \
                         since = excluded.since, behind = excluded.behind, matched = excluded.matched, \
                         changed = excluded.changed, started_at = excluded.started_at, ended_at = excluded.ended_at";
        let count = |it: u64| i64::try_from(it).unwrap_or(i64::MAX);
        let [mailbox, id] = key(mailbox_id, id);
        let values: [Value; 9] = [
            mailbox,
            id,
            job.state.as_str().into(),
            job.since.0.into(),
            job.behind.map(|(thread, message)| format!("{thread} {message}")).into(),
            count(job.matched).into(),
            count(job.changed).into(),
            job.started_at.0.into(),
            job.ended_at.map(|at| at.0).into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Writes what a message was found to be.
    pub fn mail_message_judge(&mut self, mailbox_id: MailboxId, id: MailMessageId, verdict: &Verdict) {
        let statement = "UPDATE mail_messages SET verdict = $3 WHERE mailbox_id = $1 AND message_id = $2";
        let values = [mailbox_id.to_string().into(), id.to_string().into(), json::text(verdict).into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Ends the application of a filter, where it goes on still.
    pub fn mail_filter_job_end(
        &mut self,
        mailbox_id: MailboxId,
        id: MailFilterId,
        state: FilterJobState,
        at: Timestamp,
    ) {
        let statement = "UPDATE mail_filter_jobs SET state = $3, ended_at = $4 \
                         WHERE mailbox_id = $1 AND filter_id = $2 AND state = 'running'";
        let [mailbox, id] = key(mailbox_id, id);
        self.run_statement(Sql::new(statement, [mailbox, id, state.as_str().into(), at.0.into()]), Expect::Any);
    }
}
