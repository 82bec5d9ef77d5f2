//! Large files of repositories, and locks on paths.

use std::collections::HashMap;

use domain::{
    Timestamp,
    git::{LFS_BATCH_MAX, LfsLock, LfsOid},
    id::{ContentId, LfsLockId},
};

use super::{RepositoryNo, removal::RepositoryRest};
use crate::{Change, Expect, PurgeBatch, Store, StoreError, blobs::contents::NewContent, reader::row, sql::Sql};

/// Objects whose contents one commit lets go of.
const LET_GO_MAX: i64 = 400;

row! {
    struct ObjectRow {
        oid: Vec<u8>,
        content_id: String,
        size: i64,
    }
}

row! {
    struct LockRow {
        id: String,
        path: String,
        owner: String,
        locked_at: i64,
    }
}

row! {
    struct CountRow {
        count: i64,
    }
}

/// A large file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LfsObject {
    /// Its name.
    pub oid: LfsOid,
    /// Its bytes.
    pub content: ContentId,
    /// How many they are.
    pub size: u64,
}

/// Which locks are listed.
#[derive(Clone, Debug, Default)]
pub struct LfsLockList {
    /// Only that of this path.
    pub path: Option<String>,
    /// Only this one.
    pub id: Option<LfsLockId>,
    /// Behind which path.
    pub after: Option<String>,
    /// How many at most.
    pub limit: u64,
}

impl TryFrom<ObjectRow> for LfsObject {
    type Error = StoreError;

    fn try_from(row: ObjectRow) -> Result<Self, StoreError> {
        let oid: [u8; 32] = row.oid.try_into().map_err(|_| StoreError::corrupt("lfs_objects.oid"))?;
        Ok(Self {
            oid: LfsOid::of_bytes(oid),
            content: row.content_id.parse().map_err(|_| StoreError::corrupt("lfs_objects.content_id"))?,
            size: u64::try_from(row.size).map_err(StoreError::corrupt)?,
        })
    }
}

impl TryFrom<LockRow> for LfsLock {
    type Error = StoreError;

    fn try_from(row: LockRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.parse().map_err(|_| StoreError::corrupt("lfs_locks.id"))?,
            path: row.path,
            owner: row.owner.parse().map_err(|_| StoreError::corrupt("lfs_locks.owner"))?,
            locked_at: Timestamp(row.locked_at),
        })
    }
}

fn bytes_of(oid: LfsOid) -> sea_orm::Value {
    oid.as_bytes().to_vec().into()
}

impl Store {
    /// Those of these objects that a repository has; at most as many as a request may name.
    pub async fn lfs_objects(
        &self,
        no: RepositoryNo,
        oids: &[LfsOid],
    ) -> Result<HashMap<LfsOid, LfsObject>, StoreError> {
        let oids = &oids[..oids.len().min(LFS_BATCH_MAX)];
        if oids.is_empty() {
            return Ok(HashMap::new());
        }
        let places: Vec<String> = (2..2 + oids.len()).map(|at| format!("${at}")).collect();
        let statement = format!(
            "SELECT oid, content_id, size FROM lfs_objects WHERE repo_no = $1 AND oid IN ({})",
            places.join(", ")
        );
        let values = [no.0.into()].into_iter().chain(oids.iter().map(|oid| bytes_of(*oid)));
        let rows: Vec<ObjectRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        let objects = rows.into_iter().map(|row| LfsObject::try_from(row).map(|object| (object.oid, object)));
        objects.collect()
    }

    /// An object of a repository.
    pub async fn lfs_object(&self, no: RepositoryNo, oid: LfsOid) -> Result<Option<LfsObject>, StoreError> {
        Ok(self.lfs_objects(no, &[oid]).await?.remove(&oid))
    }

