//! Boards, which show issues in columns, and sprints, which say what is worked on for a while.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    jql::{JQL_LEN_MAX, Query},
    limits::{
        BOARD_COLUMNS_MAX, BOARD_LIMIT_MAX, BOARD_STATUSES_MAX, CATALOG_NAME_LEN_MAX, NAME_LEN, SPRINT_GOAL_LEN_MAX,
    },
    settings::Settings,
};
use crate::{
    Result, Timestamp,
    id::{BoardId, SpaceId, SprintId},
    problems::Problems,
};

/// A board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// Its id.
    pub id: BoardId,
    /// The space.
    pub space_id: SpaceId,
    /// What people read.
    pub name: String,
    /// The query whose issues it shows; its order is passed over, since a board goes by rank.
    pub jql: String,
    /// From left to right.
    pub columns: Vec<BoardColumn>,
    /// Counts its changes.
    pub version: i64,
    /// Since when it is there.
    pub created_at: Timestamp,
}

/// A column of a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BoardColumn {
    /// What people read.
    pub name: String,
    /// The statuses of the issues in it; none stands in two columns.
    pub status_ids: Vec<String>,
    /// The fewest issues that should be in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<u32>,
    /// The most issues that should be in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
}

impl BoardColumn {
    /// Whether a number of issues is fewer than should be in it, or more.
    pub fn is_out_of_bounds(&self, count: u64) -> bool {
        self.min.is_some_and(|min| count < u64::from(min)) || self.max.is_some_and(|max| count > u64::from(max))
    }
}

impl Board {
    /// Says everything that is wrong with it; 400 `jql` where its query can't be read.
    pub fn check(&self, settings: &Settings) -> Result<()> {
        let mut problems = Problems::new();
        let fits = (1..=CATALOG_NAME_LEN_MAX).contains(&self.name.chars().count());
        problems.require(fits && !self.name.chars().any(char::is_control), "name", "Use 1 to 100 characters.");
        problems.require(self.jql.chars().count() <= JQL_LEN_MAX, "jql", "Use at most 10000 characters.");
        let fits = (1..=BOARD_COLUMNS_MAX).contains(&self.columns.len());
        problems.require(fits, "columns", "Use 1 to 20 columns.");
        let statuses = self.columns.iter().map(|column| column.status_ids.len()).sum::<usize>();
        problems.require(statuses <= BOARD_STATUSES_MAX, "columns", "Use at most 200 statuses.");
        let mut known = BTreeSet::new();
        for (at, column) in self.columns.iter().enumerate() {
            let path = format!("columns[{at}]");
            let fits = NAME_LEN.contains(&column.name.trim().chars().count()) && !column.name.contains('\0');
            problems.require(fits, format!("{path}.name"), "Use 1 to 80 characters.");
            for (place, id) in column.status_ids.iter().enumerate() {
                let path = format!("{path}.statusIds[{place}]");
                problems.require(settings.status(id).is_some(), path.clone(), "There is no such status.");
                problems.require(known.insert(id), path, "This status stands here twice.");
            }
            for (name, limit) in [("min", column.min), ("max", column.max)] {
                let fits = limit.is_none_or(|limit| limit <= BOARD_LIMIT_MAX);
                problems.require(fits, format!("{path}.{name}"), "Use at most 1000 issues.");
            }
            let fits = column.min.zip(column.max).is_none_or(|(min, max)| min <= max);
            problems.require(fits, format!("{path}.max"), "The most can't be less than the fewest.");
        }
        problems.into_result()?;
        Query::parse(&self.jql).map(|_| ()).map_err(|fault| super::filter::jql_fault(&[fault]))
    }

    /// The query for the issues of the board of which something else holds as well, in the order of their ranks.
    pub fn query(&self, holds: &str) -> String {
        let mut query = Query::parse(&self.jql).unwrap_or_default();
        query.order.clear();
        let own = query.to_string();
        if own.is_empty() {
            return format!("{holds} ORDER BY rank");
        }
        format!("({own}) AND {holds} ORDER BY rank")
    }
}

/// What becomes of a sprint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SprintState {
    /// Nothing of it has begun.
    #[default]
    Future,
    /// Its issues are worked on.
    Active,
    /// It is over.
    Closed,
}

impl SprintState {
    /// The name of it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Future => "future",
            Self::Active => "active",
            Self::Closed => "closed",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Future, Self::Active, Self::Closed].into_iter().find(|it| it.as_str() == name)
    }
}

