//! Blobs: attachments, archives, packs, photos. In a folder by default, in S3-compatible storage by configuration.
//!
//! A blob is written once under a key that its owner made, and never changed: another content is another key. It is
//! durable before the call that wrote it returns, and a commit may name it from then on; a blob that no row names any
//! more is deleted by its owner. Clients move the bytes themselves, over addresses that [`Blobs::address`] signs.

mod address;
pub mod contents;
mod digests;
mod file;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod key;

use std::{ops::Range, path::PathBuf, sync::Arc};

use bytes::Bytes;
use futures::{
    Stream, StreamExt,
    stream::{self, BoxStream},
};
use hmac::{Hmac, KeyInit};
use object_store::{
    GetOptions, GetRange, GetResult, GetResultPayload, ObjectStore, ObjectStoreExt, WriteMultipart,
    aws::{AmazonS3, AmazonS3Builder},
    local::LocalFileSystem,
    path::Path,
};
use sha2::Sha256;

use self::digests::HashingThreads;
pub use self::{
    address::{BlobAddress, BlobGrant, BlobMethod, BlobQuery, BlobRefusal},
    digests::Seen,
    key::{BlobKey, NotABlobKey},
};
use crate::{
    Clock, Faults, StoreError,
    faults::{Place, Stage},
};

/// Blobs up to this size are written to S3 in one request; larger ones in parts of it, of which it takes 10,000.
const S3_PART_LEN: usize = 8 * 1024 * 1024;
/// The same of a folder, which gains nothing from larger ones.
const FOLDER_PART_LEN: usize = 1024 * 1024;
/// Parts of one upload that are under way at the same time.
const PARTS_UNDER_WAY_MAX: usize = 2;

/// Where blobs are kept, and how Troupe signs their addresses.
#[derive(Clone)]
pub struct BlobOptions {
    /// The place.
    pub place: BlobPlace,
    /// The secret for addresses that Troupe signs itself: 32 random bytes, the same on every node.
    pub signing_secret: Vec<u8>,
}

/// Where blobs are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlobPlace {
    /// A local folder, made when it is missing. Several nodes need the same one.
    Folder(PathBuf),
    /// A bucket of S3-compatible storage.
    S3(S3Options),
}

/// A bucket, and how to reach it.
#[derive(Clone, PartialEq, Eq)]
pub struct S3Options {
    /// The bucket's name.
    pub bucket: String,
    /// Its region; `us-east-1` for most of what isn't Amazon's.
    pub region: String,
    /// The storage's URL when it isn't Amazon's; `http:` works too.
    pub endpoint: Option<String>,
    /// The access key and its secret; without them the machine's own role counts.
    pub credentials: Option<S3Credentials>,
}

/// An access key.
#[derive(Clone, PartialEq, Eq)]
pub struct S3Credentials {
    /// Its id.
    pub access_key_id: String,
    /// Its secret.
    pub secret_access_key: String,
}

impl std::fmt::Debug for BlobOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlobOptions").field("place", &self.place).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for S3Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { bucket, region, endpoint, credentials } = self;
        f.debug_struct("S3Options")
            .field("bucket", bucket)
            .field("region", region)
            .field("endpoint", endpoint)
            .field("access_key_id", &credentials.as_ref().map(|credentials| &credentials.access_key_id))
            .finish_non_exhaustive()
    }
}

/// A blob, or a range of it, as it is read.
pub struct BlobContent {
    /// The whole blob's size in bytes.
    pub size: u64,
    /// Which bytes of it follow.
    pub range: Range<u64>,
    /// The bytes.
    pub bytes: BoxStream<'static, Result<Bytes, StoreError>>,
}

/// Why an upload was not kept; nothing of it is left.
#[derive(Clone, Debug, thiserror::Error)]
pub enum UploadError {
    /// The bytes were not as many as announced.
    #[error("expected {expected} bytes")]
    Size {
        /// How many were announced.
        expected: u64,
    },
    /// The one who sends them broke off.
    #[error("the upload broke off: {0}")]
    Source(String),
    /// The blobs' place failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The blobs of a store.
#[derive(Clone)]
pub struct Blobs {
    objects: Arc<dyn ObjectStore>,
    s3: Option<Arc<AmazonS3>>,
    /// Where they are, if that is a folder.
    folder: Option<PathBuf>,
    hashing: HashingThreads,
    /// Keyed with the server's secret, for addresses that Troupe signs itself.
    signer: Hmac<Sha256>,
    clock: Clock,
    faults: Faults,
}

impl Blobs {
    /// What Troupe signs its own addresses with; who signs others begins with a text of their own.
    pub(crate) const fn signer(&self) -> &Hmac<Sha256> {
        &self.signer
    }

