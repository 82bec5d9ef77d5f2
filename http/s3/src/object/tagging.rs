//! The tags of files.

use actors::storage::{FileAt, LaneKey, PatchFile};
use domain::storage::{FilePatch, Tag};
use s3s::{S3Request, S3Response, S3Result, dto};
use store::storage::{FileVersion, StoredBucket};

use super::version_of;
use crate::{
    access::Need,
    error::{not_implemented, refusal},
    service::Door,
    visit::Visit,
};

impl Door {
    /// `GetObjectTagging`.
    pub(crate) async fn object_tags(
        &self,
        request: S3Request<dto::GetObjectTaggingInput>,
    ) -> S3Result<S3Response<dto::GetObjectTaggingOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let bucket = self.bucket(&visit, &input.bucket, Need::Read).await?;
        let key = Self::file_key(&visit, &bucket, &input.key)?;
        let version = input.version_id.as_deref().map(version_of).transpose()?;
        let (file, content) = self.file(&bucket, &key, version).await?;
        let tag = |(key, value): (&str, &str)| dto::Tag { key: Some(key.to_owned()), value: Some(value.to_owned()) };
        Ok(S3Response::new(dto::GetObjectTaggingOutput {
            tag_set: content.tags.iter().map(tag).collect(),
            version_id: named(&bucket, &file),
        }))
    }

    /// `PutObjectTagging`.
    pub(crate) async fn object_tags_put(
        &self,
        request: S3Request<dto::PutObjectTaggingInput>,
    ) -> S3Result<S3Response<dto::PutObjectTaggingOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let tags = input
            .tagging
            .tag_set
            .into_iter()
            .map(|tag| Tag { key: tag.key.unwrap_or_default(), value: tag.value.unwrap_or_default() });
        let tags: Vec<Tag> = tags.collect();
        super::tags_check(tags.clone())?;
        let version_id =
            self.tags_write(&visit, (&input.bucket, &input.key), input.version_id.as_deref(), tags).await?;
        Ok(S3Response::new(dto::PutObjectTaggingOutput { version_id }))
    }

    /// `DeleteObjectTagging`.
    pub(crate) async fn object_tags_delete(
        &self,
        request: S3Request<dto::DeleteObjectTaggingInput>,
    ) -> S3Result<S3Response<dto::DeleteObjectTaggingOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let place = (input.bucket.as_str(), input.key.as_str());
        let version_id = self.tags_write(&visit, place, input.version_id.as_deref(), Vec::new()).await?;
        let output = dto::DeleteObjectTaggingOutput { version_id };
        Ok(S3Response::with_status(output, hyper::StatusCode::NO_CONTENT))
    }

    async fn tags_write(
        &self,
        visit: &Visit,
        (bucket, key): (&str, &str),
        version: Option<&str>,
        tags: Vec<Tag>,
    ) -> S3Result<Option<String>> {
        let bucket = self.bucket(visit, bucket, Need::Write).await?;
        let key = Self::file_key(visit, &bucket, key)?;
        let version = version.map(version_of).transpose()?;
        let (found, _) = self.file(&bucket, &key, version).await?;
        let newest = self.store.file(bucket.seen.no, &key).await.map_err(refusal)?;
        if newest.map(|newest| newest.stamp) != Some(found.stamp) {
            return Err(not_implemented("tags of old versions"));
        }
        let lane = LaneKey::of(bucket.id(), &key);
        let patch = FilePatch { tags: Some(tags), ..FilePatch::default() };
        let command = PatchFile { at: FileAt { org_id: bucket.seen.org_id, key }, patch };
        let context = visit.context(self.options.request_timeout);
        let file = self.actors.bucket_lane.ask(&lane, command, context).await.map_err(refusal)?;
        Ok(named(&bucket, &file))
    }
}

fn named(bucket: &StoredBucket, file: &FileVersion) -> Option<String> {
    bucket.names_versions().then(|| file.version().id().to_string())
}
