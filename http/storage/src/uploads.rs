//! Uploads in parts that are under way: which ones, and what has come of one, for clients that go on after a crash.

use domain::{
    id::UploadId,
    storage::{
        FileKey, KeyPrefix, LIST_MAX, ListOf, ListScope, Place, invalid_cursor, list_limit, upload_id_parse,
        upload_not_found,
    },
};
use http_shell::{
    answer::Json,
    error::Result,
    org::Org,
    owned::Owned,
    permission::ResourcesRead,
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::storage::{StoredBucket, StoredPart, StoredUpload};
use utoipa::{IntoParams, ToSchema};

/// Which page.
#[derive(Deserialize, IntoParams)]
pub(crate) struct UploadsQuery {
    /// The `cursor` of the page before.
    cursor: Option<String>,
    /// Uploads of a page. More than 1,000 count as 1,000.
    #[param(minimum = 1, example = 100)]
    limit: Option<i64>,
}

impl RequestQuery for UploadsQuery {}

/// An upload that is under way.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "key": "films/launch.mp4", "uploadId": "upl_01jd7rt4m5e9fv2w8x3c6k0hqz", "size": 52_428_800,
    "contentType": "video/mp4", "createdAt": 1_767_225_600_000_i64
}))]
pub(crate) struct OpenUpload {
    /// The file's key.
    key: String,
    /// The upload's id.
    upload_id: String,
    /// Bytes of the file, as they were announced.
    size: u64,
    /// The file's type.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<String>,
    /// When it was begun.
    created_at: i64,
}

impl From<&StoredUpload> for OpenUpload {
    fn from(upload: &StoredUpload) -> Self {
        Self {
            key: upload.key.to_string(),
            upload_id: upload.id.to_string(),
            size: upload.size,
            content_type: upload.content_type.clone(),
            created_at: upload.created_at.as_millis(),
        }
    }
}

/// Uploads that are under way.
#[derive(Serialize, ToSchema)]
pub(crate) struct UploadsAnswer {
    /// In the order of their keys' bytes; those of one key by their age.
    uploads: Vec<OpenUpload>,
    /// Where the next page begins; none behind the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// The uploads in parts that are under way
///
/// The people who began them.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart", responses(
    (status = 400, description = "Invalid cursor."),
    (status = 409, description = "This bucket is being deleted.")))]
pub(crate) async fn storage_uploads_list(
    _org: Org<ResourcesRead>,
    asked: Query<UploadsQuery>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Json<UploadsAnswer>> {
    bucket.check_usable()?;
    let (all, keys) = (KeyPrefix::default(), state.store.list_cursor_key());
    let scope = ListScope { bucket: bucket.id(), list: ListOf::Uploads { prefix: &all, delimiter: None } };
    let after = match asked.cursor.as_deref().map(|cursor| keys.read(&scope, cursor)).transpose()? {
        None => None,
        Some(Place::Upload { key, id }) => Some((key, id)),
        Some(Place::Last(_) | Place::Version { .. }) => return Err(invalid_cursor().into()),
    };
    let after = after.as_ref().map(|(key, id)| (key.as_str(), *id));
    let limit = list_limit(asked.limit, LIST_MAX)?;
    let mut found = state.store.uploads_in(bucket.seen.no, &all.range(), after, limit as u64 + 1).await?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    let place = |last: &StoredUpload| keys.write(&scope, &Place::Upload { key: last.key.to_string(), id: last.id });
    let cursor = found.last().filter(|_| has_more).map(place);
    Ok(Json(UploadsAnswer { uploads: found.iter().map(OpenUpload::from).collect(), cursor }))
}

/// Which upload.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(rename_all = "camelCase")]
pub(crate) struct PartsQuery {
    /// The file's key: up to 1,024 bytes.
    #[param(example = "films/launch.mp4", max_length = 1_024)]
    key: String,
    /// The upload's id.
    #[param(example = "upl_01jd7rt4m5e9fv2w8x3c6k0hqz", min_length = 1, max_length = 1_024)]
    upload_id: String,
}

impl RequestQuery for PartsQuery {}

/// A part that has come.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"partNumber": 1, "size": 8_388_608, "etag": "9e107d9d372bb6826bd81d3542a419d6"}))]
pub(crate) struct CamePart {
    /// The part's number.
    part_number: u32,
    /// Bytes.
    size: u64,
    /// What sending it was answered with.
    etag: String,
}

impl From<StoredPart> for CamePart {
    fn from(part: StoredPart) -> Self {
        Self { part_number: part.number.get(), size: part.sent.size, etag: part.sent.etag.to_string() }
    }
}

/// An upload that is under way; 404 where there is none.
async fn under_way(state: &State, bucket: &StoredBucket, key: &FileKey, id: UploadId) -> Result<StoredUpload> {
    let is_meant =
        |upload: &StoredUpload| upload.bucket == bucket.seen.no && upload.key == *key && upload.completed.is_none();
    Ok(state.store.upload(id).await?.filter(is_meant).ok_or_else(upload_not_found)?)
}

/// Parts that have come.
#[derive(Serialize, ToSchema)]
pub(crate) struct CamePartsAnswer {
    /// In the order of their numbers: at most 10,000.
    parts: Vec<CamePart>,
}

/// The parts of an upload that have come
///
/// A client that goes on with an upload sends the others.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/parts", responses(
    (status = 400, description = "Keys have at most 1,024 bytes."),
    (status = 404, description = "Upload not found."),
    (status = 409, description = "This bucket is being deleted.")))]
pub(crate) async fn storage_parts_list(
    _org: Org<ResourcesRead>,
    asked: Query<PartsQuery>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Json<CamePartsAnswer>> {
    bucket.check_usable()?;
    let (key, id) = (FileKey::parse(asked.key.as_str())?, upload_id_parse("uploadId", &asked.upload_id)?);
    let upload = under_way(&state, &bucket, &key, id).await?;
    let parts = state.store.upload_parts(upload.id).await?;
    Ok(Json(CamePartsAnswer { parts: parts.into_iter().map(CamePart::from).collect() }))
}
