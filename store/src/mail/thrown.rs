//! What lies in spam and in the trash, and since when.

use domain::{
    Timestamp,
    id::{MailMessageId, MailThreadId, MailboxId},
    mail::MailMessage,
};

use super::conversations::thread_id;
use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

row! {
    struct ThrownRow {
        thread_id: String,
        message_id: String,
    }
}

row! {
    struct ThrownCountRow {
        thrown: i64,
    }
}

impl Store {
    /// Messages of the mailbox that have lain in spam or in the trash since then or longer, the longest first, at most `limit`, with
    /// their conversations.
    pub async fn mail_thrown_since(
        &self,
        mailbox_id: MailboxId,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<(MailThreadId, MailMessageId)>, StoreError> {
        let statement = "SELECT thread_id, message_id FROM mail_messages WHERE mailbox_id = $1 \
                         AND box IN ('spam', 'trash') AND thrown_at <= $2 ORDER BY thrown_at, message_id LIMIT $3";
        let values = [mailbox_id.to_string().into(), since.0.into(), i64::from(limit).into()];
        let rows: Vec<ThrownRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        let read = |row: ThrownRow| {
            let id = row.message_id.parse().map_err(|_| StoreError::corrupt("mail_messages.message_id"))?;
            Ok((thread_id(&row.thread_id)?, id))
        };
        rows.into_iter().map(read).collect()
    }

    /// Whether anything of the mailbox lies in spam or in the trash.
    pub async fn mail_has_thrown(&self, mailbox_id: MailboxId) -> Result<bool, StoreError> {
        let statement = "SELECT COUNT(*) AS thrown FROM (SELECT 1 FROM mail_messages WHERE mailbox_id = $1 \
                         AND box IN ('spam', 'trash') LIMIT 1) AS found";
        let row: Option<ThrownCountRow> =
            self.reader().row(&Sql::new(statement, [mailbox_id.to_string().into()])).await?;
        Ok(row.is_some_and(|row| row.thrown > 0))
    }
}

impl Change {
    /// Notes that what lies in spam and in the trash by now, and didn't before, does so from now on.
    pub fn mail_thrown_note(&mut self, mailbox_id: MailboxId, now: Timestamp) {
        let statement = "UPDATE mail_messages SET thrown_at = $2 WHERE mailbox_id = $1 AND box IN ('spam', 'trash') \
                         AND thrown_at IS NULL";
        self.run_statement(Sql::new(statement, [mailbox_id.to_string().into(), now.0.into()]), Expect::Any);
    }

    /// Deletes messages of a conversation that stays, and lets their bytes go.
    pub fn mail_messages_delete(&mut self, now: Timestamp, mailbox_id: MailboxId, messages: &[MailMessage]) {
        let ids: Vec<MailMessageId> = messages.iter().map(|message| message.placing.id).collect();
        self.mail_folder_entries_leave(now, mailbox_id, &ids);
        self.calendar_messages_forget(mailbox_id, &ids);
        for message in messages {
            for (statement, expect) in [
                ("DELETE FROM mail_words WHERE mailbox_id = $1 AND message_id = $2", Expect::Any),
                ("DELETE FROM mail_messages WHERE mailbox_id = $1 AND message_id = $2", Expect::Rows(1)),
            ] {
                let values = [mailbox_id.to_string().into(), message.placing.id.to_string().into()];
                self.run_statement(Sql::new(statement, values), expect);
            }
        }
        self.mail_raw_release(now, messages.iter().map(|message| message.raw_id));
    }
}
