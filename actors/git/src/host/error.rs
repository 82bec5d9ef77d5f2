//! What goes wrong beneath, as people are told.

use std::time::Duration;

use domain::Error;
use gateways::GitError;

/// When it makes sense to ask again where git is busy.
const BUSY_FOR: Duration = Duration::from_secs(5);

/// What is told of a failure of git that isn't the client's.
pub fn internal(error: impl Into<GitError>) -> Error {
    match error.into() {
        GitError::Busy => Error::busy(BUSY_FOR),
        other => Error::internal(other),
    }
}
