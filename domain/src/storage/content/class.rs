//! How files are kept, in the words of S3. All are kept alike; the name is a label that clients read back.

use crate::{app::names, error::Result, storage::storage_class_unknown};

names! {
    /// The storage class of a file (contract C 2.3), of those that need no thawing.
    StorageClass {
        Standard = "STANDARD", StandardIa = "STANDARD_IA", OnezoneIa = "ONEZONE_IA",
        IntelligentTiering = "INTELLIGENT_TIERING", GlacierIr = "GLACIER_IR",
        ReducedRedundancy = "REDUCED_REDUNDANCY", ExpressOnezone = "EXPRESS_ONEZONE",
    }
}

impl StorageClass {
    /// Reads a class; the standard one where none is asked for, 400 where files would have to be thawed.
    pub fn parse(text: Option<&str>) -> Result<Self> {
        text.map_or(Some(Self::Standard), Self::from_name).ok_or_else(storage_class_unknown)
    }
}
