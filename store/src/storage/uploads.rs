//! Uploads of files in parts.

use domain::{
    Timestamp,
    id::{ContentId, UploadId, UserId},
    storage::{
        ChecksumPlan, ETag, FileHeaders, FileKey, KeyRange, PartNumber, PartsDigest, SentPart, StorageClass, Tags,
        VersionId,
    },
};
use sea_orm::{ActiveValue::Set, ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use serde::{Deserialize, Serialize};

use super::{
    BucketNo, BucketSeen, FileVersion,
    entity::{part, upload},
    version::KeptFile,
};
use crate::{Change, Expect, Store, StoreError, json, reader::Reads, sql::Sql};

/// Parts of deleted buckets' uploads that one commit takes away.
const PARTS_MAX: u64 = 1_000;

/// An upload in parts.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredUpload {
    /// Its id.
    pub id: UploadId,
    /// The bucket.
    pub bucket: BucketNo,
    /// The file that it becomes.
    pub key: FileKey,
    /// The file's type.
    pub content_type: Option<String>,
    /// Bytes of the file, as they were announced; 0 where they weren't (S3).
    pub size: u64,
    /// What else the file is to have.
    pub about: Option<UploadAbout>,
    /// Counts the commits that concern it.
    pub revision: i64,
    /// Who began it.
    pub created_by: UserId,
    /// When.
    pub created_at: Timestamp,
    /// What it became; none while it is under way.
    pub completed: Option<CompletedUpload>,
}

/// What a file in parts is to have beside its bytes and its type, where that was said at the beginning (S3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadAbout {
    /// What it is answered with; its type among them.
    pub headers: FileHeaders,
    /// Its tags.
    pub tags: Tags,
    /// How it is kept.
    pub class: StorageClass,
    /// How its checksum is made, where it has one.
    pub checksum: Option<ChecksumPlan>,
}

impl UploadAbout {
    /// What a file has where only its headers were said.
    pub fn of(headers: FileHeaders) -> Self {
        Self { headers, tags: Tags::default(), class: StorageClass::Standard, checksum: None }
    }
}

/// What stays of an upload that was completed.
#[derive(Clone, Debug, PartialEq)]
pub struct CompletedUpload {
    /// When.
    pub at: Timestamp,
    /// What its parts are recognized by.
    pub digest: PartsDigest,
    /// The version that it became.
    pub version: VersionId,
    /// The file that it became, as it was then; none of one that an older program completed.
    pub file: Option<FileVersion>,
}

/// A part that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPart {
    /// Its number.
    pub number: PartNumber,
    /// Its bytes.
    pub content_id: ContentId,
    /// Its tag and size.
    pub sent: SentPart,
    /// Its checksum as base64, where the upload has some.
    pub checksum: Option<String>,
}

impl TryFrom<upload::Model> for StoredUpload {
    type Error = StoreError;

    fn try_from(row: upload::Model) -> Result<Self, StoreError> {
        let corrupt = |what: &'static str| move || StoreError::corrupt(what);
        let key = String::from_utf8(row.key).ok().and_then(|key| FileKey::parse(key).ok());
        let key = key.ok_or_else(corrupt("object_uploads.key"))?;
        let kept = row.file.map(|file| json::read::<KeptFile>("object_uploads.file", &file)).transpose()?;
        let file = kept.map(|kept| kept.into_version(key.clone())).transpose()?;
        let completed = row.completed_at.zip(row.digest.zip(row.version_id)).map(|(at, (digest, version))| {
            let digest = digest.as_slice().try_into().ok().ok_or_else(corrupt("object_uploads.digest"))?;
            let version = version.parse().ok().ok_or_else(corrupt("object_uploads.version_id"))?;
            let digest = PartsDigest::from_bytes(digest);
            Ok::<_, StoreError>(CompletedUpload { at: Timestamp(at), digest, version, file })
        });
        Ok(Self {
            id: row.id.parse().ok().ok_or_else(corrupt("object_uploads.id"))?,
            bucket: BucketNo(row.bucket_no),
            key,
            content_type: row.content_type,
            size: u64::try_from(row.size).map_err(StoreError::corrupt)?,
            revision: row.revision,
            created_by: row.created_by.parse().ok().ok_or_else(corrupt("object_uploads.created_by"))?,
            created_at: Timestamp(row.created_at),
            completed: completed.transpose()?,
            about: row.about.map(|about| json::read("object_uploads.about", &about)).transpose()?,
        })
    }
}

