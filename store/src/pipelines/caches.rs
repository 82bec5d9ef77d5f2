//! Caches of repositories.

use domain::{
    Timestamp,
    id::{CacheId, ContentId, JobId, OrgId},
    pipelines::caches::{CACHE_UNUSED_KEPT, CacheKey, CacheVersion, CacheWanted},
};

use crate::{Change, Expect, Store, StoreError, blobs::contents::NewContent, git::RepositoryNo, reader::row, sql::Sql};

const COLUMNS: &str = "SELECT id, org_id, repo_no, ref AS full_ref, key, version, job_id, size, content_id, made_at, \
                       committed_at, used_at FROM caches";

row! {
    struct CacheRow {
        id: String,
        org_id: String,
        repo_no: i64,
        full_ref: String,
        key: String,
        version: String,
        job_id: String,
        size: i64,
        content_id: Option<String>,
        made_at: i64,
        committed_at: Option<i64>,
        used_at: i64,
    }
}

row! {
    struct UsageRow {
        count: i64,
        size: Option<i64>,
    }
}

/// A cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCache {
    /// The cache's id.
    pub id: CacheId,
    /// Whose it is.
    pub org_id: OrgId,
    /// The repository's number.
    pub no: RepositoryNo,
    /// The ref whose jobs made it.
    pub full_ref: String,
    /// What it is found by.
    pub key: String,
    /// What it has in common with others that can stand in its place.
    pub version: String,
    /// The job that made it.
    pub job_id: JobId,
    /// The bytes.
    pub size: u64,
    /// The bytes, once they were sent.
    pub content: Option<ContentId>,
    /// When the job asked where to send it.
    pub made_at: Timestamp,
    /// Since when it is found.
    pub committed_at: Option<Timestamp>,
    /// When it was last used.
    pub used_at: Timestamp,
}

/// How much a repository keeps in caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheUsage {
    /// How many they are.
    pub count: u64,
    /// Bytes of all.
    pub size: u64,
}

/// Which caches of a repository are listed.
#[derive(Clone, Debug, Default)]
pub struct CacheList {
    /// Those whose key begins so.
    pub key: Option<String>,
    /// Those of this ref.
    pub full_ref: Option<String>,
    /// Behind which, by id.
    pub after: Option<CacheId>,
    /// How many at most.
    pub limit: u64,
}

impl TryFrom<CacheRow> for StoredCache {
    type Error = StoreError;

    fn try_from(row: CacheRow) -> Result<Self, StoreError> {
        let content = row.content_id.map(|id| id.parse().map_err(|_| StoreError::corrupt("caches.content_id")));
        Ok(Self {
            id: row.id.parse().map_err(|_| StoreError::corrupt("caches.id"))?,
            org_id: row.org_id.parse().map_err(|_| StoreError::corrupt("caches.org_id"))?,
            no: RepositoryNo(row.repo_no),
            full_ref: row.full_ref,
            key: row.key,
            version: row.version,
            job_id: row.job_id.parse().map_err(|_| StoreError::corrupt("caches.job_id"))?,
            size: u64::try_from(row.size).map_err(StoreError::corrupt)?,
            content: content.transpose()?,
            made_at: Timestamp(row.made_at),
            committed_at: row.committed_at.map(Timestamp),
            used_at: Timestamp(row.used_at),
        })
    }
}

impl StoredCache {
    /// Whether it is found at `now`.
    pub fn is_kept(&self, now: Timestamp) -> bool {
        self.committed_at.is_some() && now < self.used_at.after(CACHE_UNUSED_KEPT)
    }
}

/// The moment since when a cache has to have been used to be kept.
fn kept_since(now: Timestamp) -> i64 {
    now.before(CACHE_UNUSED_KEPT).0
}

impl Store {
    async fn cache_rows(&self, sql: Sql) -> Result<Vec<StoredCache>, StoreError> {
        let rows: Vec<CacheRow> = self.reader().rows(&sql).await?;
        rows.into_iter().map(StoredCache::try_from).collect()
    }

    /// A cache, whether it was committed or not.
    pub async fn cache(&self, id: CacheId) -> Result<Option<StoredCache>, StoreError> {
        let sql = Sql::new(format!("{COLUMNS} WHERE id = $1"), [id.to_string().into()]);
        Ok(self.cache_rows(sql).await?.pop())
    }

    /// The cache of a ref with this key and version, whether it was committed or not.
    pub async fn cache_with(
        &self,
        no: RepositoryNo,
        full_ref: &str,
        (key, version): (&str, &CacheVersion),
    ) -> Result<Option<StoredCache>, StoreError> {
        let statement = format!("{COLUMNS} WHERE repo_no = $1 AND ref = $2 AND key = $3 AND version = $4");
        let sql = Sql::new(statement, [no.0.into(), full_ref.into(), key.into(), version.as_str().into()]);
        Ok(self.cache_rows(sql).await?.pop())
    }

