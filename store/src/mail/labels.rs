//! Labels of mailboxes, and which conversations still have one.

use domain::{
    Timestamp,
    id::{MailLabelId, MailThreadId, MailboxId},
    mail::{LabelColor, MailLabel, View},
};

use super::conversations::thread_id;
use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

row! {
    struct LabelRow {
        label_id: String,
        name: String,
        color: String,
    }
}

row! {
    struct LabelledRow {
        thread_id: String,
    }
}

row! {
    struct LabelCountRow {
        place: String,
        threads: i64,
        unread: i64,
    }
}

/// How many conversations have a label, without those that are in spam and trash alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelCount {
    /// All of them.
    pub threads: i64,
    /// Those with something unread.
    pub unread: i64,
}

fn label(row: LabelRow) -> Result<MailLabel, StoreError> {
    let corrupt = || StoreError::corrupt(format_args!("mail_labels {}", row.label_id));
    Ok(MailLabel {
        id: row.label_id.parse().map_err(|_| corrupt())?,
        color: LabelColor::from_name(&row.color).ok_or_else(corrupt)?,
        name: row.name,
    })
}

impl Store {
    /// The mailbox's labels, in the order of their names regardless of case.
    pub async fn mail_labels(&self, mailbox_id: MailboxId) -> Result<Vec<MailLabel>, StoreError> {
        let statement = "SELECT label_id, name, color FROM mail_labels WHERE mailbox_id = $1";
        let rows: Vec<LabelRow> = self.reader().rows(&Sql::new(statement, [mailbox_id.to_string().into()])).await?;
        let mut labels = rows.into_iter().map(label).collect::<Result<Vec<_>, _>>()?;
        labels.sort_by_cached_key(MailLabel::folded);
        Ok(labels)
    }

    /// The mailbox's label with this id.
    pub async fn mail_label(&self, mailbox_id: MailboxId, id: MailLabelId) -> Result<Option<MailLabel>, StoreError> {
        let statement = "SELECT label_id, name, color FROM mail_labels WHERE mailbox_id = $1 AND label_id = $2";
        let values = [mailbox_id.to_string().into(), id.to_string().into()];
        let row: Option<LabelRow> = self.reader().row(&Sql::new(statement, values)).await?;
        row.map(label).transpose()
    }

    /// How many conversations have each of these labels.
    pub async fn mail_label_counts(
        &self,
        mailbox_id: MailboxId,
        labels: &[MailLabel],
    ) -> Result<Vec<LabelCount>, StoreError> {
        let statement = "SELECT place, CAST(SUM(threads) AS BIGINT) AS threads, CAST(SUM(unread) AS BIGINT) AS unread \
                         FROM mail_counts WHERE mailbox_id = $1 AND place LIKE 'l:%' GROUP BY place";
        let rows: Vec<LabelCountRow> =
            self.reader().rows(&Sql::new(statement, [mailbox_id.to_string().into()])).await?;
        let count = |label: &MailLabel| {
            let place = View::Label(label.id).place();
            let found = rows.iter().find(|row| row.place == place);
            found.map_or_else(LabelCount::default, |row| LabelCount { threads: row.threads, unread: row.unread })
        };
        Ok(labels.iter().map(count).collect())
    }

    /// Conversations that have the label, at most `limit`: those that stand in its view first.
    pub async fn mail_threads_labelled(
        &self,
        mailbox_id: MailboxId,
        id: MailLabelId,
        limit: u32,
    ) -> Result<Vec<MailThreadId>, StoreError> {
        let statement =
            "SELECT thread_id FROM mail_places WHERE mailbox_id = $1 AND place = $2 ORDER BY thread_id LIMIT $3";
        let place = View::Label(id).place();
        let values = [mailbox_id.to_string().into(), place.into(), i64::from(limit).into()];
        let mut rows: Vec<LabelledRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        if rows.is_empty() {
            // Those in spam and trash stand in no label's view.
            let statement = "SELECT thread_id FROM mail_threads WHERE mailbox_id = $1 AND labels <> '[]' \
                             AND labels LIKE $2 ORDER BY thread_id LIMIT $3";
            // The `_` of an id stands for any character, which is none but `_` before these letters.
            let named = format!("%\"{id}\"%");
            let values = [mailbox_id.to_string().into(), named.into(), i64::from(limit).into()];
            rows = self.reader().rows(&Sql::new(statement, values)).await?;
        }
        rows.into_iter().map(|row| thread_id(&row.thread_id)).collect()
    }
}

impl Change {
    /// Adds a label; stale when another one is called so by then.
    pub fn mail_label_add(&mut self, mailbox_id: MailboxId, label: &MailLabel, now: Timestamp) {
        let statement = "INSERT INTO mail_labels (mailbox_id, label_id, name, folded, color, created_at) \
                         VALUES ($1, $2, $3, $4, $5, $6)";
        let values = [
            mailbox_id.to_string().into(),
            label.id.to_string().into(),
            label.name.clone().into(),
            label.folded().into(),
            label.color.as_str().into(),
            now.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Writes what labels are called, and their colors. Names may move from one to another.
    pub fn mail_labels_set(&mut self, mailbox_id: MailboxId, labels: &[MailLabel]) {
        // No two are called alike at any moment: an id is no label's name.
        for label in labels {
            let statement = "UPDATE mail_labels SET folded = $3 WHERE mailbox_id = $1 AND label_id = $2";
            let id = label.id.to_string();
            let values = [mailbox_id.to_string().into(), id.clone().into(), format!("/{id}").into()];
            self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        }
        for label in labels {
            let statement = "UPDATE mail_labels SET name = $3, folded = $4, color = $5 \
                             WHERE mailbox_id = $1 AND label_id = $2";
            let values = [
                mailbox_id.to_string().into(),
                label.id.to_string().into(),
                label.name.clone().into(),
                label.folded().into(),
                label.color.as_str().into(),
            ];
            self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        }
    }

    /// Takes a label away; conversations may have it still.
    pub fn mail_label_remove(&mut self, mailbox_id: MailboxId, id: MailLabelId) {
        let statement = "DELETE FROM mail_labels WHERE mailbox_id = $1 AND label_id = $2";
        let values = [mailbox_id.to_string().into(), id.to_string().into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Forgets the counts of a label that no conversation has any more.
    pub fn mail_label_counts_forget(&mut self, mailbox_id: MailboxId, id: MailLabelId) {
        let statement = "DELETE FROM mail_counts WHERE mailbox_id = $1 AND place = $2";
        let values = [mailbox_id.to_string().into(), View::Label(id).place().into()];
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }
}
