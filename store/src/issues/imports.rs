//! Which rows of files became issues, so that a repeated call makes none twice.

use std::collections::HashMap;

use domain::{
    Timestamp,
    id::{IssueId, SpaceId},
    issues::issue::Issue,
};

use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

row! {
    struct ImportRow {
        place: i64,
        issue_id: String,
        issue_key: String,
    }
}

impl Store {
    /// What became of the rows of a file between two places, the first and the one behind the last.
    pub async fn issue_imports(
        &self,
        space_id: SpaceId,
        hash: &str,
        (from, until): (i64, i64),
    ) -> Result<HashMap<i64, (IssueId, String)>, StoreError> {
        let statement = "SELECT place, issue_id, issue_key FROM issue_imports WHERE space_id = $1 AND content_hash = $2 \
                         AND place >= $3 AND place < $4";
        let values = [space_id.to_string().into(), hash.to_owned().into(), from.into(), until.into()];
        let rows: Vec<ImportRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        let read = |row: ImportRow| {
            let id = row.issue_id.parse().map_err(|_| StoreError::corrupt("issue_imports.issue_id"))?;
            Ok((row.place, (id, row.issue_key)))
        };
        rows.into_iter().map(read).collect()
    }
}

impl Change {
    /// Remembers which issue a row of a file became; stale where another call has made it.
    pub fn issue_import_add(&mut self, hash: &str, place: i64, issue: &Issue, now: Timestamp) {
        let statement = "INSERT INTO issue_imports (space_id, content_hash, place, issue_id, issue_key, imported_at) \
                         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (space_id, content_hash, place) DO NOTHING";
        let values = [
            issue.space_id.to_string().into(),
            hash.to_owned().into(),
            place.into(),
            issue.issue_id.to_string().into(),
            issue.key.clone().into(),
            now.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
