//! Uploads of whole files, each in one request to an address that the server signs.

use std::time::Duration;

use actors::storage::room_check;
use domain::{
    Error,
    storage::{FileKey, Overwrite, PART_LINKS_LAST, content_type_check, single_check},
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
use store::storage::{AddressMaker, StoredBucket, WriteAddress};
use utoipa::ToSchema;

/// How long sending may begin: as long as with an address of a part.
const LINK_LASTS: Duration = PART_LINKS_LAST;

/// A file that is to be sent in one piece.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"key": "reports/january.pdf", "size": 52_428, "contentType": "application/pdf"}))]
pub(crate) struct WholeUpload {
    /// The file's key: up to 1,024 bytes.
    key: String,
    /// Bytes: up to 5 GB.
    size: u64,
    /// The file's type, or nothing: up to 255 characters.
    #[serde(default)]
    content_type: String,
    /// Whether it may take the place of a file that is there when all of it has come.
    #[serde(default)]
    overwrite: bool,
}

impl RequestBody for WholeUpload {}

/// Where a file is sent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "url": "https://troupe.example/v1/storage/files/res_01jd7rt4m5e9fv2w8x3c6k0hqz?key=january.pdf&size=52428\
            &type=application%2Fpdf&overwrite=0&maker=key_01jd7rt4m5e9fv2w8x3c6k0hqz&expires=1767226500000&signature=Zm9v",
    "expiresIn": 900
}))]
pub(crate) struct WholeUploadAnswer {
    /// The address to PUT the file to, which takes exactly its size and answers its `ETag`.
    url: String,
    /// Seconds in which sending may begin.
    expires_in: u64,
}

/// Get an address to send a file to
///
/// The holder of the address may write that file, of exactly that size and type, for 15 minutes, as long as whoever asked for it
/// may: PUT the bytes to it. Whether a file is there already is looked at when all of them have come.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/storage/{resourceId}/uploads", responses(
    (status = 400, description = "File names can't end with /.\n\nKeys have at most 1,024 bytes."),
    (status = 403, description = "This bucket is full."),
    (status = 409, description = "This bucket is being deleted."),
    (status = 413, description = "Send files over 5 GB in parts.")))]
pub(crate) async fn storage_upload_create(
    org: Org<ResourcesWrite>,
    body: Body<WholeUpload>,
    Owned(bucket): Owned<StoredBucket>,
    state: State,
) -> Result<Created<WholeUploadAnswer>> {
    bucket.check_usable()?;
    let WholeUpload { key, size, content_type, overwrite } = body.into_inner();
    let key = FileKey::parse_for_upload(key)?;
    let content_type = content_type_check("contentType", &content_type)?;
    single_check(size)?;
    room_check(&state.store, &bucket, &key, size).await?;
    let maker = AddressMaker::of(&org.context().caller).ok_or(Error::Unauthenticated)?;
    let overwrite = if overwrite { Overwrite::Allowed } else { Overwrite::Refused };
    let expires_at = state.store.now().after(LINK_LASTS);
    let address = WriteAddress { bucket: bucket.id(), key, size, content_type, overwrite, maker, expires_at };
    let url = format!("{}{}", state.options.public_url, state.store.write_address(&address));
    Ok(Created(WholeUploadAnswer { url, expires_in: LINK_LASTS.as_secs() }))
}
