//! Boards of a space.

use domain::{
    Error, Result,
    id::{BoardId, OrgId},
    issues::{
        boards::{Board, BoardColumn},
        builtin,
        limits::{BOARD_NOT_FOUND, BOARDS_MAX},
        settings::Settings,
        space::Space,
    },
};
use kernel::{Command, Handle, Turn};
use store::Change;

use super::{
    components::{administered, stale},
    space::IssueSpace,
};

/// What is said of a board. What isn't said stays, or takes its default.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "each is what the board calls it")]
pub struct BoardPatch {
    pub name: Option<String>,
    pub jql: Option<String>,
    pub columns: Option<Vec<BoardColumn>>,
    pub version: Option<i64>,
}

/// Makes a board.
#[derive(Clone, Debug)]
pub struct CreateBoard {
    /// The organization.
    pub org_id: OrgId,
    /// What is said of it.
    pub patch: BoardPatch,
}

/// Changes a board.
#[derive(Clone, Debug)]
pub struct ChangeBoard {
    /// The organization.
    pub org_id: OrgId,
    /// Which one.
    pub id: BoardId,
    /// What is to be changed.
    pub patch: BoardPatch,
}

/// Deletes a board.
#[derive(Clone, Copy, Debug)]
pub struct RemoveBoard {
    /// The organization.
    pub org_id: OrgId,
    /// Which one.
    pub id: BoardId,
}

impl Command for CreateBoard {
    type Reply = Board;

    const NAME: &'static str = "create_issue_board";
}

impl Command for ChangeBoard {
    type Reply = Board;

    const NAME: &'static str = "change_issue_board";
}

impl Command for RemoveBoard {
    type Reply = ();

    const NAME: &'static str = "remove_issue_board";
}

/// A board of all issues of a space, with a column for each status of its default workflow.
pub(crate) fn board_of(space: &Space, settings: &Settings, now: domain::Timestamp) -> Board {
    let workflow = builtin::workflow(space.workflow_of(&space.config.default_type_id));
    let statuses = workflow.map(|it| it.definition().statuses).unwrap_or_default();
    let column = |id: &str| BoardColumn {
        name: settings.status(id).map_or_else(|| id.to_owned(), |status| status.name.clone()),
        status_ids: vec![id.to_owned()],
        min: None,
        max: None,
    };
    Board {
        id: BoardId::new(now),
        space_id: space.space_id,
        name: "Board".to_owned(),
        jql: format!("space = \"{}\"", space.key),
        columns: statuses.iter().map(|it| column(&it.status_id)).collect(),
        version: 1,
        created_at: now,
    }
}

impl BoardPatch {
    fn apply(&self, mut board: Board, settings: &Settings) -> Result<Board> {
        if let Some(name) = &self.name {
            name.trim().clone_into(&mut board.name);
        }
        if let Some(jql) = &self.jql {
            jql.clone_into(&mut board.jql);
        }
        if let Some(columns) = &self.columns {
            board.columns.clone_from(columns);
        }
        board.check(settings)?;
        Ok(board)
    }
}

/// The boards of a turn's space, which the caller administers, with the space and the catalogs.
async fn known(turn: &Turn<'_, IssueSpace>, org_id: OrgId) -> Result<(Vec<Board>, Space, Settings)> {
    let space = administered(turn, org_id).await?;
    let store = &turn.services().store;
    let settings = store.issue_catalog(org_id).await?.settings;
    Ok((store.issue_boards(org_id, space.space_id).await?, space, settings))
}

fn found(known: &[Board], id: BoardId) -> Result<&Board> {
    known.iter().find(|it| it.id == id).ok_or_else(|| Error::not_found(BOARD_NOT_FOUND))
}

impl Handle<CreateBoard> for IssueSpace {
    async fn handle(&mut self, command: &CreateBoard, turn: &mut Turn<'_, Self>) -> Result<Board> {
        let (known, space, settings) = known(turn, command.org_id).await?;
        let board = command.patch.apply(board_of(&space, &settings, turn.now()), &settings)?;
        if known.len() >= BOARDS_MAX {
            return Err(Error::bad_request("limit_reached", format!("A space has at most {BOARDS_MAX} boards.")));
        }
        let mut change = Change::new();
        change.issue_board_add(command.org_id, &board);
        turn.commit(change).await?;
        Ok(board)
    }
}

impl Handle<ChangeBoard> for IssueSpace {
    async fn handle(&mut self, command: &ChangeBoard, turn: &mut Turn<'_, Self>) -> Result<Board> {
        let (known, _, settings) = known(turn, command.org_id).await?;
        let before = found(&known, command.id)?;
        if command.patch.version.is_some_and(|version| version != before.version) {
            return Err(stale("board"));
        }
        let mut board = command.patch.apply(before.clone(), &settings)?;
        if board == *before {
            return Ok(board);
        }
        board.version += 1;
        let mut change = Change::new();
        change.issue_board_set(&board);
        turn.commit(change).await?;
        Ok(board)
    }
}

impl Handle<RemoveBoard> for IssueSpace {
    async fn handle(&mut self, command: &RemoveBoard, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (known, ..) = known(turn, command.org_id).await?;
        let board = found(&known, command.id)?;
        let mut change = Change::new();
        change.issue_board_remove(board);
        turn.commit(change).await
    }
}
