//! Copying: a file, or a range of one as a part of an upload.

use std::{
    ops::Range,
    sync::{Arc, Mutex},
};

use actors::storage::{ComputedChecksum, CopyFile, CopySource, FileAt, LaneKey};
use domain::{
    Timestamp,
    storage::{
        ChecksumAlgorithm, ChecksumHasher, ChecksumKind, CopyReplaces, ETagList, FileChecksum, FileKey, PART_BYTES_MAX,
        ReadConditions, ReadOutcome, SINGLE_BYTES_MAX, VersionId, WriteConditions,
    },
};
use futures::TryStreamExt;
use hyper::header;
use s3s::{S3Error, S3ErrorCode, S3Request, S3Response, S3Result, dto, s3_error};
use store::storage::StoredBucket;

use super::{millis, said_fields, tag, tag_list, timestamp, version_of};
use crate::{
    access::{Need, denied, own_key},
    body::Kept,
    checksums::{Computing, Fields, algorithm},
    error::{invalid, not_implemented, refusal},
    service::Door,
    uploads::part_number,
    visit::Visit,
};

/// The conditions of a copy on its source, by the fields that both inputs have.
macro_rules! source_conditions {
    ($input:expr) => {
        ReadConditions {
            matches: $input.copy_source_if_match.as_ref().map(tag_list).transpose()?,
            matches_none: $input.copy_source_if_none_match.as_ref().map(tag_list).transpose()?,
            modified_since: $input.copy_source_if_modified_since.as_ref().map(|at| Timestamp(millis(at))),
            unmodified_since: $input.copy_source_if_unmodified_since.as_ref().map(|at| Timestamp(millis(at))),
        }
    };
}

/// What is copied.
struct Source {
    bucket: StoredBucket,
    key: FileKey,
    version: Option<VersionId>,
}

impl Door {
    /// The source of a copy, which the visitor may read.
    async fn source(&self, visit: &Visit, source: &dto::CopySource) -> S3Result<Source> {
        let dto::CopySource::Bucket { bucket, key, version_id } = source else {
            return Err(not_implemented("access points"));
        };
        let bucket = self.bucket(visit, bucket, Need::ReadFile).await?;
        let key = Self::file_key(visit, &bucket, key)?;
        if version_id.is_some() && own_key(visit, &bucket).is_none() {
            return Err(denied());
        }
        let version = version_id.as_deref().map(version_of).transpose()?;
        if let Some(id) = version
            && let Some(found) = self.store.file_version(bucket.seen.no, &key, id).await.map_err(refusal)?
            && found.content.is_none()
        {
            let message = "The source of a copy request may not specifically refer to a delete marker by version id.";
            return Err(S3Error::with_message(S3ErrorCode::InvalidRequest, message));
        }
        Ok(Source { bucket, key, version })
    }

