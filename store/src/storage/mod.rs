//! Object storage (contract C 2.3, 4.4): buckets, and the files in them with their versions.
//!
//! A bucket's record is a resource; what is its own lies beside it ([`StoredBucket`]). Every write of files names the
//! bucket's epoch, which counts up when its settings, its status or the folders that move in it change: whoever decided
//! on others is stale. On PostgreSQL the bucket's row is locked against such changes until the commit, and not against
//! other writes.
//!
//! A key has one row at most in either of two tables, files and delete markers; its other versions lie in a third. A
//! write locks the row of its key's lane first, and finds then what it decided on, or is stale ([`FileRows`]).

mod address;
mod aged;
mod bucket;
mod entity;
mod lane;
mod listing;
mod maker;
mod moves;
mod read;
mod removal;
mod rows;
mod rules;
mod uploads;
mod usage;
mod version;
mod versions;

pub use self::{
    address::{FileAddress, FileQuery, PartAddress, PartQuery, WriteAddress, WriteQuery},
    aged::OldVersion,
    bucket::{BucketNo, BucketSeen, StoredBucket},
    lane::{LANES, LaneNo},
    listing::{DeletedPage, FilesPage},
    maker::{AddressMaker, NotAMaker},
    moves::StoredMoves,
    removal::BucketRest,
    rows::FileRows,
    rules::BucketRules,
    uploads::{CompletedUpload, StoredPart, StoredUpload, UploadAbout},
    usage::BucketUsage,
    version::{FileContent, FileVersion},
    versions::{VersionsAfter, VersionsPage},
};
