//! What lifecycle rules look at, a bounded number of rows at a time.

use domain::{
    Timestamp,
    id::UploadId,
    storage::{FileKey, VersionStamp},
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{
    BucketNo, FileVersion, StoredUpload,
    entity::{upload, version},
};
use crate::{Store, StoreError, reader::Reads};

/// An old version of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct OldVersion {
    /// The version.
    pub version: FileVersion,
    /// When it became an old one.
    pub ended_at: Timestamp,
}

impl TryFrom<version::Model> for OldVersion {
    type Error = StoreError;

    fn try_from(row: version::Model) -> Result<Self, StoreError> {
        let ended_at = Timestamp(row.ended_at);
        Ok(Self { version: row.try_into()?, ended_at })
    }
}

fn bytes(key: &FileKey) -> Vec<u8> {
    key.as_str().as_bytes().to_vec()
}

impl Store {
    /// The first `limit` old versions of the keys from `first` to `last`, by their keys, and of one key the newest first.
    pub async fn files_old_between(
        &self,
        no: BucketNo,
        first: &FileKey,
        last: &FileKey,
        limit: u64,
    ) -> Result<Vec<OldVersion>, StoreError> {
        let select = version::Entity::find()
            .filter(version::Column::BucketNo.eq(no.0))
            .filter(version::Column::Key.between(bytes(first), bytes(last)))
            .order_by_asc(version::Column::Key)
            .order_by_desc(version::Column::Stamp)
            .limit(limit);
        select.read_list(self.reader()).await?.into_iter().map(OldVersion::try_from).collect()
    }

    /// The first `limit` old versions of a key before `before`, the newest first.
    pub async fn file_old_aged(
        &self,
        no: BucketNo,
        key: &FileKey,
        before: Option<VersionStamp>,
        limit: u64,
    ) -> Result<Vec<OldVersion>, StoreError> {
        let mut select = version::Entity::find()
            .filter(version::Column::BucketNo.eq(no.0))
            .filter(version::Column::Key.eq(bytes(key)));
        if let Some(before) = before {
            select = select.filter(version::Column::Stamp.lt(before.to_bytes().to_vec()));
        }
        let select = select.order_by_desc(version::Column::Stamp).limit(limit);
        select.read_list(self.reader()).await?.into_iter().map(OldVersion::try_from).collect()
    }

    /// The first `limit` unfinished uploads of a bucket behind the one with the id `after`, the oldest first.
    pub async fn bucket_uploads(
        &self,
        no: BucketNo,
        after: Option<UploadId>,
        limit: u64,
    ) -> Result<Vec<StoredUpload>, StoreError> {
        let mut select = upload::Entity::find()
            .filter(upload::Column::BucketNo.eq(no.0))
            .filter(upload::Column::CompletedAt.is_null());
        if let Some(after) = after {
            select = select.filter(upload::Column::Id.gt(after.to_string()));
        }
        let select = select.order_by_asc(upload::Column::Id).limit(limit);
        select.read_list(self.reader()).await?.into_iter().map(StoredUpload::try_from).collect()
    }
}
