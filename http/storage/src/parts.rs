//! Uploads of files in parts.

use actors::storage::{AbortUpload, BeginUpload, CompleteUpload, UploadAt};
use domain::{
    Error,
    id::{OrgId, UploadId},
    storage::{
        CompletedPart, Completion, FileKey, PART_LINKS_LAST, PartNumber, UploadPlan, WriteConditions,
        content_type_check, part_numbers_check, upload_id_parse, upload_not_found,
    },
};
use http_shell::{
    answer::{Created, Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    owned::Owned,
    permission::ResourcesWrite,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::storage::{PartAddress, StoredBucket, StoredUpload};
use utoipa::ToSchema;

use super::{file::ObjectBody, object::ObjectAnswer};

/// A file that is to be sent in parts.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"key": "films/launch.mp4", "contentType": "video/mp4", "size": 52_428_800}))]
pub(crate) struct UploadCreate {
    /// The file's key: up to 1,024 bytes.
    key: String,
    /// The file's type, or nothing: up to 255 characters.
    #[serde(default)]
    content_type: String,
    /// Bytes: 1 or more.
    size: u64,
}

impl RequestBody for UploadCreate {}

/// An upload that has begun.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "key": "films/launch.mp4", "uploadId": "upl_01jd7rt4m5e9fv2w8x3c6k0hqz", "partSize": 8_388_608, "parts": 7,
    "contentType": "video/mp4"
}))]
pub(crate) struct UploadAnswer {
    /// The file's key.
    key: String,
    /// The upload's id.
    upload_id: String,
    /// Bytes of each part but the last.
    part_size: u64,
    /// How many parts there are.
    parts: u64,
    /// The file's type; empty where none was said.
    content_type: String,
}

/// Begin an upload in parts
///
/// For files up to 5 TB. What isn't completed within a week goes.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart", responses(
    (status = 400, description = "File names can't end with /.\n\nKeys have at most 1,024 bytes."),
    (status = 403, description = "This bucket is full."),
    (status = 409, description = "This folder is being moved.\n\nThis bucket is being deleted."),
    (status = 413, description = "Files can have up to 5 TB.")))]
pub(crate) async fn storage_multipart_create(
    org: Org<ResourcesWrite>,
    body: Body<UploadCreate>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Created<UploadAnswer>> {
    let UploadCreate { key, content_type, size } = body.into_inner();
    let key = FileKey::parse_for_upload(key)?;
    let content_type = content_type_check("contentType", &content_type)?;
    let plan = UploadPlan::new(size)?;
    let id = UploadId::new(state.store.now());
    let at = UploadAt { org_id: org.id(), bucket: bucket.id(), key: key.clone() };
    let command = BeginUpload { at, content_type: content_type.clone(), size, about: None };
    state.actors.bucket_upload.ask(&id, command, org.context()).await?;
    Ok(Created(UploadAnswer {
        key: key.to_string(),
        upload_id: id.to_string(),
        part_size: plan.part_size(),
        parts: plan.parts(),
        content_type: content_type.unwrap_or_default(),
    }))
}

/// Parts that are to be sent.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "key": "films/launch.mp4", "uploadId": "upl_01jd7rt4m5e9fv2w8x3c6k0hqz", "partNumbers": [1, 2]
}))]
pub(crate) struct PartsAsked {
    /// The file's key.
    key: String,
    /// The upload's id.
    #[schema(min_length = 1, max_length = 1_024)]
    upload_id: String,
    /// 1 to 10,000 numbers, each 1 to 10,000.
    part_numbers: Vec<u64>,
}

impl RequestBody for PartsAsked {}

/// Where a part is sent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PartUrl {
    /// The part's number.
    part_number: u32,
    /// The address to PUT it to, which takes exactly its size and answers its `ETag`.
    url: String,
}

/// Where parts are sent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "urls": [{
        "partNumber": 1,
        "url": "https://troupe.example/v1/storage/files/res_01jd7rt4m5e9fv2w8x3c6k0hqz\
                ?upload=upl_01jd7rt4m5e9fv2w8x3c6k0hqz&part=1&size=8388608&expires=1767226500000&signature=Zm9v"
    }],
    "expiresIn": 900
}))]
pub(crate) struct PartsAnswer {
    /// One address for each number, in their order.
    urls: Vec<PartUrl>,
    /// Seconds for which they work.
    expires_in: u64,
}

/// An upload that a body names; 400 and 404 for a text that names none.
fn at(org_id: OrgId, bucket: &StoredBucket, key: String, upload_id: &str) -> domain::Result<(UploadAt, UploadId)> {
    let at = UploadAt { org_id, bucket: bucket.id(), key: FileKey::parse(key)? };
    let id = upload_id_parse("uploadId", upload_id)?;
    Ok((at, id))
}

/// Get addresses to send parts to
///
/// PUT each part to its address within 15 minutes, and keep the `ETag` that it is answered with.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/parts", responses(
    (status = 400, description = "Keys have at most 1,024 bytes."),
    (status = 404, description = "Upload not found."),
    (status = 409, description = "This bucket is being deleted.")))]
