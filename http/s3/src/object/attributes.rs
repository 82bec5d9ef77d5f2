//! What is known of a file: `GetObjectAttributes`.

use domain::storage::StorageClass;
use s3s::{S3Request, S3Response, S3Result, dto, s3_error};
use store::storage::FileContent;

use super::{timestamp, version_of};
use crate::{
    access::Need,
    checksums::Fields,
    error::{invalid, refusal},
    service::Door,
    visit::Visit,
};

/// Parts of one answer.
const PARTS_MAX: i32 = 1_000;

impl Door {
    /// `GetObjectAttributes`.
    pub(crate) async fn object_attributes(
        &self,
        request: S3Request<dto::GetObjectAttributesInput>,
    ) -> S3Result<S3Response<dto::GetObjectAttributesOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let input = request.input;
        let bucket = self.bucket(&visit, &input.bucket, Need::Read).await?;
        let key = Self::file_key(&visit, &bucket, &input.key)?;
        let version = input.version_id.as_deref().map(version_of).transpose()?;
        let names: Vec<String> = input
            .object_attributes
            .iter()
            .flat_map(|name| name.as_str().split(','))
            .map(|name| name.trim().to_owned())
            .collect();
        let known = ["ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"];
        if names.is_empty() || !names.iter().all(|name| known.contains(&name.as_str())) {
            return Err(s3_error!(InvalidArgument, "Invalid attribute name specified."));
        }
        let asks = |name: &str| names.iter().any(|asked| asked == name);
        let (file, content) = self.file(&bucket, &key, version).await?;
        let after = input.part_number_marker.unwrap_or(0);
        let parts = if asks("ObjectParts") { self.parts_of(&content, input.max_parts, after).await? } else { None };
        let fields = Fields::from(content.headers.checksum.as_ref());
        let checksum = content.headers.checksum.is_some().then_some(dto::Checksum {
            checksum_crc32: fields.crc32,
            checksum_crc32c: fields.crc32c,
            checksum_crc64nvme: fields.crc64nvme,
            checksum_sha1: fields.sha1,
            checksum_sha256: fields.sha256,
            checksum_type: fields.kind,
        });
        let is_versioned = bucket.names_versions();
        Ok(S3Response::new(dto::GetObjectAttributesOutput {
            // Unlike everywhere else, without quotes; `s3s` writes them, which clients take off.
            e_tag: asks("ETag").then(|| super::tag(&content.etag)),
            checksum: checksum.filter(|_| asks("Checksum")),
            object_parts: parts,
            object_size: asks("ObjectSize").then(|| i64::try_from(content.size).unwrap_or(i64::MAX)),
            storage_class: asks("StorageClass").then(|| class(content.class)),
            last_modified: Some(timestamp(file.modified)),
            version_id: is_versioned.then(|| file.version().id().to_string()),
            ..Default::default()
        }))
    }

    async fn parts_of(
        &self,
        content: &FileContent,
        max: Option<i32>,
        after: i32,
    ) -> S3Result<Option<dto::GetObjectAttributesParts>> {
        let Some(count) = content.etag.parts() else { return Ok(None) };
        let after = usize::try_from(after).map_err(|_| invalid("Part number marker is not valid"))?;
        let max = usize::try_from(max.unwrap_or(PARTS_MAX)).map_err(|_| invalid("max-parts is not valid"))?;
        let max = max.min(1_000);
        let known = self.store.content_parts(content.content_id).await.map_err(refusal)?;
        let all = usize::try_from(count).unwrap_or(usize::MAX);
        let part = |at: usize| dto::ObjectPart {
            part_number: i32::try_from(at + 1).ok(),
            size: known.get(at).map_or(Some(0), |(_, size)| i64::try_from(*size).ok()),
            ..Default::default()
        };
        let end = after.saturating_add(max).min(all);
        let parts: Vec<_> = (after.min(end)..end).map(part).collect();
        Ok(Some(dto::GetObjectAttributesParts {
            is_truncated: Some(end < all),
            max_parts: i32::try_from(max).ok(),
            next_part_number_marker: i32::try_from(end).ok(),
            part_number_marker: i32::try_from(after).ok(),
            parts: Some(parts),
            total_parts_count: i32::try_from(count).ok(),
        }))
    }
}

fn class(class: StorageClass) -> dto::StorageClass {
    dto::StorageClass::from_static(class.as_str())
}
