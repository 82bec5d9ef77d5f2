//! Versions of files, as rows have them.

use domain::{
    Timestamp,
    id::{ContentId, UserId},
    storage::{
        ETag, FileHeaders, FileKey, StorageClass, StoredFile, Tags, Version, VersionId, VersionKind, VersionName,
        VersionStamp,
    },
};
use sea_orm::{ActiveValue::Set, Value};
use serde::{Deserialize, Serialize};

use super::{
    BucketNo,
    entity::{gone, live, version},
};
use crate::{StoreError, json};

/// A version of a file: the newest one, or an old one.
#[derive(Clone, Debug, PartialEq)]
pub struct FileVersion {
    /// The file's key.
    pub key: FileKey,
    /// Its place among the others of the file.
    pub stamp: VersionStamp,
    /// How it is called.
    pub name: VersionName,
    /// Another one after each write of the row: what a change has to name.
    pub revision: VersionStamp,
    /// When it was written.
    pub modified: Timestamp,
    /// Who wrote it, or the maker of the key that did.
    pub created_by: UserId,
    /// What the file says; none of a delete marker.
    pub content: Option<FileContent>,
}

/// What a file says, and is answered with.
#[derive(Clone, Debug, PartialEq)]
pub struct FileContent {
    /// Its bytes.
    pub content_id: ContentId,
    /// How many they are.
    pub size: u64,
    /// Their tag.
    pub etag: ETag,
    /// How they are kept, in the words of S3.
    pub class: StorageClass,
    /// What it is answered with beside the bytes.
    pub headers: FileHeaders,
    /// Its tags.
    pub tags: Tags,
}

impl FileVersion {
    /// The version, as decisions see it.
    pub const fn version(&self) -> Version {
        let kind = if self.content.is_some() { VersionKind::Content } else { VersionKind::DeleteMarker };
        Version { stamp: self.stamp, name: self.name, kind, locked_until: None }
    }

    /// What conditions look at; none of a delete marker.
    pub fn stored(&self) -> Option<StoredFile> {
        self.content.as_ref().map(|content| StoredFile { etag: content.etag, modified: self.modified })
    }

    /// Bytes that it keeps.
    pub fn bytes(&self) -> u64 {
        self.content.as_ref().map_or(0, |content| content.size)
    }
}

fn key(bytes: Vec<u8>) -> Result<FileKey, StoreError> {
    let text = String::from_utf8(bytes).map_err(|_| StoreError::corrupt("a key that is no text"))?;
    FileKey::parse(text).map_err(StoreError::corrupt)
}

fn stamp(bytes: &[u8]) -> Result<VersionStamp, StoreError> {
    bytes.try_into().map(VersionStamp::from_bytes).map_err(|_| StoreError::corrupt("a version's stamp"))
}

const fn name(is_null: bool) -> VersionName {
    if is_null { VersionName::Null } else { VersionName::Stamp }
}

fn created_by(text: &str) -> Result<UserId, StoreError> {
    text.parse().map_err(|_| StoreError::corrupt("created_by of a version"))
}

/// A version with a content as JSON, without its key: what stays known of it, whatever becomes of its rows.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptFile {
    stamp: String,
    is_null: bool,
    revision: String,
    modified: Timestamp,
    created_by: UserId,
    content_id: ContentId,
    size: u64,
    etag: String,
    class: StorageClass,
    headers: FileHeaders,
    tags: Tags,
}

impl KeptFile {
    /// What is kept of it; nothing of a delete marker.
    pub fn of(version: &FileVersion) -> Option<Self> {
        let content = version.content.clone()?;
        Some(Self {
            stamp: version.stamp.to_string(),
            is_null: version.name == VersionName::Null,
            revision: version.revision.to_string(),
            modified: version.modified,
            created_by: version.created_by,
            content_id: content.content_id,
            size: content.size,
            etag: content.etag.to_string(),
            class: content.class,
            headers: content.headers,
            tags: content.tags,
        })
    }

    /// The version, of the file with this key.
    pub fn into_version(self, key: FileKey) -> Result<FileVersion, StoreError> {
        let Self { content_id, size, class, headers, tags, .. } = self;
        let etag: ETag = self.etag.parse().map_err(StoreError::corrupt)?;
        Ok(FileVersion {
            key,
            stamp: stamp_of_text(&self.stamp)?,
            name: name(self.is_null),
            revision: stamp_of_text(&self.revision)?,
            modified: self.modified,
            created_by: self.created_by,
            content: Some(FileContent { content_id, size, etag, class, headers, tags }),
        })
    }
}

fn stamp_of_text(text: &str) -> Result<VersionStamp, StoreError> {
    match text.parse() {
        Ok(VersionId::Stamp(stamp)) => Ok(stamp),
        Ok(VersionId::Null) | Err(_) => Err(StoreError::corrupt("a kept version's stamp")),
    }
}

/// What the columns of a content say.
struct ContentColumns {
    content_id: String,
    size: i64,
    etag: String,
    class: String,
    headers: String,
    tags: String,
}

impl TryFrom<ContentColumns> for FileContent {
    type Error = StoreError;

    fn try_from(row: ContentColumns) -> Result<Self, StoreError> {
        Ok(Self {
            content_id: row.content_id.parse().map_err(|_| StoreError::corrupt("content_id of a version"))?,
            size: u64::try_from(row.size).map_err(StoreError::corrupt)?,
            etag: row.etag.parse().map_err(StoreError::corrupt)?,
            class: StorageClass::from_name(&row.class).ok_or_else(|| StoreError::corrupt("class of a version"))?,
            headers: json::read("headers of a version", &row.headers)?,
            tags: json::read("tags of a version", &row.tags)?,
        })
    }
}

