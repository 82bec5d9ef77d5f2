//! Object storage: who owns what (contract C 2.3, 3, 4.4).
//!
//! A bucket's record, its name and its settings belong to the organization's book of resources, which is asked with
//! this area's commands ([`CreateBucket`], [`ChangeBucket`], [`DeleteBucket`]). Files belong to the bucket's sixteen
//! lanes, each to the one that its key's hash names ([`BucketLane`]); moves, which meet many keys, to the bucket
//! ([`Bucket`]); uploads in parts to themselves ([`BucketUpload`]). None of them keeps files in memory. What they
//! decide on they read, and what has changed until the commit makes that stale.

mod bucket;
mod lane;
mod lifecycle;
mod open;
mod plan;
mod removal;
mod resource;
mod room;
mod upload;

use std::sync::Arc;

use actors_base::{
    Area, Services,
    work::{Lane, job},
};

pub use self::{
    bucket::{Bucket, CopyFiles, DeleteFiles, DeletedFiles, MoveFiles, Moved},
    lane::{
        BucketLane, ComputedChecksum, CopiedFile, CopyFile, CopySource, DeleteFile, DeleteVersion, FileAt, LaneKey,
        PatchFile, PutFile, RestoreVersion,
    },
    lifecycle::{STORAGE_LIFECYCLE, StorageLifecycle},
    removal::{STORAGE_REMOVAL, StorageRemoval},
    resource::{ChangeBucket, CreateBucket, DeleteBucket, Force, PutBucketRules},
    room::room_check,
    upload::{AbortUpload, BeginUpload, BucketUpload, CompleteUpload, PutPart, UploadAt},
};

/// What goes over all areas knows of object storage.
pub const AREA: Area = Area {
    jobs: &[STORAGE_LIFECYCLE, STORAGE_REMOVAL],
    lanes,
    deletes_organization: removal::delete_buckets_after,
    ..Area::named("storage")
};

/// The lanes of jobs that ask no actor.
fn lanes(services: &Services) -> Vec<Arc<dyn Lane>> {
    let store = &services.store;
    vec![
        job::lane(store.clone(), STORAGE_REMOVAL, StorageRemoval),
        job::lane(store.clone(), STORAGE_LIFECYCLE, StorageLifecycle),
    ]
}
