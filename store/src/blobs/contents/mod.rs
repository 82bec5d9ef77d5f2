//! Contents: what areas keep as bytes, whatever its size.
//!
//! A content belongs to an organization, is never changed, and is shared by reference count: whoever copies one counts it once
//! more ([`Change::contents_ref`]). One of up to [`SMALL_MAX`] bytes is a row, made by the commit that names it. A larger one is
//! in blobs, whose life is
//!
//! 1. a row in `blob_pending`, committed before the first byte is written,
//! 2. bytes that are streamed in bounded memory, hashed on the way, and on the disk ([`Store::content_write`]),
//! 3. a commit that names the content and takes the pending row away ([`Change::content_put`]),
//! 4. a commit that refers to it no more, which dooms it ([`Change::contents_unref`]): nobody finds it from then on,
//! 5. [`DOOMED_FOR`] later a sweep that deletes the blobs, then the rows ([`Store::contents_sweep_next`]); not while somebody
//!    still reads it ([`Store::contents_hold_read`]), and nothing while a hold of `troupe backup` stands, whose copy of the
//!    database names them.
//!
//! What was written and never named is swept after [`PENDING_FOR`]. A [scrub](self::scrub) reads all blobs again and again.

mod changes;
mod copy;
mod lost;
mod of_file;
mod read;
mod readers;
pub mod scrub;
mod sweep;
mod to_file;
mod write;

use bytes::Bytes;
use domain::{
    Timestamp,
    id::{ContentId, OrgId},
};

pub(crate) use self::readers::Readers;
pub use self::{
    changes::ContentPart,
    read::ContentRead,
    readers::{HELD_FOR, HOLD_AFTER, READ_MAX},
    sweep::{DOOMED_FOR, PENDING_FOR},
    write::{ContentError, ContentSource, STALLED_AFTER},
};
use super::{BlobKey, digests::Digests};
use crate::{Store, StoreError, reader::row, sql::Sql};

/// Contents up to this size are in their row.
pub const SMALL_MAX: usize = 32 * 1024;

pub(super) mod content_row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "contents")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub org_id: String,
        pub size: i64,
        pub refs: i64,
        pub created_at: i64,
        pub doomed_at: Option<i64>,
        pub md5: Option<Vec<u8>>,
        pub sha256: Option<Vec<u8>>,
        pub bytes: Option<Vec<u8>>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(super) mod segment_row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "content_segments")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub content_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub start: i64,
        pub size: i64,
        pub blob: Option<String>,
        pub scrub_due: Option<i64>,
        pub scrubbed_at: Option<i64>,
        pub fault: Option<String>,
        pub sha256: Vec<u8>,
        pub bytes: Option<Vec<u8>>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(super) mod pending_row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "blob_pending")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub blob: String,
        pub org_id: String,
        pub since: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(super) mod doomed_row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "blob_doomed")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub blob: String,
        pub due: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A content that is on the disk, or small, and that no commit has named yet: see [`Change::content_put`](crate::Change).
#[derive(Clone, PartialEq, Eq)]
pub struct NewContent {
    id: ContentId,
    org_id: OrgId,
    size: u64,
    md5: [u8; 16],
    sha256: [u8; 32],
    /// All of a small one; a larger one is in its blob.
    bytes: Option<Bytes>,
}

impl NewContent {
    /// A small content, without waiting for anything; none where there are more than [`SMALL_MAX`] bytes.
    pub fn of_bytes(org_id: OrgId, now: Timestamp, bytes: Bytes) -> Option<Self> {
        if bytes.len() > SMALL_MAX {
            return None;
        }
        let mut digests = Digests::new(None);
        digests.update(&bytes);
        Some(Self::small(org_id, now, bytes, digests))
    }

    /// The small content of these digests.
    fn small(org_id: OrgId, now: Timestamp, bytes: Bytes, digests: Digests) -> Self {
        let digested = digests.finish();
        Self {
            id: ContentId::new(now),
            org_id,
            size: bytes.len() as u64,
            md5: digested.md5,
            sha256: digested.sha256,
            bytes: Some(bytes),
        }
    }

