//! Contents on their way in: collected as long as they may be small, then streamed into a blob.

use std::{pin::Pin, time::Duration};

use bytes::{Bytes, BytesMut};
use domain::id::{ContentId, OrgId};
use futures::{Stream, StreamExt, TryFutureExt, future::try_join};
use object_store::{MultipartUpload, ObjectStoreExt};
use sea_orm::IntoActiveModel;

use super::{NewContent, SMALL_MAX, pending_row};
use crate::{
    Change, Store, StoreError,
    blobs::{BlobKey, Blobs, Seen, digests::Digests, path},
};

/// How long a source may be silent.
pub const STALLED_AFTER: Duration = Duration::from_secs(60);
/// How much room is made at first for what has no announced size.
const ROOM_LEN: usize = 16 * 1024;

/// What is known of a content before it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentSource {
    /// Its size in bytes, where that was announced; then it is exactly that.
    pub size: Option<u64>,
    /// How many bytes it may have.
    pub limit: u64,
}

/// Why a content was not taken; nothing of it is left.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ContentError<E> {
    /// Its source failed.
    #[error("the content broke off")]
    Source(E),
    /// Its source was silent for [`STALLED_AFTER`].
    #[error("the content came too slowly")]
    Stalled,
    /// It has another size than was announced.
    #[error("expected {expected} bytes")]
    Size {
        /// What was announced.
        expected: u64,
    },
    /// It is longer than it may be.
    #[error("expected at most {limit} bytes")]
    TooLong {
        /// How many bytes it may have.
        limit: u64,
    },
    /// The database or the blobs' place failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What has come in at once.
struct Part {
    bytes: Bytes,
    is_last: bool,
}

/// A source that is read in parts.
struct Parts<'a, S> {
    stream: Pin<&'a mut S>,
    source: ContentSource,
    part_len: usize,
    patience: Duration,
    /// What came behind the last part.
    rest: Bytes,
    taken: u64,
}

impl<S, E> Parts<'_, S>
where
    S: Stream<Item = Result<Bytes, E>>,
{
    /// The next part, full unless it is the last one.
    async fn next(&mut self) -> Result<Part, ContentError<E>> {
        let mut part = BytesMut::with_capacity(self.room());
        loop {
            let fitting = self.rest.len().min(self.part_len - part.len());
            part.extend_from_slice(&self.rest.split_to(fitting));
            if !self.rest.is_empty() {
                return Ok(Part { bytes: part.freeze(), is_last: false });
            }
            let coming = tokio::time::timeout(self.patience, self.stream.next());
            match coming.await.map_err(|_| ContentError::Stalled)? {
                Some(bytes) => self.take(bytes.map_err(ContentError::Source)?)?,
                None => break,
            }
        }
        match self.source.size {
            Some(expected) if expected != self.taken => Err(ContentError::Size { expected }),
            _ => Ok(Part { bytes: part.freeze(), is_last: true }),
        }
    }

    /// How much room a part is given: what is still to come, as far as that is known.
    fn room(&self) -> usize {
        let coming = self.source.size.map(|size| size.saturating_sub(self.taken) + self.rest.len() as u64);
        coming.map_or(ROOM_LEN, |coming| usize::try_from(coming).unwrap_or(usize::MAX).min(self.part_len))
    }

    fn take(&mut self, bytes: Bytes) -> Result<(), ContentError<E>> {
        self.taken += bytes.len() as u64;
        self.rest = bytes;
        match self.source {
            ContentSource { size: Some(expected), .. } if self.taken > expected => Err(ContentError::Size { expected }),
            ContentSource { limit, .. } if self.taken > limit => Err(ContentError::TooLong { limit }),
            _ => Ok(()),
        }
    }
}

