//! Quiet hours by arithmetic of our own: two zones, the days on which their clocks change in 2026, nothing else.

use domain::Timestamp;

pub const MINUTE: i64 = 60_000;
pub const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;

/// A place where clocks change.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub zone: &'static str,
    standard: i64,
    /// When its clocks go forward, and back again.
    pub summer: (Timestamp, Timestamp),
}

/// 2026-03-29 01:00 and 2026-10-25 01:00 UTC.
pub const VIENNA: Place = Place {
    zone: "Europe/Vienna",
    standard: HOUR,
    summer: (Timestamp(1_774_746_000_000), Timestamp(1_792_890_000_000)),
};
/// 2026-03-08 07:00 and 2026-11-01 06:00 UTC.
pub const NEW_YORK: Place = Place {
    zone: "America/New_York",
    standard: -5 * HOUR,
    summer: (Timestamp(1_772_953_200_000), Timestamp(1_793_512_800_000)),
};

/// Quiet hours from one minute of the day to another, on some days of the week.
#[derive(Clone, Copy, Debug)]
pub struct Quiet {
    pub place: Place,
    pub start: i64,
    pub end: i64,
    pub days: Option<&'static [i64]>,
    pub allow_urgent: bool,
}

impl Place {
    fn offset(self, at: i64) -> i64 {
        let is_summer = (self.summer.0.0..self.summer.1.0).contains(&at);
        self.standard + if is_summer { HOUR } else { 0 }
    }

    /// When the clock shows this first; late by the hour that is skipped when it never does.
    fn instant(self, local: i64) -> i64 {
        let (summer, winter) = (local - self.standard - HOUR, local - self.standard);
        if self.offset(summer) == self.standard + HOUR { summer } else { winter }
    }
}

impl Quiet {
    /// When the quiet that `at` is in ends.
    pub fn until(self, at: Timestamp) -> Option<Timestamp> {
        let mut end = self.period(at.0)?;
        while let Some(later) = self.period(end) {
            end = later;
        }
        Some(Timestamp(end))
    }

    fn period(self, at: i64) -> Option<i64> {
        let today = (at + self.place.offset(at)).div_euclid(DAY);
        let mut ends = (today - 2..=today + 1).filter_map(|day| {
            // The first of January 1970 was a Thursday.
            let is_meant = self.days.is_none_or(|days| days.contains(&(day + 4).rem_euclid(7)));
            let start = self.place.instant(day * DAY + self.start * MINUTE);
            let days = if self.end <= self.start { day + 1 } else { day };
            let end = self.place.instant(days * DAY + self.end * MINUTE);
            (is_meant && (start..end).contains(&at)).then_some(end)
        });
        ends.next()
    }
}

#[test]
fn clocks_change_when_they_do() {
    let night = Quiet { place: VIENNA, start: 22 * 60, end: 7 * 60, days: None, allow_urgent: false };
    // The night to the 29th of March: 21:00 UTC to 05:00 UTC, an hour shorter than others.
    let (before, after) = (Timestamp(1_774_731_600_000), Timestamp(1_774_760_400_000));
    assert_eq!(night.until(Timestamp(before.0 - 1)), None);
    assert_eq!(night.until(before), Some(after));
    assert_eq!(night.until(after), None);
}
