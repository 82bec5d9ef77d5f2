//! Why something isn't done to a pull request, or by it.

use super::{OPEN_PULLS_MAX, REBASED_MAX, REVIEWS_MAX, THREAD_COMMENTS_MAX, THREADS_MAX};
use crate::Error;

/// The message of the 404 for a pull request that isn't there.
pub const PULL_NOT_FOUND: &str = "Pull request not found";
/// The message of the 404 for a review that the pull request hasn't.
pub const REVIEW_NOT_FOUND: &str = "Review not found";
/// The message of the 404 for a thread that the pull request hasn't.
pub const THREAD_NOT_FOUND: &str = "Thread not found";
/// The message of the 404 for a comment that the thread hasn't.
pub const COMMENT_NOT_FOUND: &str = "Comment not found";

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

/// 409: nobody waits for it.
pub fn not_waiting() -> Error {
    Error::conflict("not_waiting", "Nobody asked for this pull request to be merged.")
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

/// 404: the pull request has no such review.
pub fn review_not_found() -> Error {
    Error::not_found(REVIEW_NOT_FOUND)
}

/// 404: the pull request has no such thread.
pub fn thread_not_found() -> Error {
    Error::not_found(THREAD_NOT_FOUND)
}

/// 404: the thread has no such comment.
pub fn comment_not_found() -> Error {
    Error::not_found(COMMENT_NOT_FOUND)
}

/// 403: somebody else has to say that it can be merged.
pub fn own_pull() -> Error {
    Error::forbidden("own_pull", "You opened this pull request. Others approve it, or ask for changes.")
}

/// 409: nothing depends on the review.
pub fn review_not_dismissible() -> Error {
    let message = "Only the latest review of somebody who approves, or asks for changes, can be dismissed.";
    Error::conflict("review_not_current", message)
}

/// 403: the thread is for others to resolve.
pub fn thread_not_yours() -> Error {
    let message = "Threads are resolved by who began them, who opened the pull request, and who has write access.";
    Error::forbidden("thread_of_another", message)
}

/// 403: somebody else wrote it.
pub fn not_your_comment() -> Error {
    Error::forbidden("comment_of_another", "Somebody else wrote this comment.")
}

/// 400: the pull request has as many reviews as it may.
pub fn too_many_reviews() -> Error {
    Error::bad_request("limit_reached", format!("A pull request has at most {REVIEWS_MAX} reviews."))
}

/// 400: the pull request has as many threads as it may.
pub fn too_many_threads() -> Error {
    Error::bad_request("limit_reached", format!("A pull request has at most {THREADS_MAX} threads."))
}

/// 400: the thread has as many comments as it may.
pub fn too_many_comments() -> Error {
    Error::bad_request("limit_reached", format!("A thread has at most {THREAD_COMMENTS_MAX} comments."))
}
