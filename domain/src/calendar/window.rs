//! Which time is looked at (contract B 4.9).

use crate::{Error, Result, Timestamp};

const DAY_MS: i64 = 86_400_000;
/// Days of `calendar/mine` and of availability (contract B 4.9).
pub const MINE_DAYS_MAX: i64 = 62;
/// Days of a mailbox's events (contract B 4.9).
pub const EVENTS_DAYS_MAX: i64 = 400;
/// Occurrences of an answer.
pub const OCCURRENCES_MAX: usize = 20_000;
/// Contract B 4.9.
pub const MINE_TOO_LONG: &str = "Choose a window of at most 62 days.";
/// The contract has the limit, and no text.
pub const EVENTS_TOO_LONG: &str = "Choose a window of at most 400 days.";
/// An answer with more than [`OCCURRENCES_MAX`] occurrences.
pub const TOO_MANY_OCCURRENCES: &str = "Choose a shorter window.";

/// From one instant to another, which doesn't belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its beginning.
    pub from: Timestamp,
    /// Its end.
    pub to: Timestamp,
}

impl Window {
    /// A window of `calendar/mine` or of availability.
    pub fn mine(from: i64, to: i64) -> Result<Self> {
        Self::check(from, to, MINE_DAYS_MAX, MINE_TOO_LONG)
    }

    /// A window of a mailbox's events.
    pub fn events(from: i64, to: i64) -> Result<Self> {
        Self::check(from, to, EVENTS_DAYS_MAX, EVENTS_TOO_LONG)
    }

    fn check(from: i64, to: i64, days: i64, too_long: &'static str) -> Result<Self> {
        if to <= from {
            return Err(Error::invalid("to", "Choose an end behind the beginning."));
        }
        if to.saturating_sub(from) > days * DAY_MS {
            return Err(Error::bad_request("window_too_long", too_long));
        }
        Ok(Self { from: Timestamp(from), to: Timestamp(to) })
    }
}

/// What an answer with more than [`OCCURRENCES_MAX`] occurrences is instead.
pub fn too_many_occurrences() -> Error {
    Error::bad_request("too_many_occurrences", TOO_MANY_OCCURRENCES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_its_days_and_no_millisecond_more() {
        for (check, days, text) in [
            (Window::mine as fn(i64, i64) -> Result<Window>, 62, MINE_TOO_LONG),
            (Window::events, 400, EVENTS_TOO_LONG),
        ] {
            let to = days * DAY_MS;
            assert!(check(0, to - 1).is_ok());
            assert!(check(0, to).is_ok());
            assert_eq!(check(0, to + 1).unwrap_err().to_string(), text);
            assert_eq!(check(i64::MIN, i64::MAX).unwrap_err().to_string(), text);
            assert_eq!(check(5, 5).unwrap_err().code(), "invalid");
        }
    }
}
