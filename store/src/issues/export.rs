//! Issues with all that hangs on them, many at once: what a file of them is made of.

use std::collections::HashMap;

use domain::{
    id::{IssueId, OrgId, SpaceId},
    issues::issue::Comment,
};

use super::{
    comments::CommentRow,
    links::{IssueLink, LinkRow},
    rows::{StoredIssue, places},
};
use crate::{Store, StoreError, reader::row, sql::Sql};

row! {
    struct KeyRow {
        id: String,
        space_id: String,
        number: i64,
    }
}

fn ids(all: &[IssueId]) -> impl Iterator<Item = sea_orm::Value> {
    all.iter().map(|id| id.to_string().into())
}

fn issue_id(text: &str) -> Result<IssueId, StoreError> {
    text.parse().map_err(|_| StoreError::corrupt("an id of issues"))
}

impl Store {
    /// The issues of these numbers, in this order, with their descriptions. What is gone is left out.
    pub async fn issues_whole(&self, seqs: &[i64]) -> Result<Vec<StoredIssue>, StoreError> {
        let mut found = self.issues_at(self.reader(), seqs).await?;
        Ok(seqs.iter().filter_map(|seq| found.remove(seq)).collect())
    }

    /// The comments on these issues, the first one first.
    pub async fn issue_comments_of(&self, issues: &[IssueId]) -> Result<HashMap<IssueId, Vec<Comment>>, StoreError> {
        let mut found: HashMap<IssueId, Vec<Comment>> = HashMap::new();
        if issues.is_empty() {
            return Ok(found);
        }
        let statement = format!(
            "SELECT id, issue_id, author_id, body, public, version, created_at, updated_at FROM issue_comments \
             WHERE issue_id IN ({}) ORDER BY issue_id, id",
            places(1, issues.len())
        );
        let rows: Vec<CommentRow> = self.reader().rows_of_many(&Sql::new(statement, ids(issues))).await?;
        for row in rows {
            let comment = Comment::try_from(row)?;
            found.entry(comment.issue_id).or_default().push(comment);
        }
        Ok(found)
    }

    /// The links that start at these issues.
    pub async fn issue_links_from(&self, org_id: OrgId, issues: &[IssueId]) -> Result<Vec<IssueLink>, StoreError> {
        if issues.is_empty() {
            return Ok(Vec::new());
        }
        let statement = format!(
            "SELECT id, type_id, from_id, to_id FROM issue_links WHERE org_id = $1 AND from_id IN ({}) ORDER BY id",
            places(2, issues.len())
        );
        let values = std::iter::once(org_id.to_string().into()).chain(ids(issues));
        let rows: Vec<LinkRow> = self.reader().rows_of_many(&Sql::new(statement, values)).await?;
        rows.into_iter().map(IssueLink::try_from).collect()
    }

    /// The spaces and numbers of these issues, those in the trash left out.
    pub async fn issue_numbers(&self, issues: &[IssueId]) -> Result<HashMap<IssueId, (SpaceId, i64)>, StoreError> {
        if issues.is_empty() {
            return Ok(HashMap::new());
        }
        let statement = format!(
            "SELECT i.id AS id, s.value AS space_id, i.number AS number FROM issues i \
             JOIN issue_values s ON s.no = i.space_no WHERE i.deleted_at IS NULL AND i.id IN ({})",
            places(1, issues.len())
        );
        let rows: Vec<KeyRow> = self.reader().rows_of_many(&Sql::new(statement, ids(issues))).await?;
        let read = |row: KeyRow| {
            let space = row.space_id.parse().map_err(|_| StoreError::corrupt("issue_values.value"))?;
            Ok((issue_id(&row.id)?, (space, row.number)))
        };
        rows.into_iter().map(read).collect()
    }
}