impl Store {
    /// Takes what `stream` yields as a content of the organization: what is small is answered with its bytes, what is larger is
    /// on the disk when this returns, and either waits for the commit that names it. Holds three megabytes at most (24 where
    /// blobs are in S3), and hashes on threads of its own.
    ///
    /// Nothing is left after an error, or when the caller waits no longer.
    pub async fn content_write<S, E>(
        &self,
        org_id: OrgId,
        source: ContentSource,
        stream: S,
    ) -> Result<NewContent, ContentError<E>>
    where
        S: Stream<Item = Result<Bytes, E>> + Send,
    {
        self.content_taken(org_id, source, stream, None).await
    }

    /// The same; `seen` is shown all bytes in their order, on the thread that hashes them.
    pub async fn content_write_seen<S, E>(
        &self,
        org_id: OrgId,
        source: ContentSource,
        stream: S,
        seen: Seen,
    ) -> Result<NewContent, ContentError<E>>
    where
        S: Stream<Item = Result<Bytes, E>> + Send,
    {
        self.content_taken(org_id, source, stream, Some(seen)).await
    }

    async fn content_taken<S, E>(
        &self,
        org_id: OrgId,
        source: ContentSource,
        stream: S,
        seen: Option<Seen>,
    ) -> Result<NewContent, ContentError<E>>
    where
        S: Stream<Item = Result<Bytes, E>> + Send,
    {
        let stream = std::pin::pin!(stream);
        let part_len = self.blobs().part_len();
        let mut parts = Parts { stream, source, part_len, patience: STALLED_AFTER, rest: Bytes::new(), taken: 0 };
        let (first, mut digests) = (parts.next().await?, Digests::new(seen));
        if first.is_last && first.bytes.len() <= SMALL_MAX {
            digests.update(&first.bytes);
            return Ok(NewContent::small(org_id, self.now(), first.bytes, digests));
        }
        let id = ContentId::new(self.now());
        let mut pending = Pending::begin(self, org_id, BlobKey::of_content(id)).await?;
        match pending.write(&mut parts, first, digests).await {
            Ok(digests) => {
                pending.is_written = true;
                let digested = digests.finish();
                let (md5, sha256) = (digested.md5, digested.sha256);
                Ok(NewContent { id, org_id, size: parts.taken, md5, sha256, bytes: None })
            }
            Err(error) => {
                pending.clear().await;
                Err(error)
            }
        }
    }

    /// Deletes a content that won't be named, which otherwise is swept a day later. One that a commit has named stays, so that
    /// this may follow a commit whose outcome is unknown: that commit fails then, if it was not made.
    pub async fn content_abandon(&self, content: &NewContent) -> Result<(), StoreError> {
        match content.blob() {
            Some(blob) => self.pending_dooms(vec![blob]).await,
            None => Ok(()),
        }
    }
}

/// A blob that is being written, with its row; cleared away when this is dropped before it is written.
struct Pending {
    store: Store,
    blob: BlobKey,
    upload: Option<Box<dyn MultipartUpload>>,
    is_written: bool,
}

impl Pending {
    /// Commits the row.
    async fn begin(store: &Store, org_id: OrgId, blob: BlobKey) -> Result<Self, StoreError> {
        let row = pending_row::Model { blob: blob.to_string(), org_id: org_id.to_string(), since: store.now().0 };
        let mut change = Change::new();
        change.insert(row.into_active_model());
        // Before the commit, whose outcome may turn out to be unknown.
        let pending = Self { store: store.clone(), blob, upload: None, is_written: false };
        store.commit(change).await?;
        Ok(pending)
    }