/// A sprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sprint {
    /// Its id.
    pub id: SprintId,
    /// The space.
    pub space_id: SpaceId,
    /// What people read.
    pub name: String,
    /// What is to come of it; may be empty.
    pub goal: String,
    /// What becomes of it.
    pub state: SprintState,
    /// When it begins, or began.
    pub start_at: Option<Timestamp>,
    /// When it is to end.
    pub end_at: Option<Timestamp>,
    /// When it was closed.
    pub closed_at: Option<Timestamp>,
    /// Counts its changes.
    pub version: i64,
    /// Since when it is there.
    pub created_at: Timestamp,
}

impl Sprint {
    /// Says everything that is wrong with it.
    pub fn check(&self) -> Result<()> {
        let mut problems = Problems::new();
        let fits = (1..=CATALOG_NAME_LEN_MAX).contains(&self.name.chars().count());
        problems.require(fits && !self.name.chars().any(char::is_control), "name", "Use 1 to 100 characters.");
        let fits = self.goal.chars().count() <= SPRINT_GOAL_LEN_MAX && !self.goal.contains('\0');
        problems.require(fits, "goal", "Use at most 1000 characters.");
        let times = [("startAt", self.start_at), ("endAt", self.end_at)];
        for (path, at) in times {
            let fits = at.is_none_or(|at| (0..=TIME_MAX).contains(&at.0));
            problems.require(fits, path, "Use milliseconds since 1970.");
        }
        let fits = self.start_at.zip(self.end_at).is_none_or(|(start, end)| start < end);
        problems.require(fits, "endAt", "A sprint ends after its start.");
        problems.into_result()
    }
}

/// The last instant that a sprint may name: the end of the year 9999.
const TIME_MAX: i64 = 253_402_300_799_999;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn board(jql: &str) -> Board {
        let column = |name: &str, status: &str| BoardColumn {
            name: name.to_owned(),
            status_ids: vec![status.to_owned()],
            min: None,
            max: None,
        };
        Board {
            id: BoardId::new(Timestamp(0)),
            space_id: SpaceId::new(Timestamp(0)),
            name: "Board".to_owned(),
            jql: jql.to_owned(),
            columns: vec![column("To do", "todo"), column("Done", "done")],
            version: 1,
            created_at: Timestamp(0),
        }
    }

    fn faults(board: &Board) -> usize {
        match board.check(&Settings::default()) {
            Ok(()) => 0,
            Err(Error::Invalid { problems }) => problems.len(),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_board_asks_its_query_without_the_order_of_it() {
        assert_eq!(board("").query("status = todo"), "status = todo ORDER BY rank");
        let mixed = board("type = bug OR type = task ORDER BY created");
        assert_eq!(mixed.query("status = todo"), "(type = bug OR type = task) AND status = todo ORDER BY rank");
        assert!(board("type =").check(&Settings::default()).is_err());
    }

    #[test]
    fn columns_have_known_statuses_once_and_limits_in_order() {
        assert_eq!(faults(&board("")), 0);
        let mut wrong = board("");
        wrong.columns[1].status_ids = vec!["todo".to_owned(), "nowhere".to_owned()];
        wrong.columns[0].min = Some(3);
        wrong.columns[0].max = Some(2);
        assert_eq!(faults(&wrong), 3);
        for (count, is_wrong) in [(0, true), (1, false), (20, false), (21, true)] {
            let mut many = board("");
            many.columns = vec![BoardColumn { status_ids: Vec::new(), ..many.columns[0].clone() }; count];
            assert_eq!(faults(&many) > 0, is_wrong, "{count}");
        }
        let column = BoardColumn { min: Some(1), max: Some(2), ..board("").columns[0].clone() };
        assert_eq!([0, 1, 2, 3].map(|count| column.is_out_of_bounds(count)), [true, false, false, true]);
    }

    #[test]
    fn a_sprint_ends_after_its_start() {
        let sprint = |start: i64, end: i64| Sprint {
            id: SprintId::new(Timestamp(0)),
            space_id: SpaceId::new(Timestamp(0)),
            name: "Sprint 1".to_owned(),
            goal: String::new(),
            state: SprintState::default(),
            start_at: Some(Timestamp(start)),
            end_at: Some(Timestamp(end)),
            closed_at: None,
            version: 1,
            created_at: Timestamp(0),
        };
        for (start, end, is_right) in
            [(1, 2, true), (2, 2, false), (-1, 2, false), (1, TIME_MAX, true), (1, TIME_MAX + 1, false)]
        {
            assert_eq!(sprint(start, end).check().is_ok(), is_right, "{start} {end}");
        }
        for state in [SprintState::Future, SprintState::Active, SprintState::Closed] {
            assert_eq!(SprintState::from_name(state.as_str()), Some(state));
        }
    }
}
