//! Sprints and boards of spaces.

use domain::{
    Timestamp,
    id::{OrgId, SpaceId},
    issues::boards::{Board, Sprint, SprintState},
};

use crate::{Change, Expect, Store, StoreError, json, reader::row, sql::Sql};

row! {
    struct SprintRow {
        id: String,
        space_id: String,
        name: String,
        goal: String,
        state: String,
        start_at: Option<i64>,
        end_at: Option<i64>,
        closed_at: Option<i64>,
        version: i64,
        created_at: i64,
    }
}

row! {
    struct BoardRow {
        id: String,
        space_id: String,
        name: String,
        jql: String,
        columns_json: String,
        version: i64,
        created_at: i64,
    }
}

row! {
    struct SeqRow {
        seq: i64,
    }
}

row! {
    struct CountRow {
        done: i64,
        count: i64,
    }
}

const SPRINT: &str = "id, space_id, name, goal, state, start_at, end_at, closed_at, version, created_at";
const BOARD: &str = "id, space_id, name, jql, columns_json, version, created_at";

impl TryFrom<SprintRow> for Sprint {
    type Error = StoreError;

    fn try_from(row: SprintRow) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt("a value of issue_sprints");
        Ok(Self {
            id: row.id.parse().map_err(|_| corrupt())?,
            space_id: row.space_id.parse().map_err(|_| corrupt())?,
            name: row.name,
            goal: row.goal,
            state: SprintState::from_name(&row.state).ok_or_else(corrupt)?,
            start_at: row.start_at.map(Timestamp),
            end_at: row.end_at.map(Timestamp),
            closed_at: row.closed_at.map(Timestamp),
            version: row.version,
            created_at: Timestamp(row.created_at),
        })
    }
}

impl TryFrom<BoardRow> for Board {
    type Error = StoreError;

    fn try_from(row: BoardRow) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt("an id of issue_boards");
        Ok(Self {
            id: row.id.parse().map_err(|_| corrupt())?,
            space_id: row.space_id.parse().map_err(|_| corrupt())?,
            name: row.name,
            jql: row.jql,
            columns: json::read("issue_boards.columns_json", &row.columns_json)?,
            version: row.version,
            created_at: Timestamp(row.created_at),
        })
    }
}

fn of_space(org_id: OrgId, space: Option<SpaceId>) -> [sea_orm::Value; 2] {
    [org_id.to_string().into(), space.map_or_else(String::new, |id| id.to_string()).into()]
}

impl Store {
    /// The sprints of the organization, or of one of its spaces, in the order of their making.
    pub async fn issue_sprints(&self, org_id: OrgId, space: Option<SpaceId>) -> Result<Vec<Sprint>, StoreError> {
        let statement =
            format!("SELECT {SPRINT} FROM issue_sprints WHERE org_id = $1 AND ($2 = '' OR space_id = $2) ORDER BY id");
        let rows: Vec<SprintRow> = self.reader().rows(&Sql::new(statement, of_space(org_id, space))).await?;
        rows.into_iter().map(Sprint::try_from).collect()
    }

    /// The boards of one of the organization's spaces, in the order of their making.
    pub async fn issue_boards(&self, org_id: OrgId, space_id: SpaceId) -> Result<Vec<Board>, StoreError> {
        let statement =
            format!("SELECT {BOARD} FROM issue_boards WHERE org_id = $1 AND ($2 = '' OR space_id = $2) ORDER BY id");
        let rows: Vec<BoardRow> = self.reader().rows(&Sql::new(statement, of_space(org_id, Some(space_id)))).await?;
        rows.into_iter().map(Board::try_from).collect()
    }

    /// The numbers of the next issues that are or were in a sprint, behind a number.
    pub async fn issue_sprint_next(
        &self,
        org_id: OrgId,
        (sprint, above): (&str, i64),
        count: u64,
    ) -> Result<Vec<i64>, StoreError> {
        let statement = "SELECT t.seq AS seq FROM issue_terms t WHERE t.field = 'sprint' AND t.seq > $3 AND t.value_no = \
                         (SELECT no FROM issue_values WHERE org_id = $1 AND kind = 'sprint' AND value = $2) \
                         ORDER BY t.seq LIMIT $4";
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let values = [org_id.to_string().into(), sprint.to_owned().into(), above.into(), count.into()];
        let rows: Vec<SeqRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        Ok(rows.into_iter().map(|row| row.seq).collect())
    }

