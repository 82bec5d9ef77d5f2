//! Why something isn't done to a repository.

use std::time::Duration;

use super::{GRANTS_MAX, REPOSITORIES_MAX};
use crate::{Error, error::Outcome};

/// The message of the 404 for a repository that isn't there, and for one that the caller has no part in (contract C 4.3).
pub const REPOSITORY_NOT_FOUND: &str = "Repository not found";
/// The message of the 403 that a machine's key reads outside of repositories.
pub const MACHINE_KEY_ONLY: &str = "This key opens repositories only.";

/// When it makes sense to ask again for what is gone: somebody has to bring it back.
const LOST_FOR: Duration = Duration::from_mins(10);

/// 503: what is asked for may need objects that the repository should have, and that are gone from where they are kept.
pub fn objects_lost() -> Error {
    Error::Busy {
        code: "objects_lost",
        message: "Objects of this repository are gone on the server. Its operators are told.".into(),
        retry_after: LOST_FOR,
        outcome: Outcome::NotDone,
    }
}

/// 404: there is no such repository, or the caller has no part in it.
pub fn repository_not_found() -> Error {
    Error::not_found(REPOSITORY_NOT_FOUND)
}

/// 409: one of the organization's has this name, regardless of case.
pub fn repository_exists() -> Error {
    Error::conflict("repository_exists", "A repository with this name already exists.")
}

/// 400: the organization has as many repositories as it may.
pub fn too_many_repositories(_: u64) -> Error {
    Error::bad_request("limit_reached", format!("An organization has at most {REPOSITORIES_MAX} repositories."))
}

/// 409: nothing of a deleted repository is changed.
pub fn repository_deleted() -> Error {
    Error::conflict("repository_deleted", "This repository is deleted. Restore it first.")
}

/// 409: only a deleted repository is restored.
pub fn repository_not_deleted() -> Error {
    Error::conflict("repository_not_deleted", "This repository isn't deleted.")
}

/// 400: the repository has as many grants as it may.
pub fn too_many_grants() -> Error {
    Error::bad_request("limit_reached", format!("A repository has at most {GRANTS_MAX} grants."))
}

/// 404: nothing was granted to them.
pub fn grant_not_found() -> Error {
    Error::not_found("Grant not found")
}
