//! Links between issues.

use domain::{
    Timestamp,
    id::{IssueId, IssueLinkId, OrgId},
};
use sea_orm::Value;

use super::rows::places;
use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

row! {
    pub(super) struct LinkRow {
        id: String,
        type_id: String,
        from_id: String,
        to_id: String,
    }
}

row! {
    struct CountRow {
        count: i64,
    }
}

/// A link between two issues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueLink {
    /// Its id.
    pub id: IssueLinkId,
    /// Its kind.
    pub type_id: String,
    /// The issue that does it.
    pub from: IssueId,
    /// The issue that suffers it.
    pub to: IssueId,
}

impl TryFrom<LinkRow> for IssueLink {
    type Error = StoreError;

    fn try_from(row: LinkRow) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt("an id of issue_links");
        Ok(Self {
            id: row.id.parse().map_err(|_| corrupt())?,
            type_id: row.type_id,
            from: row.from_id.parse().map_err(|_| corrupt())?,
            to: row.to_id.parse().map_err(|_| corrupt())?,
        })
    }
}

impl Store {
    /// The links of an issue, from either end.
    pub async fn issue_links(&self, org_id: OrgId, id: IssueId) -> Result<Vec<IssueLink>, StoreError> {
        let statement = "SELECT id, type_id, from_id, to_id FROM issue_links WHERE org_id = $1 AND (from_id = $2 OR to_id = $2) ORDER BY id";
        let sql = Sql::new(statement, [org_id.to_string().into(), id.to_string().into()]);
        let rows: Vec<LinkRow> = self.reader().rows(&sql).await?;
        rows.into_iter().map(IssueLink::try_from).collect()
    }

    /// The links of which both ends are among these issues.
    pub async fn issue_links_among(&self, org_id: OrgId, ids: &[IssueId]) -> Result<Vec<IssueLink>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let (from, to) = (places(2, ids.len()), places(2, ids.len()));
        let statement = format!(
            "SELECT id, type_id, from_id, to_id FROM issue_links WHERE org_id = $1 AND from_id IN ({from}) AND to_id IN ({to}) \
             ORDER BY id"
        );
        let values = std::iter::once(Value::from(org_id.to_string())).chain(ids.iter().map(|id| id.to_string().into()));
        let rows: Vec<LinkRow> = self.reader().rows_of_many(&Sql::new(statement, values)).await?;
        rows.into_iter().map(IssueLink::try_from).collect()
    }

    /// How many links an issue has.
    pub async fn issue_links_count(&self, id: IssueId) -> Result<i64, StoreError> {
        let statement = "SELECT COUNT(*) AS count FROM issue_links WHERE from_id = $1 OR to_id = $1";
        let row: Option<CountRow> = self.reader().row(&Sql::new(statement, [id.to_string().into()])).await?;
        Ok(row.map_or(0, |row| row.count))
    }
}

impl Change {
    /// Adds a link; stale where there is the same.
    pub fn issue_link_add(&mut self, org_id: OrgId, link: &IssueLink, now: Timestamp) {
        let statement = "INSERT INTO issue_links (id, org_id, type_id, from_id, to_id, created_at) \
                         VALUES ($1, $2, $3, $4, $5, $6) \
                         ON CONFLICT (from_id, to_id, type_id) DO NOTHING";
        let values = [
            link.id.to_string().into(),
            org_id.to_string().into(),
            link.type_id.clone().into(),
            link.from.to_string().into(),
            link.to.to_string().into(),
            now.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Deletes a link; stale where it is gone.
    pub fn issue_link_remove(&mut self, id: IssueLinkId) {
        let statement = "DELETE FROM issue_links WHERE id = $1";
        self.run_statement(Sql::new(statement, [id.to_string().into()]), Expect::Rows(1));
    }
}
