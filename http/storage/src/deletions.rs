//! Deleting many files.

use actors::storage::DeleteFiles;
use domain::storage::Deletion;
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

/// Files and folders that are to be deleted.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"keys": ["reports/january.pdf"], "folders": ["drafts/"]}))]
pub(crate) struct DeletionBody {
    /// Files: up to 1,000 keys of up to 1,024 bytes.
    #[serde(default)]
    keys: Vec<String>,
    /// Folders with all that is in them: up to 100 paths of up to 1,024 bytes.
    #[serde(default)]
    folders: Vec<String>,
    /// Whether the same is gone on with, which is done in either case.
    #[serde(default, rename = "resume")]
    _resume: bool,
}

impl RequestBody for DeletionBody {
    /// A thousand files and a hundred folders of the longest names.
    const LIMIT: usize = 4 * 1024 * 1024;
}

/// What became of a deletion.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"deleted": 5_000, "done": false}))]
pub(crate) struct DeletionAnswer {
    /// Files that this call deleted.
    deleted: u64,
    /// Whether nothing is left to delete.
    done: bool,
}

/// Delete files and folders
///
/// What isn't there is deleted already. In a versioned bucket delete markers come on top of the files, and `object/restore`
/// brings them back. A call deletes up to 5,000 files, a thousand of them together or not at all; while `done` is false, call
/// again with the same names.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/storage/{resourceId}/objects/delete", responses(
    (status = 400, description = "Pick a folder, not the whole bucket.\n\nFolder paths end with /.\n\nKeys have at most 1,024 \
        bytes."),
    (status = 409, description = "This folder is being moved.\n\nThis bucket is being deleted.")))]
pub(crate) async fn storage_objects_delete(
    org: Org<ResourcesWrite>,
    body: Body<DeletionBody>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Json<DeletionAnswer>> {
    let DeletionBody { keys, folders, .. } = body.into_inner();
    let deletion = Deletion::check(keys, folders)?;
    let command = DeleteFiles { org_id: org.id(), deletion };
    let outcome = state.actors.bucket.ask(&bucket.id(), command, org.context()).await?;
    Ok(Json(DeletionAnswer { deleted: outcome.deleted, done: outcome.done }))
}
