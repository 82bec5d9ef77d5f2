//! What a file has beside its bytes: its tag, its type, what headers say of it, and how it is kept.

mod checksum;
mod class;
mod etag;
mod headers;
mod patch;

pub use self::{
    checksum::{Checksum, ChecksumAlgorithm, ChecksumHasher, ChecksumKind, ChecksumPlan, FileChecksum},
    class::StorageClass,
    etag::ETag,
    headers::{CONTENT_TYPE_LEN_MAX, FileHeaders, HEADER_LEN_MAX, METADATA_BYTES_MAX, content_type_check},
    patch::FilePatch,
};

#[cfg(test)]
mod tests;
