//! Dates as values: a day, or a day with a time of day.

use jiff::{
    Timestamp,
    civil::{Date, DateTime, Time},
    tz::TimeZone,
};

/// Characters of the longest way of writing a date, with nanoseconds and an offset.
const TEXT_LEN_MAX: usize = 35;
/// Characters of a day.
const DAY_LEN: usize = 10;

/// `YYYY-MM-DD`, or `YYYY-MM-DDTHH:MM` with or without seconds, fractions of them, and an offset. A time with an offset is
/// kept as UTC's, one without stands for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub day: Date,
    pub time: Option<Time>,
}

impl Moment {
    /// Reads a date; nothing for what is none.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let shape = (DAY_LEN..=TEXT_LEN_MAX).contains(&bytes.len()) && bytes[4] == b'-' && bytes[7] == b'-';
        if !shape || !bytes[0].is_ascii_digit() || text.contains('[') {
            return None;
        }
        if bytes.len() == DAY_LEN {
            return Some(Self { day: text.parse().ok()?, time: None });
        }
        if bytes[DAY_LEN] != b'T' {
            return None;
        }
        let moment = match text.parse::<Timestamp>() {
            Ok(instant) => TimeZone::UTC.to_datetime(instant),
            Err(_) => text.parse::<DateTime>().ok()?,
        };
        Some(Self { day: moment.date(), time: Some(moment.time()) })
    }

    /// The moment at which somebody's clock in UTC shows `millis` since the Unix epoch.
    pub fn of_millis(millis: i64) -> Option<Self> {
        let moment = TimeZone::UTC.to_datetime(Timestamp::from_millisecond(millis).ok()?);
        Some(Self { day: moment.date(), time: Some(moment.time()) })
    }

    /// Before, at, or after `other`. Where one of them is a whole day, whole days are compared.
    pub fn against(self, other: Self) -> std::cmp::Ordering {
        let days = self.day.cmp(&other.day);
        match (self.time, other.time) {
            (Some(time), Some(others)) => days.then(time.cmp(&others)),
            _ => days,
        }
    }

    /// Text that sorts as the moments do, a whole day before the times on it.
    pub fn sortable(self) -> String {
        self.time.map_or_else(|| self.day.to_string(), |time| format!("{}T{time}", self.day))
    }
}
