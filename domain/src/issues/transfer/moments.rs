//! Days and moments of files: as ISO 8601 and Jira write them.

use std::str::FromStr;

use jiff::{
    civil::{Date, DateTime},
    fmt::strtime::BrokenDownTime,
};

use crate::{
    Timestamp,
    notify::{TimeOfDay, Zone},
};

/// Moments before this are milliseconds of nobody's file: the year 3000.
const MILLISECONDS: std::ops::Range<i64> = 100_000_000_000..32_503_680_000_000;

/// What Jira writes in the languages of English speakers, and spreadsheets after it.
const FORMATS: [&str; 8] = [
    "%d/%b/%y %I:%M %p",
    "%d/%b/%Y %I:%M %p",
    "%d/%b/%y %H:%M",
    "%d/%b/%Y %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d %H:%M",
    "%Y-%m-%d %H:%M",
    "%d.%m.%Y %H:%M",
];
const DAYS: [&str; 4] = ["%d/%b/%y", "%d/%b/%Y", "%Y/%m/%d", "%d.%m.%Y"];

/// The moment that a text names; one without a zone is read in the reader's, a day alone is its beginning.
pub fn read_moment(text: &str, zone: &Zone) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(millis) = text.parse::<i64>() {
        return MILLISECONDS.contains(&millis).then_some(Timestamp(millis));
    }
    if let Ok(at) = jiff::Timestamp::from_str(text) {
        return fitting(at);
    }
    // Jira's interface writes the offset without a colon.
    if let Ok(at) = jiff::Timestamp::strptime("%Y-%m-%dT%H:%M:%S%.f%z", text) {
        return fitting(at);
    }
    let local = DateTime::from_str(text).ok().or_else(|| {
        let read = |format: &&str| BrokenDownTime::parse(format, text).ok()?.to_datetime().ok();
        FORMATS.iter().find_map(read)
    });
    if let Some(local) = local {
        let time = TimeOfDay::new(local.hour().unsigned_abs().into(), local.minute().unsigned_abs().into())?;
        return fitting_millis(zone.instant(local.date(), time).0.saturating_add(i64::from(local.second()) * 1_000));
    }
    fitting_millis(zone.instant(day(text)?, TimeOfDay::MIDNIGHT).0)
}

/// The day that a text names, as `YYYY-MM-DD`; a moment is the day that it falls on in the reader's zone.
pub fn read_day(text: &str, zone: &Zone) -> Option<String> {
    let text = text.trim();
    let date = day(text).or_else(|| read_moment(text, zone).map(|at| zone.local(at).0))?;
    (0..=9999).contains(&date.year()).then(|| date.to_string())
}

/// A moment as files hold it.
pub fn written_moment(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.0).map(|at| at.to_string()).unwrap_or_default()
}

fn day(text: &str) -> Option<Date> {
    let plain = if text.len() == 10 { Date::from_str(text).ok() } else { None };
    plain.or_else(|| DAYS.iter().find_map(|format| BrokenDownTime::parse(format, text).ok()?.to_date().ok()))
}

fn fitting(at: jiff::Timestamp) -> Option<Timestamp> {
    fitting_millis(at.as_millisecond())
}

/// Ids are made of moments, which begin with 1970.
fn fitting_millis(millis: i64) -> Option<Timestamp> {
    (0..MILLISECONDS.end).contains(&millis).then_some(Timestamp(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_their_programs_write_them() {
        let vienna = Zone::find("Europe/Vienna").expect("a zone");
        for text in [
            "2024-03-04T09:15:00Z",
            "2024-03-04T10:15:00+01:00",
            "2024-03-04T10:15:00.000+0100",
            "2024-03-04T10:15:00",
            "2024-03-04 10:15",
            "04/Mar/24 10:15 AM",
            " 04/Mar/2024 10:15 ",
            "04.03.2024 10:15",
            "1709543700000",
        ] {
            assert_eq!(read_moment(text, &vienna), Some(Timestamp(1_709_543_700_000)), "{text}");
        }
        assert_eq!(read_moment("2024-03-04", &vienna), Some(Timestamp(1_709_506_800_000)));
        assert_eq!(read_moment("2024-03-04T10:15:30", &vienna), Some(Timestamp(1_709_543_730_000)));
        for wrong in ["", "soon", "2024-13-01", "5", "1889-01-01T00:00:00Z", "9999-01-01"] {
            assert_eq!(read_moment(wrong, &vienna), None, "{wrong}");
        }
        assert_eq!(
            read_moment(&written_moment(Timestamp(1_709_543_700_123)), &vienna),
            Some(Timestamp(1_709_543_700_123))
        );
    }

    #[test]
    fn a_day_is_that_of_the_readers_zone() {
        let vienna = Zone::find("Europe/Vienna").expect("a zone");
        for text in ["2024-03-04", "04/Mar/24", "04/Mar/24 12:00 AM", "2024-03-03T23:30:00Z", "04.03.2024"] {
            assert_eq!(read_day(text, &vienna).as_deref(), Some("2024-03-04"), "{text}");
        }
        assert_eq!(read_day("2024-02-30", &vienna), None);
    }
}
