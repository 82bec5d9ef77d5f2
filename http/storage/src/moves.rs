//! Moving files and folders to other names.

use actors::storage::MoveFiles;
use domain::storage::{MovePair, MoveRequest, Resume};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    owned::Owned,
    permission::ResourcesWrite,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::storage::StoredBucket;
use utoipa::ToSchema;

/// A name, and the one that it becomes.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"from": "drafts/january.pdf", "to": "reports/january.pdf"}))]
pub(crate) struct MovePairBody {
    /// The name: up to 1,024 bytes.
    from: String,
    /// What it becomes: up to 1,024 bytes.
    to: String,
}

impl From<MovePairBody> for MovePair {
    fn from(MovePairBody { from, to }: MovePairBody) -> Self {
        Self { from, to }
    }
}

/// Moves of files and folders.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"files": [{"from": "drafts/january.pdf", "to": "reports/january.pdf"}]}))]
pub(crate) struct MovesBody {
    /// Files: up to 1,000.
    #[serde(default)]
    files: Vec<MovePairBody>,
    /// Folders with all that is in them: up to 100.
    #[serde(default)]
    folders: Vec<MovePairBody>,
    /// Whether the same moves are gone on with.
    #[serde(default)]
    resume: bool,
}

impl RequestBody for MovesBody {
    /// A thousand files and a hundred folders of the longest names.
    const LIMIT: usize = 4 * 1024 * 1024;
}

/// What became of moves.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"moved": 5_000, "done": false}))]
pub(crate) struct MovedAnswer {
    /// Files that this call moved.
    moved: u64,
    /// Whether nothing is left to move.
    done: bool,
}

/// Move files and folders
///
/// Nothing is overwritten, and all of it is checked before anything moves. Up to 1,000 files move together or not at
/// all. Of more, a call moves up to 5,000; while `done` is false, call again with the same moves and `resume: true`.
/// What nobody goes on with for 30 seconds is gone on with by itself. At any moment each file has exactly one of its
/// two names.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/storage/{resourceId}/objects/move", responses(
    (status = 400, description = "File names can't end with /.\n\nThe file is already there.\n\nPick a folder, not the whole \
        bucket.\n\nFolder paths end with /.\n\nA folder can't be moved into itself.\n\nThe same file or folder is listed \
        twice.\n\nTwo of the moves have the same place.\n\nKeys have at most 1,024 bytes."),
    (status = 404, description = "File not found.\n\nFolder not found."),
    (status = 409, description = "A file with this name already exists.\n\nA folder with this name already exists.\n\nThis \
        folder is being moved.\n\nThis move is already under way.\n\nThis bucket is being deleted.")))]
pub(crate) async fn storage_objects_move(
    org: Org<ResourcesWrite>,
    body: Body<MovesBody>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Json<MovedAnswer>> {
    let MovesBody { files, folders, resume } = body.into_inner();
    let pairs = |pairs: Vec<MovePairBody>| pairs.into_iter().map(MovePair::from).collect();
    let resume = Resume::from(resume);
    let moves = MoveRequest { files: pairs(files), folders: pairs(folders), resume }.check()?;
    let command = MoveFiles { org_id: org.id(), moves, resume };
    let outcome = state.actors.bucket.ask(&bucket.id(), command, org.context()).await?;
    Ok(Json(MovedAnswer { moved: outcome.moved, done: outcome.done }))
}