    /// The newest cache of a ref that is wanted and kept.
    pub async fn cache_found(
        &self,
        no: RepositoryNo,
        (full_ref, version): (&str, &CacheVersion),
        wanted: CacheWanted<'_>,
    ) -> Result<Option<StoredCache>, StoreError> {
        let (condition, key) = match wanted {
            CacheWanted::Exact(key) => ("key = $5 AND CAST($6 AS INTEGER) > 0", key),
            CacheWanted::Prefix(key) => ("SUBSTR(key, 1, CAST($6 AS INTEGER)) = $5", key),
        };
        let statement = format!(
            "{COLUMNS} WHERE repo_no = $1 AND version = $2 AND ref = $3 AND used_at > $4 AND {condition} \
             AND committed_at IS NOT NULL ORDER BY committed_at DESC, id DESC LIMIT 1"
        );
        let values = [
            no.0.into(),
            version.as_str().into(),
            full_ref.into(),
            kept_since(self.now()).into(),
            key.into(),
            characters(key).into(),
        ];
        Ok(self.cache_rows(Sql::new(statement, values)).await?.pop())
    }

    /// The caches of a repository that are kept, the newest first.
    pub async fn caches(&self, no: RepositoryNo, asked: &CacheList) -> Result<Vec<StoredCache>, StoreError> {
        let statement = format!(
            "{COLUMNS} WHERE repo_no = $1 AND committed_at IS NOT NULL AND used_at > $2 AND ($3 IS NULL OR ref = $3) \
             AND SUBSTR(key, 1, CAST($5 AS INTEGER)) = $4 AND ($6 IS NULL OR id < $6) ORDER BY id DESC LIMIT $7"
        );
        let key = asked.key.as_deref().unwrap_or_default();
        let values = [
            no.0.into(),
            kept_since(self.now()).into(),
            asked.full_ref.clone().into(),
            key.into(),
            characters(key).into(),
            asked.after.map(|id| id.to_string()).into(),
            asked.limit.cast_signed().into(),
        ];
        self.cache_rows(Sql::new(statement, values)).await
    }

    /// The caches of a repository with this key, of one ref or of all.
    pub async fn caches_with_key(
        &self,
        no: RepositoryNo,
        key: &CacheKey,
        asked: &CacheList,
    ) -> Result<Vec<StoredCache>, StoreError> {
        let statement = format!(
            "{COLUMNS} WHERE repo_no = $1 AND committed_at IS NOT NULL AND key = $2 AND ($3 IS NULL OR ref = $3) LIMIT $4"
        );
        let values =
            [no.0.into(), key.as_str().into(), asked.full_ref.clone().into(), asked.limit.cast_signed().into()];
        self.cache_rows(Sql::new(statement, values)).await
    }

    /// How much a repository keeps.
    pub async fn cache_usage(&self, no: RepositoryNo) -> Result<CacheUsage, StoreError> {
        let sql = Sql::new(
            "SELECT COUNT(*) AS count, CAST(SUM(size) AS BIGINT) AS size FROM caches \
             WHERE repo_no = $1 AND committed_at IS NOT NULL AND used_at > $2",
            [no.0.into(), kept_since(self.now()).into()],
        );
        let Some(row) = self.reader().row::<UsageRow>(&sql).await? else { return Ok(CacheUsage::default()) };
        let unsigned = |number: i64| u64::try_from(number).map_err(StoreError::corrupt);
        Ok(CacheUsage { count: unsigned(row.count)?, size: unsigned(row.size.unwrap_or_default())? })
    }

    /// The uploads of a repository that aren't committed: how many of them are the job's, and the bytes of all but one.
    pub async fn cache_uploads(
        &self,
        no: RepositoryNo,
        job_id: JobId,
        but: Option<CacheId>,
    ) -> Result<(u64, u64), StoreError> {
        let sql = Sql::new(
            "SELECT COUNT(CASE WHEN job_id = $2 THEN 1 END) AS count, CAST(SUM(size) AS BIGINT) AS size FROM caches \
             WHERE repo_no = $1 AND committed_at IS NULL AND id <> $3",
            [no.0.into(), job_id.to_string().into(), but.map(|id| id.to_string()).unwrap_or_default().into()],
        );
        let Some(row) = self.reader().row::<UsageRow>(&sql).await? else { return Ok((0, 0)) };
        let unsigned = |number: i64| u64::try_from(number).map_err(StoreError::corrupt);
        Ok((unsigned(row.count)?, unsigned(row.size.unwrap_or_default())?))
    }

