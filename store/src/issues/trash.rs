//! The trash: issues that were thrown away, and can be brought back with all that hangs on them, since nothing of that went.

use std::{fmt, str::FromStr};

use domain::{
    Timestamp,
    id::{IssueId, NotAnId, OrgId, SpaceId, UserId},
};
use sea_orm::Value;

use super::rows::{StoredIssue, places, stored};
use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

row! {
    struct TrashedRow {
        seq: i64,
        deleted_at: i64,
        doc: String,
        description: String,
        version: i64,
        rank: String,
    }
}

/// An issue in the trash.
#[derive(Clone, Debug, PartialEq)]
pub struct TrashedIssue {
    /// The issue as it was thrown away.
    pub stored: StoredIssue,
    /// When that was.
    pub deleted_at: Timestamp,
    /// Its place in the list.
    pub place: TrashPlace,
}

/// The place of an issue in the list of the trash, which has what was thrown away last first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrashPlace {
    /// When it was thrown away.
    pub at: Timestamp,
    /// The issue's number among all.
    pub seq: i64,
}

impl fmt::Display for TrashPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.at.0, self.seq)
    }
}

impl FromStr for TrashPlace {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (at, seq) = text.split_once('/').ok_or(NotAnId)?;
        Ok(Self { at: Timestamp(at.parse().map_err(|_| NotAnId)?), seq: seq.parse().map_err(|_| NotAnId)? })
    }
}

/// What of the trash is asked for.
#[derive(Clone, Copy, Debug)]
pub struct TrashAsked<'a> {
    /// The organization.
    pub org_id: OrgId,
    /// Spaces of which everything is listed.
    pub whole: &'a [SpaceId],
    /// Spaces of which is listed what the person made or reported.
    pub own: &'a [SpaceId],
    /// Whoever asks.
    pub person: UserId,
    /// Not what was thrown away before this.
    pub since: Timestamp,
    /// Behind which one.
    pub after: Option<TrashPlace>,
    /// How many at most.
    pub limit: u64,
}

impl TryFrom<TrashedRow> for TrashedIssue {
    type Error = StoreError;

    fn try_from(row: TrashedRow) -> Result<Self, StoreError> {
        let deleted_at = Timestamp(row.deleted_at);
        Ok(Self {
            stored: stored(&row.doc, row.description, row.version, row.rank)?,
            deleted_at,
            place: TrashPlace { at: deleted_at, seq: row.seq },
        })
    }
}

const TRASHED: &str = "SELECT i.seq AS seq, i.deleted_at AS deleted_at, d.doc AS doc, d.description AS description, \
                       i.version AS version, i.rank AS rank FROM issues i JOIN issue_docs d ON d.id = i.id";

/// The condition that an issue is in one of these spaces, whose values stand from a place on.
fn in_spaces(from: usize, count: usize) -> String {
    if count == 0 {
        return "1 = 0".to_owned();
    }
    format!(
        "i.space_no IN (SELECT no FROM issue_values WHERE org_id = $1 AND kind = 'space' AND value IN ({}))",
        places(from, count)
    )
}

impl Store {
    /// The organization's issue with this id, where it is in the trash.
    pub async fn issue_trashed(&self, org_id: OrgId, id: IssueId) -> Result<Option<TrashedIssue>, StoreError> {
        let statement = format!("{TRASHED} WHERE d.org_id = $1 AND i.id = $2 AND i.deleted_at IS NOT NULL");
        let sql = Sql::new(statement, [org_id.to_string().into(), id.to_string().into()]);
        self.reader().row::<TrashedRow>(&sql).await?.map(TrashedIssue::try_from).transpose()
    }

    /// A page of the trash.
    pub async fn issues_trashed(&self, asked: &TrashAsked<'_>) -> Result<Vec<TrashedIssue>, StoreError> {
        const SPACES_FROM: usize = 7;
        if asked.whole.is_empty() && asked.own.is_empty() {
            return Ok(Vec::new());
        }
        let whole = in_spaces(SPACES_FROM, asked.whole.len());
        let own = in_spaces(SPACES_FROM + asked.whole.len(), asked.own.len());
        let statement = format!(
            "{TRASHED} WHERE i.org_no = (SELECT no FROM issue_values WHERE org_id = $1 AND kind = 'org' AND value = $1) \
             AND i.deleted_at IS NOT NULL AND i.deleted_at >= $2 \
             AND (i.deleted_at < $3 OR (i.deleted_at = $3 AND i.seq < $4)) \
             AND ({whole} OR ({own} AND (SELECT no FROM issue_values WHERE org_id = $1 AND kind = 'person' \
             AND value = $5) IN (i.reporter_no, i.creator_no))) ORDER BY i.deleted_at DESC, i.seq DESC LIMIT $6"
        );
        let after = asked.after.unwrap_or(TrashPlace { at: Timestamp(i64::MAX), seq: i64::MAX });
        let values: [Value; 6] = [
            asked.org_id.to_string().into(),
            asked.since.0.into(),
            after.at.0.into(),
            after.seq.into(),
            asked.person.to_string().into(),
            i64::try_from(asked.limit).unwrap_or(i64::MAX).into(),
        ];
        let spaces = asked.whole.iter().chain(asked.own).map(|id| Value::from(id.to_string()));
        let values = values.into_iter().chain(spaces);
        let rows: Vec<TrashedRow> = self.reader().rows_of_many(&Sql::new(statement, values)).await?;
        rows.into_iter().map(TrashedIssue::try_from).collect()
    }
}

impl Change {
    /// Brings an issue back from the trash as it is there, below what it stood below; stale where either changed meanwhile. What is
    /// written of it comes behind this.
    pub fn issue_restore(&mut self, trashed: &StoredIssue) {
        let issue = &trashed.issue;
        if let Some(parent) = issue.parent_id {
            let statement = "UPDATE issues SET version = version WHERE id = $1 AND deleted_at IS NULL";
            self.run_statement(Sql::new(statement, [parent.to_string().into()]), Expect::Rows(1));
        }
        let statement = "UPDATE issues SET deleted_at = NULL WHERE id = $1 AND version = $2 AND deleted_at IS NOT NULL";
        let values = [issue.issue_id.to_string().into(), issue.version.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
