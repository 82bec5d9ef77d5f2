//! Sending bytes to an address that the server signed: a part of an upload, or a whole file.

use std::time::Instant;

use actix_web::{
    HttpResponse,
    http::header::{self, HeaderValue},
};
use actors::storage::{FileAt, LaneKey, PutFile, PutPart, room_check};
use domain::{
    Caller, Context, Error, Scope,
    id::ResourceId,
    storage::{BucketAddress, ETag, FileHeaders, StorageClass, Tags, WriteConditions, no_bucket, upload_not_found},
};
use http_shell::{
    error::Result,
    path::Path,
    query::{Query, RequestQuery},
    state::State,
    upload::{AddressUpload, abandon, refused},
};
use serde::Deserialize;
use store::{
    blobs::{BlobRefusal, contents::NewContent},
    storage::{PartQuery, StoredBucket, WriteAddress, WriteQuery},
};
use utoipa::IntoParams;

/// What the server wrote into the address: `upload` and `part` of a part, the others of a whole file.
#[derive(Deserialize, IntoParams)]
pub(crate) struct SignedBytes {
    /// The upload.
    #[param(example = "upl_01jd7rt4m5e9fv2w8x3c6k0hqz")]
    upload: Option<String>,
    /// The part's number.
    #[serde(default)]
    part: u64,
    /// The file's key.
    #[serde(default)]
    #[param(example = "january.pdf")]
    key: String,
    /// The file's type; empty where it has none.
    #[serde(default, rename = "type")]
    #[param(example = "application/pdf")]
    content_type: String,
    /// Whether the file may take the place of another one.
    #[serde(default)]
    #[param(example = "0")]
    overwrite: String,
    /// The sign-in or the key with which the address of a file was asked for.
    #[serde(default)]
    #[param(example = "key_01jd7rt4m5e9fv2w8x3c6k0hqz")]
    maker: String,
    /// Bytes.
    size: u64,
    /// Until when the address works, in milliseconds since the Unix epoch.
    expires: i64,
    /// Binds all of it.
    signature: String,
}

impl RequestQuery for SignedBytes {}

/// Send a part, or a file
///
/// The address comes from `uploads/multipart/parts` or from `uploads`, and needs no credential. It takes exactly as many bytes as
/// it says, and answers their `ETag`.
#[utoipa::path(put, path = "/v1/storage/files/{resourceId}", responses(
    (status = 200, description = "The bytes are kept; their tag is the `ETag`."),
    (status = 403, description = "This bucket is full.\n\nWhoever made this address may not write here any more."),
    (status = 404, description = "Upload not found.\n\nBucket not found"),
    (status = 409, description = "A file with this name already exists.\n\nThis folder is being moved.\n\nThis bucket is \
        being deleted.")))]
pub(crate) async fn storage_file_put(
    address: Path<BucketAddress>,
    signed: Query<SignedBytes>,
    upload: AddressUpload,
    state: State,
) -> Result<HttpResponse> {
    let BucketAddress::Resource(bucket) = *address else { return Err(refused(BlobRefusal::Forged).into()) };
    let SignedBytes { upload: part_of, part, key, content_type, overwrite, maker, size, expires, signature } = signed.0;
    let etag = if let Some(id) = part_of {
        put_part(&state, bucket, PartQuery { upload: id, part, size, expires, signature }, upload).await?
    } else {
        let query = WriteQuery { key, size, content_type, overwrite, maker, expires, signature };
        put_file(&state, bucket, query, upload).await?
    };
    // Scripts of pages read the tag only where the answer says that they may.
    Ok(HttpResponse::Ok()
        .insert_header((header::ETAG, format!("\"{etag}\"")))
        .insert_header((header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("ETag")))
        .finish())
}

/// The bucket that an address is for; `gone` where it isn't there, 409 where it can't be written to.
async fn usable(state: &State, id: ResourceId, gone: fn() -> Error) -> Result<StoredBucket> {
    let bucket = state.store.bucket_of(id).await?.ok_or_else(gone)?;
    bucket.check_usable()?;
    Ok(bucket)
}

/// What follows once the bytes are kept, which took as long as they kept coming, has the usual time.
fn with_usual_time(state: &State, context: Context) -> Context {
    Context { deadline: Instant::now() + state.options.request_timeout, ..context }
}

async fn put_part(state: &State, id: ResourceId, query: PartQuery, upload: AddressUpload) -> Result<ETag> {
    let grant = state.store.part_address_verify(id, &query).map_err(refused)?;
    let bucket = usable(state, id, upload_not_found).await?;
    let context = upload.context();
    let kept = upload.keep(state, bucket.seen.org_id, grant.size).await?;
    let command =
        PutPart { bucket: id, number: grant.number, content: kept.clone(), checksum: None, caller_names: None };
    match state.actors.bucket_upload.ask(&grant.upload, command, with_usual_time(state, context)).await {
        Ok(etag) => Ok(etag),
        Err(refusal) => {
            abandon(state, &kept).await;
            Err(refusal.into())
        }
    }
}

async fn put_file(state: &State, id: ResourceId, query: WriteQuery, upload: AddressUpload) -> Result<ETag> {
    let grant = state.store.write_address_verify(id, query).map_err(refused)?;
    let bucket = usable(state, id, no_bucket).await?;
    maker(state, &bucket, &grant).await?;
    room_check(&state.store, &bucket, &grant.key, grant.size).await?;
    let context = upload.context();
    let kept = upload.keep(state, bucket.seen.org_id, grant.size).await?;
    match write(state, &bucket, grant, &kept, context).await {
        Ok(etag) => Ok(etag),
        Err(refusal) => {
            abandon(state, &kept).await;
            Err(refusal)
        }
    }
}

/// Writes the file whose bytes are kept; its tag.
async fn write(
    state: &State,
    bucket: &StoredBucket,
    grant: WriteAddress,
    kept: &NewContent,
    context: Context,
) -> Result<ETag> {
    // Again, since the bytes may have taken hours.
    let caller = maker(state, bucket, &grant).await?;
    let headers = FileHeaders { content_type: grant.content_type, ..FileHeaders::default() };
    let conditions = WriteConditions::default().with_overwrite(grant.overwrite);
    let (lane, class) = (LaneKey::of(grant.bucket, &grant.key), StorageClass::Standard);
    let at = FileAt { org_id: bucket.seen.org_id, key: grant.key };
    let command = PutFile { at, content: kept.clone(), headers, tags: Tags::default(), class, conditions };
    let context = with_usual_time(state, Context { caller, ..context });
    let file = state.actors.bucket_lane.ask(&lane, command, context).await?;
    Ok(file.content.ok_or_else(|| Error::internal("a write made no content"))?.etag)
}

/// In whose name a file is written: whoever asked for the address, as long as they may write here; 403 otherwise.
async fn maker(state: &State, bucket: &StoredBucket, grant: &WriteAddress) -> Result<Caller> {
    let over = || Error::forbidden("file_address", "Whoever made this address may not write here any more.");
    let org_id = bucket.seen.org_id;
    let caller = state.store.address_maker(org_id, grant.maker).await?.ok_or_else(over)?;
    let authority = state.store.authority(org_id, &caller).await;
    match authority.and_then(|authority| authority.require(Scope::ResourcesWrite)) {
        Ok(()) => Ok(caller),
        Err(Error::NotFound { .. } | Error::MissingScope(_)) => Err(over().into()),
        Err(error) => Err(error.into()),
    }
}
