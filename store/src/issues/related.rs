//! Issues as queries name them by what they have to do with others.

use domain::id::{IssueId, OrgId, UserId};

use crate::{Store, StoreError, reader::row, sql::Sql};

/// Issues that are named so at most.
const RELATED_MAX: i64 = 5_000;

row! {
    struct IdRow {
        id: String,
    }
}

fn read(rows: Vec<IdRow>) -> Result<Vec<IssueId>, StoreError> {
    rows.into_iter().map(|row| row.id.parse().map_err(|_| StoreError::corrupt("an id of issues"))).collect()
}

impl Store {
    /// The issues below one, of all generations.
    pub async fn issue_descendants(&self, id: IssueId) -> Result<Vec<IssueId>, StoreError> {
        let statement = "WITH RECURSIVE below AS (\
                         SELECT i.seq FROM issues i WHERE i.parent_seq = (SELECT p.seq FROM issues p WHERE p.id = $1) \
                         UNION SELECT i.seq FROM issues i JOIN below b ON i.parent_seq = b.seq) \
                         SELECT i.id AS id FROM below b JOIN issues i ON i.seq = b.seq WHERE i.deleted_at IS NULL \
                         ORDER BY i.seq LIMIT $2";
        read(self.reader().rows(&Sql::new(statement, [id.to_string().into(), RELATED_MAX.into()])).await?)
    }

    /// The issues that a person watches, the newest first.
    pub async fn issues_watched(&self, org_id: OrgId, person: UserId) -> Result<Vec<IssueId>, StoreError> {
        self.issues_followed("watcher", (org_id, person)).await
    }

    /// The issues that a person votes for, the newest first.
    pub async fn issues_voted(&self, org_id: OrgId, person: UserId) -> Result<Vec<IssueId>, StoreError> {
        self.issues_followed("voter", (org_id, person)).await
    }

    async fn issues_followed(
        &self,
        field: &'static str,
        (org_id, person): (OrgId, UserId),
    ) -> Result<Vec<IssueId>, StoreError> {
        let statement = "SELECT i.id AS id FROM issue_terms t JOIN issues i ON i.seq = t.seq WHERE t.field = $4 \
                         AND t.value_no = (SELECT no FROM issue_values WHERE org_id = $1 AND kind = 'person' AND value = $2) \
                         AND i.deleted_at IS NULL ORDER BY i.seq DESC LIMIT $3";
        let values = [org_id.to_string().into(), person.to_string().into(), RELATED_MAX.into(), field.into()];
        read(self.reader().rows(&Sql::new(statement, values)).await?)
    }
}
