//! Requests: issues that were raised in a help center.

use std::{collections::HashMap, fmt, str::FromStr};

use domain::{
    Timestamp,
    id::{IssueId, OrgId, SpaceId, UserId},
    issues::issue::{Comment, Issue},
};

use super::super::{comments::CommentRow, rows::StoredIssue};
use crate::{Change, Expect, Store, StoreError, json, reader::row, sql::Sql};

/// A request, with when something of it changed that its people see.
#[derive(Clone, Debug, PartialEq)]
pub struct PortalRequest {
    /// The issue.
    pub stored: StoredIssue,
    /// When something public of it last changed.
    pub public_at: Timestamp,
}

/// Which requests are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestState {
    /// Those that aren't done.
    Open,
    /// Those that are.
    Closed,
    /// Both.
    All,
}

/// The place of a request in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestPlace {
    /// When something public of it last changed.
    pub at: Timestamp,
    /// The issue.
    pub id: IssueId,
}

/// A page of somebody's requests.
#[derive(Clone, Copy, Debug)]
pub struct RequestsAsked {
    /// The organization.
    pub org_id: OrgId,
    /// The desk's space.
    pub space_id: SpaceId,
    /// Whoever raised them, or takes part.
    pub person: UserId,
    /// Which ones.
    pub state: RequestState,
    /// Behind which one.
    pub after: Option<RequestPlace>,
    /// How many at most.
    pub limit: u64,
}

impl fmt::Display for RequestPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.at, self.id)
    }
}

impl FromStr for RequestPlace {
    type Err = domain::id::NotAnId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (at, id) = text.split_once('/').ok_or(domain::id::NotAnId)?;
        Ok(Self { at: Timestamp(at.parse().map_err(|_| domain::id::NotAnId)?), id: id.parse()? })
    }
}

row! {
    struct RequestRow {
        doc: String,
        description: String,
        version: i64,
        rank: String,
        public_at: i64,
    }
}

row! {
    struct PublicRow {
        public_at: i64,
    }
}

row! {
    pub(super) struct CountRow {
        count: i64,
    }
}

impl CountRow {
    pub(super) fn number(&self) -> u64 {
        u64::try_from(self.count).unwrap_or_default()
    }
}

impl TryFrom<RequestRow> for PortalRequest {
    type Error = StoreError;

    fn try_from(row: RequestRow) -> Result<Self, StoreError> {
        let issue: Issue = json::read("issue_docs.doc", &row.doc)?;
        let issue = Issue { version: row.version, rank: row.rank, ..issue };
        let stored = StoredIssue { issue, description: row.description };
        Ok(Self { stored, public_at: Timestamp(row.public_at) })
    }
}

impl RequestState {
    const fn condition(self) -> &'static str {
        match self {
            Self::Open => "i.category < 2",
            Self::Closed => "i.category = 2",
            Self::All => "i.category <= 2",
        }
    }
}

/// Requests of somebody: those that they raised by the index of reporters, those that they take part in, and those that they were
/// asked to approve.
fn listed(state: RequestState) -> String {
    format!(
        "WITH mine AS (SELECT i.seq FROM issues i \
         WHERE i.org_no = (SELECT no FROM issue_values WHERE org_id = $1 AND kind = 'org' AND value = $1) \
         AND i.reporter_no = (SELECT no FROM issue_values WHERE org_id = $1 AND kind = 'person' AND value = $3) \
         UNION SELECT i.seq FROM issue_participants p JOIN issues i ON i.id = p.issue_id WHERE p.person_id = $3 \
         UNION SELECT t.seq FROM issue_terms t WHERE t.field = 'approvals' AND t.value_no = (SELECT no FROM issue_values \
         WHERE org_id = $1 AND kind = 'approval' AND value = 'approver:' || $3)) \
         SELECT d.doc, d.description, i.version, i.rank, r.public_at FROM mine JOIN issues i ON i.seq = mine.seq \
         JOIN issue_requests r ON r.issue_id = i.id JOIN issue_docs d ON d.id = i.id \
         WHERE r.org_id = $1 AND r.space_id = $2 AND i.deleted_at IS NULL AND {} \
         AND (r.public_at < $4 OR (r.public_at = $4 AND r.issue_id < $5)) \
         ORDER BY r.public_at DESC, r.issue_id DESC LIMIT $6",
        state.condition()
    )
}