impl TryFrom<part::Model> for StoredPart {
    type Error = StoreError;

    fn try_from(row: part::Model) -> Result<Self, StoreError> {
        let number = u64::try_from(row.number).map_err(StoreError::corrupt)?;
        let etag: ETag = row.etag.parse().map_err(StoreError::corrupt)?;
        Ok(Self {
            number: PartNumber::parse("number", number).map_err(StoreError::corrupt)?,
            content_id: row.content_id.parse().map_err(|_| StoreError::corrupt("object_parts.content_id"))?,
            sent: SentPart { etag, size: u64::try_from(row.size).map_err(StoreError::corrupt)? },
            checksum: row.checksum,
        })
    }
}

impl Store {
    /// An upload, whosever it is.
    pub async fn upload(&self, id: UploadId) -> Result<Option<StoredUpload>, StoreError> {
        let found = upload::Entity::find_by_id(id.to_string()).read_one(self.reader()).await?;
        found.map(StoredUpload::try_from).transpose()
    }

    /// The parts of an upload, by their numbers: 10,000 at most.
    pub async fn upload_parts(&self, id: UploadId) -> Result<Vec<StoredPart>, StoreError> {
        let select =
            part::Entity::find().filter(part::Column::UploadId.eq(id.to_string())).order_by_asc(part::Column::Number);
        select.read_list(self.reader()).await?.into_iter().map(StoredPart::try_from).collect()
    }

    /// The part of an upload with this number.
    pub async fn upload_part(&self, id: UploadId, number: PartNumber) -> Result<Option<StoredPart>, StoreError> {
        let found = part::Entity::find_by_id((id.to_string(), i64::from(number.get()))).read_one(self.reader()).await?;
        found.map(StoredPart::try_from).transpose()
    }

    /// The first `limit` uploads of a bucket that are under way for keys in the range, by their keys and then by their age; only
    /// those behind `after`, where that is said.
    pub async fn uploads_in(
        &self,
        no: BucketNo,
        range: &KeyRange,
        after: Option<(&str, UploadId)>,
        limit: u64,
    ) -> Result<Vec<StoredUpload>, StoreError> {
        let mut select = upload::Entity::find()
            .filter(upload::Column::BucketNo.eq(no.0))
            .filter(upload::Column::CompletedAt.is_null())
            .filter(upload::Column::Key.gte(range.start.clone()));
        if let Some(end) = &range.end {
            select = select.filter(upload::Column::Key.lt(end.clone()));
        }
        if let Some((key, id)) = after {
            let key = key.as_bytes().to_vec();
            let is_behind = upload::Column::Id.gt(id.to_string());
            select = select.filter(upload::Column::Key.gte(key.clone()));
            select = select.filter(Condition::any().add(upload::Column::Key.gt(key)).add(is_behind));
        }
        let select = select.order_by_asc(upload::Column::Key).order_by_asc(upload::Column::Id).limit(limit);
        select.read_list(self.reader()).await?.into_iter().map(StoredUpload::try_from).collect()
    }

    /// An upload of a bucket that is being deleted, with the parts of it that are to be taken away next.
    pub async fn bucket_upload_next(
        &self,
        no: BucketNo,
    ) -> Result<Option<(StoredUpload, Vec<StoredPart>)>, StoreError> {
        let found = upload::Entity::find().filter(upload::Column::BucketNo.eq(no.0)).read_one(self.reader()).await?;
        let Some(found) = found.map(StoredUpload::try_from).transpose()? else { return Ok(None) };
        let select = part::Entity::find().filter(part::Column::UploadId.eq(found.id.to_string())).limit(PARTS_MAX);
        let parts = select.read_list(self.reader()).await?.into_iter().map(StoredPart::try_from);
        Ok(Some((found, parts.collect::<Result<_, _>>()?)))
    }
}

