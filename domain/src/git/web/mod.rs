//! Commits of the web: files that are written, moved and deleted without git (contract C 4.3).
//!
//! What a commit changes, it changes in the files of one other commit, its parent: each change is looked at by itself, and no two of
//! them meet.

mod change;
mod message;
mod place;
mod readme;
mod refusal;
mod upload;

pub use self::{
    change::{WebChange, WebChanges, WebEdit, WrittenBytes},
    message::{WEB_DESCRIPTION_LEN_MAX, WEB_MESSAGE_LEN, commit_message, commit_name},
    place::{FolderToRead, Place, places_below},
    readme::{README_MESSAGE, readme},
    refusal::{
        WEB_COMMIT_TOO_LARGE, WEB_UPLOADS_TOO_LARGE, branch_moved, parent_required, secrets_detected, upload_missing,
        upload_required, web_branch_not_found, web_commit_refused, web_commit_too_large, web_upload_not_found,
        web_uploads_too_large,
    },
    upload::{
        WEB_UPLOAD_KEPT, WEB_UPLOAD_LINKS_LAST, WEB_UPLOADS_MAX, WebUploadId, too_many_web_uploads, web_upload_sizes,
    },
};

/// Changes of one commit, and files of one upload (contract C 4.3).
pub const WEB_COMMIT_CHANGES_MAX: usize = 1_000;
/// Bytes of all files that one commit writes (contract C 4.3).
pub const WEB_COMMIT_BYTES_MAX: u64 = 52_428_800;
/// Bytes of the request: those files as base64, and what stands beside them.
pub const WEB_COMMIT_BODY_MAX: usize = 72 * 1024 * 1024;
