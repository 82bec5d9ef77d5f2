//! Reading files and their versions.

use domain::storage::{FileKey, Folder, FolderFacts, KeyRange, VersionId, VersionName, VersionStamp};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};

use super::{
    BucketNo, FileVersion,
    entity::{gone, live, version},
};
use crate::{
    Store, StoreError,
    reader::{Reads, row},
    sql::Sql,
};

/// Keys of one statement: SQLite takes 32,766 values in one.
pub(super) const KEYS_PER_STATEMENT: usize = 500;

row! {
    struct LongestRow {
        longest: Option<i64>,
    }
}

fn bytes(key: &FileKey) -> Vec<u8> {
    key.as_str().as_bytes().to_vec()
}

/// The old versions of a key.
fn old(no: BucketNo, key: &FileKey) -> Select<version::Entity> {
    version::Entity::find().filter(version::Column::BucketNo.eq(no.0)).filter(version::Column::Key.eq(bytes(key)))
}

fn files<M>(rows: Vec<M>) -> Result<Vec<FileVersion>, StoreError>
where
    FileVersion: TryFrom<M, Error = StoreError>,
{
    rows.into_iter().map(FileVersion::try_from).collect()
}

impl Store {
    /// A file, as it is now.
    pub async fn file(&self, no: BucketNo, key: &FileKey) -> Result<Option<FileVersion>, StoreError> {
        let found = live::Entity::find_by_id((no.0, bytes(key))).read_one(self.reader()).await?;
        found.map(FileVersion::try_from).transpose()
    }

    /// The newest version of a key: a file, or a delete marker.
    pub async fn file_head(&self, no: BucketNo, key: &FileKey) -> Result<Option<FileVersion>, StoreError> {
        if let Some(file) = self.file(no, key).await? {
            return Ok(Some(file));
        }
        let found = gone::Entity::find_by_id((no.0, bytes(key))).read_one(self.reader()).await?;
        found.map(FileVersion::try_from).transpose()
    }

    /// The version `null` of a key among its old ones.
    pub async fn file_older_null(&self, no: BucketNo, key: &FileKey) -> Result<Option<FileVersion>, StoreError> {
        let found = old(no, key).filter(version::Column::IsNull.eq(true)).read_one(self.reader()).await?;
        found.map(FileVersion::try_from).transpose()
    }

    /// The version of a key that is called so, be it the newest one or not.
    pub async fn file_version(
        &self,
        no: BucketNo,
        key: &FileKey,
        id: VersionId,
    ) -> Result<Option<FileVersion>, StoreError> {
        let head = self.file_head(no, key).await?;
        if let Some(head) = head.filter(|head| head.version().id() == id) {
            return Ok(Some(head));
        }
        let found = match id {
            VersionId::Null => return self.file_older_null(no, key).await,
            VersionId::Stamp(stamp) => old(no, key).filter(version::Column::Stamp.eq(stamp.to_bytes().to_vec())),
        };
        let found = found.read_one(self.reader()).await?.map(FileVersion::try_from).transpose()?;
        // One that is called `null` isn't found by its stamp.
        Ok(found.filter(|found| found.name == VersionName::Stamp))
    }

    /// Up to `limit` of a key's old versions, the newest first; only those before `before`, where that is said.
    pub async fn file_old_versions(
        &self,
        no: BucketNo,
        key: &FileKey,
        before: Option<VersionStamp>,
        limit: u64,
    ) -> Result<Vec<FileVersion>, StoreError> {
        let mut select = old(no, key);
        if let Some(before) = before {
            select = select.filter(version::Column::Stamp.lt(before.to_bytes().to_vec()));
        }
        files(select.order_by_desc(version::Column::Stamp).limit(limit).read_list(self.reader()).await?)
    }

    /// The first `limit` files whose keys lie in the range, by their keys.
    pub async fn files_in(&self, no: BucketNo, range: &KeyRange, limit: u64) -> Result<Vec<FileVersion>, StoreError> {
        let mut select = live::Entity::find()
            .filter(live::Column::BucketNo.eq(no.0))
            .filter(live::Column::Key.gte(range.start.clone()));
        if let Some(end) = &range.end {
            select = select.filter(live::Column::Key.lt(end.clone()));
        }
        files(select.order_by_asc(live::Column::Key).limit(limit).read_list(self.reader()).await?)
    }

    /// The first `limit` delete markers on top whose keys lie in the range, by their keys.
    pub async fn files_gone_in(
        &self,
        no: BucketNo,
        range: &KeyRange,
        limit: u64,
    ) -> Result<Vec<FileVersion>, StoreError> {
        let mut select = gone::Entity::find()
            .filter(gone::Column::BucketNo.eq(no.0))
            .filter(gone::Column::Key.gte(range.start.clone()));
        if let Some(end) = &range.end {
            select = select.filter(gone::Column::Key.lt(end.clone()));
        }
        files(select.order_by_asc(gone::Column::Key).limit(limit).read_list(self.reader()).await?)
    }

    /// The newest versions of these keys, of those that have any; in no order.
    pub async fn file_heads(&self, no: BucketNo, keys: &[FileKey]) -> Result<Vec<FileVersion>, StoreError> {
        let mut heads = Vec::with_capacity(keys.len());
        for keys in keys.chunks(KEYS_PER_STATEMENT) {
            let keys = || keys.iter().map(bytes);
            let found =
                live::Entity::find().filter(live::Column::BucketNo.eq(no.0)).filter(live::Column::Key.is_in(keys()));
            heads.extend(files(found.read_list(self.reader()).await?)?);
            let found =
                gone::Entity::find().filter(gone::Column::BucketNo.eq(no.0)).filter(gone::Column::Key.is_in(keys()));
            heads.extend(files(found.read_list(self.reader()).await?)?);
        }
        Ok(heads)
    }

    /// What there is of a folder; none where nothing lies in it.
    pub async fn folder_facts(&self, no: BucketNo, folder: &Folder) -> Result<Option<FolderFacts>, StoreError> {
        let range = folder.range();
        // A folder's path ends with `/`, so something always lies behind it.
        let end = range.end.unwrap_or_default();
        let statement = "SELECT CAST(MAX(LENGTH(key)) AS BIGINT) AS longest FROM objects_live \
                         WHERE bucket_no = $1 AND key >= $2 AND key < $3";
        let sql = Sql::new(statement, [no.0.into(), range.start.into(), end.into()]);
        let found = self.reader().row::<LongestRow>(&sql).await?.and_then(|row| row.longest);
        let facts = |longest| usize::try_from(longest).map(|longest_key| FolderFacts { longest_key });
        found.map(facts).transpose().map_err(StoreError::corrupt)
    }

    /// The versions `null` of these keys that are old ones; in no order.
    pub async fn file_older_nulls(&self, no: BucketNo, keys: &[FileKey]) -> Result<Vec<FileVersion>, StoreError> {
        let mut nulls = Vec::new();
        for keys in keys.chunks(KEYS_PER_STATEMENT) {
            let found = version::Entity::find()
                .filter(version::Column::BucketNo.eq(no.0))
                .filter(version::Column::IsNull.eq(true))
                .filter(version::Column::Key.is_in(keys.iter().map(bytes)));
            nulls.extend(files(found.read_list(self.reader()).await?)?);
        }
        Ok(nulls)
    }
}
