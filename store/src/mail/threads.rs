//! Lists of conversations, and what goes when a mailbox goes.

use domain::{
    Timestamp,
    id::{MailThreadId, MailboxId},
    mail::{MailCategory, RawId, ThreadRow},
};
use sea_orm::Value;

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
    /// The name of the view.
    pub place: String,
    /// Only those of this category.
    pub category: Option<MailCategory>,
    /// Only those with a message that has all these words, in small letters.
    pub words: Vec<String>,
    /// Only those behind this one.
    pub behind: Option<(Timestamp, MailThreadId)>,
    /// So many at most.
    pub limit: u32,
}

/// A word as LIKE looks for it anywhere.
fn pattern(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{escaped}%")
}

impl Store {
    /// The conversations of a mailbox that are asked for, the newest first.
    pub async fn mail_threads(
        &self,
        mailbox_id: MailboxId,
        wanted: &ThreadsWanted,
    ) -> Result<Vec<ThreadRow>, StoreError> {
        let mut text = "SELECT t.shown FROM mail_places AS p JOIN mail_threads AS t \
                        ON t.mailbox_id = p.mailbox_id AND t.thread_id = p.thread_id \
                        WHERE p.mailbox_id = $1 AND p.place = $2"
            .to_owned();
        let mut values: Vec<Value> = vec![mailbox_id.to_string().into(), wanted.place.clone().into()];
        let mut put = |value: Value| {
            values.push(value);
            values.len().to_string()
        };
        if let Some(category) = wanted.category {
            let category = put(category.as_str().into());
            text.extend([" AND p.category = $", &category]);
        }
        if let Some((at, id)) = wanted.behind {
            let (at, id) = (put(at.0.into()), put(id.to_string().into()));
            text.extend([" AND (p.sort_at, p.thread_id) < ($", &at, ", $", &id, ")"]);
        }
        if !wanted.words.is_empty() {
            text += " AND EXISTS (SELECT 1 FROM mail_messages AS m JOIN mail_words AS w \
                     ON w.mailbox_id = m.mailbox_id AND w.message_id = m.message_id \
                     WHERE m.mailbox_id = p.mailbox_id AND m.thread_id = p.thread_id";
            for word in &wanted.words {
                let word = put(pattern(word).into());
                text.extend([" AND w.words LIKE $", &word, " ESCAPE '\\'"]);
            }
            text += ")";
        }
        let limit = put(i64::from(wanted.limit).into());
        text.extend([" ORDER BY p.sort_at DESC, p.thread_id DESC LIMIT $", &limit]);
        let sql = Sql::new(text, values);
        let rows: Vec<ShownRow> = if wanted.words.is_empty() {
            self.reader().rows(&sql).await?
        } else {
            self.reader().rows_of_many(&sql).await?
        };
        rows.into_iter().map(|row| json::read("mail_threads.shown", &row.shown)).collect()
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
            of("names of messages", "mail_references", "mailbox_id, hash, thread_id"),
            of("former conversations", "mail_thread_aliases", "mailbox_id, alias_id"),
            of("conversations", "mail_threads", "mailbox_id, thread_id"),
            of("counts of conversations", "mail_counts", "mailbox_id, place, category"),
            of("senders of mail", "mail_senders", "mailbox_id, address"),
            of("states of mailboxes", "mail_states", "mailbox_id"),
        ]
    }
}
