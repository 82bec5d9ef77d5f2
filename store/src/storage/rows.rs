//! What a write makes of the rows of files.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    id::ContentId,
    storage::{FileKey, VersionStamp},
};
use sea_orm::Value;

use super::{
    BucketSeen, FileVersion, LaneNo,
    version::{HeadRow, head_row, old_row, replaced_values},
};
use crate::{
    Change, Expect,
    change::{Form, RowStatement},
};

/// Bucket, lane; epoch; what is added to the lane's numbers.
static COUNT: RowStatement = RowStatement {
    tables: &["bucket_lanes", "buckets"],
    text: "INSERT INTO bucket_lanes (bucket_no, lane, objects, versions, bytes) \
           SELECT buckets.bucket_no, new.column2, new.column4, new.column5, new.column6 \
           FROM (/*rows*/) AS new CROSS JOIN buckets \
           WHERE buckets.bucket_no = new.column1 AND buckets.epoch = new.column3 /*bucket stays*/ \
           ON CONFLICT (bucket_no, lane) DO UPDATE SET objects = bucket_lanes.objects + excluded.objects, \
           versions = bucket_lanes.versions + excluded.versions, bytes = bucket_lanes.bytes + excluded.bytes",
    form: Form::Summed(3),
    key: 2,
    expect: Expect::Rows(1),
};
/// Bucket, key; the revision that is there; what takes its place.
static LIVE_REPLACE: RowStatement = RowStatement {
    tables: &["objects_live"],
    text: "UPDATE objects_live SET stamp = new.column4, is_null = new.column5, revision = new.column6, \
           modified = new.column7, created_by = new.column8, content_id = new.column9, size = new.column10, \
           etag = new.column11, class = new.column12, headers = new.column13, tags = new.column14 \
           FROM (/*rows*/) AS new WHERE objects_live.bucket_no = new.column1 AND objects_live.key = new.column2 \
           AND objects_live.revision = new.column3",
    form: Form::Listed,
    key: 2,
    expect: Expect::Rows(1),
};
static LIVE_DELETE: RowStatement = RowStatement {
    tables: &["objects_live"],
    text: "DELETE FROM objects_live WHERE /*rows*/",
    form: Form::Matching(&["bucket_no", "key", "revision"]),
    key: 2,
    expect: Expect::Rows(1),
};
static GONE_DELETE: RowStatement = RowStatement {
    tables: &["objects_gone"],
    text: "DELETE FROM objects_gone WHERE /*rows*/",
    form: Form::Matching(&["bucket_no", "key", "revision"]),
    key: 2,
    expect: Expect::Rows(1),
};
/// Finds keys that are none, of which there must be none.
static LIVE_ABSENT: RowStatement = RowStatement {
    tables: &["objects_live"],
    text: "UPDATE objects_live SET modified = objects_live.modified FROM (/*rows*/) AS new \
           WHERE objects_live.bucket_no = new.column1 AND objects_live.key = new.column2",
    form: Form::Listed,
    key: 2,
    expect: Expect::Rows(0),
};
static GONE_ABSENT: RowStatement = RowStatement {
    tables: &["objects_gone"],
    text: "UPDATE objects_gone SET modified = objects_gone.modified FROM (/*rows*/) AS new \
           WHERE objects_gone.bucket_no = new.column1 AND objects_gone.key = new.column2",
    form: Form::Listed,
    key: 2,
    expect: Expect::Rows(0),
};
static OLD_DELETE: RowStatement = RowStatement {
    tables: &["object_versions"],
    text: "DELETE FROM object_versions WHERE /*rows*/",
    form: Form::Matching(&["bucket_no", "key", "stamp"]),
    key: 3,
    expect: Expect::Rows(1),
};

/// What a commit makes of files: rows that go, and rows that come. Each that goes has to be there as it was read, and
/// where there was none there has to be none; the commit is stale otherwise.
#[derive(Clone, Debug, Default)]
pub struct FileRows {
    /// Newest versions that go, with what their rows were.
    heads_out: Vec<FileVersion>,
    /// Keys that had no version.
    new_keys: Vec<(FileKey, Table)>,
    /// Files of which another version takes the place.
    replaced: Vec<(FileVersion, FileVersion)>,
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
        }
        if let Some(after) = after {
            self.count_head(after, 1);
        }
        if let (Some(before), Some(after)) = (before, after)
            && [table(before), table(after)] == [Table::Live; 2]
        {
            self.replaced.push((before.clone(), after.clone()));
            return;
        }
        self.heads_out.extend(before.cloned());
        if let Some(after) = after {
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
        for head in &rows.heads_out {
            let statement = if table(head) == Table::Live { &LIVE_DELETE } else { &GONE_DELETE };
            self.row(statement, named(bucket, &head.key, Some(&head.revision)));
        }
        for (key, table) in &rows.new_keys {
            let statement = if *table == Table::Live { &LIVE_ABSENT } else { &GONE_ABSENT };
            self.row(statement, named(bucket, key, None));
        }
        for (before, after) in &rows.replaced {
            let there = named(bucket, &before.key, Some(&before.revision));
            self.row(&LIVE_REPLACE, there.into_iter().chain(replaced_values(after)));
        }
        for old in &rows.old_out {
            self.row(&OLD_DELETE, named(bucket, &old.key, Some(&old.stamp)));
        }
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
    let values: [Value; 6] = [
        bucket.no.0.into(),
        i64::from(lane.get()).into(),
        bucket.epoch.into(),
        delta.objects.into(),
        delta.versions.into(),
        delta.bytes.into(),
    ];
    change.row(&COUNT, values);
}

/// What names a row of a file: its bucket, its key, and where that is asked for its stamp or revision, which is never that of
/// another row.
fn named(bucket: BucketSeen, key: &FileKey, stamp: Option<&VersionStamp>) -> Vec<Value> {
    let stamp = stamp.map(|stamp| stamp.to_bytes().to_vec().into());
    [bucket.no.0.into(), key.as_str().as_bytes().to_vec().into()].into_iter().chain(stamp).collect()
}
