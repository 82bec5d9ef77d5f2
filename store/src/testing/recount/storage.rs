//! Files, their contents, and the blobs in which these are.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use domain::storage::FileKey;
use sha2::{Digest, Sha256};

use super::{LINES_MAX, check, hex};
use crate::{Store, StoreError, blobs::BlobKey, reader::row, sql::Sql, storage::LaneNo};

/// Rows that are read at once.
const ROWS: usize = 10_000;
/// Everything that refers to a content.
const NAMES: &str = "SELECT content_id FROM objects_live \
                     UNION ALL SELECT content_id FROM object_versions WHERE content_id IS NOT NULL \
                     UNION ALL SELECT content_id FROM object_parts \
                     UNION ALL SELECT pack AS content_id FROM git_packs UNION ALL SELECT pack_index AS content_id FROM git_packs \
                     UNION ALL SELECT content_id FROM lfs_objects \
                     UNION ALL SELECT content_id FROM web_uploads WHERE content_id IS NOT NULL \
                     UNION ALL SELECT content_id FROM job_logs WHERE content_id IS NOT NULL \
                     UNION ALL SELECT content_id FROM artifacts WHERE content_id IS NOT NULL \
                     UNION ALL SELECT content_id FROM caches WHERE content_id IS NOT NULL \
                     UNION ALL SELECT content_id FROM mail_imports WHERE content_id IS NOT NULL \
                     UNION ALL SELECT content_id FROM mail_exports WHERE content_id IS NOT NULL";
/// Rows that lie in a bucket.
const IN_BUCKETS: [&str; 6] =
    ["objects_live", "objects_gone", "object_versions", "bucket_lanes", "bucket_moves", "object_uploads"];

/// How much of the contents is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Their rows.
    Rows,
    /// All their bytes, and which blobs there are beside them.
    Bytes,
}

row! {
    struct KeyRow {
        bucket_no: i64,
        key: Vec<u8>,
        stamp: Vec<u8>,
        size: i64,
    }
}

row! {
    struct LaneRow {
        bucket_no: i64,
        lane: i64,
        objects: i64,
        versions: i64,
        bytes: i64,
    }
}

row! {
    struct BytesRow {
        id: String,
        start: i64,
        size: i64,
        sha256: Vec<u8>,
        blob: Option<String>,
        bytes: Option<Vec<u8>>,
    }
}

row! {
    struct BlobRow {
        blob: String,
    }
}

row! {
    struct CountRow {
        rows: i64,
    }
}

/// What is wrong in object storage: references that aren't what is counted, rows without the others that they need, numbers of
/// lanes that aren't their rows', bytes that aren't those of their digests, blobs without a row and rows without their blob.
pub async fn storage(store: &Store, depth: Depth) -> Result<Vec<String>, StoreError> {
    let mut wrong = check(store, &of_contents(store)).await?;
    wrong.extend(check(store, &of_files()).await?);
    wrong.extend(lanes(store).await?);
    if depth == Depth::Bytes {
        wrong.extend(bytes(store).await?);
        wrong.extend(blobs(store).await?);
    }
    Ok(wrong)
}

/// How many rows wait for a sweep of contents.
pub async fn unswept(store: &Store) -> Result<i64, StoreError> {
    let text = "SELECT (SELECT COUNT(*) FROM blob_pending) + (SELECT COUNT(*) FROM blob_doomed) \
                + (SELECT COUNT(*) FROM contents WHERE refs = 0) AS rows";
    let found: Option<CountRow> = store.reader().row(&Sql::new(text, [])).await?;
    Ok(found.map_or(0, |found| found.rows))
}

