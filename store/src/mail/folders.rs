//! What IMAP will show: each message has a number in its box, and one in each label of its conversation unless it lies in spam or in the
//! trash. Numbers of a folder ascend, and none is used twice.
//!
//! A commit of a mailbox's owner ends with [`Change::mail_folders_follow`], which has the numbers follow what the commit did, whatever
//! that was: so a message that a program before this one filed gets its number with the next change of its conversation.

use std::time::Duration;

use domain::{
    Timestamp,
    id::{MailMessageId, MailThreadId, MailboxId},
};
use sea_orm::Value;

use super::conversations::{placeholders, values};
use crate::{Change, Expect, Purge, sql::Sql};

/// How long it is known which numbers are gone.
const GONE_KEPT: Duration = Duration::from_hours(60 * 24);
/// Conversations, or messages, that a statement names at most.
const AT_ONCE: usize = 400;

/// The messages of conversations, whose ids stand at `/*threads*/`. SQLite knows nothing of how many rows a mailbox has: it takes the
/// index by conversations only where that has all that is asked.
const THEIRS: &str =
    "SELECT o.message_id FROM mail_messages AS o WHERE o.mailbox_id = $1 AND o.thread_id IN (/*threads*/)";
/// These messages, with each folder that they are in.
const WANTED: &str = "SELECT m.message_id AS message_id, m.received_at AS received_at, m.box AS folder_id \
                      FROM mail_messages AS m WHERE m.mailbox_id = $1 AND m.message_id IN (/*theirs*/) \
                      UNION ALL SELECT m.message_id, m.received_at, p.place FROM mail_messages AS m \
                      CROSS JOIN mail_places AS p WHERE m.mailbox_id = $1 AND m.message_id IN (/*theirs*/) \
                      AND p.mailbox_id = m.mailbox_id AND p.thread_id = m.thread_id AND p.place LIKE 'l:%' \
                      AND m.box NOT IN ('spam', 'trash')";
/// The entries of these messages that are in a folder no more.
const OVER: &str = "e.mailbox_id = $1 AND e.message_id IN (/*theirs*/) AND NOT EXISTS \
                    (SELECT 1 FROM mail_messages AS m WHERE m.mailbox_id = e.mailbox_id AND m.message_id = e.message_id \
                    AND (m.box = e.folder_id OR (e.folder_id LIKE 'l:%' AND m.box NOT IN ('spam', 'trash') AND EXISTS \
                    (SELECT 1 FROM mail_places AS p WHERE p.mailbox_id = m.mailbox_id AND p.place = e.folder_id \
                    AND p.thread_id = m.thread_id))))";

impl Change {
    /// Has the numbers of messages follow what this commit did with these conversations. `modseq` is the mailbox's revision that it makes.
    pub fn mail_folders_follow(
        &mut self,
        now: Timestamp,
        mailbox_id: MailboxId,
        threads: impl IntoIterator<Item = MailThreadId>,
        modseq: i64,
    ) {
        let threads: Vec<MailThreadId> = threads.into_iter().collect();
        for some in threads.chunks(AT_ONCE) {
            self.mail_folders_follow_some(now, mailbox_id, some, modseq);
        }
    }

