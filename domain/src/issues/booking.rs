//! Booking time for an issue in a calendar (contract B 4.1).

use crate::{
    Result,
    calendar::{EventDraft, EventFields},
    id::EventId,
    problems::Problems,
};

/// Characters of a booking's title (contract B 4.1).
pub const BOOKING_TITLE_LEN_MAX: usize = 500;
/// Characters of the ids of mailbox and calendar (contract B 4.1).
pub const BOOKING_ID_LEN_MAX: usize = 64;
/// Characters of a zone's name (contract B 4.1).
pub const BOOKING_ZONE_LEN: std::ops::RangeInclusive<usize> = 1..=64;
/// The message of the 403 for keys.
pub const BOOKING_FOR_PEOPLE: &str = "Calendars are for people.";

/// Time that is to be booked, as it was sent.
#[derive(Clone, Debug)]
pub struct BookingFields {
    /// When it begins, on the wall of its zone.
    pub start: String,
    /// When it ends.
    pub end: String,
    /// The zone.
    pub time_zone: String,
    /// Whether it is of whole days.
    pub all_day: bool,
    /// What it is called; the key and summary where nothing is said.
    pub title: Option<String>,
}

impl BookingFields {
    /// The event, which links back to the issue. Nobody is invited to it.
    pub fn event(self, (key, summary): (&str, &str), url: String) -> Result<EventDraft> {
        let title = self.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
        let title = title.map_or_else(|| format!("{key} {summary}"), str::to_owned);
        let mut problems = Problems::new();
        let fits = title.chars().count() <= BOOKING_TITLE_LEN_MAX && !title.contains('\0');
        problems.require(fits, "title", "Use at most 500 characters.");
        let length = self.time_zone.chars().count();
        problems.require(BOOKING_ZONE_LEN.contains(&length), "timeZone", "Use 1 to 64 characters.");
        for (path, text) in [("start", &self.start), ("end", &self.end)] {
            problems.require(is_written(text), path, "Write YYYY-MM-DD or YYYY-MM-DDTHH:MM.");
        }
        problems.into_result()?;
        let fields = EventFields {
            summary: title,
            all_day: self.all_day,
            start: self.start,
            end: self.end,
            time_zone: self.time_zone,
            url: Some(url),
            ..EventFields::default()
        };
        fields.check()
    }
}

/// Whether a time has the form that the contract names: a day, or a day with hour and minute.
fn is_written(text: &str) -> bool {
    let fits = |pattern: &str| {
        text.len() == pattern.len()
            && text.bytes().zip(pattern.bytes()).all(|(byte, sign)| match sign {
                b'0' => byte.is_ascii_digit(),
                _ => byte == sign,
            })
    };
    fits("0000-00-00") || fits("0000-00-00T00:00")
}

/// The id of the link between an issue and the event that was booked for it. The event holds the link (its `url`), so the two
/// come and go together, and the link is named like the event.
pub fn booking_link(event: EventId) -> String {
    let event = event.to_string();
    format!("ibk_{}", event.split_once('_').map_or(event.as_str(), |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn booking(start: &str, end: &str) -> BookingFields {
        let (start, end) = (start.to_owned(), end.to_owned());
        BookingFields { start, end, time_zone: "Europe/Vienna".to_owned(), all_day: false, title: None }
    }

    #[test]
    fn times_are_days_or_days_with_hour_and_minute() {
        for fine in ["2026-01-31", "2026-01-31T09:30"] {
            assert!(is_written(fine), "{fine}");
        }
        for wrong in ["2026-1-31", "2026-01-31T09:30:00", "2026-01-31 09:30", "2026-01-31T09:30Z", "", "２026-01-31"] {
            assert!(!is_written(wrong), "{wrong}");
        }
    }

    #[test]
    fn the_title_is_key_and_summary_unless_another_is_given() {
        let made = |title: Option<&str>| {
            let fields =
                BookingFields { title: title.map(str::to_owned), ..booking("2026-01-31T09:30", "2026-01-31T10:30") };
            fields.event(("WEB-1", "Fire"), "https://example.org/issues/WEB-1".to_owned()).map(|event| event.summary)
        };
        assert_eq!(made(None).ok().as_deref(), Some("WEB-1 Fire"));
        assert_eq!(made(Some("  ")).ok().as_deref(), Some("WEB-1 Fire"));
        assert_eq!(made(Some(" Put it out ")).ok().as_deref(), Some("Put it out"));
        for (length, fits) in [(499, true), (500, true), (501, false)] {
            assert_eq!(made(Some(&"x".repeat(length))).is_ok(), fits, "{length}");
        }
    }

    #[test]
    fn a_link_is_named_like_its_event() {
        let id: EventId = "evt_01jd7rt4m5e9fv2w8x3c6k0hqz".parse().expect("an id");
        assert_eq!(booking_link(id), "ibk_01jd7rt4m5e9fv2w8x3c6k0hqz");
    }
}