fn of_contents(store: &Store) -> Vec<(&'static str, String)> {
    let named = |table: &str| {
        let md5 = hex(store, "c.md5");
        format!(
            "SELECT t.content_id || ' ' || t.size || ' ' || t.etag || ', ' || c.size || ' ' || {md5} AS line \
             FROM {table} AS t JOIN contents AS c ON c.id = t.content_id \
             WHERE t.size <> c.size OR (c.md5 IS NOT NULL AND t.etag <> {md5})"
        )
    };
    vec![
        (
            "a content counts other references than it has",
            format!(
                "SELECT c.id || ' ' || c.refs || ', ' || COALESCE(n.times, 0) AS line FROM contents AS c LEFT JOIN \
                 (SELECT content_id, COUNT(*) AS times FROM ({NAMES}) AS names GROUP BY content_id) AS n \
                 ON n.content_id = c.id WHERE c.refs <> COALESCE(n.times, 0)"
            ),
        ),
        (
            "a content that is referred to isn't there",
            format!(
                "SELECT content_id AS line FROM ({NAMES}) AS names WHERE content_id NOT IN (SELECT id FROM contents)"
            ),
        ),
        ("a file isn't its content", named("objects_live")),
        ("an old version isn't its content", named("object_versions")),
        ("a part isn't its content", named("object_parts")),
        (
            "a content is doomed and referred to, or neither, or small and left over",
            "SELECT id || ' ' || refs AS line FROM contents WHERE (refs > 0) = (doomed_at IS NOT NULL) \
             OR (refs = 0 AND bytes IS NOT NULL)"
                .to_owned(),
        ),
        (
            "a small content has other bytes than it says",
            "SELECT id AS line FROM contents WHERE bytes IS NOT NULL AND LENGTH(bytes) <> size".to_owned(),
        ),
        (
            "a content's segments aren't all of it",
            "SELECT c.id || ' ' || c.size || ', ' || COALESCE(s.size, 0) AS line FROM contents AS c LEFT JOIN \
             (SELECT content_id, SUM(size) AS size FROM content_segments GROUP BY content_id) AS s \
             ON s.content_id = c.id WHERE c.bytes IS NULL AND c.refs > 0 AND c.size <> COALESCE(s.size, 0)"
                .to_owned(),
        ),
        (
            "a segment isn't where the one before it ends",
            "SELECT content_id || ' ' || start AS line FROM (SELECT content_id, start, \
             SUM(size) OVER (PARTITION BY content_id ORDER BY start) - size AS due FROM content_segments) AS s \
             WHERE start <> due AND content_id IN (SELECT id FROM contents WHERE refs > 0)"
                .to_owned(),
        ),
        (
            "a segment has no content, or neither bytes nor a blob, or both",
            "SELECT content_id || ' ' || start AS line FROM content_segments \
             WHERE content_id NOT IN (SELECT id FROM contents) OR (blob IS NULL) = (bytes IS NULL)"
                .to_owned(),
        ),
        (
            "a blob has more than one row",
            "SELECT blob AS line FROM (SELECT blob FROM content_segments WHERE blob IS NOT NULL \
             UNION ALL SELECT blob FROM blob_pending UNION ALL SELECT blob FROM blob_doomed \
             UNION ALL SELECT blob_key FROM mail_raw WHERE blob_key IS NOT NULL) AS b \
             GROUP BY blob HAVING COUNT(*) > 1"
                .to_owned(),
        ),
    ]
}

fn of_files() -> Vec<(&'static str, String)> {
    let heads = "SELECT bucket_no, key, stamp, is_null FROM objects_live \
                 UNION ALL SELECT bucket_no, key, stamp, is_null FROM objects_gone";
    let mut checks = vec![
        (
            "a key has two newest versions",
            "SELECT l.bucket_no AS line FROM objects_live AS l JOIN objects_gone AS g \
             ON g.bucket_no = l.bucket_no AND g.key = l.key"
                .to_owned(),
        ),
        (
            "an old version has no newest one, or is newer than that",
            format!(
                "SELECT v.bucket_no AS line FROM object_versions AS v LEFT JOIN ({heads}) AS h \
                 ON h.bucket_no = v.bucket_no AND h.key = v.key WHERE h.stamp IS NULL OR h.stamp <= v.stamp"
            ),
        ),
        (
            "a key has two versions that are called null",
            format!(
                "SELECT bucket_no AS line FROM (SELECT bucket_no, key FROM ({heads}) AS h WHERE is_null \
                 UNION ALL SELECT bucket_no, key FROM object_versions WHERE is_null) AS n \
                 GROUP BY bucket_no, key HAVING COUNT(*) > 1"
            ),
        ),
        (
            "a bucket has no record, or a record no bucket",
            "SELECT id AS line FROM buckets WHERE id NOT IN (SELECT id FROM resources WHERE type = 'bucket') \
             UNION ALL SELECT id FROM resources WHERE type = 'bucket' AND id NOT IN (SELECT id FROM buckets)"
                .to_owned(),
        ),
        (
            "a part is of no upload, or of one that is completed",
            "SELECT upload_id AS line FROM object_parts \
             WHERE upload_id NOT IN (SELECT id FROM object_uploads WHERE completed_at IS NULL)"
                .to_owned(),
        ),
    ];
    let lost = |table| {
        let select =
            format!("SELECT bucket_no AS line FROM {table} WHERE bucket_no NOT IN (SELECT bucket_no FROM buckets)");
        ("a row is of no bucket", select)
    };
    checks.extend(IN_BUCKETS.map(lost));
    checks
}

/// What lanes count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counted {
    objects: i64,
    versions: i64,
    bytes: i64,
}

type Lanes = BTreeMap<(i64, i64), Counted>;

async fn lanes(store: &Store) -> Result<Vec<String>, StoreError> {
    let mut found = Lanes::new();
    for (table, objects) in [("objects_live", 1), ("objects_gone", 0), ("object_versions", 0)] {
        count(store, table, objects, &mut found).await?;
    }
    let select = "SELECT bucket_no, lane, objects, versions, bytes FROM bucket_lanes";
    let rows: Vec<LaneRow> = store.reader().rows_of_many(&Sql::new(select, [])).await?;
    let said: Lanes = rows
        .into_iter()
        .map(|LaneRow { bucket_no, lane, objects, versions, bytes }| {
            ((bucket_no, lane), Counted { objects, versions, bytes })
        })
        .collect();
    let keys: BTreeSet<_> = found.keys().chain(said.keys()).copied().collect();
    let of = |lanes: &Lanes, key| lanes.get(key).copied().unwrap_or_default();
    let wrong = keys.iter().filter(|key| of(&found, key) != of(&said, key));
    let wrong = wrong.map(|key| format!("lane {key:?} counts {:?} of {:?}", of(&said, key), of(&found, key)));
    Ok(wrong.take(LINES_MAX).collect())
}