    /// `CopyObject`.
    pub(crate) async fn object_copy(
        &self,
        request: S3Request<dto::CopyObjectInput>,
    ) -> S3Result<S3Response<dto::CopyObjectOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let source = self.source(&visit, &input.copy_source).await?;
        let bucket = self.bucket(&visit, &input.bucket, Need::Write).await?;
        let key = Self::file_key(&visit, &bucket, &input.key)?;
        if source.bucket.seen.org_id != bucket.seen.org_id {
            return Err(not_implemented("copies from other organizations' buckets"));
        }
        let expires = request.headers.get(header::EXPIRES).and_then(|it| it.to_str().ok()).map(str::to_owned);
        let replaces_headers = is_replacing(input.metadata_directive.as_ref().map(dto::MetadataDirective::as_str))?;
        let replaces_tags = is_replacing(input.tagging_directive.as_ref().map(dto::TaggingDirective::as_str))?;
        let said = said_fields!(input, expires)?;
        let tags = |name: header::HeaderName| {
            request.headers.get(name).map(|value| ETagList::parse(value.to_str().unwrap_or_default()))
        };
        let class = input.storage_class.is_some().then_some(said.class);
        let checksum = match input.checksum_algorithm.as_ref().map(algorithm).transpose()? {
            Some(algorithm) => self.computed(&source, algorithm).await?,
            None => None,
        };
        let command = CopyFile {
            at: FileAt { org_id: bucket.seen.org_id, key: key.clone() },
            source: CopySource {
                bucket: source.bucket.id(),
                key: source.key,
                version: source.version,
                conditions: source_conditions!(input),
            },
            conditions: WriteConditions { matches: tags(header::IF_MATCH), matches_none: tags(header::IF_NONE_MATCH) },
            replaces: CopyReplaces {
                headers: replaces_headers.then_some(said.headers),
                tags: replaces_tags.then_some(said.tags),
            },
            class,
            checksum,
        };
        let (lane, context) = (LaneKey::of(bucket.id(), &key), visit.context(self.options.request_timeout));
        let copied = self.actors.bucket_lane.ask(&lane, command, context).await.map_err(refusal)?;
        let kept = copied.file.content.as_ref().ok_or_else(super::no_such_key)?;
        let fields = Fields::from(kept.headers.checksum.as_ref());
        let result = dto::CopyObjectResult {
            e_tag: Some(tag(&kept.etag)),
            last_modified: Some(timestamp(copied.file.modified)),
            checksum_crc32: fields.crc32,
            checksum_crc32c: fields.crc32c,
            checksum_crc64nvme: fields.crc64nvme,
            checksum_sha1: fields.sha1,
            checksum_sha256: fields.sha256,
            checksum_type: fields.kind,
        };
        let is_versioned = StoredBucket::names_versions;
        Ok(S3Response::new(dto::CopyObjectOutput {
            copy_object_result: Some(result),
            copy_source_version_id: is_versioned(&source.bucket).then(|| copied.source.to_string()),
            expiration: self.expiration(&bucket, &copied.file).await,
            version_id: is_versioned(&bucket).then(|| copied.file.version().id().to_string()),
            ..Default::default()
        }))
    }

    /// A source's checksum by this algorithm; none where the source has it already. All of the source is read for that.
    async fn computed(&self, source: &Source, algorithm: ChecksumAlgorithm) -> S3Result<Option<ComputedChecksum>> {
        let (_, content) = self.file(&source.bucket, &source.key, source.version).await?;
        let is_known = |known: &FileChecksum| known.algorithm == algorithm && known.kind == ChecksumKind::FullObject;
        if content.headers.checksum.as_ref().is_some_and(is_known) {
            return Ok(None);
        }
        if content.size > SINGLE_BYTES_MAX {
            return Err(too_large_to_copy());
        }
        let org_id = source.bucket.seen.org_id;
        let read = self.store.content_read(org_id, content.content_id, None).await.map_err(refusal)?;
        let (mut bytes, mut hasher) = (read.ok_or_else(super::no_such_key)?.bytes, ChecksumHasher::new(algorithm));
        while let Some(piece) = bytes.try_next().await.map_err(refusal)? {
            hasher.update(&piece);
        }
        Ok(Some(ComputedChecksum { of: content.content_id, checksum: FileChecksum::from(&hasher.finish()) }))
    }

    /// `UploadPartCopy`. The bytes are copied: what becomes a part is taken over with its blobs.
    pub(crate) async fn part_copy(
        &self,
        request: S3Request<dto::UploadPartCopyInput>,
    ) -> S3Result<S3Response<dto::UploadPartCopyOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let number = part_number(input.part_number)?;
        let source = self.source(&visit, &input.copy_source).await?;
        let named = self.upload(&visit, (&input.bucket, &input.key), &input.upload_id).await?;
        let (file, content) = self.file(&source.bucket, &source.key, source.version).await?;
        let stored = file.stored().ok_or_else(super::no_such_key)?;
        if source_conditions!(input).decide(stored) != ReadOutcome::Send {
            return Err(S3Error::new(S3ErrorCode::PreconditionFailed));
        }
        let range = range(input.copy_source_range.as_deref(), content.size)?;
        let algorithm = named.planned().map(|plan| plan.algorithm);
        let computing: Option<Computing> =
            algorithm.map(|algorithm| Arc::new(Mutex::new(Some(ChecksumHasher::new(algorithm)))));
        let source_org = source.bucket.seen.org_id;
        let read =
            self.store.content_read(source_org, content.content_id, Some(range.clone())).await.map_err(refusal)?;
        let read = read.filter(|read| read.range == range).ok_or_else(super::no_such_key)?;
        let size = range.end - range.start;
        let coming = store::blobs::contents::ContentSource { size: Some(size), limit: size };
        let seen = computing.clone();
        let seen = Box::new(move |bytes: &[u8]| {
            if let Some(hasher) = &seen
                && let Ok(mut hasher) = hasher.lock()
                && let Some(hasher) = hasher.as_mut()
            {
                hasher.update(bytes);
            }
        });
        let kept = self.store.content_write_seen(named.at.org_id, coming, read.bytes, seen).await;
        let kept = kept.map_err(|error| refusal(domain::Error::internal(error)))?;
        let hasher = computing.and_then(|computing| computing.lock().ok()?.take());
        let kept = Kept { content: kept, checksum: hasher.map(ChecksumHasher::finish) };
        let checksum = kept.checksum.as_ref().map(FileChecksum::from);
        let fields = Fields::from(checksum.as_ref());
        let etag = self.part_put(&visit, &named, number, kept).await?;
        let result = dto::CopyPartResult {
            e_tag: Some(tag(&etag)),
            last_modified: Some(timestamp(self.store.now())),
            checksum_crc32: fields.crc32,
            checksum_crc32c: fields.crc32c,
            checksum_crc64nvme: fields.crc64nvme,
            checksum_sha1: fields.sha1,
            checksum_sha256: fields.sha256,
        };
        let is_versioned = source.bucket.names_versions();
        Ok(S3Response::new(dto::UploadPartCopyOutput {
            copy_part_result: Some(result),
            copy_source_version_id: is_versioned.then(|| file.version().id().to_string()),
            ..Default::default()
        }))
    }
}

fn is_replacing(directive: Option<&str>) -> S3Result<bool> {
    match directive {
        None | Some("COPY") => Ok(false),
        Some("REPLACE") => Ok(true),
        Some(_) => Err(invalid("Unknown directive.")),
    }
}

/// The bytes of a source that are copied, all of which it has.
fn range(asked: Option<&str>, size: u64) -> S3Result<Range<u64>> {
    let wrong = || {
        invalid(
            "The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy",
        )
    };
    let range = match asked {
        None => 0..size,
        Some(text) => {
            let (first, last) = text.strip_prefix("bytes=").and_then(|it| it.split_once('-')).ok_or_else(wrong)?;
            let (first, last): (u64, u64) = first.parse().ok().zip(last.parse().ok()).ok_or_else(wrong)?;
            if first > last {
                return Err(wrong());
            }
            if last >= size {
                return Err(invalid(format!("Range specified is not valid for source object of size: {size}")));
            }
            first..last + 1
        }
    };
    if range.end - range.start > PART_BYTES_MAX {
        return Err(too_large_to_copy());
    }
    Ok(range)
}

fn too_large_to_copy() -> S3Error {
    s3_error!(InvalidRequest, "The specified copy source is larger than the maximum allowable size for a copy source")
}
