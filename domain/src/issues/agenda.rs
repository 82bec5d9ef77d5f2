//! The agenda: what is due, begins, ends or is released on the days of a window (contract B 4.1).

use super::limits::AGENDA_WINDOW;
use crate::{Error, Result, Timestamp, notify::Date};

/// Days from the first day of a window to its last.
pub const WINDOW_DAYS_MAX: i32 = 100;
/// Minutes that a clock may be ahead of universal time, or behind it.
pub const OFFSET_MINUTES_MAX: i64 = 840;
/// Entries that are answered.
pub const ENTRIES_MAX: usize = 5_000;

/// The days that are asked for, and where they begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first day.
    pub from: Date,
    /// The last day.
    pub to: Date,
    /// Minutes east of universal time.
    offset: i64,
}

impl Window {
    /// Reads a window.
    pub fn read(from: &str, to: &str, offset: i64) -> Result<Self> {
        let day = |path: &str, text: &str| {
            let date = if text.len() == 10 { text.parse::<Date>().ok() } else { None };
            date.ok_or_else(|| Error::invalid(path, "Write the day as YYYY-MM-DD."))
        };
        let window = Self { from: day("from", from)?, to: day("to", to)?, offset };
        if !(-OFFSET_MINUTES_MAX..=OFFSET_MINUTES_MAX).contains(&offset) {
            let message = format!("Give the minutes from -{OFFSET_MINUTES_MAX} to {OFFSET_MINUTES_MAX}.");
            return Err(Error::invalid("tzOffset", message));
        }
        let days = window.from.until(window.to).map_or(-1, |span| span.get_days());
        if !(0..=WINDOW_DAYS_MAX).contains(&days) {
            return Err(Error::invalid("to", AGENDA_WINDOW));
        }
        Ok(window)
    }

    /// The day on which a sprint or a release stands in the agenda, where that is within the window.
    pub fn day_of(self, at: Timestamp) -> Option<Date> {
        let local = jiff::Timestamp::from_millisecond(at.0.checked_add(self.offset * 60_000)?).ok()?;
        Some(local.to_zoned(jiff::tz::TimeZone::UTC).date()).filter(|day| self.has(*day))
    }

    /// Whether a day is within the window.
    pub fn has(self, day: Date) -> bool {
        (self.from..=self.to).contains(&day)
    }

    /// The instants between which the days lie: the first, and the one behind the last.
    pub fn instants(self) -> (Timestamp, Timestamp) {
        const DAY: i64 = 86_400_000;
        let start = |day: Date| super::jql::meaning::day_number(day) * DAY - self.offset * 60_000;
        (Timestamp(start(self.from)), Timestamp(start(self.to) + DAY))
    }
}

/// What an entry is about, in the order in which a day lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is what it is called")]
pub enum EntryKind {
    SprintStart,
    Start,
    Due,
    Release,
    SprintEnd,
}

/// Puts entries into their order, by day, kind and then what they are called, and takes as many as are answered. Says whether some
/// are left out.
pub fn listed<T>(mut entries: Vec<T>, order: impl Fn(&T) -> (Date, EntryKind, String)) -> (Vec<T>, bool) {
    entries.sort_by_cached_key(order);
    let is_truncated = entries.len() > ENTRIES_MAX;
    entries.truncate(ENTRIES_MAX);
    (entries, is_truncated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Date {
        text.parse().expect("a day")
    }

    #[test]
    fn a_window_has_at_most_a_hundred_days_between_its_ends() {
        let read = |to: &str| Window::read("2026-01-01", to, 0).is_ok();
        assert!(read("2026-04-10") && read("2026-04-11") && !read("2026-04-12"));
        assert!(read("2026-01-01") && !read("2025-12-31"));
        for wrong in ["2026-1-1", "2026-02-30", "", "20260101xx"] {
            assert!(!read(wrong), "{wrong}");
        }
        let offset = |offset| Window::read("2026-01-01", "2026-01-02", offset).is_ok();
        assert!(offset(-840) && offset(840) && !offset(-841) && !offset(841));
    }

    #[test]
    fn instants_fall_on_days_by_the_offset() {
        let window = Window::read("2026-01-01", "2026-01-02", 60).expect("a window");
        let at = |text: &str| Timestamp(text.parse::<jiff::Timestamp>().expect("an instant").as_millisecond());
        assert_eq!(window.instants(), (at("2025-12-31T23:00:00Z"), at("2026-01-02T23:00:00Z")));
        assert_eq!(window.day_of(at("2025-12-31T23:00:00Z")), Some(day("2026-01-01")));
        assert_eq!(window.day_of(at("2025-12-31T22:59:59Z")), None);
        assert_eq!(window.day_of(at("2026-01-02T23:00:00Z")), None);
    }

    #[test]
    fn days_list_their_entries_in_one_order_and_not_too_many() {
        let entries = vec![("b", EntryKind::Due), ("a", EntryKind::Due), ("c", EntryKind::Start)];
        let (names, is_truncated) = listed(entries, |(name, kind)| (day("2026-01-01"), *kind, (*name).to_owned()));
        assert_eq!((names.iter().map(|(name, _)| *name).collect::<String>(), is_truncated), ("cab".to_owned(), false));
        let many = |count| listed(vec![0; count], |_| (day("2026-01-01"), EntryKind::Due, String::new())).1;
        assert!(!many(ENTRIES_MAX - 1) && !many(ENTRIES_MAX) && many(ENTRIES_MAX + 1));
    }
}
