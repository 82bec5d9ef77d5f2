//! Reading files and their versions.

use domain::storage::{FileKey, Folder, FolderFacts, KeyRange, VersionId, VersionStamp};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};

use super::{
    BucketNo, FileVersion,
    entity::{gone, live, version},
};
use crate::{
    Store, StoreError,
    reader::{Reader, Reads, row},
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

/// The old versions of keys that are called `null`. Said as the index of these says it, or PostgreSQL doesn't use that; SQLite
/// goes through all old versions of a key either way.
fn older_nulls(no: BucketNo, keys: impl Iterator<Item = Vec<u8>>) -> Select<version::Entity> {
    version::Entity::find()
        .filter(version::Column::BucketNo.eq(no.0))
        .filter(version::Column::IsNull.into_expr())
        .filter(version::Column::Key.is_in(keys))
}

/// The newest version of a key: a file, or a delete marker.
async fn head(reader: &Reader, no: BucketNo, key: &FileKey) -> Result<Option<FileVersion>, StoreError> {
    if let Some(file) = live::Entity::find_by_id((no.0, bytes(key))).read_one(reader).await? {
        return Ok(Some(file.try_into()?));
    }
    let found = gone::Entity::find_by_id((no.0, bytes(key))).read_one(reader).await?;
    found.map(FileVersion::try_from).transpose()
}

/// Up to `limit` of a key's old versions, the newest first.
fn old_before(no: BucketNo, key: &FileKey, before: Option<VersionStamp>, limit: u64) -> Select<version::Entity> {
    let mut select = old(no, key);
    if let Some(before) = before {
        select = select.filter(version::Column::Stamp.lt(before.to_bytes().to_vec()));
    }
    select.order_by_desc(version::Column::Stamp).limit(limit)
}

fn files<M>(rows: Vec<M>) -> Result<Vec<FileVersion>, StoreError>
where
    FileVersion: TryFrom<M, Error = StoreError>,
{
    rows.into_iter().map(FileVersion::try_from).collect()
}

/// The first `limit` files whose keys lie in the range, by their keys.
pub(super) async fn files_in(
    reader: &Reader,
    no: BucketNo,
    range: &KeyRange,
    limit: u64,
) -> Result<Vec<FileVersion>, StoreError> {
    let mut select =
        live::Entity::find().filter(live::Column::BucketNo.eq(no.0)).filter(live::Column::Key.gte(range.start.clone()));
    if let Some(end) = &range.end {
        select = select.filter(live::Column::Key.lt(end.clone()));
    }
    files(select.order_by_asc(live::Column::Key).limit(limit).read_list(reader).await?)
}

impl Store {
    /// A file, as it is now.
    pub async fn file(&self, no: BucketNo, key: &FileKey) -> Result<Option<FileVersion>, StoreError> {
        let found = live::Entity::find_by_id((no.0, bytes(key))).read_one(self.reader()).await?;
        found.map(FileVersion::try_from).transpose()
    }

    /// The newest version of a key: a file, or a delete marker.
    pub async fn file_head(&self, no: BucketNo, key: &FileKey) -> Result<Option<FileVersion>, StoreError> {
        head(self.reader(), no, key).await
    }

    /// The version `null` of a key among its old ones.
    pub async fn file_older_null(&self, no: BucketNo, key: &FileKey) -> Result<Option<FileVersion>, StoreError> {
        let found = older_nulls(no, std::iter::once(bytes(key))).read_one(self.reader()).await?;
        found.map(FileVersion::try_from).transpose()
    }

    /// The version of a key that is called so, be it the newest one or not. All is read as it is at one moment: when the newest
    /// one is deleted, another one goes from the old versions to the newest ones, and would be in neither.
    pub async fn file_version(
        &self,
        no: BucketNo,
        key: &FileKey,
        id: VersionId,
    ) -> Result<Option<FileVersion>, StoreError> {
        let reader = self.reader().snapshot().await?;
        let head = head(&reader, no, key).await?;
        if let Some(head) = head.filter(|head| head.version().id() == id) {
            return Ok(Some(head));
        }
        let select = match id {
            VersionId::Null => older_nulls(no, std::iter::once(bytes(key))),
            VersionId::Stamp(stamp) => old(no, key).filter(version::Column::Stamp.eq(stamp.to_bytes().to_vec())),
        };
        let found = select.read_one(&reader).await?.map(FileVersion::try_from).transpose()?;
        // One that is called `null` isn't found by its stamp.
        Ok(found.filter(|found| found.version().id() == id))
    }

    /// Up to `limit` of a key's old versions, the newest first; only those before `before`, where that is said.
    pub async fn file_old_versions(
        &self,
        no: BucketNo,
        key: &FileKey,
        before: Option<VersionStamp>,
        limit: u64,
    ) -> Result<Vec<FileVersion>, StoreError> {
        files(old_before(no, key, before, limit).read_list(self.reader()).await?)
    }

    /// The newest version of a key, and old ones as [`file_old_versions`](Self::file_old_versions) has them: all as they are at
    /// one moment.
    pub async fn file_history(
        &self,
        no: BucketNo,
        key: &FileKey,
        before: Option<VersionStamp>,
        limit: u64,
    ) -> Result<Option<(FileVersion, Vec<FileVersion>)>, StoreError> {
        let snapshot = self.reader().snapshot().await?;
        let Some(head) = head(&snapshot, no, key).await? else { return Ok(None) };
        Ok(Some((head, files(old_before(no, key, before, limit).read_list(&snapshot).await?)?)))
    }

    /// The first `limit` files whose keys lie in the range, by their keys.
    pub async fn files_in(&self, no: BucketNo, range: &KeyRange, limit: u64) -> Result<Vec<FileVersion>, StoreError> {
        files_in(self.reader(), no, range, limit).await
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
            let found = older_nulls(no, keys.iter().map(bytes));
            nulls.extend(files(found.read_list(self.reader()).await?)?);
        }
        Ok(nulls)
    }
}
