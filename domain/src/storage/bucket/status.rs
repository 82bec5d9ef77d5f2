//! How far a bucket is.

use crate::{
    app::names,
    error::Result,
    storage::{bucket_creating, bucket_deleting, bucket_failed},
};

/// Times that making a bucket is tried before it is given up.
pub const CREATING_TRIES: u32 = 3;

names! {
    /// How far a bucket is (contract C 2.3, `status`).
    BucketStatus { Error = "error", Active = "active", Deleting = "deleting", Creating = "creating", }
}

impl BucketStatus {
    /// Passes where files can be read and written; 409 otherwise.
    pub fn check_usable(self) -> Result<()> {
        match self {
            Self::Active => Ok(()),
            Self::Creating => Err(bucket_creating()),
            Self::Deleting => Err(bucket_deleting()),
            Self::Error => Err(bucket_failed()),
        }
    }

    /// Passes where the bucket may be deleted; 409 otherwise. One that could not be made may be.
    pub fn check_deletable(self) -> Result<()> {
        match self {
            Self::Active | Self::Error => Ok(()),
            other => other.check_usable(),
        }
    }

    /// What follows when making the bucket failed for the time `failures`, counted from one.
    #[must_use]
    pub const fn after_failure(failures: u32) -> Self {
        if failures < CREATING_TRIES { Self::Creating } else { Self::Error }
    }
}
