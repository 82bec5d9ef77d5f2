//! Lists of conversations, and what goes when a mailbox goes.

use domain::{
    Timestamp,
    id::{MailThreadId, MailboxId},
    mail::{MailCategory, MailQuestion, RawId, ThreadRow},
};
use sea_orm::DbBackend;

use super::search::{Bound, found};
use crate::{Change, Expect, Purge, Store, StoreError, json, reader::row, sql::Sql};

row! {
    struct ShownRow {
        shown: String,
    }
}

row! {
    struct RawNameRow {
        message_id: String,
        raw_id: String,
    }
}

/// Which conversations of a mailbox are listed.
#[derive(Clone, Debug)]
pub struct ThreadsWanted {
    /// The name of the view; any where nothing is said, of a search alone.
    pub place: Option<String>,
    /// Only those of this category.
    pub category: Option<MailCategory>,
    /// Only those with a message for which this holds.
    pub question: Option<MailQuestion>,
    /// Only those behind this one.
    pub behind: Option<(Timestamp, MailThreadId)>,
    /// So many at most.
    pub limit: u32,
}

fn shown(row: &ShownRow) -> Result<ThreadRow, StoreError> {
    json::read("mail_threads.shown", &row.shown)
}

/// What of `mail_places`, as `p`, is on the page that is wanted. With a `+` before the moment, conversations are found by their ids
/// and not by when they were last written in.
fn on_page(wanted: &ThreadsWanted, plus: &str, bound: &mut Bound) -> String {
    let mut text = match &wanted.place {
        Some(place) => format!(" AND p.place = {}", bound.put(place.as_str())),
        // Each conversation stands in one of these.
        None => " AND p.place IN ('all', 'spam', 'trash')".to_owned(),
    };
    if let Some(category) = wanted.category {
        text.extend([" AND p.category = ", &bound.put(category.as_str())]);
    }
    if let Some((at, id)) = wanted.behind {
        let (at, id) = (bound.put(at.0), bound.put(id.to_string()));
        text.extend([" AND (", plus, "p.sort_at, p.thread_id) < (", &at, ", ", &id, ")"]);
    }
    text
}

/// A page of a view.
fn listed(mailbox_id: MailboxId, wanted: &ThreadsWanted) -> Sql {
    let mut bound = Bound(vec![mailbox_id.to_string().into()]);
    let (page, limit) = (on_page(wanted, "", &mut bound), bound.put(i64::from(wanted.limit)));
    let text = format!(
        "SELECT t.shown FROM mail_places AS p JOIN mail_threads AS t \
         ON t.mailbox_id = p.mailbox_id AND t.thread_id = p.thread_id WHERE p.mailbox_id = $1{page} \
         ORDER BY p.sort_at DESC, p.thread_id DESC LIMIT {limit}"
    );
    Sql::new(text, bound.0)
}

/// A page of what a search finds.
fn searched(backend: DbBackend, mailbox_id: MailboxId, wanted: &ThreadsWanted, question: &MailQuestion) -> Sql {
    let mut bound = Bound(vec![mailbox_id.to_string().into()]);
    let found = found(backend, mailbox_id, question, &mut bound);
    let (page, limit) = (on_page(wanted, "+", &mut bound), bound.put(i64::from(wanted.limit)));
    let text = format!(
        "SELECT d.shown FROM (SELECT DISTINCT t.shown AS shown, p.sort_at AS sort_at, p.thread_id AS thread_id \
         FROM ({found}) AS f CROSS JOIN mail_places AS p CROSS JOIN mail_threads AS t \
         WHERE p.mailbox_id = $1 AND p.thread_id = f.thread_id AND t.mailbox_id = $1 AND t.thread_id = f.thread_id{page}) AS d \
         ORDER BY d.sort_at DESC, d.thread_id DESC LIMIT {limit}"
    );
    Sql::new(text, bound.0)
}

