//! Time zones: what a clock on the wall says, and back. From a zone database, so that daylight saving is right on every day.

use std::sync::LazyLock;

pub use jiff::civil::Date;
use jiff::{
    civil::{DateTime, Time},
    tz::{TimeZone, TimeZoneDatabase},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Error, Result, Timestamp};

/// Characters of a time zone's name (contract A 4.3).
pub const ZONE_LEN: std::ops::RangeInclusive<usize> = 1..=64;

/// Compiled in: all nodes read the same rules, and none reads a disk for it.
static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// A time zone of the IANA's database, such as `Europe/Vienna`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    /// Universal time, for whoever chose nothing.
    pub const UTC: Self = Self(TimeZone::UTC);

    /// The zone of this name. Names are read in any case and kept in the database's.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        Self::find(text).ok_or_else(|| Error::invalid(path, "This isn't a time zone such as Europe/Vienna."))
    }

    /// The zone of this name, where there is one.
    pub fn find(text: &str) -> Option<Self> {
        ZONE_LEN.contains(&text.len()).then(|| DATABASE.get(text).ok().map(Self)).flatten()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// The zone with all its clock changes.
    pub(crate) const fn rules(&self) -> &TimeZone {
        &self.0
    }

    /// The day and the time of day there at `at`.
    pub fn local(&self, at: Timestamp) -> (Date, TimeOfDay) {
        let local = self.0.to_datetime(instant(at));
        (local.date(), TimeOfDay::of(local.time()))
    }

    /// How many milliseconds the clock there is ahead of universal time at `at`, and the instant at which that changes.
    pub fn offset(&self, at: Timestamp) -> (i64, Option<Timestamp>) {
        let at = instant(at);
        let next = self.0.following(at).next().map(|change| Timestamp(change.timestamp().as_millisecond()));
        (i64::from(self.0.to_offset(at).seconds()) * 1_000, next)
    }

    /// The instant at which the clock there shows `time` on `date`.
    ///
    /// A time that is skipped when clocks go forward counts as late by what was skipped, one that is shown twice means
    /// the first.
    pub fn instant(&self, date: Date, time: TimeOfDay) -> Timestamp {
        let local = DateTime::from_parts(date, time.time());
        let instant = self.0.to_ambiguous_zoned(local).compatible().map(|zoned| zoned.timestamp().as_millisecond());
        // Only days at the ends of jiff's calendar, in the years -9999 and 9999, have no instant.
        instant.map_or(if date.year() < 0 { Timestamp(i64::MIN) } else { Timestamp(i64::MAX) }, Timestamp)
    }
}

fn instant(at: Timestamp) -> jiff::Timestamp {
    let end = if at.0 < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    jiff::Timestamp::from_millisecond(at.0).unwrap_or(end)
}

impl Default for Zone {
    fn default() -> Self {
        Self::UTC
    }
}

impl Serialize for Zone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Zone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::find(&text).ok_or_else(|| serde::de::Error::custom("expected a time zone such as Europe/Vienna"))
    }
}

/// A minute of the day. In JSON it is `HH:MM`, of 24 hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay(u16);

impl TimeOfDay {
    /// The start of the day.
    pub const MIDNIGHT: Self = Self(0);

    /// This minute of this hour, where a clock shows it.
    pub const fn new(hour: u16, minute: u16) -> Option<Self> {
        if hour < 24 && minute < 60 { Some(Self(hour * 60 + minute)) } else { None }
    }

    /// Reads `HH:MM`.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        Self::find(text).ok_or_else(|| Error::invalid(path, "Write the time as HH:MM, from 00:00 to 23:59."))
    }

    fn find(text: &str) -> Option<Self> {
        let two = |digits: &str| -> Option<u16> {
            let fits = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
            fits.then(|| digits.parse().ok()).flatten()
        };
        let (hour, minute) = text.split_once(':')?;
        Self::new(two(hour)?, two(minute)?)
    }

    /// Minutes since the start of the day.
    pub const fn minutes(self) -> u16 {
        self.0
    }

    fn of(time: Time) -> Self {
        Self(u16::try_from(i16::from(time.hour()) * 60 + i16::from(time.minute())).unwrap_or(0))
    }

    fn time(self) -> Time {
        let part = |minutes: u16| i8::try_from(minutes).unwrap_or(0);
        Time::new(part(self.0 / 60), part(self.0 % 60), 0, 0).unwrap_or(Time::midnight())
    }
}

impl std::fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl Serialize for TimeOfDay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TimeOfDay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::find(&text).ok_or_else(|| serde::de::Error::custom("expected a time as HH:MM, from 00:00 to 23:59"))
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn vienna() -> Zone {
        Zone::find("Europe/Vienna").unwrap()
    }

    fn time(text: &str) -> TimeOfDay {
        TimeOfDay::parse("start", text).unwrap()
    }

    fn at(text: &str) -> Timestamp {
        Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }

    #[test]
    fn zones_are_found_by_name_in_any_case() {
        assert_eq!(Zone::find("europe/vienna").unwrap().name(), "Europe/Vienna");
        assert_eq!(Zone::find("UTC"), Some(Zone::UTC));
        assert_eq!(Zone::default().name(), "UTC");
        for text in ["", "Europe", "Europe/Atlantis", "../../etc/passwd", "+01:00", &"A".repeat(65)] {
            assert_eq!(Zone::find(text), None, "{text}");
        }
    }

    #[test]
    fn times_of_day_are_read_strictly() {
        assert_eq!(time("00:00"), TimeOfDay::MIDNIGHT);
        assert_eq!(time("23:59").minutes(), 1439);
        assert_eq!(time("07:05").to_string(), "07:05");
        for text in ["", "7:05", "24:00", "12:60", "12:5", "12:005", " 12:05", "+1:05", "12.05", "１２:05"] {
            assert!(TimeOfDay::parse("start", text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_time_that_is_skipped_is_late_by_what_was_skipped() {
        assert_eq!(vienna().instant(date(2026, 3, 29), time("02:30")), at("2026-03-29T01:30:00Z"));
        assert_eq!(vienna().local(at("2026-03-29T01:30:00Z")), (date(2026, 3, 29), time("03:30")));
    }

    #[test]
    fn a_time_that_is_shown_twice_means_the_first() {
        assert_eq!(vienna().instant(date(2026, 10, 25), time("02:30")), at("2026-10-25T00:30:00Z"));
        for utc in ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"] {
            assert_eq!(vienna().local(at(utc)), (date(2026, 10, 25), time("02:30")));
        }
    }

    #[test]
    fn the_ends_of_time_do_no_harm() {
        for end in [Timestamp(i64::MIN), Timestamp(i64::MAX), Timestamp(0)] {
            let (date, time) = vienna().local(end);
            vienna().instant(date, time);
        }
    }
}
