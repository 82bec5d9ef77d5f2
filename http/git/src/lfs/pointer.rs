//! What stands among git's objects in the place of large files.

use std::time::Duration;

use actors::git::host::Reading;
use bytes::{Bytes, BytesMut};
use domain::{
    Error, Result,
    git::{LFS_POINTER_LEN_MAX, LfsPointer, ObjectId},
};
use futures::{StreamExt, pin_mut};
use http_shell::state::State;
use store::git::{LfsAct, LfsAddress, LfsObject, StoredRepository};

/// The large file that a file of a commit points to, where the repository has it.
pub(crate) async fn pointed(
    state: &State,
    repository: &StoredRepository,
    reading: &Reading,
    (oid, size): (ObjectId, u64),
) -> Result<Option<LfsObject>> {
    if size > LFS_POINTER_LEN_MAX {
        return Ok(None);
    }
    let Some(pointer) = LfsPointer::read(&reading.bytes(oid).await?) else { return Ok(None) };
    let found = state.store.lfs_object(repository.no, pointer.oid).await?;
    Ok(found.filter(|object| object.size == pointer.size))
}

/// All bytes of one that isn't large after all.
pub(crate) async fn bytes_of(state: &State, repository: &StoredRepository, object: &LfsObject) -> Result<Bytes> {
    let read = state.store.content_read(repository.resource.org_id, object.content, None).await?;
    let pieces = read.ok_or_else(|| Error::internal("a large file has no content"))?.bytes;
    pin_mut!(pieces);
    let mut bytes = BytesMut::new();
    while let Some(piece) = pieces.next().await {
        bytes.extend_from_slice(&piece.map_err(Error::internal)?);
    }
    Ok(bytes.freeze())
}

/// Where it is downloaded for so long.
pub(crate) fn address_of(state: &State, repository: &StoredRepository, object: &LfsObject, lasts: Duration) -> String {
    let expires_at = state.store.now().after(lasts);
    let address = LfsAddress { repository: repository.id(), oid: object.oid, act: LfsAct::Download, expires_at };
    format!("{}{}", state.options.public_url, state.store.lfs_address(&address))
}