impl Store {
    /// The conversations of a mailbox that are asked for, the newest first.
    pub async fn mail_threads(
        &self,
        mailbox_id: MailboxId,
        wanted: &ThreadsWanted,
    ) -> Result<Vec<ThreadRow>, StoreError> {
        let Some(question) = &wanted.question else {
            let rows: Vec<ShownRow> = self.reader().rows(&listed(mailbox_id, wanted)).await?;
            return rows.iter().map(shown).collect();
        };
        if question.is_empty() {
            return Ok(Vec::new());
        }
        let sql = searched(self.parts.connections.backend(), mailbox_id, wanted, question);
        let rows: Vec<ShownRow> = self.reader().rows_of_many(&sql).await?;
        rows.iter().map(shown).collect()
    }

    /// The next messages of a mailbox that is out of sight, at most `limit`; answers the change that deletes them and lets their
    /// bytes go, and how many they are.
    pub async fn mail_messages_clear_next(
        &self,
        mailbox_id: MailboxId,
        limit: u32,
    ) -> Result<(Change, u32), StoreError> {
        let statement =
            "SELECT message_id, raw_id FROM mail_messages WHERE mailbox_id = $1 ORDER BY message_id LIMIT $2";
        let sql = Sql::new(statement, [mailbox_id.to_string().into(), i64::from(limit).into()]);
        let rows: Vec<RawNameRow> = self.reader().rows(&sql).await?;
        let mut change = Change::new();
        let mut raw_ids: Vec<RawId> = Vec::new();
        for row in &rows {
            raw_ids.push(row.raw_id.parse().map_err(|_| StoreError::corrupt("mail_messages.raw_id"))?);
            for (statement, expect) in [
                ("DELETE FROM mail_words WHERE mailbox_id = $1 AND message_id = $2", Expect::Any),
                ("DELETE FROM mail_messages WHERE mailbox_id = $1 AND message_id = $2", Expect::Rows(1)),
            ] {
                let values = [mailbox_id.to_string().into(), row.message_id.as_str().into()];
                change.run_statement(Sql::new(statement, values), expect);
            }
        }
        change.mail_raw_release(self.now(), raw_ids);
        Ok((change, u32::try_from(rows.len()).unwrap_or(limit)))
    }
}

impl Purge {
    /// What is left of the conversations of a mailbox that is out of sight.
    pub fn mailbox_threads(id: MailboxId) -> Vec<Self> {
        let of = |what: &'static str, table: &'static str, key: &'static str| {
            Self::new(what, [table, key, "mailbox_id = $1"], id.to_string())
        };
        vec![
            of("places of conversations", "mail_places", "mailbox_id, place, thread_id"),
            of("numbers of messages", "mail_folder_entries", "mailbox_id, folder_id, uid"),
            of("numbers of messages that are gone", "mail_folder_gone", "mailbox_id, folder_id, uid"),
            of("folders", "mail_folders", "mailbox_id, folder_id"),
            of("names of messages", "mail_references", "mailbox_id, hash, thread_id"),
            of("former conversations", "mail_thread_aliases", "mailbox_id, alias_id"),
            of("conversations", "mail_threads", "mailbox_id, thread_id"),
            of("counts of conversations", "mail_counts", "mailbox_id, place, category"),
            of("labels", "mail_labels", "mailbox_id, label_id"),
            of("senders of mail", "mail_senders", "mailbox_id, address"),
            of("filters", "mail_filters", "mailbox_id, filter_id"),
            of("applications of filters", "mail_filter_jobs", "mailbox_id, filter_id"),
            of("answers of who is away", "mail_vacations", "mailbox_id"),
            of("answered senders", "mail_vacation_told", "mailbox_id, address"),
            of("blocked senders", "mail_blocked", "mailbox_id, address"),
            of("people", "mail_people", "mailbox_id, address"),
            of("states of mailboxes", "mail_states", "mailbox_id"),
        ]
    }
}
