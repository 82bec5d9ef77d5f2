//! Calendars that come in files and go out in files.

use crate::Error;

/// Bytes of a calendar's file.
pub const CALENDAR_FILE_MAX: usize = 20 * 1024 * 1024;
/// Past [`CALENDAR_FILE_MAX`].
pub const CALENDAR_FILE_TOO_LARGE: &str = "A calendar's file has at most 20 MB.";
/// Events of a file that one commit takes, and that are read at once for one.
pub const CALENDAR_AT_ONCE: usize = 200;
/// Faults of a file that are told.
pub const CALENDAR_FAULTS_MAX: usize = 1_000;
/// The message of the 404 for a feed.
pub const FEED_NOT_FOUND: &str = "Calendar not found";

/// 404 for an address that no calendar has.
pub fn no_feed() -> Error {
    Error::not_found(FEED_NOT_FOUND)
}