    pub(crate) fn open(options: &BlobOptions, clock: Clock, faults: Faults) -> Result<Self, StoreError> {
        let signer = Hmac::new_from_slice(&options.signing_secret)
            .map_err(|error| StoreError::Failed(format!("the blobs' signing secret can't be used: {error}")))?;
        let (objects, s3, at): (Arc<dyn ObjectStore>, _, _) = match &options.place {
            BlobPlace::Folder(folder) => {
                let made = std::fs::create_dir_all(folder);
                made.map_err(|error| StoreError::Failed(format!("the blobs' folder can't be made: {error}")))?;
                (Arc::new(LocalFileSystem::new_with_prefix(folder)?.with_fsync(true)), None, Some(folder.clone()))
            }
            BlobPlace::S3(options) => {
                let s3 = Arc::new(bucket(options)?);
                (s3.clone(), Some(s3), None)
            }
        };
        Ok(Self { objects, s3, folder: at, hashing: HashingThreads::default(), signer, clock, faults })
    }

    /// Where they are, if that is a folder.
    pub(crate) fn folder(&self) -> Option<&std::path::Path> {
        self.folder.as_deref()
    }

    /// How much is written at once.
    const fn part_len(&self) -> usize {
        if self.folder.is_some() { FOLDER_PART_LEN } else { S3_PART_LEN }
    }

    /// Writes `bytes` as the blob `key`.
    pub async fn put(&self, key: &BlobKey, bytes: Bytes) -> Result<(), StoreError> {
        self.takes(key).await?;
        self.objects.put(&path(key), bytes.into()).await?;
        Ok(())
    }

    /// Writes what `source` yields as the blob `key`, if it is exactly `size` bytes long.
    pub async fn put_stream<S, E>(&self, key: &BlobKey, size: u64, source: S) -> Result<(), UploadError>
    where
        S: Stream<Item = Result<Bytes, E>>,
        E: std::fmt::Display,
    {
        self.takes(key).await?;
        let upload = self.objects.put_multipart(&path(key)).await.map_err(StoreError::from)?;
        let mut writer = WriteMultipart::new_with_chunk_size(upload, self.part_len());
        match copy(source, &mut writer, size).await {
            Ok(()) => {
                writer.finish().await.map_err(StoreError::from)?;
                Ok(())
            }
            Err(error) => {
                if let Err(error) = writer.abort().await {
                    tracing::warn!(%error, %key, "an upload that broke off was not cleared away");
                }
                Err(error)
            }
        }
    }

    /// Whether a test lets the blob be written, and there be room for it.
    async fn takes(&self, key: &BlobKey) -> Result<(), StoreError> {
        if let Some(fault) = self.faults.meet(Place { stage: Stage::Blob, kind: "", command: "", key }) {
            fault.happen().await?;
        }
        if self.faults.disk_is_full() { Err(StoreError::Unavailable("the disk is full".to_owned())) } else { Ok(()) }
    }

