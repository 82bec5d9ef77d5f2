//! Dates, spans of time and the functions of both.

use jiff::{ToSpan, civil::Weekday};

use crate::{
    Timestamp,
    notify::{Date, TimeOfDay, Zone},
};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// Whose now, and where.
#[derive(Clone, Debug)]
pub struct Clock {
    /// The instant at which the query runs.
    pub now: Timestamp,
    /// The zone in which days begin.
    pub zone: Zone,
}

/// A unit of relative dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
}

/// Which end of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    Start,
    End,
}

impl Unit {
    fn read(letter: char) -> Option<Self> {
        Some(match letter {
            'y' | 'Y' => Self::Year,
            'M' => Self::Month,
            'w' | 'W' => Self::Week,
            'd' | 'D' => Self::Day,
            'h' | 'H' => Self::Hour,
            'm' => Self::Minute,
            _ => return None,
        })
    }
}

/// Numbers larger than this are no counts of anything in a date.
const COUNT_MAX: i64 = 100_000;

/// Counts of units, all of them earlier or all later: `-5d`, `+4w 2d`.
fn relative(text: &str) -> Option<Vec<(i64, Unit)>> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut parts = Vec::new();
    for part in rest.split_whitespace() {
        let unit = Unit::read(part.chars().next_back()?)?;
        parts.push((sign * count(&part[..part.len() - 1])?, unit));
    }
    (!parts.is_empty()).then_some(parts)
}

fn count(digits: &str) -> Option<i64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten().filter(|count| *count <= COUNT_MAX)
}

impl Clock {
    /// The instant that a text names: a day (its beginning), a day with a time, or so much before or after now.
    pub fn moment(&self, text: &str) -> Option<Timestamp> {
        let text = text.trim();
        if let Some(parts) = relative(text) {
            return parts.into_iter().try_fold(self.now, |at, (count, unit)| self.later(at, count, unit));
        }
        let (day, time) = text.split_once(' ').unwrap_or((text, "00:00"));
        Some(self.zone.instant(date(day)?, time_of_day(time)?))
    }

    /// An instant so many units later, as calendars count: the same time of another day, but for hours and minutes.
    pub(super) fn later(&self, at: Timestamp, count: i64, unit: Unit) -> Option<Timestamp> {
        let exact = match unit {
            Unit::Hour => HOUR,
            Unit::Minute => MINUTE,
            _ => 0,
        };
        if exact > 0 {
            return Some(Timestamp(at.0.checked_add(count.checked_mul(exact)?)?));
        }
        let (date, time) = self.zone.local(at);
        let moved = later_day(date, count, unit)?;
        Some(Timestamp(self.zone.instant(moved, time).0.checked_add(at.0.rem_euclid(MINUTE))?))
    }

    /// What `startOf…` and `endOf…` answer: the beginning of this period, moved by the increment; or the last millisecond before
    /// the next one begins.
    pub(super) fn edge(&self, period: Unit, increment: Option<&str>, edge: Edge) -> Option<Timestamp> {
        let (today, _) = self.zone.local(self.now);
        let first = match period {
            Unit::Year => Date::new(today.year(), 1, 1).ok()?,
            Unit::Month => today.first_of_month(),
            Unit::Week => today
                .nth_weekday(-1, Weekday::Monday)
                .ok()
                .filter(|_| today.weekday() != Weekday::Monday)
                .unwrap_or(today),
            _ => today,
        };
        let mut start = self.zone.instant(first, TimeOfDay::MIDNIGHT);
        if let Some(text) = increment {
            let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
            let parts = match count(digits) {
                Some(count) => vec![(if text.starts_with('-') { -count } else { count }, period)],
                None => relative(text)?,
            };
            start = parts.into_iter().try_fold(start, |at, (count, unit)| self.later(at, count, unit))?;
        }
        if edge == Edge::Start {
            return Some(start);
        }
        Some(Timestamp(self.later(start, 1, period)?.0 - 1))
    }

    /// The day that an instant falls on, as its number since 1970.
    pub fn day_number(&self, at: Timestamp) -> i64 {
        day_number(self.zone.local(at).0)
    }

    /// The first instant of the day that an instant falls on, and that of the day after.
    pub(super) fn day_around(&self, at: Timestamp) -> (Timestamp, Timestamp) {
        let (date, _) = self.zone.local(at);
        let next = later_day(date, 1, Unit::Day).unwrap_or(date);
        (self.zone.instant(date, TimeOfDay::MIDNIGHT), self.zone.instant(next, TimeOfDay::MIDNIGHT))
    }
}

/// A day's number since 1970.
pub fn day_number(date: Date) -> i64 {
    let epoch = Date::constant(1970, 1, 1);
    epoch.until(date).map_or(0, |span| i64::from(span.get_days()))
}

/// The day of a number since 1970; nothing for one that no calendar has.
pub fn numbered_day(number: i64) -> Option<Date> {
    later_day(Date::constant(1970, 1, 1), number, Unit::Day)
}

