//! Commits of the web (contract C 4.3): their uploads, and how they land.
//!
//! What a commit consists of is made before the turn ([`host`](crate::host)); it lands as a push of one ref does.

mod commit;
mod upload;

pub(crate) use self::upload::upload_of_timer;
pub use self::{
    commit::{LandWebCommit, SpentUpload},
    upload::{BeginWebUpload, PutUploadedFile},
};
