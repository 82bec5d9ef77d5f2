//! Messages that are being written: what they say, beside the message that stands in their conversation.

use domain::{
    Timestamp,
    id::{MailMessageId, MailThreadId, MailboxId},
    mail::{DraftContent, MailDraft, MailMessage, RawId},
};

use super::{NewRaw, conversations::thread_id};
use crate::{Change, Expect, PurgeBatch, Store, StoreError, json, reader::row, sql::Sql};

row! {
    struct DraftRow {
        message_id: String,
        thread_id: String,
        version: i64,
        content: String,
        updated_at: i64,
        is_sent: bool,
    }
}

row! {
    struct WrittenRow {
        message_id: String,
        content: String,
    }
}

row! {
    struct ThreadRow {
        thread_id: String,
    }
}

row! {
    struct CountRow {
        drafts: i64,
    }
}

const SELECT: &str = "SELECT d.message_id, m.thread_id, d.version, d.content, d.updated_at, d.is_sent FROM mail_drafts AS d \
                      JOIN mail_messages AS m ON m.mailbox_id = d.mailbox_id AND m.message_id = d.message_id \
                      WHERE d.mailbox_id = $1";

fn read(mailbox_id: MailboxId, row: &DraftRow) -> Result<MailDraft, StoreError> {
    Ok(MailDraft {
        id: row.message_id.parse().map_err(|_| StoreError::corrupt("mail_drafts.message_id"))?,
        mailbox_id,
        thread_id: thread_id(&row.thread_id)?,
        version: row.version,
        content: json::read("mail_drafts.content", &row.content)?,
        updated_at: Timestamp(row.updated_at),
        is_sent: row.is_sent,
    })
}

impl Store {
    /// The draft of the mailbox with this id, also where it is sent and can be taken back yet.
    pub async fn mail_draft(&self, mailbox_id: MailboxId, id: MailMessageId) -> Result<Option<MailDraft>, StoreError> {
        let statement = format!("{SELECT} AND d.message_id = $2");
        let values = [mailbox_id.to_string().into(), id.to_string().into()];
        let row: Option<DraftRow> = self.reader().row(&Sql::new(statement, values)).await?;
        row.map(|row| read(mailbox_id, &row)).transpose()
    }

    /// What is being written in the mailbox, what was changed last first; at most `limit`, behind the draft that is named.
    pub async fn mail_drafts(
        &self,
        mailbox_id: MailboxId,
        behind: Option<(Timestamp, MailMessageId)>,
        limit: u32,
    ) -> Result<Vec<MailDraft>, StoreError> {
        let statement = format!(
            "{SELECT} AND d.is_sent = $2 AND (d.updated_at < $3 OR (d.updated_at = $3 AND d.message_id < $4)) \
             ORDER BY d.updated_at DESC, d.message_id DESC LIMIT $5"
        );
        let (at, id) = behind.map_or((i64::MAX, String::new()), |(at, id)| (at.0, id.to_string()));
        let values = [mailbox_id.to_string().into(), false.into(), at.into(), id.into(), i64::from(limit).into()];
        let rows: Vec<DraftRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        rows.iter().map(|row| read(mailbox_id, row)).collect()
    }

    /// How many drafts the mailbox has.
    pub async fn mail_drafts_count(&self, mailbox_id: MailboxId) -> Result<u64, StoreError> {
        let statement = "SELECT COUNT(*) AS drafts FROM mail_drafts WHERE mailbox_id = $1";
        let row: Option<CountRow> = self.reader().row(&Sql::new(statement, [mailbox_id.to_string().into()])).await?;
        u64::try_from(row.map_or(0, |row| row.drafts)).map_err(StoreError::corrupt)
    }

