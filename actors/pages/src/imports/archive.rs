//! The archive of an import, as a blob.

use std::{fs::File, io, path::Path};

use bytes::Bytes;
use domain::{Error, Result, id::PageImportId};
use futures::{Stream, StreamExt, stream};
use store::{
    Blobs, StoreError,
    blobs::{BlobKey, UploadError},
};
use tokio::{
    fs,
    io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt},
};

/// Bytes that are read from the disk at once.
const READ_LEN: usize = 256 * 1024;

/// Keeps the archive of the import until [`forget`].
pub(super) async fn keep(blobs: &Blobs, id: PageImportId, archive: File) -> Result<()> {
    let mut file = fs::File::from_std(archive);
    let size = file.metadata().await.map_err(Error::internal)?.len();
    file.rewind().await.map_err(Error::internal)?;
    match blobs.put_stream(&key(id)?, size, bytes_of(file)).await {
        Ok(()) => Ok(()),
        Err(UploadError::Store(error)) => Err(error.into()),
        Err(error) => Err(Error::internal(error)),
    }
}

/// The archive of the import, in a file of `folder` that has no name; none when there is none.
pub(super) async fn fetch(blobs: &Blobs, id: PageImportId, folder: &Path) -> Result<Option<File>> {
    let Some(mut blob) = blobs.get_stream(&key(id)?, None).await? else { return Ok(None) };
    let mut file = fs::File::from_std(unnamed_file(folder).await.map_err(unwritable)?);
    while let Some(bytes) = blob.bytes.next().await {
        file.write_all(&bytes?).await.map_err(unwritable)?;
    }
    file.flush().await.map_err(unwritable)?;
    Ok(Some(file.into_std().await))
}

/// Deletes the archive of the import, if there is one.
pub(super) async fn forget(blobs: &Blobs, id: PageImportId) -> Result<()> {
    Ok(blobs.delete(&key(id)?).await?)
}

/// A new file in `folder`, which is made when it is missing. The file has no name, so that nothing is left of it when it is
/// closed, however that comes about.
pub async fn unnamed_file(folder: &Path) -> io::Result<File> {
    fs::create_dir_all(folder).await?;
    let folder = folder.to_owned();
    tokio::task::spawn_blocking(move || tempfile::tempfile_in(folder)).await.map_err(io::Error::other)?
}

fn key(id: PageImportId) -> Result<BlobKey> {
    BlobKey::new("imports", &[&id.to_string()]).map_err(Error::internal)
}

fn bytes_of(file: fs::File) -> impl Stream<Item = io::Result<Bytes>> {
    stream::try_unfold(file, |mut file| async move {
        let mut bytes = vec![0; READ_LEN];
        let len = file.read(&mut bytes).await?;
        bytes.truncate(len);
        Ok::<_, io::Error>((len > 0).then(|| (Bytes::from(bytes), file)))
    })
}

fn unwritable(error: impl std::fmt::Display) -> Error {
    StoreError::Unavailable(format!("an archive can't be written to the spool: {error}")).into()
}
