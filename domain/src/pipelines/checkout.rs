//! What a job fetches its repository with (contract C 4.1).

use std::time::Duration;

use crate::Error;

/// How long a request may begin with a job's credential for git.
pub const CHECKOUT_LASTS: Duration = Duration::from_mins(15);
/// What such a credential begins with.
pub const CHECKOUT_PREFIX: &str = "trp_c_";
/// The message of the 403 for a job that pushes.
pub const CHECKOUT_READS_ONLY: &str = "This job's credential opens its repository for reading only.";

/// 403: the job may only read.
pub fn checkout_reads_only() -> Error {
    Error::forbidden("read_only", CHECKOUT_READS_ONLY)
}
