//! What a write makes of the rows of files.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    id::ContentId,
    storage::{FileKey, VersionStamp},
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Value};

use super::{
    BucketSeen, FileVersion, LaneNo,
    entity::{gone, live, version},
    read::KEYS_PER_STATEMENT,
    version::{HeadRow, head_row, old_row},
};
use crate::{Change, Expect, sql::Sql};

/// What a commit makes of files: rows that go, and rows that come. Each that goes has to be there as it was read, and
/// where there was none there has to be none; the commit is stale otherwise.
#[derive(Clone, Debug, Default)]
pub struct FileRows {
    /// Newest versions that go, with what their rows were.
    heads_out: Vec<FileVersion>,
    /// Keys that had no version.
    new_keys: Vec<(FileKey, Table)>,
    /// Newest versions that come.
    heads_in: Vec<FileVersion>,
    /// Old versions that go.
    old_out: Vec<FileVersion>,
    /// Old versions that come.
    old_in: Vec<FileVersion>,
    /// Contents that one more version has.
    refs: Vec<ContentId>,
    /// Contents that one version less has.
    unrefs: Vec<ContentId>,
    /// By how much the numbers of each lane change.
    lanes: BTreeMap<LaneNo, Delta>,
}

/// One of the two tables of newest versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Table {
    Live,
    Gone,
}

/// By how much the numbers of a lane change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Delta {
    objects: i64,
    versions: i64,
    bytes: i64,
}

fn table(head: &FileVersion) -> Table {
    if head.content.is_some() { Table::Live } else { Table::Gone }
}

impl FileRows {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The newest version of a key becomes another one. Both are none where the key has no version.
    pub fn head(&mut self, before: Option<&FileVersion>, after: Option<&FileVersion>) {
        if let Some(before) = before {
            self.count_head(before, -1);
            self.heads_out.push(before.clone());
        }
        if let Some(after) = after {
            self.count_head(after, 1);
            if before.is_none() {
                let other = if table(after) == Table::Live { Table::Gone } else { Table::Live };
                self.new_keys.push((after.key.clone(), other));
            }
            self.heads_in.push(after.clone());
        }
    }

    /// An old version comes.
    pub fn old_comes(&mut self, old: &FileVersion) {
        self.count_old(old, 1);
        self.old_in.push(old.clone());
    }

    /// An old version goes.
    pub fn old_goes(&mut self, old: &FileVersion) {
        self.count_old(old, -1);
        self.old_out.push(old.clone());
    }

    /// One more version has the content of this one.
    pub fn share(&mut self, of: &FileVersion) {
        self.refs.extend(of.content.as_ref().map(|content| content.content_id));
    }

    /// This version has its content no longer.
    pub fn release(&mut self, of: &FileVersion) {
        self.unrefs.extend(of.content.as_ref().map(|content| content.content_id));
    }

    /// By how many bytes it keeps more.
    pub fn bytes_added(&self) -> i64 {
        self.lanes.values().map(|delta| delta.bytes).sum()
    }

    /// The contents that have more versions afterwards and those that have less, each as often as that. What moves from
    /// one row to another is neither.
    fn shared(&self) -> (Vec<ContentId>, Vec<ContentId>) {
        let mut counts: BTreeMap<ContentId, i64> = BTreeMap::new();
        for id in &self.refs {
            *counts.entry(*id).or_default() += 1;
        }
        for id in &self.unrefs {
            *counts.entry(*id).or_default() -= 1;
        }
        let (mut more, mut less) = (Vec::new(), Vec::new());
        for (id, count) in counts {
            let list = if count > 0 { &mut more } else { &mut less };
            list.extend((0..count.unsigned_abs()).map(|_| id));
        }
        (more, less)
    }

    fn lane(&mut self, key: &FileKey) -> &mut Delta {
        self.lanes.entry(LaneNo::of(key)).or_default()
    }

    fn count_head(&mut self, head: &FileVersion, by: i64) {
        let (is_file, bytes) = (head.content.is_some(), head.bytes().cast_signed());
        let delta = self.lane(&head.key);
        if is_file {
            delta.objects += by;
        } else {
            delta.versions += by;
        }
        delta.bytes += by * bytes;
    }

    fn count_old(&mut self, old: &FileVersion, by: i64) {
        let bytes = old.bytes().cast_signed();
        let delta = self.lane(&old.key);
        delta.versions += by;
        delta.bytes += by * bytes;
    }
}

