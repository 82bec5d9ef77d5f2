//! Comments on issues.

use domain::{
    Timestamp,
    id::{IssueCommentId, IssueId},
    issues::issue::{Comment, Issue},
};

use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

row! {
    pub(super) struct CommentRow {
        id: String,
        issue_id: String,
        author_id: String,
        body: String,
        public: i64,
        version: i64,
        created_at: i64,
        updated_at: i64,
    }
}

const COLUMNS: &str = "id, issue_id, author_id, body, public, version, created_at, updated_at";

impl TryFrom<CommentRow> for Comment {
    type Error = StoreError;

    fn try_from(row: CommentRow) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt("an id of issue_comments");
        Ok(Self {
            comment_id: row.id.parse().map_err(|_| corrupt())?,
            issue_id: row.issue_id.parse().map_err(|_| corrupt())?,
            author_id: row.author_id.parse().map_err(|_| corrupt())?,
            body: row.body,
            public: row.public == 1,
            version: row.version,
            created_at: Timestamp(row.created_at),
            updated_at: Timestamp(row.updated_at),
        })
    }
}

impl Store {
    /// The comments on an issue, the first one first.
    pub async fn issue_comments(
        &self,
        id: IssueId,
        after: Option<IssueCommentId>,
        limit: u64,
    ) -> Result<Vec<Comment>, StoreError> {
        // Ids are in the order in which they were made.
        let statement =
            format!("SELECT {COLUMNS} FROM issue_comments WHERE issue_id = $1 AND id > $2 ORDER BY id LIMIT $3");
        let after = after.map_or_else(String::new, |after| after.to_string());
        let values = [id.to_string().into(), after.into(), i64::try_from(limit).unwrap_or(i64::MAX).into()];
        let rows: Vec<CommentRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        rows.into_iter().map(Comment::try_from).collect()
    }

    /// A comment on an issue.
    pub async fn issue_comment(&self, id: IssueId, comment: IssueCommentId) -> Result<Option<Comment>, StoreError> {
        let statement = format!("SELECT {COLUMNS} FROM issue_comments WHERE issue_id = $1 AND id = $2");
        let sql = Sql::new(statement, [id.to_string().into(), comment.to_string().into()]);
        self.reader().row::<CommentRow>(&sql).await?.map(Comment::try_from).transpose()
    }
}

impl Change {
    /// Adds a comment, and has the issue be found by it.
    pub fn issue_comment_add(&mut self, issue: &Issue, comment: &Comment) {
        let statement = format!("INSERT INTO issue_comments ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)");
        let values = [
            comment.comment_id.to_string().into(),
            comment.issue_id.to_string().into(),
            comment.author_id.to_string().into(),
            comment.body.clone().into(),
            i64::from(comment.public).into(),
            comment.version.into(),
            comment.created_at.0.into(),
            comment.updated_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        self.issue_text_put(issue, (&comment.comment_id.to_string(), "comment"), &comment.body);
    }

    /// Writes a comment, whose version was counted; stale where it isn't in the version before.
    pub fn issue_comment_set(&mut self, issue: &Issue, comment: &Comment) {
        let statement = "UPDATE issue_comments SET body = $3, updated_at = $4, version = version + 1 WHERE id = $1 AND version + 1 = $2";
        let values = [
            comment.comment_id.to_string().into(),
            comment.version.into(),
            comment.body.clone().into(),
            comment.updated_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        self.issue_text_put(issue, (&comment.comment_id.to_string(), "comment"), &comment.body);
    }

    /// Deletes a comment; stale where it is gone.
    pub fn issue_comment_remove(&mut self, issue: &Issue, id: IssueCommentId) {
        let statement = "DELETE FROM issue_comments WHERE id = $1";
        self.run_statement(Sql::new(statement, [id.to_string().into()]), Expect::Rows(1));
        self.issue_text_put(issue, (&id.to_string(), "comment"), "");
    }
}
