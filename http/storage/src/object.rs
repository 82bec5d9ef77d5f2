//! One file: reading what is known of it, writing, changing and deleting it.

use std::{collections::BTreeMap, time::Instant};

use actors::storage::{DeleteFile, DeleteVersion, FileAt, LaneKey, PatchFile, PutFile, room_check};
use domain::{
    Context,
    problems::Problems,
    storage::{DeleteConditions, FileKey, FilePatch, Overwrite, StorageClass, Tag, Tags, VersionId},
};
use http_shell::{
    answer::{Json, NoContent, Object},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    owned::Owned,
    permission::{ResourcesRead, ResourcesWrite},
    query::{Query, RequestQuery},
    state::State,
    upload::abandon,
};
use serde::{Deserialize, Serialize};
use store::storage::StoredBucket;
use utoipa::{IntoParams, ToSchema};

use super::{
    file::{ObjectBody, TagBody, file},
    upload::FileUpload,
};

/// Which file.
#[derive(Deserialize, IntoParams)]
pub(crate) struct FileQuery {
    /// The file's key: up to 1,024 bytes.
    #[param(example = "reports/january.pdf", max_length = 1_024)]
    key: String,
}

impl RequestQuery for FileQuery {}

/// One file.
#[derive(Serialize, ToSchema)]
pub(crate) struct ObjectAnswer {
    /// The file.
    pub(super) object: ObjectBody,
}

/// A file
///
/// All that is known of it but its content, which `download` gives.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/storage/{resourceId}/object", responses(
    (status = 400, description = "Keys have at most 1,024 bytes."),
    (status = 404, description = "File not found."),
    (status = 409, description = "This bucket is being deleted.")))]
pub(crate) async fn storage_object_get(
    _org: Org<ResourcesRead>,
    asked: Query<FileQuery>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Object<ObjectAnswer>> {
    bucket.check_usable()?;
    let key = FileKey::parse(asked.key.as_str())?;
    let found = file(&state, &bucket, &key).await?;
    Ok(Object(ObjectAnswer { object: found.try_into()? }))
}

/// Which file is written, and whether there may be one.
#[derive(Deserialize, IntoParams)]
pub(crate) struct FilePutQuery {
    /// The file's key: up to 1,024 bytes.
    #[param(example = "reports/january.pdf", max_length = 1_024)]
    key: String,
    /// `1` to take the place of the file that is there; otherwise `0`.
    #[param(example = "0")]
    overwrite: Option<String>,
}

impl RequestQuery for FilePutQuery {
    fn check(&self, problems: &mut Problems) {
        let holds = self.overwrite.as_deref().is_none_or(|text| matches!(text, "0" | "1"));
        problems.require(holds, "overwrite", "Use 0 or 1.");
    }
}

/// Write a file
///
/// The body is the file's content as it is, up to 5 GB, and its `Content-Type` the file's. The answer comes when all of
/// it is kept. A key that ends with `/` keeps an empty folder,
/// and takes an empty body only.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/storage/{resourceId}/object", responses(
    (status = 400, description = "Keys have at most 1,024 bytes.\n\nFile names can't end with /."),
    (status = 403, description = "This bucket is full."),
    (status = 404, description = "File not found."),
    (status = 409, description = "A file with this name already exists.\n\nThis file changed since you opened it.\n\nThis \
        folder is being moved.\n\nThis bucket is being deleted.")))]
pub(crate) async fn storage_object_put(
    org: Org<ResourcesWrite>,
    asked: Query<FilePutQuery>,
    Owned(bucket): Owned<StoredBucket>,
    upload: FileUpload,
    state: State,
) -> Result<Json<ObjectAnswer>> {
    bucket.check_usable()?;
    let at = FileAt { org_id: org.id(), key: FileKey::parse(asked.key.as_str())? };
    let overwrite = if asked.overwrite.as_deref() == Some("1") { Overwrite::Allowed } else { Overwrite::Refused };
    // What was announced and has no room isn't waited for.
    room_check(&state.store, &bucket, &at.key, upload.announced().unwrap_or(0)).await?;
    let (headers, conditions) = (upload.headers.clone(), upload.conditions.clone().with_overwrite(overwrite));
    let kept = upload.keep(&state, org.id(), &at.key).await?;
    // The upload took as long as bytes kept coming; what follows has the usual time.
    let context = Context { deadline: Instant::now() + state.options.request_timeout, ..org.context() };
    let (lane, class) = (LaneKey::of(bucket.id(), &at.key), StorageClass::Standard);
    let command = PutFile { at, content: kept.clone(), headers, tags: Tags::default(), class, conditions };
    match state.actors.bucket_lane.ask(&lane, command, context).await {
        Ok(file) => Ok(Json(ObjectAnswer { object: file.try_into()? })),
        Err(refusal) => {
            abandon(&state, &kept).await;
            Err(refusal.into())
        }
    }
}