    /// The repository's uploads that began before a moment and weren't committed.
    pub async fn cache_uploads_before(
        &self,
        no: RepositoryNo,
        begun_before: Timestamp,
        limit: u64,
    ) -> Result<Vec<StoredCache>, StoreError> {
        let statement = format!("{COLUMNS} WHERE repo_no = $1 AND committed_at IS NULL AND made_at <= $2 LIMIT $3");
        let values = [no.0.into(), begun_before.0.into(), limit.cast_signed().into()];
        self.cache_rows(Sql::new(statement, values)).await
    }

    /// The caches of a repository that are kept, those that nobody used for longest first.
    pub async fn caches_by_use(&self, no: RepositoryNo, limit: u64) -> Result<Vec<StoredCache>, StoreError> {
        let statement = format!(
            "{COLUMNS} WHERE repo_no = $1 AND committed_at IS NOT NULL AND used_at > $2 ORDER BY used_at, id LIMIT $3"
        );
        let values = [no.0.into(), kept_since(self.now()).into(), limit.cast_signed().into()];
        self.cache_rows(Sql::new(statement, values)).await
    }

    /// The repository's caches that nobody used for long, and the uploads that began before a moment and weren't committed.
    pub async fn caches_over(
        &self,
        no: RepositoryNo,
        begun_before: Timestamp,
        limit: u64,
    ) -> Result<Vec<StoredCache>, StoreError> {
        let statement = format!(
            "{COLUMNS} WHERE repo_no = $1 AND (used_at <= $2 OR (committed_at IS NULL AND made_at <= $3)) LIMIT $4"
        );
        let values = [no.0.into(), kept_since(self.now()).into(), begun_before.0.into(), limit.cast_signed().into()];
        self.cache_rows(Sql::new(statement, values)).await
    }
}

fn characters(text: &str) -> i64 {
    i64::try_from(text.chars().count()).unwrap_or(i64::MAX)
}

impl Change {
    /// Adds a cache that is to be sent; stale where the ref has one of this key and version.
    pub fn cache_add(&mut self, cache: &StoredCache) {
        let statement = "INSERT INTO caches (id, org_id, repo_no, ref, key, version, job_id, size, made_at, used_at) \
                         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING";
        let values = [
            cache.id.to_string().into(),
            cache.org_id.to_string().into(),
            cache.no.0.into(),
            cache.full_ref.as_str().into(),
            cache.key.as_str().into(),
            cache.version.as_str().into(),
            cache.job_id.to_string().into(),
            cache.size.cast_signed().into(),
            cache.made_at.0.into(),
            cache.used_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Notes the bytes of a cache, in the place of what was sent before; stale where it was committed or sent meanwhile.
    pub fn cache_sent(&mut self, now: Timestamp, cache: &StoredCache, content: &NewContent) {
        self.content_put(now, content);
        let statement = "UPDATE caches SET content_id = $2 WHERE id = $1 AND committed_at IS NULL \
                         AND COALESCE(content_id, '') = $3";
        let before = cache.content.map(|id| id.to_string()).unwrap_or_default();
        let values = [cache.id.to_string().into(), content.id().to_string().into(), before.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        self.contents_unref(now, cache.org_id, cache.content);
    }

    /// Has a cache be found from now on; stale where that was done meanwhile.
    pub fn cache_commit(&mut self, now: Timestamp, cache: &StoredCache) {
        let statement = "UPDATE caches SET committed_at = $2, used_at = $2 WHERE id = $1 AND committed_at IS NULL \
                         AND content_id IS NOT NULL";
        self.run_statement(Sql::new(statement, [cache.id.to_string().into(), now.0.into()]), Expect::Rows(1));
    }

    /// Notes that a cache is used.
    pub fn cache_used(&mut self, now: Timestamp, id: CacheId) {
        let statement = "UPDATE caches SET used_at = $2 WHERE id = $1 AND used_at < $2";
        self.run_statement(Sql::new(statement, [id.to_string().into(), now.0.into()]), Expect::Any);
    }

    /// Takes a cache away; stale where it isn't as it was read.
    pub fn cache_remove(&mut self, now: Timestamp, cache: &StoredCache) {
        let statement = "DELETE FROM caches WHERE id = $1 AND COALESCE(content_id, '') = $2";
        let content = cache.content.map(|id| id.to_string()).unwrap_or_default();
        self.run_statement(Sql::new(statement, [cache.id.to_string().into(), content.into()]), Expect::Rows(1));
        self.contents_unref(now, cache.org_id, cache.content);
    }
}