impl Store {
    /// Requests of a person in a space, those first of which something public changed last.
    pub async fn issue_requests(&self, asked: &RequestsAsked) -> Result<Vec<PortalRequest>, StoreError> {
        let (at, id) = asked.after.map_or((i64::MAX, String::new()), |place| (place.at.0, place.id.to_string()));
        let values = [
            asked.org_id.to_string().into(),
            asked.space_id.to_string().into(),
            asked.person.to_string().into(),
            at.into(),
            id.into(),
            i64::try_from(asked.limit).unwrap_or(i64::MAX).into(),
        ];
        let rows: Vec<RequestRow> = self.reader().rows(&Sql::new(listed(asked.state), values)).await?;
        rows.into_iter().map(PortalRequest::try_from).collect()
    }

    /// When something public of a request last changed; none of an issue that is no request.
    pub async fn issue_request_public_at(&self, id: IssueId) -> Result<Option<Timestamp>, StoreError> {
        let sql = Sql::new("SELECT public_at FROM issue_requests WHERE issue_id = $1", [id.to_string().into()]);
        Ok(self.reader().row::<PublicRow>(&sql).await?.map(|row| Timestamp(row.public_at)))
    }

    /// How many requests a person raised after `since`, anywhere.
    pub async fn issue_requests_raised(&self, person: UserId, since: Timestamp) -> Result<u64, StoreError> {
        let statement = "SELECT COUNT(*) AS count FROM issue_requests WHERE raised_by = $1 AND raised_at > $2";
        let sql = Sql::new(statement, [person.to_string().into(), since.0.into()]);
        Ok(self.reader().row::<CountRow>(&sql).await?.map_or(0, |row| row.number()))
    }

    /// The public comments on an issue that were written last, the oldest of them first.
    pub async fn issue_comments_public(&self, id: IssueId, limit: u64) -> Result<Vec<Comment>, StoreError> {
        // Ids are in the order in which they were made.
        let statement = "SELECT id, issue_id, author_id, body, public, version, created_at, updated_at \
                         FROM issue_comments WHERE issue_id = $1 AND public = 1 ORDER BY id DESC LIMIT $2";
        let values = [id.to_string().into(), i64::try_from(limit).unwrap_or(i64::MAX).into()];
        let mut rows: Vec<CommentRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        rows.reverse();
        rows.into_iter().map(Comment::try_from).collect()
    }

    /// What people are called, of those whom there are.
    pub async fn people_names(&self, people: &[UserId]) -> Result<HashMap<UserId, String>, StoreError> {
        let found = self.people_by_id(people).await?;
        Ok(found.into_iter().map(|person| (person.id, person.name)).collect())
    }
}

impl Change {
    /// Makes an issue a request of somebody's.
    pub fn issue_request_add(&mut self, issue: &Issue, raised_by: UserId) {
        let statement = "INSERT INTO issue_requests (issue_id, org_id, space_id, raised_by, raised_at, public_at) \
                         VALUES ($1, $2, $3, $4, $5, $5)";
        let values = [
            issue.issue_id.to_string().into(),
            issue.org_id.to_string().into(),
            issue.space_id.to_string().into(),
            raised_by.to_string().into(),
            issue.created_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Something public of an issue changed; nothing where the issue is no request.
    pub fn issue_request_touch(&mut self, id: IssueId, at: Timestamp) {
        let statement = "UPDATE issue_requests SET public_at = $2 WHERE issue_id = $1";
        self.on_issue(statement, id, [at.0.into()]);
    }
}
