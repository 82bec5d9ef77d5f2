//! Making folders.

use actors::storage::{FileAt, LaneKey, PutFile};
use bytes::Bytes;
use domain::{
    Error,
    storage::{
        FileHeaders, Folder, Overwrite, StorageClass, Tags, WriteConditions, file_exists, folder_exists, move_of_bucket,
    },
};
use http_shell::{
    answer::Created,
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    owned::Owned,
    permission::ResourcesWrite,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::{blobs::contents::NewContent, storage::StoredBucket};
use utoipa::ToSchema;

/// A new folder.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"path": "reports/2026/"}))]
pub(crate) struct FolderCreate {
    /// The folder's path, which ends with `/`: up to 1,024 bytes.
    path: String,
}

impl RequestBody for FolderCreate {}

/// A folder.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"path": "reports/2026/"}))]
pub(crate) struct FolderAnswer {
    /// The folder's path.
    path: String,
}

/// Make a folder
///
/// A file without content, whose key is the folder's path, keeps the folder while nothing else lies in it.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/storage/{resourceId}/folders", responses(
    (status = 400, description = "Folder paths end with /.\n\nPick a folder, not the whole bucket.\n\nKeys have at most 1,024 \
        bytes."),
    (status = 409, description = "A folder with this name already exists.\n\nThis folder is being moved.\n\nThis bucket is \
        being deleted.")))]
pub(crate) async fn storage_folder_create(
    org: Org<ResourcesWrite>,
    body: Body<FolderCreate>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Created<FolderAnswer>> {
    bucket.check_usable()?;
    let FolderCreate { path } = body.into_inner();
    let folder = if path.is_empty() { Err(move_of_bucket()) } else { Folder::parse(path) }?;
    if !state.store.files_in(bucket.seen.no, &folder.range(), 1).await?.is_empty() {
        return Err(folder_exists().into());
    }
    let (at, headers) = (FileAt { org_id: org.id(), key: folder.placeholder() }, FileHeaders::default());
    let content = NewContent::of_bytes(org.id(), state.store.now(), Bytes::new());
    let content = content.ok_or_else(|| Error::internal("nothing is too large for a row"))?;
    let conditions = WriteConditions::default().with_overwrite(Overwrite::Refused);
    let lane = LaneKey::of(bucket.id(), &at.key);
    let command = PutFile { at, content, headers, tags: Tags::default(), class: StorageClass::Standard, conditions };
    match state.actors.bucket_lane.ask(&lane, command, org.context()).await {
        Ok(_) => Ok(Created(FolderAnswer { path: folder.as_str().to_owned() })),
        Err(error) if error.to_string() == file_exists().to_string() => Err(folder_exists().into()),
        Err(error) => Err(error.into()),
    }
}
