//! The bytes of large files, at addresses that the server signs.

use std::time::Instant;

use actix_web::{HttpResponse, HttpResponseBuilder, http::header};
use actors::git::KeepLfsObject;
use domain::{
    Caller, Context, Error,
    git::{LfsOid, lfs_object_differs, repository_not_found},
    id::ResourceId,
};
use http_shell::{
    argument::Argument,
    call::Call,
    download::Download,
    error::Result,
    facts::Facts,
    path::Path,
    query::{Query, RequestQuery},
    state::State,
    upload::{AddressUpload, abandon, refused},
};
use serde::Deserialize;
use store::{
    blobs::BlobRefusal,
    git::{LfsAct, LfsAddress, LfsObject, LfsQuery, StoredRepository},
    storage::AddressMaker,
};
use utoipa::IntoParams;

/// What the server wrote into the address.
#[derive(Deserialize, IntoParams)]
pub(crate) struct SignedLfs {
    /// The file's name.
    #[serde(default)]
    #[param(example = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393")]
    oid: String,
    /// How many bytes are sent.
    size: Option<u64>,
    /// The sign-in or the key with which the address was asked for.
    maker: Option<String>,
    /// Until when the address works, in milliseconds since the Unix epoch.
    expires: i64,
    /// Binds all of it.
    signature: String,
}

impl RequestQuery for SignedLfs {}

/// The repository of a signed address, and what that permits.
struct Signed {
    repository: StoredRepository,
    address: LfsAddress,
}

impl Signed {
    fn describe(facts: &mut Facts) {
        Path::<ResourceId>::describe(facts);
        Query::<SignedLfs>::describe(facts);
        facts.error(403, "This address was not signed here.");
        facts.error(403, "This address has expired.");
        facts.error(404, "Repository not found");
        facts.open();
        facts.streams = true;
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let Path(id) = Path::<ResourceId>::take(call).await?;
        let SignedLfs { oid, size, maker, expires, signature } = Query::<SignedLfs>::take(call).await?.0;
        let store = &call.state.store;
        let query = LfsQuery { oid, size, maker, expires, signature };
        let address = store.lfs_address_verify(id, &query).map_err(refused)?;
        let org_id = store.repository_org(id).await?.ok_or_else(repository_not_found)?;
        let found = store.repository(org_id, id).await?.filter(|stored| stored.purge_at.is_none());
        Ok(Self { repository: found.ok_or_else(repository_not_found)?, address })
    }
}

/// A large file that somebody may read, and the part of it that is asked for.
pub(crate) struct LfsDownload {
    oid: LfsOid,
    download: Download,
}

impl Argument for LfsDownload {
    fn describe(facts: &mut Facts) {
        Signed::describe(facts);
        Download::describe(facts);
        facts.error(404, "File not found");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let Signed { repository, address } = Signed::take(call).await?;
        if address.act != LfsAct::Download {
            return Err(refused(BlobRefusal::Forged).into());
        }
        let found = call.state.store.lfs_object(repository.no, address.oid).await?;
        let LfsObject { oid, content, size } = found.ok_or_else(|| Error::not_found("File not found"))?;
        Ok(Self { oid, download: Download::of(call, repository.resource.org_id, content, size) })
    }
}

/// Download a large file
///
/// The address comes from Git LFS's `batch` and needs no credential.
#[utoipa::path(get, path = "/v1/repos/lfs/{resourceId}", responses(
    (status = 200, description = "The file.", content_type = "application/octet-stream"),
    (status = 206, description = "The range that was asked for.", content_type = "application/octet-stream"),
    (status = 416, description = "The file ends before.")))]
pub(crate) async fn lfs_object_get(found: LfsDownload, state: State) -> Result<HttpResponse> {
    let LfsDownload { oid, download } = found;
    let about = |response: &mut HttpResponseBuilder| {
        response
            .insert_header((header::CONTENT_TYPE, "application/octet-stream"))
            .insert_header((header::CONTENT_DISPOSITION, format!("attachment; filename=\"{oid}\"")))
            .insert_header((header::ETAG, format!("\"{oid}\"")));
    };
    download.answer(&state, about).await
}

/// A large file whose bytes are sent.
pub(crate) struct LfsUpload {
    repository: StoredRepository,
    oid: LfsOid,
    size: u64,
    maker: AddressMaker,
    body: AddressUpload,
}

impl Argument for LfsUpload {
    fn describe(facts: &mut Facts) {
        Signed::describe(facts);
        AddressUpload::describe(facts);
        facts.error(403, "Whoever made this address may not write here any more.");
        facts.error(403, "This needs write access to the repository.");
        facts.error(409, "This repository is deleted. Restore it first.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let Signed { repository, address } = Signed::take(call).await?;
        let LfsAct::Upload { size, maker } = address.act else {
            return Err(refused(BlobRefusal::Forged).into());
        };
        Ok(Self { repository, oid: address.oid, size, maker, body: AddressUpload::take(call).await? })
    }
}

/// Send a large file
///
/// The address comes from Git LFS's `batch` and needs no credential. What is answered is kept; bytes that are another object are
/// refused, and nothing of them is kept.
#[utoipa::path(put, path = "/v1/repos/lfs/{resourceId}", responses(
    (status = 200, description = "The file is kept."),
    (status = 422, description = "These bytes are not the object that was announced.")))]
pub(crate) async fn lfs_object_put(upload: LfsUpload, state: State) -> Result<HttpResponse> {
    let LfsUpload { repository, oid, size, maker, body } = upload;
    let org_id = repository.resource.org_id;
    caller(&state, &repository, maker).await?;
    let context = body.context();
    let kept = body.keep(&state, org_id, size).await?;
    let landed = async {
        if LfsOid::of_bytes(kept.sha256()) != oid {
            return Err(lfs_object_differs());
        }
        // Again, since the bytes may have taken hours.
        let caller = caller(&state, &repository, maker).await?;
        let deadline = Instant::now() + state.options.request_timeout;
        let context = Context { caller, deadline, ..context };
        let command = KeepLfsObject { org_id, oid, content: kept.clone() };
        state.actors.repository.ask(&repository.id(), command, context).await
    };
    let landed = landed.await;
    if !matches!(landed, Ok(true)) {
        abandon(&state, &kept).await;
    }
    landed?;
    Ok(HttpResponse::Ok().finish())
}

/// In whose name a file is kept: whoever asked for the address; 403 once their credential is none any more.
async fn caller(state: &State, repository: &StoredRepository, maker: AddressMaker) -> domain::Result<Caller> {
    let found = state.store.address_maker(repository.resource.org_id, maker).await?;
    let over = || Error::forbidden("file_address", "Whoever made this address may not write here any more.");
    found.ok_or_else(over)
}
