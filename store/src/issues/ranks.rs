//! Ranks: which issue of a space comes before which. They count no version, since only the space writes them.

use domain::id::{IssueId, OrgId, SpaceId};
use sea_orm::Value;

use super::rows::places;
use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

row! {
    struct RankedRow {
        id: String,
        rank: String,
    }
}

row! {
    struct RankRow {
        rank: String,
    }
}

/// From which side a place is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankSide {
    /// What comes before it.
    Before,
    /// What comes behind it.
    After,
}

impl RankSide {
    const fn sign(self) -> &'static str {
        match self {
            Self::Before => "<",
            Self::After => ">",
        }
    }

    const fn direction(self) -> &'static str {
        match self {
            Self::Before => "DESC",
            Self::After => "ASC",
        }
    }
}

const IN_SPACE: &str = "i.deleted_at IS NULL AND i.space_no = \
                        (SELECT no FROM issue_values WHERE org_id = $1 AND kind = 'space' AND value = $2)";

fn read(row: RankedRow) -> Result<(IssueId, String), StoreError> {
    Ok((row.id.parse().map_err(|_| StoreError::corrupt("an id of issues"))?, row.rank))
}

impl Store {
    /// The rank next to a place in a space, on a side of it, those of some issues left out.
    pub async fn issue_rank_next(
        &self,
        (org_id, space_id): (OrgId, SpaceId),
        (rank, side): (&str, RankSide),
        without: &[IssueId],
    ) -> Result<Option<String>, StoreError> {
        let without_them =
            if without.is_empty() { String::new() } else { format!("AND i.id NOT IN ({})", places(4, without.len())) };
        let statement = format!(
            "SELECT i.rank AS rank FROM issues i WHERE {IN_SPACE} AND i.rank {} $3 {without_them} \
             ORDER BY i.rank {} LIMIT 1",
            side.sign(),
            side.direction()
        );
        let first: [Value; 3] = [org_id.to_string().into(), space_id.to_string().into(), rank.to_owned().into()];
        let values = first.into_iter().chain(without.iter().map(|id| id.to_string().into()));
        let row: Option<RankRow> = self.reader().rows_of_many(&Sql::new(statement, values)).await?.into_iter().next();
        Ok(row.map(|row| row.rank))
    }

    /// The issues next to a place in a space, on a side of it, the nearest first.
    pub async fn issue_rank_neighbours(
        &self,
        (org_id, space_id): (OrgId, SpaceId),
        (rank, side): (&str, RankSide),
        count: u64,
    ) -> Result<Vec<(IssueId, String)>, StoreError> {
        let statement = format!(
            "SELECT i.id AS id, i.rank AS rank FROM issues i WHERE {IN_SPACE} AND i.rank {}= $3 \
             ORDER BY i.rank {direction}, i.seq {direction} LIMIT $4",
            side.sign(),
            direction = side.direction()
        );
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let values = [org_id.to_string().into(), space_id.to_string().into(), rank.to_owned().into(), count.into()];
        let rows: Vec<RankedRow> = self.reader().rows_of_many(&Sql::new(statement, values)).await?;
        rows.into_iter().map(read).collect()
    }
}

impl Change {
    /// Gives an issue another rank; stale where it hasn't the one that was read.
    pub fn issue_rank_set(&mut self, id: IssueId, (was, is): (&str, &str)) {
        let statement = "UPDATE issues SET rank = $3 WHERE id = $1 AND rank = $2 AND deleted_at IS NULL";
        let values = [id.to_string().into(), was.to_owned().into(), is.to_owned().into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