fn later_day(date: Date, count: i64, unit: Unit) -> Option<Date> {
    let span = match unit {
        Unit::Year => jiff::Span::new().try_years(count).ok()?,
        Unit::Month => jiff::Span::new().try_months(count).ok()?,
        Unit::Week => jiff::Span::new().try_weeks(count).ok()?,
        _ => jiff::Span::new().try_days(count).ok()?,
    };
    // Days beyond these are no days of anybody's.
    let moved = date.checked_add(span).ok()?;
    let last = Date::constant(9999, 12, 31).checked_sub(1.year()).ok()?;
    (moved.year() > -9999 && moved < last).then_some(moved)
}

/// `2026-01-31` or `2026/1/31`.
fn date(text: &str) -> Option<Date> {
    let separator = if text.contains('/') { '/' } else { '-' };
    let parts: Vec<i64> = text.split(separator).map(count).collect::<Option<_>>()?;
    let [year, month, day] = parts[..] else { return None };
    if !(1..=9998).contains(&year) {
        return None;
    }
    Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

fn time_of_day(text: &str) -> Option<TimeOfDay> {
    let (hour, minute) = text.trim().split_once(':')?;
    TimeOfDay::new(u16::try_from(count(hour)?).ok()?, u16::try_from(count(minute)?).ok()?)
}

/// Seconds of work: `1w 2d 3h 30m`, or minutes.
pub fn duration(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    if let Some(minutes) = count(digits) {
        return Some(if text.starts_with('-') { -minutes * 60 } else { minutes * 60 });
    }
    relative(text)?.into_iter().try_fold(0, |sum, (count, unit)| {
        let seconds = match unit {
            Unit::Week => 5 * 8 * 3_600,
            Unit::Day => 8 * 3_600,
            Unit::Hour => 3_600,
            Unit::Minute => 60,
            _ => return None,
        };
        Some(sum + count * seconds)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(zone: &str, now: &str) -> Clock {
        Clock { now: at(now), zone: Zone::find(zone).expect("a zone") }
    }

    fn at(text: &str) -> Timestamp {
        Timestamp(text.parse::<jiff::Timestamp>().expect("an instant").as_millisecond())
    }

    #[test]
    fn dates_are_read_in_the_persons_zone() {
        let vienna = clock("Europe/Vienna", "2026-03-29T10:20:30.456Z");
        for (text, expected) in [
            ("2026-01-31", "2026-01-30T23:00:00Z"),
            ("2026/1/31 09:05", "2026-01-31T08:05:00Z"),
            ("-1d", "2026-03-28T11:20:30.456Z"),
            ("+1w 2d", "2026-04-07T10:20:30.456Z"),
            ("-3h", "2026-03-29T07:20:30.456Z"),
            ("-1M", "2026-02-28T11:20:30.456Z"),
            ("90m", "2026-03-29T11:50:30.456Z"),
        ] {
            assert_eq!(vienna.moment(text), Some(at(expected)), "{text}");
        }
        for text in
            ["", "2026-02-30", "31.1.2026", "5", "-", "-d", "2026-01-31 25:00", "1x", "999999999y", "9999-12-31"]
        {
            assert_eq!(vienna.moment(text), None, "{text}");
        }
    }

    #[test]
    fn periods_begin_in_the_persons_zone_and_weeks_on_mondays() {
        let clock = clock("Europe/Vienna", "2026-03-29T10:20:30Z");
        for (period, increment, edge, expected) in [
            (Unit::Day, None, Edge::Start, "2026-03-28T23:00:00Z"),
            (Unit::Day, None, Edge::End, "2026-03-29T21:59:59.999Z"),
            (Unit::Day, Some("-1"), Edge::Start, "2026-03-27T23:00:00Z"),
            (Unit::Week, None, Edge::Start, "2026-03-22T23:00:00Z"),
            (Unit::Week, Some("+1"), Edge::Start, "2026-03-29T22:00:00Z"),
            (Unit::Month, Some("14d"), Edge::Start, "2026-03-14T23:00:00Z"),
            (Unit::Month, Some("-1"), Edge::End, "2026-02-28T22:59:59.999Z"),
            (Unit::Year, Some("-1M"), Edge::Start, "2025-11-30T23:00:00Z"),
            (Unit::Year, None, Edge::End, "2026-12-31T22:59:59.999Z"),
        ] {
            assert_eq!(clock.edge(period, increment, edge), Some(at(expected)), "{period:?} {increment:?}");
        }
        assert_eq!(clock.edge(Unit::Day, Some("x"), Edge::Start), None);
    }

    #[test]
    fn durations_are_of_working_days() {
        assert_eq!(duration("1w 1d 1h 1m"), Some(40 * 3_600 + 8 * 3_600 + 3_600 + 60));
        assert_eq!(duration("90"), Some(5_400));
        assert_eq!((duration("1y"), duration("x"), duration("")), (None, None, None));
    }
}