    /// Its id, by which it is named.
    pub const fn id(&self) -> ContentId {
        self.id
    }

    /// Whose it is.
    pub const fn org_id(&self) -> OrgId {
        self.org_id
    }

    /// Its size in bytes.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Its MD5, which is the `ETag` that S3 has for it.
    pub const fn md5(&self) -> [u8; 16] {
        self.md5
    }

    /// Its SHA-256.
    pub const fn sha256(&self) -> [u8; 32] {
        self.sha256
    }

    /// Whether it will be in its row.
    pub const fn is_small(&self) -> bool {
        self.bytes.is_some()
    }

    /// The blob that it is in, unless it is small.
    pub(crate) fn blob(&self) -> Option<BlobKey> {
        if self.is_small() { None } else { Some(BlobKey::of_content(self.id)) }
    }
}

impl std::fmt::Debug for NewContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewContent").field("id", &self.id).field("size", &self.size).finish_non_exhaustive()
    }
}

/// A content that something refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Its id.
    pub id: ContentId,
    /// Its size in bytes.
    pub size: u64,
    /// Its MD5; none of one that was joined of several.
    pub md5: Option<[u8; 16]>,
    /// Its SHA-256; none of one that was joined of several.
    pub sha256: Option<[u8; 32]>,
    /// How often it is referred to.
    pub refs: u64,
}

row! {
    struct HeadRow {
        size: i64,
        refs: i64,
        md5: Option<Vec<u8>>,
        sha256: Option<Vec<u8>>,
    }
}

row! {
    struct ScrubbedRow {
        segments: i64,
        scrubbed: i64,
        oldest: Option<i64>,
    }
}

impl Store {
    /// A content of the organization that something refers to.
    pub async fn content(&self, org_id: OrgId, id: ContentId) -> Result<Option<Content>, StoreError> {
        let sql = Sql::new(
            "SELECT size, refs, md5, sha256 FROM contents WHERE id = $1 AND org_id = $2 AND refs > 0",
            [id.to_string().into(), org_id.to_string().into()],
        );
        let found: Option<HeadRow> = self.reader().row(&sql).await?;
        found.map(|row| row.into_content(id)).transpose()
    }

    /// When all of a content had been read again and found whole: its segment that waits longest; none before that, and of small
    /// ones, which are in the database.
    pub async fn content_scrubbed_at(&self, org_id: OrgId, id: ContentId) -> Result<Option<Timestamp>, StoreError> {
        let sql = Sql::new(
            "SELECT COUNT(*) AS segments, COUNT(s.scrubbed_at) AS scrubbed, MIN(s.scrubbed_at) AS oldest \
             FROM contents c JOIN content_segments s ON s.content_id = c.id \
             WHERE c.id = $1 AND c.org_id = $2 AND c.refs > 0 AND s.blob IS NOT NULL",
            [id.to_string().into(), org_id.to_string().into()],
        );
        let found: Option<ScrubbedRow> = self.reader().row(&sql).await?;
        Ok(found.filter(|row| row.segments == row.scrubbed).and_then(|row| row.oldest).map(Timestamp))
    }
}

impl HeadRow {
    fn into_content(self, id: ContentId) -> Result<Content, StoreError> {
        Ok(Content {
            id,
            size: unsigned(self.size)?,
            md5: self.md5.map(digest).transpose()?,
            sha256: self.sha256.map(digest).transpose()?,
            refs: unsigned(self.refs)?,
        })
    }
}

/// A number of bytes or of references, as it was read.
fn unsigned(number: i64) -> Result<u64, StoreError> {
    u64::try_from(number).map_err(StoreError::corrupt)
}

/// The same, to be written.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn digest<const LEN: usize>(bytes: Vec<u8>) -> Result<[u8; LEN], StoreError> {
    bytes.try_into().map_err(|_| StoreError::corrupt("the digest of a content"))
}
