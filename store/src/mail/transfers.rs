//! Imports of mail and exports of mailboxes: how far they are, and the files that they are in.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    id::{ContentId, MailExportId, MailImportId, MailLabelId, MailMessageId, MailThreadId, MailboxId, OrgId},
    mail::{ImportCounts, MailBox, MailExport, MailExportState, MailImport, MailImportKind, MailImportState, RawId},
};
use sea_orm::Value;

use super::conversations::{placeholders, thread_id, values};
use crate::{
    Change, Expect, Purge, PurgeBatch, Store, StoreError, blobs::contents::NewContent, json, reader::row, sql::Sql,
};

row! {
    struct ImportRow {
        import_id: String,
        org_id: String,
        mailbox_id: String,
        created_by: String,
        kind: String,
        size: i64,
        state: String,
        content_id: Option<String>,
        place: String,
        commits: i64,
        messages: i64,
        filed: i64,
        duplicates: i64,
        failed: i64,
        faults: String,
        error: Option<String>,
        created_at: i64,
        ended_at: Option<i64>,
    }
}

row! {
    struct ExportRow {
        export_id: String,
        org_id: String,
        mailbox_id: String,
        created_by: String,
        state: String,
        content_id: Option<String>,
        size: i64,
        messages: i64,
        created_at: i64,
        ended_at: Option<i64>,
    }
}

row! {
    struct CountRow {
        count: i64,
    }
}

row! {
    struct RawThreadRow {
        raw_id: String,
        thread_id: String,
    }
}

row! {
    struct ExportedRow {
        message_id: String,
        raw_id: String,
        envelope_from: String,
        received_at: i64,
        is_unread: bool,
        is_starred: bool,
        labels: String,
    }
}

row! {
    struct RestRow {
        id: String,
        org_id: String,
        content_id: Option<String>,
    }
}

const IMPORT_COLUMNS: &str = "import_id, org_id, mailbox_id, created_by, kind, size, state, content_id, place, commits, messages, filed, \
                              duplicates, failed, faults, error, created_at, ended_at";
const EXPORT_COLUMNS: &str =
    "export_id, org_id, mailbox_id, created_by, state, content_id, size, messages, created_at, ended_at";
/// Imports and exports that are listed.
const LISTED_MAX: i64 = 100;
/// Names of bytes that a statement asks for.
const AT_ONCE: usize = 400;

/// A message as an export has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedMail {
    /// Its id.
    pub id: MailMessageId,
    /// Its bytes.
    pub raw_id: RawId,
    /// Who sent it by the envelope.
    pub envelope_from: String,
    /// When it came.
    pub at: Timestamp,
    /// Whether nobody has read it.
    pub is_unread: bool,
    /// Whether it has a star.
    pub is_starred: bool,
    /// What the labels of its conversation are called.
    pub labels: Vec<String>,
}