    /// Writes the bytes to the disk, each part while the next one comes.
    async fn write<S, E>(
        &mut self,
        parts: &mut Parts<'_, S>,
        first: Part,
        mut digests: Digests,
    ) -> Result<Digests, ContentError<E>>
    where
        S: Stream<Item = Result<Bytes, E>>,
    {
        let blobs = self.store.blobs().clone();
        if first.is_last {
            let written = blobs.put(&self.blob, first.bytes.clone());
            return Ok(try_join(written, blobs.hashing.update(digests, first.bytes)).await?.1);
        }
        let mut upload = blobs.objects.put_multipart(&path(&self.blob)).await.map_err(StoreError::from)?;
        let mut part = first;
        while !part.is_last {
            let written = blobs.write_part(&self.blob, &mut upload, part.bytes, digests).map_err(ContentError::from);
            (digests, part) = match try_join(written, parts.next()).await {
                Ok(went_on) => went_on,
                Err(error) => {
                    self.upload = Some(upload);
                    return Err(error);
                }
            };
        }
        let ended = async {
            let digests = blobs.write_part(&self.blob, &mut upload, part.bytes, digests).await?;
            upload.complete().await?;
            Ok(digests)
        };
        let ended: Result<Digests, StoreError> = ended.await;
        self.upload = Some(upload);
        Ok(ended?)
    }

    /// Clears away what there is of it.
    async fn clear(mut self) {
        self.is_written = true;
        clear(self.store.clone(), self.blob.clone(), self.upload.take()).await;
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if self.is_written {
            return;
        }
        // Without a runtime, or when this node ends before it is done, a sweep does it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(clear(self.store.clone(), self.blob.clone(), self.upload.take()));
        }
    }
}

async fn clear(store: Store, blob: BlobKey, upload: Option<Box<dyn MultipartUpload>>) {
    if let Some(mut upload) = upload {
        // One that was completed, or failed at that, has nothing to abort.
        let _ = upload.abort().await;
    }
    if let Err(error) = store.pending_dooms(vec![blob.clone()]).await {
        tracing::warn!(%error, %blob, "a content that broke off was not cleared away; it is swept later");
    }
}

impl Blobs {
    /// Writes a part of a blob, and hashes it.
    async fn write_part(
        &self,
        key: &BlobKey,
        upload: &mut Box<dyn MultipartUpload>,
        bytes: Bytes,
        digests: Digests,
    ) -> Result<Digests, StoreError> {
        self.takes(key).await?;
        if bytes.is_empty() {
            return Ok(digests);
        }
        let written = upload.put_part(bytes.clone().into()).map_err(StoreError::from);
        Ok(try_join(written, self.hashing.update(digests, bytes)).await?.1)
    }
}

#[cfg(test)]
mod tests {
    use futures::stream;

    use super::*;

    fn parts<S>(stream: Pin<&mut S>, size: Option<u64>) -> Parts<'_, S> {
        let source = ContentSource { size, limit: 100 };
        Parts { stream, source, part_len: 4, patience: Duration::from_millis(1), rest: Bytes::new(), taken: 0 }
    }

    #[tokio::test]
    async fn parts_are_full_but_for_the_last_one_however_the_pieces_come() {
        for pieces in [&["0123456789"][..], &["0", "", "12345", "6789"], &["0123", "4567", "89"]] {
            let stream = stream::iter(pieces).map(|piece| Ok::<_, ()>(Bytes::from_static(piece.as_bytes())));
            let stream = std::pin::pin!(stream);
            let (mut parts, mut taken) = (parts(stream, Some(10)), Vec::new());
            loop {
                let part = parts.next().await.expect("comes");
                taken.push(part.bytes);
                if part.is_last {
                    break;
                }
            }
            assert_eq!(taken, ["0123", "4567", "89"], "{pieces:?}");
        }
    }

    #[tokio::test]
    async fn a_source_that_is_silent_is_given_up() {
        let silent = stream::iter([Ok::<_, ()>(Bytes::from_static(b"012345"))]).chain(stream::pending());
        let silent = std::pin::pin!(silent);
        let mut parts = parts(silent, None);
        assert_eq!(parts.next().await.map(|part| part.bytes).ok(), Some(Bytes::from_static(b"0123")));
        assert!(matches!(parts.next().await, Err(ContentError::Stalled)));
    }
}