/// Counts the rows of a table in the lanes of their keys.
async fn count(store: &Store, table: &str, objects: i64, lanes: &mut Lanes) -> Result<(), StoreError> {
    let size = if table == "objects_gone" { "CAST(0 AS BIGINT)" } else { "size" };
    let (mut no, mut key, mut stamp) = (i64::MIN, Vec::new(), Vec::new());
    loop {
        let select = format!(
            "SELECT bucket_no, key, stamp, {size} AS size FROM {table} WHERE (bucket_no, key, stamp) > ($1, $2, $3) \
             ORDER BY bucket_no, key, stamp LIMIT {ROWS}"
        );
        let values = [no.into(), key.clone().into(), stamp.clone().into()];
        let rows: Vec<KeyRow> = store.reader().rows_of_many(&Sql::new(select, values)).await?;
        let is_last = rows.len() < ROWS;
        for row in rows {
            let text = String::from_utf8(row.key.clone()).map_err(StoreError::corrupt)?;
            let lane = LaneNo::of(&FileKey::parse(text).map_err(StoreError::corrupt)?);
            let counted = lanes.entry((row.bucket_no, i64::from(lane.get()))).or_default();
            counted.objects += objects;
            counted.versions += 1 - objects;
            counted.bytes += row.size;
            (no, key, stamp) = (row.bucket_no, row.key, row.stamp);
        }
        if is_last {
            return Ok(());
        }
    }
}

/// Whether all bytes that something refers to are those of their digests.
async fn bytes(store: &Store) -> Result<Vec<String>, StoreError> {
    let mut wrong = Vec::new();
    let whole = "SELECT id, CAST(0 AS BIGINT) AS start, size, sha256, CAST(NULL AS TEXT) AS blob, bytes FROM contents \
                 WHERE sha256 IS NOT NULL AND bytes IS NOT NULL AND (id > $1 OR (id = $1 AND 0 > $2)) ORDER BY id LIMIT 100";
    let segments = "SELECT content_id AS id, start, size, sha256, blob, bytes FROM content_segments \
                    WHERE content_id IN (SELECT id FROM contents WHERE refs > 0) AND (content_id, start) > ($1, $2) \
                    ORDER BY content_id, start LIMIT 100";
    for select in [whole, segments] {
        let (mut id, mut start) = (String::new(), -1_i64);
        loop {
            let values = [id.clone().into(), start.into()];
            let rows: Vec<BytesRow> = store.reader().rows_of_many(&Sql::new(select, values)).await?;
            let Some(last) = rows.last() else { break };
            (id, start) = (last.id.clone(), last.start);
            for row in rows {
                wrong.extend(row.fault(store).await?);
            }
        }
    }
    wrong.truncate(LINES_MAX);
    Ok(wrong)
}

impl BytesRow {
    async fn fault(self, store: &Store) -> Result<Option<String>, StoreError> {
        let Self { id, start, size, sha256, blob, bytes } = self;
        let found = match (&blob, bytes) {
            (Some(blob), _) => {
                let key: BlobKey = blob.parse().map_err(StoreError::corrupt)?;
                store.blobs().get(&key).await?
            }
            (None, bytes) => bytes.map(Bytes::from),
        };
        let Some(found) = found else { return Ok(Some(format!("the bytes of {id} at {start} aren't there"))) };
        let is_right = i64::try_from(found.len()).is_ok_and(|len| len == size)
            && Sha256::digest(&found).as_slice() == sha256.as_slice();
        Ok((!is_right).then(|| format!("the bytes of {id} at {start} aren't what was written")))
    }
}

/// Blobs that no row names.
async fn blobs(store: &Store) -> Result<Vec<String>, StoreError> {
    let select = "SELECT blob FROM content_segments WHERE blob IS NOT NULL \
                  UNION SELECT blob FROM blob_pending UNION SELECT blob FROM blob_doomed \
                  UNION SELECT blob_key FROM mail_raw WHERE blob_key IS NOT NULL";
    let rows: Vec<BlobRow> = store.reader().rows_of_many(&Sql::new(select, [])).await?;
    let named: BTreeSet<_> = rows.into_iter().map(|row| row.blob).collect();
    let there = store.blobs().names("contents").await?;
    // What is being written is called `<blob>#<number>`.
    let is_named = |blob: &String| named.contains(blob.split('#').next().unwrap_or_default());
    let wrong = there.into_iter().filter(|blob| !is_named(blob)).map(|blob| format!("a blob has no row: {blob}"));
    Ok(wrong.take(LINES_MAX).collect())
}
