//! Blobs.

use std::path::PathBuf;

use crate::{Clock, StoreError};

/// Where blobs are kept, and how Troupe signs their addresses.
#[derive(Clone, Debug)]
pub struct BlobOptions {
    /// The place.
    pub place: BlobPlace,
    /// The secret for addresses that Troupe signs itself; at least 32 random bytes.
    pub signing_secret: Vec<u8>,
}

/// Where blobs are kept.
#[derive(Clone, Debug)]
pub enum BlobPlace {
    /// A local folder, made when it is missing.
    Folder(PathBuf),
}

/// The blobs of a store.
#[derive(Clone)]
pub struct Blobs {
    _clock: Clock,
}

impl Blobs {
    pub(crate) fn open(_options: &BlobOptions, clock: Clock) -> Result<Self, StoreError> {
        Ok(Self { _clock: clock })
    }
}