    /// The locks of a repository, by their paths.
    pub async fn lfs_locks(&self, no: RepositoryNo, asked: &LfsLockList) -> Result<Vec<LfsLock>, StoreError> {
        let sql = Sql::new(
            "SELECT id, path, owner, locked_at FROM lfs_locks WHERE repo_no = $1 AND ($2 IS NULL OR path = $2) \
             AND ($3 IS NULL OR id = $3) AND path > $4 ORDER BY path LIMIT $5",
            [
                no.0.into(),
                asked.path.clone().into(),
                asked.id.map(|id| id.to_string()).into(),
                asked.after.clone().unwrap_or_default().into(),
                i64::try_from(asked.limit).unwrap_or(i64::MAX).into(),
            ],
        );
        let rows: Vec<LockRow> = self.reader().rows(&sql).await?;
        rows.into_iter().map(LfsLock::try_from).collect()
    }

    /// How many locks a repository has.
    pub async fn lfs_locks_count(&self, no: RepositoryNo) -> Result<u64, StoreError> {
        let sql = Sql::new("SELECT COUNT(*) AS count FROM lfs_locks WHERE repo_no = $1", [no.0.into()]);
        let rows: Vec<CountRow> = self.reader().rows(&sql).await?;
        Ok(rows.first().map_or(0, |row| u64::try_from(row.count).unwrap_or_default()))
    }

    /// Lets go of the next large files of a repository that is deleted for good.
    pub(super) async fn lfs_objects_next(&self, rest: RepositoryRest) -> Result<PurgeBatch, StoreError> {
        let statement = "SELECT oid, content_id, size FROM lfs_objects WHERE repo_no = $1 LIMIT $2";
        let sql = Sql::new(statement, [rest.no.0.into(), LET_GO_MAX.into()]);
        let rows: Vec<ObjectRow> = self.reader().rows(&sql).await?;
        let mut batch = PurgeBatch::default();
        if rows.is_empty() {
            return Ok(batch);
        }
        batch.rows.push(("large files", u32::try_from(rows.len()).unwrap_or(u32::MAX)));
        let objects: Vec<LfsObject> = rows.into_iter().map(LfsObject::try_from).collect::<Result<_, _>>()?;
        batch.change.contents_unref(self.now(), rest.org_id, objects.iter().map(|object| object.content));
        for object in &objects {
            let statement = "DELETE FROM lfs_objects WHERE repo_no = $1 AND oid = $2";
            batch.change.run_statement(Sql::new(statement, [rest.no.0.into(), bytes_of(object.oid)]), Expect::Rows(1));
        }
        Ok(batch)
    }
}

impl Change {
    /// Adds a large file to a repository; stale where it is there.
    pub fn lfs_object_add(&mut self, now: Timestamp, no: RepositoryNo, oid: LfsOid, content: &NewContent) {
        self.content_put(now, content);
        let size = i64::try_from(content.size()).unwrap_or(i64::MAX);
        let statement = "INSERT INTO lfs_objects (repo_no, oid, content_id, size, added_at) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (repo_no, oid) DO NOTHING";
        let values = [no.0.into(), bytes_of(oid), content.id().to_string().into(), size.into(), now.0.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        let statement = "UPDATE repositories SET lfs_size = lfs_size + $2 WHERE repo_no = $1";
        self.run_statement(Sql::new(statement, [no.0.into(), size.into()]), Expect::Rows(1));
    }

    /// Locks a path; stale where it is locked.
    pub fn lfs_lock_add(&mut self, no: RepositoryNo, lock: &LfsLock) {
        let LfsLock { id, path, owner, locked_at } = lock;
        let statement = "INSERT INTO lfs_locks (repo_no, path, id, owner, locked_at) VALUES ($1, $2, $3, $4, $5) \
                         ON CONFLICT (repo_no, path) DO NOTHING";
        let values =
            [no.0.into(), path.as_str().into(), id.to_string().into(), owner.to_string().into(), locked_at.0.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Ends a lock; stale where it has ended.
    pub fn lfs_lock_remove(&mut self, no: RepositoryNo, id: LfsLockId) {
        let statement = "DELETE FROM lfs_locks WHERE repo_no = $1 AND id = $2";
        self.run_statement(Sql::new(statement, [no.0.into(), id.to_string().into()]), Expect::Rows(1));
    }
}
