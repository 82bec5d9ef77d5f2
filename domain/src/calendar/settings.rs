//! A mailbox's calendars (contract B 4.9).

use std::ops::RangeInclusive;

use crate::{Error, Result, account::text_check, app::names, git::lines_check};

/// Characters of a calendar's name (contract B 4.9).
pub const CALENDAR_NAME_LEN: RangeInclusive<usize> = 1..=100;
/// Characters of a calendar's description (contract B 4.9).
pub const CALENDAR_DESCRIPTION_LEN: RangeInclusive<usize> = 0..=1_000;
/// Calendars of a mailbox (contract B 4.9).
pub const CALENDARS_MAX: usize = 50;
/// What the first calendar is called, which is made on first use.
pub const DEFAULT_CALENDAR_NAME: &str = "Calendar";
/// Contract B 4.9.
pub const DEFAULT_CALENDAR_KEPT: &str = "The default calendar can't be deleted.";
/// The contract has the limit, and no text.
pub const TOO_MANY_CALENDARS: &str = "A mailbox has at most 50 calendars.";

names! {
    /// A calendar's color (contract B 4.9).
    CalendarColor {
        Blue = "blue", Orange = "orange", Teal = "teal", Amber = "amber", Pink = "pink", Green = "green", Red = "red",
        Gray = "gray",
    }
}

impl CalendarColor {
    /// The first of the contract's list that is used least.
    pub fn least_used(used: &[Self]) -> Self {
        let count = |color: &&Self| used.iter().filter(|it| it == color).count();
        Self::ALL.iter().min_by_key(count).copied().unwrap_or(Self::Blue)
    }
}

/// A calendar's name, trimmed.
pub fn calendar_name_check(path: &str, name: &str) -> Result<String> {
    text_check(path, name, &CALENDAR_NAME_LEN)
}

/// A calendar's description, trimmed.
pub fn calendar_description_check(path: &str, description: &str) -> Result<String> {
    lines_check(path, description, &CALENDAR_DESCRIPTION_LEN)
}

/// Whether a mailbox with so many calendars may have one more.
pub fn calendar_count_check(calendars: usize) -> Result<()> {
    if calendars < CALENDARS_MAX { Ok(()) } else { Err(Error::bad_request("limit_reached", TOO_MANY_CALENDARS)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mailbox_has_fifty_calendars_and_no_more() {
        assert!(calendar_count_check(49).is_ok());
        assert_eq!(calendar_count_check(50).unwrap_err().to_string(), TOO_MANY_CALENDARS);
        assert!(TOO_MANY_CALENDARS.contains(&CALENDARS_MAX.to_string()));
    }

    #[test]
    fn names_and_descriptions_have_their_lengths() {
        let name = |length| calendar_name_check("name", &"a".repeat(length)).is_ok();
        assert_eq!([0, 1, 100, 101].map(name), [false, true, true, false]);
        let description = |length| calendar_description_check("description", &"a".repeat(length)).is_ok();
        assert_eq!([0, 1_000, 1_001].map(description), [true, true, false]);
    }

    #[test]
    fn a_new_calendar_has_the_color_that_is_used_least() {
        use CalendarColor::{Blue, Gray, Orange, Teal};
        assert_eq!(CalendarColor::least_used(&[]), Blue);
        assert_eq!(CalendarColor::least_used(&[Blue, Teal]), Orange);
        let all_but_gray: Vec<_> = CalendarColor::ALL.iter().copied().filter(|&it| it != Gray).collect();
        assert_eq!(CalendarColor::least_used(&all_but_gray), Gray);
    }
}