pub(crate) async fn storage_multipart_parts(
    org: Org<ResourcesWrite>,
    body: Body<PartsAsked>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Json<PartsAnswer>> {
    bucket.check_usable()?;
    let PartsAsked { key, upload_id, part_numbers } = body.into_inner();
    let numbers = part_numbers_check(&part_numbers)?;
    let (at, id) = at(org.id(), &bucket, key, &upload_id)?;
    let plan = plan(&state, &bucket, &at, id).await?;
    let expires_at = state.store.now().after(PART_LINKS_LAST);
    let mut urls = Vec::with_capacity(numbers.len());
    for number in numbers {
        let size = plan.part_bytes(number).ok_or_else(|| no_such_part(&plan))?;
        let address = PartAddress { bucket: bucket.id(), upload: id, number, size, expires_at };
        let url = format!("{}{}", state.options.public_url, state.store.part_address(&address));
        urls.push(PartUrl { part_number: number.get(), url });
    }
    Ok(Json(PartsAnswer { urls, expires_in: PART_LINKS_LAST.as_secs() }))
}

/// How an upload is sent that is under way; 404 where there is none.
async fn plan(state: &State, bucket: &StoredBucket, at: &UploadAt, id: UploadId) -> Result<UploadPlan> {
    let is_meant =
        |upload: &StoredUpload| upload.bucket == bucket.seen.no && upload.key == at.key && upload.completed.is_none();
    let upload = state.store.upload(id).await?.filter(is_meant).ok_or_else(upload_not_found)?;
    Ok(UploadPlan::new(upload.size)?)
}

fn no_such_part(plan: &UploadPlan) -> Error {
    Error::invalid("partNumbers", format!("This file has {} parts.", plan.parts()))
}

/// A part that was sent.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"partNumber": 1, "etag": "9e107d9d372bb6826bd81d3542a419d6"}))]
pub(crate) struct SentPartBody {
    /// The part's number.
    part_number: u64,
    /// What sending it was answered with.
    etag: String,
}

/// An upload of which all parts were sent.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UploadComplete {
    /// The file's key.
    key: String,
    /// The upload's id.
    #[schema(min_length = 1, max_length = 1_024)]
    upload_id: String,
    /// The file's parts, in ascending order: 1 to 10,000.
    parts: Vec<SentPartBody>,
}

impl RequestBody for UploadComplete {}

/// Complete an upload in parts
///
/// The parts become the file, in the place of one that is there; nothing is copied. Parts that aren't listed go.
/// Completing again with the same parts answers the same for a day, whatever has become of the file.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/complete", responses(
    (status = 400, description = "Part 1 is missing or has another ETag.\n\nParts must be in order.\n\nPart 1 has less than \
        5 MB.\n\nKeys have at most 1,024 bytes."),
    (status = 403, description = "This bucket is full."),
    (status = 404, description = "Upload not found.\n\nFile not found."),
    (status = 409, description = "This folder is being moved.\n\nThis bucket is being deleted."),
    (status = 413, description = "Files can have up to 5 TB.")))]
pub(crate) async fn storage_multipart_complete(
    org: Org<ResourcesWrite>,
    body: Body<UploadComplete>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Json<ObjectAnswer>> {
    let UploadComplete { key, upload_id, parts } = body.into_inner();
    let part = |(place, part): (usize, SentPartBody)| {
        let part_number = PartNumber::parse(&format!("parts[{place}].partNumber"), part.part_number)?;
        Ok(CompletedPart { part_number, etag: part.etag })
    };
    let parts = parts.into_iter().enumerate().map(part).collect::<domain::Result<Vec<_>>>()?;
    let parts = Completion::check(&parts)?;
    let (at, id) = at(org.id(), &bucket, key, &upload_id)?;
    let command = CompleteUpload { at, parts, conditions: WriteConditions::default(), checksum: None, size: None };
    let file = state.actors.bucket_upload.ask(&id, command, org.context()).await?;
    Ok(Json(ObjectAnswer { object: ObjectBody::try_from(file)? }))
}

/// An upload that is given up.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"key": "films/launch.mp4", "uploadId": "upl_01jd7rt4m5e9fv2w8x3c6k0hqz"}))]
pub(crate) struct UploadAbort {
    /// The file's key.
    key: String,
    /// The upload's id.
    #[schema(min_length = 1, max_length = 1_024)]
    upload_id: String,
}

impl RequestBody for UploadAbort {}

/// Give an upload in parts up
///
/// The parts go, and their addresses take nothing more.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/abort", responses(
    (status = 400, description = "Keys have at most 1,024 bytes."),
    (status = 404, description = "Upload not found."),
    (status = 409, description = "This bucket is being deleted.")))]
pub(crate) async fn storage_multipart_abort(
    org: Org<ResourcesWrite>,
    body: Body<UploadAbort>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<NoContent> {
    let UploadAbort { key, upload_id } = body.into_inner();
    let (at, id) = at(org.id(), &bucket, key, &upload_id)?;
    state.actors.bucket_upload.ask(&id, AbortUpload(at), org.context()).await?;
    Ok(NoContent)
}
