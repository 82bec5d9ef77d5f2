//! What a path names a bucket by.

use crate::{
    error::Result,
    id::{ProjectId, ResourceId},
    storage::no_bucket,
};

/// The `:resourceId` of a path (contract C 4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BucketAddress {
    /// The bucket itself, or the repository whose project has the bucket.
    Resource(ResourceId),
    /// The project that has the bucket.
    Project(ProjectId),
}

impl BucketAddress {
    /// Reads the part of the path; anything else names no bucket (404).
    pub fn parse(text: &str) -> Result<Self> {
        let resource = || text.parse().map(Self::Resource);
        resource().or_else(|_| text.parse().map(Self::Project)).map_err(|_| no_bucket())
    }
}
