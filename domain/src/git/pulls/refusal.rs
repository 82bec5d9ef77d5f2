//! Why something isn't done to a pull request, or by it.

use super::{OPEN_PULLS_MAX, REBASED_MAX};
use crate::Error;

/// The message of the 404 for a pull request that isn't there.
pub const PULL_NOT_FOUND: &str = "Pull request not found";

/// 400: a pull request is made of branches that are there.
pub fn branch_missing(field: &'static str) -> Error {
    Error::invalid(field, "There is no such branch.")
}

/// 409: the two branches have an open pull request.
pub fn pull_exists(number: u32) -> Error {
    let message = "There is an open pull request for these branches already.";
    Error::conflict("pull_exists", message).adding("number", number)
}

/// 409: the base has everything that the head has.
pub fn nothing_to_merge() -> Error {
    Error::conflict("nothing_to_merge", "The base has all commits of the head already.")
}

/// 409: the head has everything that the base has.
pub fn up_to_date() -> Error {
    Error::conflict("up_to_date", "The head has all commits of the base already.")
}

/// 409: there is nothing that both of the branches come from.
pub fn histories_unrelated() -> Error {
    Error::conflict("unrelated", "The branches have no commit in common.")
}

/// 409: what was looked at isn't what is there.
pub fn head_moved() -> Error {
    Error::conflict("head_moved", "The pull request changed since you opened it.")
}

/// 409: both sides changed these files, so that somebody has to say what is to be.
pub fn merge_conflict(paths: &[String]) -> Error {
    let message = "The branches have changes that can't be merged by themselves.";
    Error::conflict("conflict", message).adding("conflicts", paths)
}

/// 409: it was merged, which isn't undone.
pub fn pull_merged() -> Error {
    Error::conflict("pull_merged", "This pull request is merged.")
}

/// 409: it is closed.
pub fn pull_closed() -> Error {
    Error::conflict("pull_closed", "This pull request is closed.")
}

/// 409: it isn't to be merged yet.
pub fn pull_draft() -> Error {
    Error::conflict("pull_draft", "This pull request is a draft.")
}

/// 400: the repository has as many open pull requests as it may.
pub fn too_many_open_pulls() -> Error {
    Error::bad_request("limit_reached", format!("A repository has at most {OPEN_PULLS_MAX} open pull requests."))
}

/// 409: the head has more commits than are made anew at once.
pub fn too_much_to_rebase() -> Error {
    let message = format!("At most {REBASED_MAX} commits of 16 MB can be rebased here. Merge or squash them.");
    Error::conflict("too_many_commits", message)
}
