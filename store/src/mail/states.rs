//! What the owner of a mailbox keeps in mind, and what the mailbox chose for senders.

use std::collections::BTreeMap;

use domain::{
    id::MailboxId,
    mail::{Count, MailCategory, Tally},
};

use super::conversations::{placeholders, values};
use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

/// The state of a mailbox that something is decided on. Read it before what is decided on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailState {
    /// How many commits it has seen; 0 while there was none.
    pub revision: i64,
    /// What new messages end with, as clean HTML.
    pub signature: String,
    /// Whether reminders are also filed as messages.
    pub reminder_mail: bool,
}

row! {
    struct StateRow {
        mailbox_id: String,
        revision: i64,
        signature: String,
        reminder_mail: bool,
    }
}

row! {
    struct SenderRow {
        category: String,
    }
}

row! {
    struct CountRow {
        mailbox_id: String,
        category: String,
        threads: i64,
        unread: i64,
    }
}

fn category(name: &str) -> Result<MailCategory, StoreError> {
    MailCategory::from_name(name).ok_or_else(|| StoreError::corrupt("a category of mail"))
}

impl Store {
    /// The mailbox as something may be decided on it.
    pub async fn mail_state(&self, id: MailboxId) -> Result<MailState, StoreError> {
        Ok(self.mail_states(&[id]).await?.remove(&id).unwrap_or_default())
    }

    /// The same of several; at most 1,000, without those that never had a commit.
    pub async fn mail_states(&self, ids: &[MailboxId]) -> Result<BTreeMap<MailboxId, MailState>, StoreError> {
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let text = format!(
            "SELECT mailbox_id, revision, signature, reminder_mail FROM mail_states WHERE mailbox_id IN ({})",
            placeholders(1, ids.len())
        );
        let rows: Vec<StateRow> = self.reader().rows(&Sql::new(text, values(ids))).await?;
        let read = |row: StateRow| {
            let id = row.mailbox_id.parse().map_err(|_| StoreError::corrupt("mail_states.mailbox_id"))?;
            let (revision, signature, reminder_mail) = (row.revision, row.signature, row.reminder_mail);
            Ok((id, MailState { revision, signature, reminder_mail }))
        };
        rows.into_iter().map(read).collect()
    }

    /// The category that the mailbox chose for a sender.
    pub async fn mail_sender_category(&self, id: MailboxId, address: &str) -> Result<Option<MailCategory>, StoreError> {
        let statement = "SELECT category FROM mail_senders WHERE mailbox_id = $1 AND address = $2";
        let row: Option<SenderRow> =
            self.reader().row(&Sql::new(statement, [id.to_string().into(), address.into()])).await?;
        row.map(|row| category(&row.category)).transpose()
    }

    /// How many conversations stand in the place of mailboxes, by category; at most 1,000 mailboxes.
    pub async fn mail_counts(
        &self,
        ids: &[MailboxId],
        place: &str,
    ) -> Result<BTreeMap<MailboxId, BTreeMap<MailCategory, Count>>, StoreError> {
        let mut counts: BTreeMap<MailboxId, BTreeMap<MailCategory, Count>> = BTreeMap::new();
        if ids.is_empty() {
            return Ok(counts);
        }
        let text = format!(
            "SELECT mailbox_id, category, threads, unread FROM mail_counts WHERE place = $1 AND mailbox_id IN ({})",
            placeholders(2, ids.len())
        );
        let all = std::iter::once(place.into()).chain(values(ids));
        for row in self.reader().rows::<CountRow>(&Sql::new(text, all)).await? {
            let id = row.mailbox_id.parse().map_err(|_| StoreError::corrupt("mail_counts.mailbox_id"))?;
            let count = Count { threads: row.threads, unread: row.unread };
            counts.entry(id).or_default().insert(category(&row.category)?, count);
        }
        Ok(counts)
    }
}

impl Change {
    /// Writes the state under the next revision; stale where the mailbox had another commit since it was read.
    pub fn mail_state_turn(&mut self, id: MailboxId, next: &MailState) {
        let statement = "INSERT INTO mail_states (mailbox_id, revision, signature, reminder_mail) VALUES ($1, $2, $3, $4) \
                         ON CONFLICT (mailbox_id) DO UPDATE SET revision = excluded.revision, \
                         signature = excluded.signature, reminder_mail = excluded.reminder_mail \
                         WHERE mail_states.revision = excluded.revision - 1";
        let values =
            [id.to_string().into(), next.revision.into(), next.signature.clone().into(), next.reminder_mail.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Writes the category that the mailbox chose for a sender.
    pub fn mail_sender_set(&mut self, id: MailboxId, address: &str, category: MailCategory) {
        let statement = "INSERT INTO mail_senders (mailbox_id, address, category) VALUES ($1, $2, $3) \
                         ON CONFLICT (mailbox_id, address) DO UPDATE SET category = excluded.category";
        let values = [id.to_string().into(), address.into(), category.as_str().into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Changes counts by what a tally says.
    pub fn mail_counts_add(&mut self, id: MailboxId, tally: &Tally) {
        for ((place, category), count) in tally.changes() {
            let statement = "INSERT INTO mail_counts (mailbox_id, place, category, threads, unread) \
                             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (mailbox_id, place, category) DO UPDATE \
                             SET threads = mail_counts.threads + excluded.threads, \
                             unread = mail_counts.unread + excluded.unread";
            let values = [
                id.to_string().into(),
                place.as_str().into(),
                category.as_str().into(),
                count.threads.into(),
                count.unread.into(),
            ];
            self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        }
    }
}