impl TryFrom<live::Model> for FileVersion {
    type Error = StoreError;

    fn try_from(row: live::Model) -> Result<Self, StoreError> {
        let live::Model { content_id, size, etag, class, headers, tags, .. } = row;
        let content = ContentColumns { content_id, size, etag, class, headers, tags };
        Ok(Self {
            key: key(row.key)?,
            stamp: stamp(&row.stamp)?,
            name: name(row.is_null),
            revision: stamp(&row.revision)?,
            modified: Timestamp(row.modified),
            created_by: created_by(&row.created_by)?,
            content: Some(content.try_into()?),
        })
    }
}

impl TryFrom<gone::Model> for FileVersion {
    type Error = StoreError;

    fn try_from(row: gone::Model) -> Result<Self, StoreError> {
        Ok(Self {
            key: key(row.key)?,
            stamp: stamp(&row.stamp)?,
            name: name(row.is_null),
            revision: stamp(&row.revision)?,
            modified: Timestamp(row.modified),
            created_by: created_by(&row.created_by)?,
            content: None,
        })
    }
}

impl TryFrom<version::Model> for FileVersion {
    type Error = StoreError;

    fn try_from(row: version::Model) -> Result<Self, StoreError> {
        let version::Model { content_id, size, etag, class, headers, tags, .. } = row;
        let content = content_id.zip(etag).map(|(content_id, etag)| {
            let columns = ContentColumns { content_id, size, etag, class, headers, tags };
            FileContent::try_from(columns)
        });
        Ok(Self {
            key: key(row.key)?,
            stamp: stamp(&row.stamp)?,
            name: name(row.is_null),
            revision: stamp(&row.revision)?,
            modified: Timestamp(row.modified),
            created_by: created_by(&row.created_by)?,
            content: content.transpose()?,
        })
    }
}

/// The row of a key whose newest version this is: a file's, or a delete marker's.
pub(super) enum HeadRow {
    Live(Box<live::ActiveModel>),
    Gone(Box<gone::ActiveModel>),
}

pub(super) fn head_row(no: BucketNo, head: &FileVersion) -> HeadRow {
    let key = head.key.as_str().as_bytes().to_vec();
    let is_null = head.name == VersionName::Null;
    match &head.content {
        Some(content) => HeadRow::Live(Box::new(live::ActiveModel {
            bucket_no: Set(no.0),
            key: Set(key),
            stamp: Set(head.stamp.to_bytes().to_vec()),
            is_null: Set(is_null),
            revision: Set(head.revision.to_bytes().to_vec()),
            modified: Set(head.modified.0),
            created_by: Set(head.created_by.to_string()),
            content_id: Set(content.content_id.to_string()),
            size: Set(content.size.cast_signed()),
            etag: Set(content.etag.to_string()),
            class: Set(content.class.as_str().to_owned()),
            headers: Set(json::text(&content.headers)),
            tags: Set(json::text(&content.tags)),
        })),
        None => HeadRow::Gone(Box::new(gone::ActiveModel {
            bucket_no: Set(no.0),
            key: Set(key),
            stamp: Set(head.stamp.to_bytes().to_vec()),
            is_null: Set(is_null),
            revision: Set(head.revision.to_bytes().to_vec()),
            modified: Set(head.modified.0),
            created_by: Set(head.created_by.to_string()),
        })),
    }
}

/// What a file's row says beside its key, in the order of its columns; the row that it is put in has a content.
pub(super) fn replaced_values(head: &FileVersion) -> Vec<Value> {
    let content = head.content.as_ref();
    vec![
        head.stamp.to_bytes().to_vec().into(),
        (head.name == VersionName::Null).into(),
        head.revision.to_bytes().to_vec().into(),
        head.modified.0.into(),
        head.created_by.to_string().into(),
        content.map(|content| content.content_id.to_string()).into(),
        content.map(|content| content.size.cast_signed()).into(),
        content.map(|content| content.etag.to_string()).into(),
        content.map(|content| content.class.as_str().to_owned()).into(),
        content.map(|content| json::text(&content.headers)).into(),
        content.map(|content| json::text(&content.tags)).into(),
    ]
}

pub(super) fn old_row(no: BucketNo, old: &FileVersion, ended_at: Timestamp) -> version::ActiveModel {
    let content = old.content.as_ref();
    version::ActiveModel {
        bucket_no: Set(no.0),
        key: Set(old.key.as_str().as_bytes().to_vec()),
        stamp: Set(old.stamp.to_bytes().to_vec()),
        is_null: Set(old.name == VersionName::Null),
        revision: Set(old.revision.to_bytes().to_vec()),
        modified: Set(old.modified.0),
        created_by: Set(old.created_by.to_string()),
        content_id: Set(content.map(|content| content.content_id.to_string())),
        size: Set(old.bytes().cast_signed()),
        etag: Set(content.map(|content| content.etag.to_string())),
        class: Set(content.map_or("", |content| content.class.as_str()).to_owned()),
        headers: Set(content.map_or_else(|| "{}".to_owned(), |content| json::text(&content.headers))),
        tags: Set(content.map_or_else(|| "{}".to_owned(), |content| json::text(&content.tags))),
        ended_at: Set(ended_at.0),
    }
}
