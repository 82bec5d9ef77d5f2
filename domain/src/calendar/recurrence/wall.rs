//! What a calendar and a clock on the wall show: days and seconds, without a zone.
//!
//! Plain numbers rather than a date of fields, because a rule jumps by periods: moving by a week or by 999 days is one
//! addition, and only what is looked at closer is taken apart into year, month and day.

use std::fmt;

/// Seconds of a day on the wall.
pub const DAY_SECONDS: i64 = 86_400;
/// Years that are read and expanded. What lies outside isn't written in four digits.
pub const YEARS: std::ops::RangeInclusive<i32> = 1..=9999;
/// Days before 1970-01-01 since 0000-03-01, on which the arithmetic of years begins.
const EPOCH_DAYS: i64 = 719_468;
/// Days of the 400 years after which the calendar repeats.
const ERA_DAYS: i64 = 146_097;

/// A day of the week; Monday is the first, as ISO counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Weekday {
    /// `MO`
    Monday,
    /// `TU`
    Tuesday,
    /// `WE`
    Wednesday,
    /// `TH`
    Thursday,
    /// `FR`
    Friday,
    /// `SA`
    Saturday,
    /// `SU`
    Sunday,
}

impl Weekday {
    /// From Monday on.
    pub const ALL: [Self; 7] =
        [Self::Monday, Self::Tuesday, Self::Wednesday, Self::Thursday, Self::Friday, Self::Saturday, Self::Sunday];
    const CODES: [&'static str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

    /// As RFC 5545 and the contract write it (`MO`).
    pub const fn code(self) -> &'static str {
        Self::CODES[self as usize]
    }

    /// The day that is written so, in any case.
    pub fn of_code(code: &str) -> Option<Self> {
        Self::CODES.iter().position(|it| it.eq_ignore_ascii_case(code)).map(|at| Self::ALL[at])
    }

    /// Days since Monday.
    pub(super) const fn index(self) -> i64 {
        self as i64
    }
}

/// A day: how many since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub i64);

/// Year, month and day of the month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    /// The year.
    pub year: i32,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
}

impl Day {
    /// The first day that is read.
    pub const MIN: Self = Self::of(*YEARS.start(), 1, 1);
    /// The last day that is read.
    pub const MAX: Self = Self::of(*YEARS.end(), 12, 31);

    /// This day of this month; a day that the month lacks runs on into the next.
    pub const fn of(year: i32, month: u32, day: u32) -> Self {
        // Years begin in March here, so that a leap day is the last of its year.
        let year = year as i64 - (month <= 2) as i64;
        let since_march = (month as i64 + 9) % 12;
        let day_of_year = (153 * since_march + 2) / 5 + day as i64 - 1;
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        Self(era * ERA_DAYS + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - EPOCH_DAYS)
    }

    /// This day of this month, where there is one in the years that are read.
    pub fn checked(year: i32, month: u32, day: u32) -> Option<Self> {
        let exists = YEARS.contains(&year) && (1..=12).contains(&month) && day >= 1 && day <= month_len(year, month);
        exists.then(|| Self::of(year, month, day))
    }

    /// Year, month and day of the month.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "months and days are small")]
    pub const fn civil(self) -> Civil {
        let shifted = self.0 + EPOCH_DAYS;
        let era = shifted.div_euclid(ERA_DAYS);
        let day_of_era = shifted.rem_euclid(ERA_DAYS);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / (ERA_DAYS - 1)) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let since_march = (5 * day_of_year + 2) / 153;
        let day = (day_of_year - (153 * since_march + 2) / 5 + 1) as u32;
        let month = (if since_march < 10 { since_march + 3 } else { since_march - 9 }) as u32;
        Civil { year: (era * 400 + year_of_era) as i32 + (month <= 2) as i32, month, day }
    }

    /// The day of the week.
    pub fn weekday(self) -> Weekday {
        // 1970-01-01 was a Thursday.
        Weekday::ALL[usize::try_from((self.0 + 3).rem_euclid(7)).unwrap_or(0)]
    }

    /// Midnight at its beginning.
    pub const fn midnight(self) -> Wall {
        Wall(self.0 * DAY_SECONDS)
    }
}

/// Days of the month `month` of `year`.
pub const fn month_len(year: i32, month: u32) -> u32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Whether the year has a 29th of February.
pub const fn is_leap(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days of the year `year`.
pub const fn year_len(year: i32) -> u32 {
    if is_leap(year) { 366 } else { 365 }
}

/// What the clock on the wall shows, to the second: seconds since 1970-01-01T00:00:00, as if each day had 86,400.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wall(pub i64);

impl Wall {
    /// The first second that is read.
    pub const MIN: Self = Day::MIN.midnight();
    /// The last second that is read.
    pub const MAX: Self = Day::MAX.last_second();

    /// The day.
    pub const fn day(self) -> Day {
        Day(self.0.div_euclid(DAY_SECONDS))
    }

    /// Seconds since midnight.
    #[expect(clippy::cast_possible_truncation, reason = "a day has 86,400 seconds")]
    pub const fn second_of_day(self) -> u32 {
        self.0.rem_euclid(DAY_SECONDS) as u32
    }

    /// This moved by `seconds`.
    #[must_use]
    pub const fn plus(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds))
    }
}

impl Day {
    /// One second before the next day.
    pub const fn last_second(self) -> Wall {
        Wall(self.0 * DAY_SECONDS + DAY_SECONDS - 1)
    }
}

/// `YYYY-MM-DD`
impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Civil { year, month, day } = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// `YYYY-MM-DDTHH:MM:SS`
impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let second = self.second_of_day();
        write!(f, "{}T{:02}:{:02}:{:02}", self.day(), second / 3600, second / 60 % 60, second % 60)
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(Day::of(1970, 1, 1), Day(0));
        assert_eq!(Day::of(2000, 2, 29).to_string(), "2000-02-29");
        assert_eq!(Day::checked(2100, 2, 29), None);
        assert_eq!(Day::checked(0, 1, 1), None);
        assert_eq!(Day::checked(9999, 12, 31), Some(Day::MAX));
        assert_eq!(Day::checked(10_000, 1, 1), None);
        assert_eq!(Day::MIN.to_string(), "0001-01-01");
        assert_eq!(Wall(-1).to_string(), "1969-12-31T23:59:59");
    }

    proptest! {
        #[test]
        fn days_are_those_of_another_calendar(year in 1..=9999_i16, month in 1..=12_i8, day in 1..=31_i8) {
            let day = day.min(date(year, month, 1).days_in_month());
            let theirs = date(year, month, day);
            let ours = Day::of(year.into(), month.unsigned_abs().into(), day.unsigned_abs().into());
            prop_assert_eq!(ours.to_string(), theirs.to_string());
            prop_assert_eq!(ours.weekday().index(), i64::from(theirs.weekday().to_monday_zero_offset()));
            prop_assert_eq!(ours.0, i64::from(theirs.since(date(1970, 1, 1)).unwrap().get_days()));
        }
    }
}