    fn mail_folders_follow_some(
        &mut self,
        now: Timestamp,
        mailbox_id: MailboxId,
        threads: &[MailThreadId],
        modseq: i64,
    ) {
        let gone = format!(
            "INSERT INTO mail_folder_gone (mailbox_id, folder_id, uid, modseq, gone_at) SELECT e.mailbox_id, e.folder_id, e.uid, \
             CAST($2 AS BIGINT), CAST($3 AS BIGINT) FROM mail_folder_entries AS e WHERE {OVER}"
        );
        let over = format!("DELETE FROM mail_folder_entries AS e WHERE {OVER}");
        let changed = "UPDATE mail_folder_entries SET modseq = $2 WHERE modseq < $2 AND (mailbox_id, folder_id, uid) IN \
                       (SELECT e.mailbox_id, e.folder_id, e.uid FROM mail_messages AS m CROSS JOIN mail_folder_entries AS e \
                       WHERE m.mailbox_id = $1 AND m.message_id IN (/*theirs*/) AND m.modseq = $2 \
                       AND e.mailbox_id = m.mailbox_id AND e.message_id = m.message_id)";
        let made = format!(
            "INSERT INTO mail_folders (mailbox_id, folder_id, uid_validity, uid_next) SELECT DISTINCT CAST($1 AS TEXT), \
             w.folder_id, CAST($2 AS BIGINT), 1 FROM ({WANTED}) AS w WHERE true ON CONFLICT (mailbox_id, folder_id) DO NOTHING"
        );
        let added = format!(
            "INSERT INTO mail_folder_entries (mailbox_id, folder_id, uid, message_id, modseq) SELECT f.mailbox_id, w.folder_id, \
             f.uid_next - 1 + ROW_NUMBER() OVER (PARTITION BY w.folder_id ORDER BY w.received_at, w.message_id), w.message_id, \
             CAST($2 AS BIGINT) FROM ({WANTED}) AS w JOIN mail_folders AS f ON f.mailbox_id = $1 AND f.folder_id = w.folder_id \
             WHERE NOT EXISTS (SELECT 1 FROM mail_folder_entries AS e WHERE e.mailbox_id = f.mailbox_id \
             AND e.message_id = w.message_id AND e.folder_id = w.folder_id)"
        );
        let counted = format!(
            "UPDATE mail_folders SET uid_next = (SELECT MAX(e.uid) + 1 FROM mail_folder_entries AS e \
             WHERE e.mailbox_id = mail_folders.mailbox_id AND e.folder_id = mail_folders.folder_id) \
             WHERE mailbox_id = $1 AND folder_id IN (SELECT w.folder_id FROM ({WANTED}) AS w) AND uid_next <= \
             (SELECT MAX(e.uid) FROM mail_folder_entries AS e \
             WHERE e.mailbox_id = mail_folders.mailbox_id AND e.folder_id = mail_folders.folder_id)"
        );
        let seconds = now.0.div_euclid(1_000);
        for (text, numbers) in [
            (gone.as_str(), vec![modseq, now.0]),
            (over.as_str(), vec![]),
            (changed, vec![modseq]),
            (made.as_str(), vec![seconds]),
            (added.as_str(), vec![modseq]),
            (counted.as_str(), vec![]),
        ] {
            let text = text.replace("/*theirs*/", THEIRS);
            let text = text.replace("/*threads*/", &placeholders(2 + numbers.len(), threads.len()));
            let first = std::iter::once(Value::from(mailbox_id.to_string()));
            let all = first.chain(numbers.into_iter().map(Value::from)).chain(values(threads));
            self.run_statement(Sql::new(text, all), Expect::Any);
        }
    }

    /// Notes that messages are in no folder any more, before they are deleted or written anew.
    pub(super) fn mail_folder_entries_leave(
        &mut self,
        now: Timestamp,
        mailbox_id: MailboxId,
        messages: &[MailMessageId],
    ) {
        let gone = "INSERT INTO mail_folder_gone (mailbox_id, folder_id, uid, modseq, gone_at) SELECT e.mailbox_id, e.folder_id, \
                    e.uid, COALESCE((SELECT s.revision FROM mail_states AS s WHERE s.mailbox_id = e.mailbox_id), 0), \
                    CAST($2 AS BIGINT) FROM mail_folder_entries AS e WHERE e.mailbox_id = $1 AND e.message_id IN (/*messages*/)";
        let over = "DELETE FROM mail_folder_entries WHERE mailbox_id = $1 AND message_id IN (/*messages*/)";
        for some in messages.chunks(AT_ONCE) {
            for (text, numbers) in [(gone, vec![now.0]), (over, vec![])] {
                let text = text.replace("/*messages*/", &placeholders(2 + numbers.len(), some.len()));
                let first = std::iter::once(Value::from(mailbox_id.to_string()));
                let all = first.chain(numbers.into_iter().map(Value::from)).chain(values(some));
                self.run_statement(Sql::new(text, all), Expect::Any);
            }
        }
    }
}

impl Purge {
    /// Numbers that have been gone for so long that no client asks.
    pub fn mail_folder_gone(now: Timestamp) -> Self {
        let names = ["mail_folder_gone", "mailbox_id, folder_id, uid", "gone_at < $1"];
        Self::new("numbers of messages that are gone", names, now.before(GONE_KEPT).0)
    }
}
