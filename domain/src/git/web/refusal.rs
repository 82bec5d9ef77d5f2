//! Why something isn't committed.

use serde_json::Value;

use crate::{
    Error,
    git::{BranchName, ObjectId},
};

/// The message of the 413 for a commit that changes too much (contract C 4.3).
pub const WEB_COMMIT_TOO_LARGE: &str =
    "Web commits can change up to 1000 files and 50 MB of content. Push larger changes with git.";
/// The message of the 413 for an upload that no commit could take (contract C 4.3).
pub const WEB_UPLOADS_TOO_LARGE: &str = "Web commits are limited to 50 MB. Push larger changes with git.";

/// 413: more changes than one commit has, or more bytes.
pub fn web_commit_too_large() -> Error {
    Error::too_large(WEB_COMMIT_TOO_LARGE)
}

/// 413: more bytes than one commit has.
pub fn web_uploads_too_large() -> Error {
    Error::too_large(WEB_UPLOADS_TOO_LARGE)
}

/// 400: the repository isn't empty, so that there is a commit to begin at (contract C 4.3).
pub fn parent_required() -> Error {
    Error::bad_request("parent_required", "parentCommitId is required.")
}

/// 400: a change takes an uploaded file, and no upload is named (contract C 4.3).
pub fn upload_required() -> Error {
    Error::bad_request("upload_required", "uploadId is required for uploaded files.")
}

/// 400: a file wasn't uploaded, or is gone (contract C 4.3).
pub fn upload_missing() -> Error {
    Error::bad_request("upload_missing", "An uploaded file is missing. Upload the files again.")
}

/// 404: there is no such upload any more, or no such file in it.
pub fn web_upload_not_found() -> Error {
    Error::not_found("Upload not found.")
}

/// 422: there are secrets in it that nobody allowed (contract C 4.3); `findings` as they are answered.
pub fn secrets_detected(findings: Vec<Value>) -> Error {
    let message = "There are secrets in this commit. Take them out, or allow them.";
    Error::unprocessable("secret_detected", message).adding("findings", findings)
}

/// 404: there is no such branch to commit to (contract C 4.3).
pub fn web_branch_not_found(branch: &BranchName) -> Error {
    Error::not_found(format!("Branch {} not found.", branch.as_str()))
}

/// 409: the branch names another commit by now.
pub fn branch_moved(commit: ObjectId) -> Error {
    let moved = Error::conflict("branch_moved", "The branch changed since you opened it.");
    moved.adding("commitId", commit.to_string())
}

/// 400: git takes no such objects from anybody.
pub fn web_commit_refused(reason: &str) -> Error {
    Error::bad_request("bad_content", format!("Git doesn't take this: {reason}"))
}
