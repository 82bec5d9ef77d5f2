//! A lane of a bucket: every write of one file, of those keys whose hash names it.
//!
//! The lane knows its bucket as it is in the epoch that the store has now, and no files: what a command decides on it
//! reads, and its commit is stale where that has changed. What needs no commit (a refusal, deleting what isn't there)
//! rests on the epoch that was read in its own turn.

mod delete;
mod patch;
mod put;
mod restore;

use std::{fmt, str::FromStr};

use actors_base::Services;
use domain::{
    Result,
    id::{OrgId, ResourceId, UserId},
    storage::{FileKey, no_bucket},
};
use kernel::{Resource, Turn};
use serde_json::json;
use store::{
    Change,
    audit::{AuditEntry, AuditTarget},
    storage::{FileRows, LaneNo},
};

pub use self::{
    delete::{DeleteFile, DeleteVersion},
    patch::PatchFile,
    put::PutFile,
    restore::RestoreVersion,
};
use crate::open::{OpenBucket, writer};

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
}

impl Resource for BucketLane {
    type Key = LaneKey;
    type Services = Services;

    const KIND: &'static str = "bucket_lane";

    async fn load(key: &LaneKey, services: &Services) -> Result<Self> {
        Ok(Self { open: OpenBucket::load(&services.store, key.bucket).await? })
    }
}

impl BucketLane {
    /// The person who asks and the bucket, where that person may write this file now.
    async fn open(&mut self, turn: &Turn<'_, Self>, at: &FileAt) -> Result<(UserId, &OpenBucket)> {
        let by = writer(turn, at.org_id).await?;
        let store = &turn.services().store;
        let known = self.open.as_ref().map(OpenBucket::seen);
        let current = match known {
            Some(known) => store.bucket_seen(known.no).await?,
            None => None,
        };
        if known.is_none() || known != current {
            self.open = OpenBucket::load(store, turn.key().bucket).await?;
        }
        let open = self.open.as_ref().ok_or_else(no_bucket)?;
        open.check_write(at.org_id, &at.key)?;
        Ok((by, open))
    }
}

/// Commits what is made of a file's rows, with its entry in the audit trail.
async fn commit(
    turn: &mut Turn<'_, BucketLane>,
    open: &OpenBucket,
    written: Written<'_>,
    mut change: Change,
    rows: &FileRows,
) -> Result<()> {
    let now = turn.now();
    change.file_rows(open.seen(), now, rows);
    let target = AuditTarget::new("bucket", open.bucket.id()).labelled(&open.bucket.resource.name);
    let entry = AuditEntry::new(turn.context(), written.action, target).in_org(open.bucket.resource.org_id);
    change.audit_add(now, entry.with_metadata(json!({ "key": written.key })));
    turn.commit(change).await
}

/// What is written, for the audit trail.
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