    /// The next drafts of a mailbox that is deleted, at most `limit`; answers the change that takes them away.
    pub async fn mail_drafts_clear_next(&self, mailbox_id: MailboxId, limit: u32) -> Result<PurgeBatch, StoreError> {
        let (mut batch, now) = (PurgeBatch::default(), self.now());
        let statement =
            "SELECT message_id, content FROM mail_drafts WHERE mailbox_id = $1 ORDER BY message_id LIMIT $2";
        let values = [mailbox_id.to_string().into(), i64::from(limit).into()];
        let rows: Vec<WrittenRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        for row in &rows {
            let id = row.message_id.parse().map_err(|_| StoreError::corrupt("mail_drafts.message_id"))?;
            let content: DraftContent = json::read("mail_drafts.content", &row.content)?;
            batch.change.mail_draft_remove(now, mailbox_id, id, &content);
        }
        if !rows.is_empty() {
            batch.rows.push(("drafts", u32::try_from(rows.len()).unwrap_or(limit)));
        }
        Ok(batch)
    }

    /// The conversation that a message of the mailbox stands in.
    pub async fn mail_thread_of(
        &self,
        mailbox_id: MailboxId,
        id: MailMessageId,
    ) -> Result<Option<MailThreadId>, StoreError> {
        let statement = "SELECT thread_id FROM mail_messages WHERE mailbox_id = $1 AND message_id = $2";
        let values = [mailbox_id.to_string().into(), id.to_string().into()];
        let row: Option<ThreadRow> = self.reader().row(&Sql::new(statement, values)).await?;
        row.map(|row| thread_id(&row.thread_id)).transpose()
    }
}

impl Change {
    /// Keeps bytes that a message of a mailbox names, once more.
    pub fn mail_raw_name(&mut self, now: Timestamp, raw: &NewRaw) {
        self.mail_raw_keep(now, raw, 1);
    }

    /// Writes what a draft says; stale where it has another version than the one before.
    pub fn mail_draft_set(&mut self, draft: &MailDraft) {
        let statement = "INSERT INTO mail_drafts (mailbox_id, message_id, version, content, updated_at, is_sent) \
                         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (mailbox_id, message_id) DO UPDATE SET \
                         version = excluded.version, content = excluded.content, updated_at = excluded.updated_at, \
                         is_sent = excluded.is_sent WHERE mail_drafts.version = excluded.version - 1";
        let values = [
            draft.mailbox_id.to_string().into(),
            draft.id.to_string().into(),
            draft.version.into(),
            json::text(&draft.content).into(),
            draft.updated_at.0.into(),
            draft.is_sent.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Forgets what a draft says, and lets the bytes of its files go; the message stays. Stale where it is forgotten already.
    pub fn mail_draft_remove(
        &mut self,
        now: Timestamp,
        mailbox_id: MailboxId,
        id: MailMessageId,
        content: &DraftContent,
    ) {
        let statement = "DELETE FROM mail_drafts WHERE mailbox_id = $1 AND message_id = $2";
        let values = [mailbox_id.to_string().into(), id.to_string().into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        self.mail_raw_release(now, content.files.iter().map(|file| file.raw_id));
    }

    /// Takes a message out of the mailbox, with its words; its bytes are let go. Stale where it isn't there.
    pub fn mail_message_take_out(&mut self, now: Timestamp, mailbox_id: MailboxId, message: &MailMessage) {
        self.mail_message_rows_remove(now, mailbox_id, message.placing.id);
        self.mail_raw_release(now, [message.raw_id]);
    }

    /// Takes the rows of a message away, to be written anew; `raw` is what it names then. Where that is what it named, nothing is
    /// counted.
    pub fn mail_message_rewrite(
        &mut self,
        now: Timestamp,
        mailbox_id: MailboxId,
        id: MailMessageId,
        (before, raw): (RawId, &NewRaw),
    ) {
        self.mail_message_rows_remove(now, mailbox_id, id);
        if raw.id() != before {
            self.mail_raw_name(now, raw);
            self.mail_raw_release(now, [before]);
        }
    }

    fn mail_message_rows_remove(&mut self, now: Timestamp, mailbox_id: MailboxId, id: MailMessageId) {
        self.mail_folder_entries_leave(now, mailbox_id, &[id]);
        for (statement, expect) in [
            ("DELETE FROM mail_words WHERE mailbox_id = $1 AND message_id = $2", Expect::Any),
            ("DELETE FROM mail_messages WHERE mailbox_id = $1 AND message_id = $2", Expect::Rows(1)),
        ] {
            let values = [mailbox_id.to_string().into(), id.to_string().into()];
            self.run_statement(Sql::new(statement, values), expect);
        }
    }
}