/// What is to be changed of a file; what isn't named stays, and an empty text takes a header away.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"contentType": "application/pdf", "tags": [{"key": "team", "value": "finance"}]}))]
pub(crate) struct FilePatchBody {
    /// The file's type: up to 255 characters.
    content_type: Option<String>,
    /// How it is cached: up to 1,024 characters.
    cache_control: Option<String>,
    /// Whether it is shown or saved, and as what: up to 1,024 characters.
    content_disposition: Option<String>,
    /// How its content is encoded: up to 1,024 characters.
    content_encoding: Option<String>,
    /// What people add, all of it: up to 2,048 bytes of names and values.
    metadata: Option<BTreeMap<String, String>>,
    /// The file's tags, all of them: up to 10.
    tags: Option<Vec<TagBody>>,
}

impl RequestBody for FilePatchBody {}

impl From<FilePatchBody> for FilePatch {
    fn from(body: FilePatchBody) -> Self {
        let tag = |TagBody { key, value }: TagBody| Tag { key, value };
        Self {
            content_type: body.content_type,
            cache_control: body.cache_control,
            content_disposition: body.content_disposition,
            content_encoding: body.content_encoding,
            metadata: body.metadata,
            tags: body.tags.map(|tags| tags.into_iter().map(tag).collect()),
        }
    }
}

/// Change what a file is answered with
///
/// The content stays, and so does the version.
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/storage/{resourceId}/object", responses(
    (status = 400, description = "Keys have at most 1,024 bytes."),
    (status = 404, description = "File not found."),
    (status = 409, description = "This folder is being moved.\n\nThis bucket is being deleted.")))]
pub(crate) async fn storage_object_patch(
    org: Org<ResourcesWrite>,
    body: Body<FilePatchBody>,
    asked: Query<FileQuery>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Json<ObjectAnswer>> {
    let at = FileAt { org_id: org.id(), key: FileKey::parse(asked.key.as_str())? };
    let lane = LaneKey::of(bucket.id(), &at.key);
    let command = PatchFile { at, patch: body.into_inner().into() };
    let file = state.actors.bucket_lane.ask(&lane, command, org.context()).await?;
    Ok(Json(ObjectAnswer { object: file.try_into()? }))
}

/// Which file, and which of its versions.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(rename_all = "camelCase")]
pub(crate) struct FileDeleteQuery {
    /// The file's key: up to 1,024 bytes.
    #[param(example = "reports/january.pdf", max_length = 1_024)]
    key: String,
    /// The version that is deleted for good.
    #[param(min_length = 1, max_length = 1_024)]
    version_id: Option<String>,
}

impl RequestQuery for FileDeleteQuery {}

/// Delete a file
///
/// In a versioned bucket a delete marker comes on top of it, and `object/restore` brings it back. With `versionId` that
/// version is deleted for good.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/storage/{resourceId}/object", responses(
    (status = 400, description = "Keys have at most 1,024 bytes."),
    (status = 404, description = "Version not found."),
    (status = 409, description = "This folder is being moved.\n\nThis bucket is being deleted.")))]
pub(crate) async fn storage_object_delete(
    org: Org<ResourcesWrite>,
    asked: Query<FileDeleteQuery>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<NoContent> {
    let version = asked.version_id.as_deref().map(|id| VersionId::parse("versionId", id)).transpose()?;
    let at = FileAt { org_id: org.id(), key: FileKey::parse(asked.key.as_str())? };
    let (lane, lanes) = (LaneKey::of(bucket.id(), &at.key), &state.actors.bucket_lane);
    match version {
        None => {
            let command = DeleteFile { at, conditions: DeleteConditions::default() };
            lanes.ask(&lane, command, org.context()).await?;
        }
        Some(version) => lanes.ask(&lane, DeleteVersion { at, version }, org.context()).await?,
    }
    Ok(NoContent)
}
