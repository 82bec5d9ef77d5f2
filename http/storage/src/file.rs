//! Files, on the wire.

use std::collections::BTreeMap;

use domain::{
    Error,
    storage::{FileKey, Tags, VERSIONS_LISTED_MAX, VersionStamp, file_not_found},
};
use http_shell::{error::Result, state::State};
use serde::{Deserialize, Serialize};
use store::storage::{FileVersion, StoredBucket};
use utoipa::ToSchema;

/// A file of a bucket; 404 where there is none.
pub(super) async fn file(state: &State, bucket: &StoredBucket, key: &FileKey) -> Result<FileVersion> {
    Ok(state.store.file(bucket.seen.no, key).await?.ok_or_else(file_not_found)?)
}

/// The newest version of a key, a delete marker too, and its old ones from `before` on; 404 where there is none.
pub(super) async fn history(
    state: &State,
    bucket: &StoredBucket,
    key: &FileKey,
    before: Option<VersionStamp>,
) -> Result<(FileVersion, Vec<FileVersion>)> {
    let one_more = VERSIONS_LISTED_MAX as u64 + 1;
    Ok(state.store.file_history(bucket.seen.no, key, before, one_more).await?.ok_or_else(file_not_found)?)
}

/// A file of a list.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "key": "reports/2026/january.pdf", "size": 4_096, "lastModified": 1_767_225_600_000_i64,
    "etag": "9e107d9d372bb6826bd81d3542a419d6", "storageClass": "STANDARD"
}))]
pub(crate) struct FileBody {
    /// The file's key.
    key: String,
    /// Bytes.
    size: u64,
    /// When it was written.
    last_modified: i64,
    /// The tag of its content.
    etag: String,
    /// How it is kept, in the words of S3.
    storage_class: &'static str,
}

impl FileBody {
    /// What is listed of a file; none of a delete marker.
    pub(super) fn of(file: &FileVersion) -> Option<Self> {
        let content = file.content.as_ref()?;
        Some(Self {
            key: file.key.to_string(),
            size: content.size,
            last_modified: file.modified.as_millis(),
            etag: content.etag.to_string(),
            storage_class: content.class.as_str(),
        })
    }
}

/// A tag of a file.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"key": "team", "value": "finance"}))]
pub(crate) struct TagBody {
    /// The tag's name: up to 128 characters.
    pub(super) key: String,
    /// What it says: up to 256 characters.
    #[serde(default)]
    pub(super) value: String,
}

/// A file with all that it is answered with.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ObjectBody {
    /// What is listed of it.
    #[serde(flatten)]
    file: FileBody,
    /// The file's type.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<String>,
    /// The id of its version: `null` where old ones were not kept.
    version_id: String,
    /// How it is cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<String>,
    /// How its content is encoded.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_encoding: Option<String>,
    /// Whether it is shown or saved, and as what.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_disposition: Option<String>,
    /// What people added.
    metadata: BTreeMap<String, String>,
    /// The file's tags.
    tags: Vec<TagBody>,
}

impl TryFrom<FileVersion> for ObjectBody {
    type Error = Error;

    fn try_from(file: FileVersion) -> domain::Result<Self> {
        let listed = FileBody::of(&file).ok_or_else(file_not_found)?;
        let version_id = file.version().id().to_string();
        let content = file.content.ok_or_else(file_not_found)?;
        Ok(Self {
            file: listed,
            content_type: content.headers.content_type,
            version_id,
            cache_control: content.headers.cache_control,
            content_encoding: content.headers.content_encoding,
            content_disposition: content.headers.content_disposition,
            metadata: content.headers.metadata,
            tags: tags(&content.tags),
        })
    }
}

fn tags(tags: &Tags) -> Vec<TagBody> {
    tags.iter().map(|(key, value)| TagBody { key: key.to_owned(), value: value.to_owned() }).collect()
}
