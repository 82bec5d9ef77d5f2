//! Files of issues.

use domain::{
    Timestamp,
    id::{AttachmentId, ContentId, IssueId, OrgId, UserId},
};

use super::requests::CountRow;
use crate::{Change, Expect, Store, StoreError, blobs::contents::NewContent, reader::row, sql::Sql};

/// A file of an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Its id.
    pub id: AttachmentId,
    /// The issue.
    pub issue_id: IssueId,
    /// The organization.
    pub org_id: OrgId,
    /// What it is called.
    pub name: String,
    /// Its bytes.
    pub size: u64,
    /// What its sender said that it is.
    pub content_type: String,
    /// Whether those who raised the request read it too.
    pub public: bool,
    /// Its bytes, once they are here.
    pub content: Option<ContentId>,
    /// Who sends it.
    pub added_by: UserId,
    /// When it was begun.
    pub created_at: Timestamp,
    /// Since when it is there for others.
    pub completed_at: Option<Timestamp>,
}

row! {
    struct AttachmentRow {
        id: String,
        issue_id: String,
        org_id: String,
        name: String,
        size: i64,
        content_type: String,
        public: i64,
        content_id: Option<String>,
        added_by: String,
        created_at: i64,
        completed_at: Option<i64>,
    }
}

const COLUMNS: &str =
    "id, issue_id, org_id, name, size, content_type, public, content_id, added_by, created_at, completed_at";

impl TryFrom<AttachmentRow> for Attachment {
    type Error = StoreError;

    fn try_from(row: AttachmentRow) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt("an id of issue_attachments");
        Ok(Self {
            id: row.id.parse().map_err(|_| corrupt())?,
            issue_id: row.issue_id.parse().map_err(|_| corrupt())?,
            org_id: row.org_id.parse().map_err(|_| corrupt())?,
            name: row.name,
            size: u64::try_from(row.size).map_err(StoreError::corrupt)?,
            content_type: row.content_type,
            public: row.public == 1,
            content: row.content_id.map(|id| id.parse()).transpose().map_err(|_| corrupt())?,
            added_by: row.added_by.parse().map_err(|_| corrupt())?,
            created_at: Timestamp(row.created_at),
            completed_at: row.completed_at.map(Timestamp),
        })
    }
}

impl Store {
    /// A file, whosever it is.
    pub async fn issue_attachment(&self, id: AttachmentId) -> Result<Option<Attachment>, StoreError> {
        let statement = format!("SELECT {COLUMNS} FROM issue_attachments WHERE id = $1");
        let sql = Sql::new(statement, [id.to_string().into()]);
        self.reader().row::<AttachmentRow>(&sql).await?.map(Attachment::try_from).transpose()
    }

    /// The public files of an issue that are there, the first one first.
    pub async fn issue_attachments_public(&self, id: IssueId) -> Result<Vec<Attachment>, StoreError> {
        Ok(self.issue_attachments(id).await?.into_iter().filter(|attachment| attachment.public).collect())
    }

    /// The files of an issue that are there, the first one first.
    pub async fn issue_attachments(&self, id: IssueId) -> Result<Vec<Attachment>, StoreError> {
        let statement = format!(
            "SELECT {COLUMNS} FROM issue_attachments WHERE issue_id = $1 AND completed_at IS NOT NULL ORDER BY id"
        );
        let rows: Vec<AttachmentRow> = self.reader().rows(&Sql::new(statement, [id.to_string().into()])).await?;
        rows.into_iter().map(Attachment::try_from).collect()
    }

    /// How many files an issue has, those among them that aren't complete.
    pub async fn issue_attachments_count(&self, id: IssueId) -> Result<u64, StoreError> {
        let statement = "SELECT COUNT(*) AS count FROM issue_attachments WHERE issue_id = $1";
        let row = self.reader().row::<CountRow>(&Sql::new(statement, [id.to_string().into()])).await?;
        Ok(row.map_or(0, |row| row.number()))
    }

    /// How many files a person began after `since`, anywhere.
    pub async fn issue_attachments_begun(&self, person: UserId, since: Timestamp) -> Result<u64, StoreError> {
        let statement = "SELECT COUNT(*) AS count FROM issue_attachments WHERE added_by = $1 AND created_at > $2";
        let sql = Sql::new(statement, [person.to_string().into(), since.0.into()]);
        Ok(self.reader().row::<CountRow>(&sql).await?.map_or(0, |row| row.number()))
    }
}

impl Change {
    /// Begins a file.
    pub fn issue_attachment_add(&mut self, attachment: &Attachment) {
        let statement = format!(
            "INSERT INTO issue_attachments ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, NULL, $8, $9, NULL)"
        );
        let values = [
            attachment.id.to_string().into(),
            attachment.issue_id.to_string().into(),
            attachment.org_id.to_string().into(),
            attachment.name.clone().into(),
            i64::try_from(attachment.size).unwrap_or(i64::MAX).into(),
            attachment.content_type.clone().into(),
            i64::from(attachment.public).into(),
            attachment.added_by.to_string().into(),
            attachment.created_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Gives a file its bytes in place of those that it has; stale where it is complete, or has others.
    pub fn issue_attachment_fill(&mut self, attachment: &Attachment, content: &NewContent, now: Timestamp) {
        self.content_put(now, content);
        let old = attachment.content.map(|id| id.to_string()).unwrap_or_default();
        let statement = "UPDATE issue_attachments SET content_id = $2 \
                         WHERE id = $1 AND completed_at IS NULL AND COALESCE(content_id, '') = $3";
        let values = [attachment.id.to_string().into(), content.id().to_string().into(), old.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        self.contents_unref(now, attachment.org_id, attachment.content);
    }

    /// Has a file be there for others; stale where it is, or has no bytes.
    pub fn issue_attachment_complete(&mut self, id: AttachmentId, at: Timestamp) {
        let statement = "UPDATE issue_attachments SET completed_at = $2 \
                         WHERE id = $1 AND completed_at IS NULL AND content_id IS NOT NULL";
        self.run_statement(Sql::new(statement, [id.to_string().into(), at.0.into()]), Expect::Rows(1));
    }

    /// Gives up a file that was never completed, with its bytes.
    pub fn issue_attachment_abandon(&mut self, attachment: &Attachment, now: Timestamp) {
        let statement = "DELETE FROM issue_attachments WHERE id = $1 AND completed_at IS NULL";
        self.run_statement(Sql::new(statement, [attachment.id.to_string().into()]), Expect::Rows(1));
        self.contents_unref(now, attachment.org_id, attachment.content);
    }
}