impl Change {
    /// Adds an upload; stale where the bucket isn't what it was.
    pub fn upload_add(&mut self, bucket: BucketSeen, upload: &StoredUpload) {
        let statement = "INSERT INTO object_uploads \
                         (id, bucket_no, key, content_type, size, revision, created_by, created_at, about) \
                         SELECT $3, bucket_no, $4, $5, CAST($6 AS BIGINT), CAST($7 AS BIGINT), $8, CAST($9 AS BIGINT), \
                         $10 \
                         FROM buckets WHERE bucket_no = $1 AND epoch = $2 /*bucket stays*/";
        let values = [
            bucket.no.0.into(),
            bucket.epoch.into(),
            upload.id.to_string().into(),
            upload.key.as_str().as_bytes().to_vec().into(),
            upload.content_type.clone().into(),
            upload.size.cast_signed().into(),
            upload.revision.into(),
            upload.created_by.to_string().into(),
            upload.created_at.0.into(),
            upload.about.as_ref().map(json::text).into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Counts a commit that concerns an upload; stale where there was another one, or the upload or its bucket is gone.
    pub fn upload_turn(&mut self, bucket: BucketSeen, upload: &StoredUpload) {
        let stays = "INSERT INTO bucket_lanes (bucket_no, lane, objects, versions, bytes) \
                     SELECT bucket_no, 0, 0, 0, 0 FROM buckets WHERE bucket_no = $1 AND epoch = $2 /*bucket stays*/ \
                     ON CONFLICT (bucket_no, lane) DO UPDATE SET objects = bucket_lanes.objects";
        self.run_statement(Sql::new(stays, [bucket.no.0.into(), bucket.epoch.into()]), Expect::Rows(1));
        let statement = "UPDATE object_uploads SET revision = revision + 1 WHERE id = $1 AND revision = $2";
        self.run_statement(
            Sql::new(statement, [upload.id.to_string().into(), upload.revision.into()]),
            Expect::Rows(1),
        );
    }

    /// Adds a part in the place of `before`. Guard it with [`upload_turn`](Self::upload_turn).
    pub fn upload_part_put(&mut self, id: UploadId, before: Option<&StoredPart>, part: &StoredPart) {
        if let Some(before) = before {
            let delete = part::Entity::delete_many()
                .filter(part::Column::UploadId.eq(id.to_string()))
                .filter(part::Column::Number.eq(i64::from(before.number.get())));
            self.run(delete, Expect::Rows(1));
        }
        self.insert(part::ActiveModel {
            upload_id: Set(id.to_string()),
            number: Set(i64::from(part.number.get())),
            content_id: Set(part.content_id.to_string()),
            size: Set(part.sent.size.cast_signed()),
            etag: Set(part.sent.etag.to_string()),
            checksum: Set(part.checksum.clone()),
        });
    }

    /// Notes what an upload became, and forgets its parts. Guard it with [`upload_turn`](Self::upload_turn).
    pub fn upload_complete(&mut self, id: UploadId, completed: &CompletedUpload) {
        let statement =
            "UPDATE object_uploads SET completed_at = $2, digest = $3, version_id = $4, file = $5 WHERE id = $1";
        let values = [
            id.to_string().into(),
            completed.at.0.into(),
            completed.digest.as_bytes().to_vec().into(),
            completed.version.to_string().into(),
            completed.file.as_ref().and_then(KeptFile::of).as_ref().map(json::text).into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        self.upload_parts_remove(id);
    }

    /// Forgets an upload and its parts. Guard it with [`upload_turn`](Self::upload_turn).
    pub fn upload_remove(&mut self, id: UploadId) {
        self.upload_parts_remove(id);
        let statement = "DELETE FROM object_uploads WHERE id = $1";
        self.run_statement(Sql::new(statement, [id.to_string().into()]), Expect::Any);
    }

    fn upload_parts_remove(&mut self, id: UploadId) {
        let statement = "DELETE FROM object_parts WHERE upload_id = $1";
        self.run_statement(Sql::new(statement, [id.to_string().into()]), Expect::Any);
    }

    /// Takes some parts of an upload away whose bucket is being deleted; all of it where these are none.
    pub fn upload_clear(&mut self, bucket: BucketSeen, now: Timestamp, id: UploadId, parts: &[StoredPart]) {
        if parts.is_empty() {
            self.upload_remove(id);
            return;
        }
        let delete = part::Entity::delete_many()
            .filter(part::Column::UploadId.eq(id.to_string()))
            .filter(part::Column::Number.is_in(parts.iter().map(|part| i64::from(part.number.get()))));
        self.run(delete, Expect::Rows(parts.len() as u64));
        self.contents_unref(now, bucket.org_id, parts.iter().map(|part| part.content_id));
    }
}