fn unsigned(number: i64) -> Result<u64, StoreError> {
    u64::try_from(number).map_err(StoreError::corrupt)
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn content(id: Option<&String>) -> Result<Option<ContentId>, StoreError> {
    id.map(|id| id.parse().map_err(|_| StoreError::corrupt("the content of a transfer of mail"))).transpose()
}

fn import(row: ImportRow) -> Result<MailImport, StoreError> {
    let corrupt = || StoreError::corrupt(format_args!("mail_imports {}", row.import_id));
    Ok(MailImport {
        id: row.import_id.parse().map_err(|_| corrupt())?,
        org_id: row.org_id.parse().map_err(|_| corrupt())?,
        mailbox_id: row.mailbox_id.parse().map_err(|_| corrupt())?,
        created_by: row.created_by.parse().map_err(|_| corrupt())?,
        kind: MailImportKind::from_name(&row.kind).ok_or_else(corrupt)?,
        size: unsigned(row.size)?,
        state: MailImportState::from_name(&row.state).ok_or_else(corrupt)?,
        content: content(row.content_id.as_ref())?,
        place: json::read("mail_imports.place", &row.place)?,
        commits: row.commits,
        counts: ImportCounts {
            read: unsigned(row.messages)?,
            filed: unsigned(row.filed)?,
            duplicates: unsigned(row.duplicates)?,
            failed: unsigned(row.failed)?,
        },
        faults: json::read("mail_imports.faults", &row.faults)?,
        error: row.error,
        created_at: Timestamp(row.created_at),
        ended_at: row.ended_at.map(Timestamp),
    })
}

fn exported(row: ExportedRow, names: &BTreeMap<MailLabelId, String>) -> Result<ExportedMail, StoreError> {
    let labels: Vec<MailLabelId> = json::read("mail_threads.labels", &row.labels)?;
    let corrupt = || StoreError::corrupt(format_args!("mail_messages {}", row.message_id));
    Ok(ExportedMail {
        id: row.message_id.parse().map_err(|_| corrupt())?,
        raw_id: row.raw_id.parse().map_err(|_| corrupt())?,
        at: Timestamp(row.received_at),
        is_unread: row.is_unread,
        is_starred: row.is_starred,
        labels: labels.iter().filter_map(|id| names.get(id)).cloned().collect(),
        envelope_from: row.envelope_from,
    })
}

fn export(row: &ExportRow) -> Result<MailExport, StoreError> {
    let corrupt = || StoreError::corrupt(format_args!("mail_exports {}", row.export_id));
    Ok(MailExport {
        id: row.export_id.parse().map_err(|_| corrupt())?,
        org_id: row.org_id.parse().map_err(|_| corrupt())?,
        mailbox_id: row.mailbox_id.parse().map_err(|_| corrupt())?,
        created_by: row.created_by.parse().map_err(|_| corrupt())?,
        state: MailExportState::from_name(&row.state).ok_or_else(corrupt)?,
        content: content(row.content_id.as_ref())?,
        size: unsigned(row.size)?,
        messages: unsigned(row.messages)?,
        created_at: Timestamp(row.created_at),
        ended_at: row.ended_at.map(Timestamp),
    })
}

impl Store {
    /// The import with this id.
    pub async fn mail_import(&self, id: MailImportId) -> Result<Option<MailImport>, StoreError> {
        let statement = format!("SELECT {IMPORT_COLUMNS} FROM mail_imports WHERE import_id = $1");
        let row: Option<ImportRow> = self.reader().row(&Sql::new(statement, [id.to_string().into()])).await?;
        row.map(import).transpose()
    }

    /// The last imports of the mailbox, the newest first.
    pub async fn mail_imports(&self, mailbox_id: MailboxId) -> Result<Vec<MailImport>, StoreError> {
        let statement =
            format!("SELECT {IMPORT_COLUMNS} FROM mail_imports WHERE mailbox_id = $1 ORDER BY import_id DESC LIMIT $2");
        let sql = Sql::new(statement, [mailbox_id.to_string().into(), LISTED_MAX.into()]);
        self.reader().rows::<ImportRow>(&sql).await?.into_iter().map(import).collect()
    }

    /// How many imports of the mailbox are not over.
    pub async fn mail_imports_open(&self, mailbox_id: MailboxId) -> Result<u64, StoreError> {
        let statement = "SELECT COUNT(*) AS count FROM mail_imports WHERE mailbox_id = $1 AND ended_at IS NULL";
        let row: Option<CountRow> = self.reader().row(&Sql::new(statement, [mailbox_id.to_string().into()])).await?;
        row.map_or(Ok(0), |row| unsigned(row.count))
    }

    /// The export with this id.
    pub async fn mail_export(&self, id: MailExportId) -> Result<Option<MailExport>, StoreError> {
        let statement = format!("SELECT {EXPORT_COLUMNS} FROM mail_exports WHERE export_id = $1");
        let row: Option<ExportRow> = self.reader().row(&Sql::new(statement, [id.to_string().into()])).await?;
        row.as_ref().map(export).transpose()
    }

    /// The last exports of the mailbox, the newest first.
    pub async fn mail_exports(&self, mailbox_id: MailboxId) -> Result<Vec<MailExport>, StoreError> {
        let statement =
            format!("SELECT {EXPORT_COLUMNS} FROM mail_exports WHERE mailbox_id = $1 ORDER BY export_id DESC LIMIT $2");
        let sql = Sql::new(statement, [mailbox_id.to_string().into(), LISTED_MAX.into()]);
        self.reader().rows::<ExportRow>(&sql).await?.iter().map(export).collect()
    }

    /// Messages that lie in a box of the mailbox, in the order of their ids, behind one of them, at most `limit`.
    pub async fn mail_exported(
        &self,
        mailbox_id: MailboxId,
        place: MailBox,
        after: Option<MailMessageId>,
        limit: u32,
    ) -> Result<Vec<ExportedMail>, StoreError> {
        let statement = "SELECT m.message_id, m.raw_id, m.envelope_from, m.received_at, m.is_unread, m.is_starred, t.labels \
                         FROM mail_messages m JOIN mail_threads t ON t.mailbox_id = m.mailbox_id AND t.thread_id = m.thread_id \
                         WHERE m.mailbox_id = $1 AND m.message_id > $2 AND m.box = $3 ORDER BY m.message_id LIMIT $4";
        let after = after.map(|id| id.to_string()).unwrap_or_default();
        let values = [mailbox_id.to_string().into(), after.into(), place.as_str().into(), i64::from(limit).into()];
        let rows: Vec<ExportedRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        let names: BTreeMap<MailLabelId, String> = if rows.iter().any(|row| row.labels != "[]") {
            self.mail_labels(mailbox_id).await?.into_iter().map(|label| (label.id, label.name)).collect()
        } else {
            BTreeMap::new()
        };
        rows.into_iter().map(|row| exported(row, &names)).collect()
    }

    /// Those of these bytes that the mailbox has a message of, with the conversation that it stands in.
    pub async fn mail_threads_of_raw(
        &self,
        mailbox_id: MailboxId,
        ids: &[RawId],
    ) -> Result<BTreeMap<RawId, MailThreadId>, StoreError> {
        let mut found = BTreeMap::new();
        for some in ids.chunks(AT_ONCE) {
            let text = format!(
                "SELECT raw_id, thread_id FROM mail_messages WHERE mailbox_id = $1 AND raw_id IN ({})",
                placeholders(2, some.len())
            );
            let all = std::iter::once(Value::from(mailbox_id.to_string())).chain(values(some));
            for row in self.reader().rows::<RawThreadRow>(&Sql::new(text, all)).await? {
                let raw_id = row.raw_id.parse().map_err(|_| StoreError::corrupt("mail_messages.raw_id"))?;
                found.insert(raw_id, thread_id(&row.thread_id)?);
            }
        }
        Ok(found)
    }

    /// The next imports and exports of a mailbox that is deleted, at most `limit` of each, with their files.
    pub async fn mail_transfers_clear_next(&self, id: MailboxId, limit: u32) -> Result<PurgeBatch, StoreError> {
        let (mut batch, now) = (PurgeBatch::default(), self.now());
        for (what, table, key) in
            [("imports of mail", "mail_imports", "import_id"), ("exports of mail", "mail_exports", "export_id")]
        {
            let text = format!("SELECT {key} AS id, org_id, content_id FROM {table} WHERE mailbox_id = $1 LIMIT $2");
            let rows: Vec<RestRow> =
                self.reader().rows(&Sql::new(text, [id.to_string().into(), i64::from(limit).into()])).await?;
            for row in &rows {
                let statement = format!("DELETE FROM {table} WHERE {key} = $1");
                batch.change.run_statement(Sql::new(statement, [row.id.as_str().into()]), Expect::Rows(1));
                let org_id: OrgId = row.org_id.parse().map_err(|_| StoreError::corrupt(format_args!("{table}")))?;
                batch.change.contents_unref(now, org_id, content(row.content_id.as_ref())?);
            }
            if !rows.is_empty() {
                batch.rows.push((what, u32::try_from(rows.len()).unwrap_or(limit)));
            }
        }
        Ok(batch)
    }
}

impl Change {
    /// Adds an import.
    pub fn mail_import_add(&mut self, import: &MailImport) {
        let statement = "INSERT INTO mail_imports (import_id, org_id, mailbox_id, created_by, kind, size, state, place, commits, \
                         messages, filed, duplicates, failed, faults, created_at) \
                         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0, 0, 0, 0, $9, $10)";
        let values: [Value; 10] = [
            import.id.to_string().into(),
            import.org_id.to_string().into(),
            import.mailbox_id.to_string().into(),
            import.created_by.to_string().into(),
            import.kind.as_str().into(),
            signed(import.size).into(),
            import.state.as_str().into(),
            json::text(&import.place).into(),
            json::text(&import.faults).into(),
            import.created_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Gives an import that waits its file, in place of the one that it has; stale where it has another one, or has begun.
    pub fn mail_import_fill(&mut self, import: &MailImport, content: &NewContent, now: Timestamp) {
        self.content_put(now, content);
        let before = import.content.map(|id| id.to_string()).unwrap_or_default();
        let statement = "UPDATE mail_imports SET content_id = $2 \
                         WHERE import_id = $1 AND state = 'waiting' AND COALESCE(content_id, '') = $3";
        let values = [import.id.to_string().into(), content.id().to_string().into(), before.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        self.contents_unref(now, import.org_id, import.content);
    }

    /// Has an import that waits run; stale where it doesn't wait, or has no file.
    pub fn mail_import_run(&mut self, id: MailImportId) {
        let statement = "UPDATE mail_imports SET state = 'running' \
                         WHERE import_id = $1 AND state = 'waiting' AND content_id IS NOT NULL";
        self.run_statement(Sql::new(statement, [id.to_string().into()]), Expect::Rows(1));
    }

    /// Notes how far an import is by what this change files; stale where another one filed since it was read, or where it runs no
    /// more.
    pub fn mail_import_advance(&mut self, before: &MailImport, after: &MailImport) {
        let statement = "UPDATE mail_imports SET place = $3, commits = commits + 1, messages = $4, filed = $5, duplicates = $6, \
                         failed = $7, faults = $8 WHERE import_id = $1 AND state = 'running' AND commits = $2";
        let values: [Value; 8] = [
            before.id.to_string().into(),
            before.commits.into(),
            json::text(&after.place).into(),
            signed(after.counts.read).into(),
            signed(after.counts.filed).into(),
            signed(after.counts.duplicates).into(),
            signed(after.counts.failed).into(),
            json::text(&after.faults).into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Ends an import, whose file is let go; stale where it is over, or has another file.
    pub fn mail_import_end(
        &mut self,
        import: &MailImport,
        state: MailImportState,
        error: Option<&str>,
        now: Timestamp,
    ) {
        let statement = "UPDATE mail_imports SET state = $2, error = $3, ended_at = $4, content_id = NULL \
                         WHERE import_id = $1 AND ended_at IS NULL AND COALESCE(content_id, '') = $5";
        let content = import.content.map(|id| id.to_string()).unwrap_or_default();
        let values: [Value; 5] = [
            import.id.to_string().into(),
            state.as_str().into(),
            error.map(str::to_owned).into(),
            now.0.into(),
            content.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        self.contents_unref(now, import.org_id, import.content);
    }

    /// Adds an export.
    pub fn mail_export_add(&mut self, export: &MailExport) {
        let statement = "INSERT INTO mail_exports (export_id, org_id, mailbox_id, created_by, state, size, messages, created_at) \
                         VALUES ($1, $2, $3, $4, $5, 0, 0, $6)";
        let values = [
            export.id.to_string().into(),
            export.org_id.to_string().into(),
            export.mailbox_id.to_string().into(),
            export.created_by.to_string().into(),
            export.state.as_str().into(),
            export.created_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Ends an export, with its file where it is done; stale where it is over.
    pub fn mail_export_end(&mut self, id: MailExportId, done: Option<(&NewContent, u64)>, now: Timestamp) {
        if let Some((content, _)) = done {
            self.content_put(now, content);
        }
        let state = if done.is_some() { MailExportState::Done } else { MailExportState::Failed };
        let statement = "UPDATE mail_exports SET state = $2, content_id = $3, size = $4, messages = $5, ended_at = $6 \
                         WHERE export_id = $1 AND ended_at IS NULL";
        let values: [Value; 6] = [
            id.to_string().into(),
            state.as_str().into(),
            done.map(|(content, _)| content.id().to_string()).into(),
            signed(done.map_or(0, |(content, _)| content.size())).into(),
            signed(done.map_or(0, |(_, messages)| messages)).into(),
            now.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Throws an export away, with its file; stale where it has another one.
    pub fn mail_export_remove(&mut self, export: &MailExport, now: Timestamp) {
        let statement = "DELETE FROM mail_exports WHERE export_id = $1 AND COALESCE(content_id, '') = $2";
        let content = export.content.map(|id| id.to_string()).unwrap_or_default();
        self.run_statement(Sql::new(statement, [export.id.to_string().into(), content.into()]), Expect::Rows(1));
        self.contents_unref(now, export.org_id, export.content);
    }
}

impl Purge {
    /// Imports of mail that ended before `before`.
    pub fn mail_imports(before: Timestamp) -> Self {
        Self::new("imports of mail", ["mail_imports", "import_id", "ended_at IS NOT NULL AND ended_at < $1"], before.0)
    }
}
