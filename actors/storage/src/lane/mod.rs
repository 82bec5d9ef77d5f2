//! A lane of a bucket: every write of one file, of those keys whose hash names it.
//!
//! The lane knows its bucket, and no files: what a command decides on it reads, and its commit is stale where that has
//! changed, or the bucket's epoch. Before an answer that needs no commit (a refusal, deleting what isn't there) the lane looks
//! whether that is still the epoch, and decides again where it isn't: so a write costs no read of it. Writes that wait together are
//! decided in one turn and committed together, each on what those before it decided.

mod copy;
mod delete;
mod patch;
mod put;
mod restore;

use std::{collections::HashMap, fmt, str::FromStr};

use actors_base::Services;
use domain::{
    Error, Result,
    id::{OrgId, ResourceId, UserId},
    storage::{FileKey, Versioning, no_bucket},
};
use kernel::{Resource, Turn};
use serde_json::json;
use store::{
    Change, Store,
    audit::{AuditEntry, AuditTarget},
    storage::{FileRows, FileVersion, LaneNo},
};

pub use self::{
    copy::{ComputedChecksum, CopiedFile, CopyFile, CopySource},
    delete::{DeleteFile, DeleteVersion},
    patch::PatchFile,
    put::PutFile,
    restore::RestoreVersion,
};
use crate::{
    open::{OpenBucket, file_writer},
    plan::FileBefore,
};

/// Which lane of which bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaneKey {
    bucket: ResourceId,
    lane: LaneNo,
}

impl LaneKey {
    /// The lane in which a file of the bucket is written.
    pub fn of(bucket: ResourceId, key: &FileKey) -> Self {
        Self { bucket, lane: LaneNo::of(key) }
    }
}

impl fmt::Display for LaneKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.bucket, self.lane)
    }
}

/// The text names no lane of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a lane of a bucket")]
pub struct NotALaneKey;

impl FromStr for LaneKey {
    type Err = NotALaneKey;

    fn from_str(text: &str) -> Result<Self, NotALaneKey> {
        let (bucket, lane) = text.split_once('/').ok_or(NotALaneKey)?;
        Ok(Self { bucket: bucket.parse().map_err(|_| NotALaneKey)?, lane: lane.parse().map_err(|_| NotALaneKey)? })
    }
}

/// The file that a command is about.
#[derive(Clone, Debug)]
pub struct FileAt {
    /// Whose bucket it lies in.
    pub org_id: OrgId,
    /// Its key.
    pub key: FileKey,
}

/// A lane of a bucket.
#[derive(Debug)]
pub struct BucketLane {
    open: Option<OpenBucket>,
    /// The newest versions of keys as soon as what this turn decided is committed.
    decided: HashMap<FileKey, Option<FileVersion>>,
    /// By how many bytes that keeps more.
    decided_bytes: i64,
}

impl Resource for BucketLane {
    type Key = LaneKey;
    type Services = Services;

    const KIND: &'static str = "bucket_lane";

    async fn load(key: &LaneKey, services: &Services) -> Result<Self> {
        let open = OpenBucket::load(&services.store, key.bucket).await?;
        Ok(Self { open, decided: HashMap::new(), decided_bytes: 0 })
    }

    async fn is_current(&self, services: &Services) -> Result<bool> {
        let Some(known) = self.open.as_ref().map(OpenBucket::seen) else { return Ok(true) };
        Ok(services.store.bucket_seen(known.no).await? == Some(known))
    }

    fn forget_decided(&mut self) {
        self.decided.clear();
        self.decided_bytes = 0;
    }
}

impl BucketLane {
    /// The person who asks, where that person may write this file of the bucket, as far as the lane knows it.
    async fn enter(&mut self, turn: &Turn<'_, Self>, at: &FileAt) -> Result<UserId> {
        let by = file_writer(turn, at.org_id, turn.key().bucket, &at.key).await?;
        if self.open.is_none() {
            self.open = OpenBucket::load(&turn.services().store, turn.key().bucket).await?;
        }
        self.open()?.check_write(at.org_id, &at.key)?;
        Ok(by)
    }

    /// The bucket.
    fn open(&self) -> Result<&OpenBucket> {
        self.open.as_ref().ok_or_else(no_bucket)
    }

    /// A file as it is, or will be as soon as what was decided is committed.
    async fn before(&self, store: &Store, key: &FileKey) -> Result<FileBefore> {
        let open = self.open()?;
        let Some(head) = self.decided.get(key) else {
            return FileBefore::read(store, open.seen().no, key, open.versioning()).await;
        };
        // Which of its versions has to make room is known once this is committed.
        if open.versioning() == Some(Versioning::Suspended) {
            Err(Error::Stale)
        } else {
            Ok(FileBefore { head: head.clone(), others: Vec::new() })
        }
    }

    /// Takes for decided that this is what becomes of a file.
    fn decides(&mut self, key: &FileKey, newest: Option<FileVersion>, rows: &FileRows) {
        self.decided.insert(key.clone(), newest);
        self.decided_bytes += rows.bytes_added();
    }
}

/// What is made of a file's rows, with its entry in the audit trail.
fn written(
    turn: &Turn<'_, BucketLane>,
    open: &OpenBucket,
    written: Written<'_>,
    mut change: Change,
    rows: &FileRows,
) -> Change {
    let now = turn.now();
    change.file_rows(open.seen(), now, rows);
    if open.is_audited(&turn.context().caller) {
        let target = AuditTarget::new("bucket", open.bucket.id()).labelled(&open.bucket.resource.name);
        let entry = AuditEntry::new(turn.context(), written.action, target).in_org(open.bucket.resource.org_id);
        change.audit_add(now, entry.with_metadata(json!({ "key": written.key })));
    }
    change
}

/// What is written, for the audit trail.
#[derive(Clone, Copy)]
struct Written<'w> {
    action: &'static str,
    key: &'w FileKey,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_reads_back_from_its_text() {
        let bucket: ResourceId = "res_01h455vb4pex5vsknk084sn02q".parse().unwrap();
        let key = LaneKey::of(bucket, &FileKey::parse("a/b").unwrap());
        assert_eq!(key.to_string().parse(), Ok(key));
        for text in ["", "res_01h455vb4pex5vsknk084sn02q", "res_01h455vb4pex5vsknk084sn02q/g", "/0"] {
            assert_eq!(text.parse::<LaneKey>(), Err(NotALaneKey), "{text}");
        }
    }
}
