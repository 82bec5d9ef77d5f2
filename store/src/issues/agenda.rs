//! The days on which issues begin and are due.

use domain::{
    id::{IssueId, OrgId, SpaceId},
    issues::agenda::EntryKind,
};

use super::rows::places;
use crate::{Store, StoreError, reader::row, sql::Sql};

row! {
    struct DayRow {
        id: String,
        space_id: String,
        number: i64,
        category: i64,
        day: i64,
        summary: String,
    }
}

/// A day of an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueDay {
    /// The issue.
    pub id: IssueId,
    /// Its space.
    pub space_id: SpaceId,
    /// Its number there.
    pub number: i64,
    /// What it says.
    pub summary: String,
    /// Whether it is done.
    pub is_done: bool,
    /// The day's number since 1970.
    pub day: i64,
    /// What is on that day.
    pub kind: EntryKind,
}

impl Store {
    /// The days from the first to the last on which issues of these spaces begin or are due; of each kind so many at most, the
    /// earliest first.
    pub async fn issue_days(
        &self,
        org_id: OrgId,
        spaces: &[SpaceId],
        (first, last): (i64, i64),
        limit: u64,
    ) -> Result<Vec<IssueDay>, StoreError> {
        let mut days = Vec::new();
        if spaces.is_empty() {
            return Ok(days);
        }
        for (kind, column) in [(EntryKind::Start, "start_day"), (EntryKind::Due, "due")] {
            let statement = format!(
                "SELECT i.id AS id, s.value AS space_id, i.number AS number, i.category AS category, i.{column} AS day, \
                 d.summary AS summary FROM issues i JOIN issue_values s ON s.no = i.space_no JOIN issue_docs d ON d.id = i.id \
                 WHERE i.org_no = (SELECT no FROM issue_values WHERE org_id = $1 AND kind = 'org' AND value = $1) \
                 AND i.{column} >= $2 AND i.{column} <= $3 AND i.deleted_at IS NULL AND s.value IN ({}) \
                 ORDER BY i.{column}, i.seq LIMIT $4",
                places(5, spaces.len())
            );
            let bounds =
                [org_id.to_string().into(), first.into(), last.into(), i64::try_from(limit).unwrap_or(i64::MAX).into()];
            let values = bounds.into_iter().chain(spaces.iter().map(|id| id.to_string().into()));
            let rows: Vec<DayRow> = self.reader().rows_of_many(&Sql::new(statement, values)).await?;
            for row in rows {
                days.push(row.read(kind)?);
            }
        }
        Ok(days)
    }
}

impl DayRow {
    fn read(self, kind: EntryKind) -> Result<IssueDay, StoreError> {
        let corrupt = || StoreError::corrupt("an id of issues");
        Ok(IssueDay {
            id: self.id.parse().map_err(|_| corrupt())?,
            space_id: self.space_id.parse().map_err(|_| corrupt())?,
            number: self.number,
            summary: self.summary,
            is_done: self.category == 2,
            day: self.day,
            kind,
        })
    }
}