    /// The whole blob in memory; `None` when there is none.
    pub async fn get(&self, key: &BlobKey) -> Result<Option<Bytes>, StoreError> {
        match self.objects.get(&path(key)).await {
            Ok(found) => Ok(Some(found.bytes().await?)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The blob, or the part of `range` that it has, as a stream; `None` when there is no such blob.
    pub async fn get_stream(
        &self,
        key: &BlobKey,
        range: Option<Range<u64>>,
    ) -> Result<Option<BlobContent>, StoreError> {
        let options = GetOptions { range: range.map(GetRange::Bounded), ..GetOptions::default() };
        match self.objects.get_opts(&path(key), options).await {
            Ok(found) => {
                Ok(Some(BlobContent { size: found.meta.size, range: found.range.clone(), bytes: pieces(found) }))
            }
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The blob's size in bytes; `None` when there is none.
    pub async fn size(&self, key: &BlobKey) -> Result<Option<u64>, StoreError> {
        match self.objects.head(&path(key)).await {
            Ok(found) => Ok(Some(found.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Deletes the blob, if there is one.
    pub async fn delete(&self, key: &BlobKey) -> Result<(), StoreError> {
        match self.objects.delete(&path(key)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Deletes those of the blobs that there are, with what was left of writing them; a folder has forgotten them for good.
    pub async fn delete_all(&self, keys: Vec<BlobKey>) -> Result<(), StoreError> {
        if let Some(folder) = &self.folder {
            return file::delete(folder.clone(), keys).await;
        }
        let paths = stream::iter(keys).map(|key| Ok(path(&key))).boxed();
        let mut deleted = self.objects.delete_stream(paths);
        while let Some(deleted) = deleted.next().await {
            match deleted {
                Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The names of the blobs of an area, with what is left of writing some; for recounts of tests.
    pub(crate) async fn names(&self, area: &str) -> Result<Vec<String>, StoreError> {
        if let Some(folder) = &self.folder {
            return file::names(folder, area);
        }
        let mut found = self.objects.list(Some(&Path::from(area)));
        let mut names = Vec::new();
        while let Some(object) = found.next().await.transpose()? {
            names.push(object.location.to_string());
        }
        Ok(names)
    }

    /// Writes, reads and deletes a blob, to see whether the place works (`troupe doctor`, `/readyz`).
    pub async fn check(&self) -> Result<(), StoreError> {
        let key = BlobKey::new("check", &[&domain::id::new_uuid(Clock::system().now()).to_string()]);
        let key = key.map_err(|error| StoreError::Failed(error.to_string()))?;
        let written = Bytes::from_static(b"troupe");
        self.put(&key, written.clone()).await?;
        let read = self.get(&key).await?;
        self.delete(&key).await?;
        if read == Some(written) { Ok(()) } else { Err(StoreError::Failed("a blob did not read as written".into())) }
    }
}

/// What was found, in pieces of up to 256 KiB of a folder, and as they come from S3.
fn pieces(found: GetResult) -> BoxStream<'static, Result<Bytes, StoreError>> {
    match found.payload {
        GetResultPayload::File(file, _) => file::pieces(file, found.range).boxed(),
        GetResultPayload::Stream(stream) => stream.map(|bytes| bytes.map_err(StoreError::from)).boxed(),
    }
}

fn bucket(options: &S3Options) -> Result<AmazonS3, StoreError> {
    let mut builder = AmazonS3Builder::new().with_bucket_name(&options.bucket).with_region(&options.region);
    if let Some(endpoint) = &options.endpoint {
        builder = builder.with_endpoint(endpoint).with_allow_http(endpoint.starts_with("http:"));
    }
    if let Some(credentials) = &options.credentials {
        builder = builder
            .with_access_key_id(&credentials.access_key_id)
            .with_secret_access_key(&credentials.secret_access_key);
    }
    Ok(builder.build()?)
}

async fn copy<S, E>(source: S, writer: &mut WriteMultipart, size: u64) -> Result<(), UploadError>
where
    S: Stream<Item = Result<Bytes, E>>,
    E: std::fmt::Display,
{
    let mut source = std::pin::pin!(source);
    let mut left = size;
    while let Some(bytes) = source.next().await {
        let bytes = bytes.map_err(|error| UploadError::Source(error.to_string()))?;
        left = left.checked_sub(bytes.len() as u64).ok_or(UploadError::Size { expected: size })?;
        writer.wait_for_capacity(PARTS_UNDER_WAY_MAX).await.map_err(StoreError::from)?;
        writer.put(bytes);
    }
    if left == 0 { Ok(()) } else { Err(UploadError::Size { expected: size }) }
}

fn path(key: &BlobKey) -> Path {
    Path::from(key.as_str())
}

impl From<object_store::Error> for StoreError {
    fn from(error: object_store::Error) -> Self {
        match error {
            // What is left after its own retries of requests to S3: the place is away.
            object_store::Error::Generic { .. } => Self::Unavailable(error.to_string()),
            error => Self::Failed(error.to_string()),
        }
    }
}
