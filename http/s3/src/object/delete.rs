//! Deleting files and their versions, one or up to 1,000.

use actors::storage::{DeleteFile, DeleteVersion, FileAt, LaneKey};
use domain::{
    Timestamp,
    storage::{DeleteConditions, VersionId},
};
use futures::{StreamExt, stream};
use s3s::{S3Error, S3ErrorCode, S3Request, S3Response, S3Result, dto, s3_error};
use store::storage::StoredBucket;

use super::{millis, tag_list, version_of};
use crate::{access::Need, error::refusal, service::Door, visit::Visit};

/// Keys of one request.
const KEYS_MAX: usize = 1_000;
/// Files of one request that are deleted side by side.
const AT_ONCE: usize = 16;

/// What became of a delete.
#[derive(Clone, Debug, Default)]
struct Deleted {
    /// The version that the answer names.
    version: Option<VersionId>,
    /// Whether that is a delete marker, which came or went.
    is_marker: bool,
}

/// What a request says of a file that is to be deleted.
struct Target<'t> {
    key: &'t str,
    version: Option<&'t str>,
    conditions: DeleteConditions,
}

impl Door {
    /// `DeleteObject`.
    pub(crate) async fn object_delete(
        &self,
        request: S3Request<dto::DeleteObjectInput>,
    ) -> S3Result<S3Response<dto::DeleteObjectOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let bucket = self.bucket(&visit, &input.bucket, Need::Write).await?;
        let conditions = DeleteConditions {
            matches: input.if_match.as_ref().map(tag_list).transpose()?,
            size: size(input.if_match_size)?,
            modified: input.if_match_last_modified_time.as_ref().map(at),
        };
        let target = Target { key: &input.key, version: input.version_id.as_deref(), conditions };
        let deleted = self.delete(&visit, &bucket, target).await?;
        Ok(S3Response::with_status(
            dto::DeleteObjectOutput {
                delete_marker: deleted.is_marker.then_some(true),
                version_id: deleted.version.map(|id| id.to_string()),
                ..Default::default()
            },
            hyper::StatusCode::NO_CONTENT,
        ))
    }

    /// `DeleteObjects`.
    pub(crate) async fn objects_delete(
        &self,
        request: S3Request<dto::DeleteObjectsInput>,
    ) -> S3Result<S3Response<dto::DeleteObjectsOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let bucket = self.bucket(&visit, &input.bucket, Need::Write).await?;
        let objects = input.delete.objects;
        if objects.is_empty() || objects.len() > KEYS_MAX {
            return Err(S3Error::new(S3ErrorCode::MalformedXML));
        }
        let is_quiet = input.delete.quiet == Some(true);
        let deleting = objects.into_iter().map(|object| async {
            let deleted = self.object_of_many_delete(&visit, &bucket, &object).await;
            (object, deleted)
        });
        let ended: Vec<_> = stream::iter(deleting).buffered(AT_ONCE).collect().await;
        let (mut deleted, mut errors) = (Vec::new(), Vec::new());
        for (object, end) in ended {
            match end {
                Ok(_) if is_quiet => {}
                Ok(end) => deleted.push(shown(object, &end)),
                Err(error) => errors.push(failed(object, &error)),
            }
        }
        Ok(S3Response::new(dto::DeleteObjectsOutput {
            deleted: Some(deleted),
            errors: Some(errors),
            ..Default::default()
        }))
    }

    async fn object_of_many_delete(
        &self,
        visit: &Visit,
        bucket: &StoredBucket,
        object: &dto::ObjectIdentifier,
    ) -> S3Result<Deleted> {
        let matches = object.e_tag.clone().map(|etag| tag_list(&dto::ETagCondition::ETag(etag))).transpose()?;
        let conditions = DeleteConditions {
            matches,
            size: size(object.size)?,
            modified: object.last_modified_time.as_ref().map(at),
        };
        let target = Target { key: &object.key, version: object.version_id.as_deref(), conditions };
        self.delete(visit, bucket, target).await
    }

    async fn delete(&self, visit: &Visit, bucket: &StoredBucket, target: Target<'_>) -> S3Result<Deleted> {
        let Target { key, version, conditions } = target;
        let key = Self::file_key(visit, bucket, key)?;
        let (lane, context) = (LaneKey::of(bucket.id(), &key), visit.context(self.options.request_timeout));
        let at = FileAt { org_id: bucket.seen.org_id, key };
        let Some(id) = version.filter(|id| !id.is_empty()) else {
            let command = DeleteFile { at, conditions };
            let version = self.actors.bucket_lane.ask(&lane, command, context).await.map_err(refusal)?;
            return Ok(Deleted { version, is_marker: version.is_some() });
        };
        let id = version_of(id)?;
        let found = self.store.file_version(bucket.seen.no, &at.key, id).await.map_err(refusal)?;
        let Some(found) = found else { return Ok(Deleted { version: Some(id), is_marker: false }) };
        let facts = found.stored().map(|stored| (stored, found.bytes()));
        conditions.decide(facts).map_err(|unmet| refusal(domain::Error::from(unmet)))?;
        match self.actors.bucket_lane.ask(&lane, DeleteVersion { at, version: id }, context).await {
            // Somebody else deleted it a moment ago.
            Ok(()) | Err(domain::Error::NotFound { .. }) => {}
            Err(refused) => return Err(refusal(refused)),
        }
        Ok(Deleted { version: Some(id), is_marker: found.content.is_none() })
    }
}

fn size(size: Option<i64>) -> S3Result<Option<u64>> {
    let read = |size| u64::try_from(size).map_err(|_| s3_error!(InvalidArgument, "A size is 0 or more."));
    size.map(read).transpose()
}

fn at(at: &dto::Timestamp) -> Timestamp {
    Timestamp(millis(at))
}

fn shown(object: dto::ObjectIdentifier, deleted: &Deleted) -> dto::DeletedObject {
    let version = deleted.version.map(|id| id.to_string());
    let is_marker = deleted.is_marker.then_some(true);
    dto::DeletedObject {
        delete_marker: is_marker,
        delete_marker_version_id: version.filter(|_| deleted.is_marker),
        key: Some(object.key),
        version_id: object.version_id.filter(|id| !id.is_empty()),
    }
}

fn failed(object: dto::ObjectIdentifier, error: &S3Error) -> dto::Error {
    let code = error.code().as_str().to_owned();
    let message = error.message().unwrap_or_else(|| crate::error::usual_message(&code)).to_owned();
    dto::Error { code: Some(code), key: Some(object.key), message: Some(message), version_id: object.version_id }
}