    /// How many issues of a sprint are done, and how many there are.
    pub async fn issue_sprint_counts(&self, org_id: OrgId, sprint: &str) -> Result<(i64, i64), StoreError> {
        let statement = "SELECT COALESCE(SUM(CASE WHEN i.category = 2 THEN 1 ELSE 0 END), 0) AS done, COUNT(*) AS count \
                         FROM issue_terms t JOIN issues i ON i.seq = t.seq WHERE t.field = 'sprint' AND i.deleted_at IS NULL \
                         AND t.value_no = (SELECT no FROM issue_values WHERE org_id = $1 AND kind = 'sprint' AND value = $2)";
        let values = [org_id.to_string().into(), sprint.to_owned().into()];
        let row: Option<CountRow> = self.reader().row(&Sql::new(statement, values)).await?;
        Ok(row.map_or((0, 0), |row| (row.done, row.count)))
    }
}

impl Change {
    /// Adds a sprint.
    pub fn issue_sprint_add(&mut self, org_id: OrgId, sprint: &Sprint) {
        let statement = "INSERT INTO issue_sprints (id, org_id, space_id, name, goal, state, start_at, end_at, closed_at, \
                         version, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
        let values = [
            sprint.id.to_string().into(),
            org_id.to_string().into(),
            sprint.space_id.to_string().into(),
            sprint.name.clone().into(),
            sprint.goal.clone().into(),
            sprint.state.as_str().into(),
            sprint.start_at.map(|at| at.0).into(),
            sprint.end_at.map(|at| at.0).into(),
            sprint.closed_at.map(|at| at.0).into(),
            sprint.version.into(),
            sprint.created_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Writes a sprint, whose version was counted; stale where it isn't in the version before.
    pub fn issue_sprint_set(&mut self, sprint: &Sprint) {
        let statement = "UPDATE issue_sprints SET name = $3, goal = $4, state = $5, start_at = $6, end_at = $7, \
                         closed_at = $8, version = version + 1 WHERE id = $1 AND version + 1 = $2";
        let values = [
            sprint.id.to_string().into(),
            sprint.version.into(),
            sprint.name.clone().into(),
            sprint.goal.clone().into(),
            sprint.state.as_str().into(),
            sprint.start_at.map(|at| at.0).into(),
            sprint.end_at.map(|at| at.0).into(),
            sprint.closed_at.map(|at| at.0).into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Has the commit be stale where a space has another sprint that is active.
    pub fn issue_sprint_alone(&mut self, sprint: &Sprint) {
        let statement =
            "UPDATE issue_sprints SET version = version WHERE space_id = $1 AND state = 'active' AND id <> $2";
        let values = [sprint.space_id.to_string().into(), sprint.id.to_string().into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(0));
    }

    /// Adds a board.
    pub fn issue_board_add(&mut self, org_id: OrgId, board: &Board) {
        let statement = "INSERT INTO issue_boards (id, org_id, space_id, name, jql, columns_json, version, created_at) \
                         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        let values = [
            board.id.to_string().into(),
            org_id.to_string().into(),
            board.space_id.to_string().into(),
            board.name.clone().into(),
            board.jql.clone().into(),
            json::text(&board.columns).into(),
            board.version.into(),
            board.created_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Writes a board, whose version was counted; stale where it isn't in the version before.
    pub fn issue_board_set(&mut self, board: &Board) {
        let statement = "UPDATE issue_boards SET name = $3, jql = $4, columns_json = $5, version = version + 1 \
                         WHERE id = $1 AND version + 1 = $2";
        let values = [
            board.id.to_string().into(),
            board.version.into(),
            board.name.clone().into(),
            board.jql.clone().into(),
            json::text(&board.columns).into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Deletes a board; stale where it changed.
    pub fn issue_board_remove(&mut self, board: &Board) {
        let statement = "DELETE FROM issue_boards WHERE id = $1 AND version = $2";
        let values = [board.id.to_string().into(), board.version.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