impl Change {
    /// Makes these rows of the bucket's files; stale where the bucket or a row isn't what it was. Contents that come
    /// new are put by the same change, before.
    pub fn file_rows(&mut self, bucket: BucketSeen, now: Timestamp, rows: &FileRows) {
        // The lanes' rows come first: from then on nobody else writes their keys until the commit.
        for (lane, delta) in &rows.lanes {
            lane_count(self, bucket, *lane, *delta);
        }
        let (more, less) = rows.shared();
        if !more.is_empty() {
            self.contents_ref(bucket.org_id, more);
        }
        heads_go(self, bucket, &rows.heads_out);
        stay_absent(self, bucket, &rows.new_keys);
        old_go(self, bucket, &rows.old_out);
        for old in &rows.old_in {
            self.insert(old_row(bucket.no, old, now));
        }
        for head in &rows.heads_in {
            match head_row(bucket.no, head) {
                HeadRow::Live(row) => self.insert(*row),
                HeadRow::Gone(row) => self.insert(*row),
            }
        }
        if !less.is_empty() {
            self.contents_unref(now, bucket.org_id, less);
        }
    }
}

/// Counts what changes in a lane, and has its row and the bucket stay as they are until the commit.
fn lane_count(change: &mut Change, bucket: BucketSeen, lane: LaneNo, delta: Delta) {
    let statement = "INSERT INTO bucket_lanes (bucket_no, lane, objects, versions, bytes) \
                     SELECT bucket_no, CAST($3 AS BIGINT), CAST($4 AS BIGINT), CAST($5 AS BIGINT), CAST($6 AS BIGINT) \
                     FROM buckets WHERE bucket_no = $1 AND epoch = $2 /*bucket stays*/ \
                     ON CONFLICT (bucket_no, lane) DO UPDATE SET objects = bucket_lanes.objects + excluded.objects, \
                     versions = bucket_lanes.versions + excluded.versions, bytes = bucket_lanes.bytes + excluded.bytes";
    let values: [Value; 6] = [
        bucket.no.0.into(),
        bucket.epoch.into(),
        i64::from(lane.get()).into(),
        delta.objects.into(),
        delta.versions.into(),
        delta.bytes.into(),
    ];
    change.run_statement(Sql::new(statement, values), Expect::Rows(1));
}

fn key_bytes(key: &FileKey) -> Vec<u8> {
    key.as_str().as_bytes().to_vec()
}

fn stamps<'s>(stamps: impl Iterator<Item = &'s VersionStamp>) -> Vec<Vec<u8>> {
    stamps.map(|stamp| stamp.to_bytes().to_vec()).collect()
}

/// Takes newest versions away. A revision is never that of another row.
fn heads_go(change: &mut Change, bucket: BucketSeen, heads: &[FileVersion]) {
    let (files, markers): (Vec<_>, Vec<_>) = heads.iter().partition(|head| table(head) == Table::Live);
    for heads in files.chunks(KEYS_PER_STATEMENT) {
        let delete = live::Entity::delete_many()
            .filter(live::Column::BucketNo.eq(bucket.no.0))
            .filter(live::Column::Key.is_in(heads.iter().map(|head| key_bytes(&head.key))))
            .filter(live::Column::Revision.is_in(stamps(heads.iter().map(|head| &head.revision))));
        change.run(delete, Expect::Rows(heads.len() as u64));
    }
    for heads in markers.chunks(KEYS_PER_STATEMENT) {
        let delete = gone::Entity::delete_many()
            .filter(gone::Column::BucketNo.eq(bucket.no.0))
            .filter(gone::Column::Key.is_in(heads.iter().map(|head| key_bytes(&head.key))))
            .filter(gone::Column::Revision.is_in(stamps(heads.iter().map(|head| &head.revision))));
        change.run(delete, Expect::Rows(heads.len() as u64));
    }
}

/// Is stale where a key that had no version has one by now: in the table that its new row isn't in.
fn stay_absent(change: &mut Change, bucket: BucketSeen, keys: &[(FileKey, Table)]) {
    let of = |wanted: Table| -> Vec<Vec<u8>> {
        keys.iter().filter(|(_, table)| *table == wanted).map(|(key, _)| key_bytes(key)).collect()
    };
    for keys in of(Table::Live).chunks(KEYS_PER_STATEMENT) {
        let found = live::Entity::delete_many()
            .filter(live::Column::BucketNo.eq(bucket.no.0))
            .filter(live::Column::Key.is_in(keys.iter().cloned()));
        change.run(found, Expect::Rows(0));
    }
    for keys in of(Table::Gone).chunks(KEYS_PER_STATEMENT) {
        let found = gone::Entity::delete_many()
            .filter(gone::Column::BucketNo.eq(bucket.no.0))
            .filter(gone::Column::Key.is_in(keys.iter().cloned()));
        change.run(found, Expect::Rows(0));
    }
}

/// Takes old versions away.
fn old_go(change: &mut Change, bucket: BucketSeen, versions: &[FileVersion]) {
    for versions in versions.chunks(KEYS_PER_STATEMENT) {
        let delete = version::Entity::delete_many()
            .filter(version::Column::BucketNo.eq(bucket.no.0))
            .filter(version::Column::Key.is_in(versions.iter().map(|old| key_bytes(&old.key))))
            .filter(version::Column::Stamp.is_in(stamps(versions.iter().map(|old| &old.stamp))));
        change.run(delete, Expect::Rows(versions.len() as u64));
    }
}
