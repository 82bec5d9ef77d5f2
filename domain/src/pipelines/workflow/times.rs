//! When schedules start runs.
//!
//! Days are those of Vixie's cron: where neither the day of the month nor that of the week begins with `*`, one of them is enough.
//! What a zone's clock leaves out is made up for when the clock goes on; what it shows twice counts once, unless every hour is meant.

use std::time::Duration;

use jiff::{
    civil::Date,
    tz::{AmbiguousOffset, Offset, TimeZone},
};

use super::{Schedule, cron::FIELDS};
use crate::Timestamp;

/// How late a schedule still starts its run.
pub const LATE_MAX: Duration = Duration::from_hours(1);
/// Time between two starts of a schedule, at least.
const INTERVAL_MIN: Duration = Duration::from_mins(5);
/// Days that are looked through: a 29th of February that is a certain weekday comes within 40 years.
const DAYS_MAX: u32 = 40 * 366;
const ALL_HOURS: u64 = (1 << 24) - 1;

/// The times of a schedule.
#[derive(Clone, Debug)]
pub struct ScheduleTimes {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether a day has to be one of both kinds.
    needs_both_days: bool,
    zone: TimeZone,
}

impl ScheduleTimes {
    /// Reads a schedule as it stands in a file that has no errors; none of one that means nothing.
    pub fn of(schedule: &Schedule) -> Option<Self> {
        if !super::cron::is_valid(&schedule.cron) {
            return None;
        }
        let parts: Vec<&str> = schedule.cron.split(' ').filter(|part| !part.is_empty()).collect();
        let bits: Vec<u64> = FIELDS.iter().zip(&parts).map(|(field, text)| field.bits(text)).collect();
        let [minutes, hours, days, months, weekdays] = bits[..] else { return None };
        let zone = match &schedule.timezone {
            Some(name) => TimeZone::get(name).ok()?,
            None => TimeZone::UTC,
        };
        let needs_both_days = parts[2].starts_with('*') || parts[4].starts_with('*');
        Some(Self { minutes, hours, days, months, weekdays, needs_both_days, zone })
    }

    /// The first time behind this one.
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        let after = jiff::Timestamp::from_millisecond(after.0).ok()?;
        // Where clocks are set back at midnight, a day begins twice.
        let mut day = after.to_zoned(self.zone.clone()).date().yesterday().ok()?;
        for _ in 0..DAYS_MAX {
            if self.has_day(day)
                && let Some(found) = self.starts_on(day).into_iter().filter(|at| *at > after).min()
            {
                return Some(Timestamp(found.as_millisecond()));
            }
            day = day.tomorrow().ok()?;
        }
        None
    }

    /// The first time behind this start that is as far from it as two starts have to be.
    pub fn next_start(&self, started: Timestamp) -> Option<Timestamp> {
        self.next_after(started.after(INTERVAL_MIN.saturating_sub(Duration::from_millis(1))))
    }

    fn has_day(&self, day: Date) -> bool {
        let is_in = |bits: u64, value: i8| u32::try_from(value).is_ok_and(|value| (bits >> value) & 1 == 1);
        let of_month = is_in(self.days, day.day());
        let of_week = is_in(self.weekdays, day.weekday().to_sunday_zero_offset());
        let fits = if self.needs_both_days { of_month && of_week } else { of_month || of_week };
        fits && is_in(self.months, day.month())
    }

    /// The starts of a day.
    fn starts_on(&self, day: Date) -> Vec<jiff::Timestamp> {
        let of = |bits: u64, count: i8| (0..count).filter(move |value| (bits >> value) & 1 == 1);
        let times = of(self.hours, 24).flat_map(|hour| of(self.minutes, 60).map(move |minute| (hour, minute)));
        times.flat_map(|(hour, minute)| self.instants(day, hour, minute)).collect()
    }

    /// When the zone's clock shows this time: once, but for the days on which clocks are set.
    fn instants(&self, day: Date, hour: i8, minute: i8) -> Vec<jiff::Timestamp> {
        let shown = day.at(hour, minute, 0, 0);
        let at = |offset: Offset| offset.to_timestamp(shown).ok();
        match self.zone.to_ambiguous_timestamp(shown).offset() {
            AmbiguousOffset::Unambiguous { offset } => at(offset).into_iter().collect(),
            AmbiguousOffset::Fold { before, .. } if self.hours != ALL_HOURS => at(before).into_iter().collect(),
            AmbiguousOffset::Fold { before, after } => at(before).into_iter().chain(at(after)).collect(),
            AmbiguousOffset::Gap { .. } if self.hours == ALL_HOURS => Vec::new(),
            AmbiguousOffset::Gap { after, .. } => {
                let next = at(after).and_then(|at| self.zone.following(at).next());
                next.map(|transition| transition.timestamp()).into_iter().collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }

    fn times(cron: &str, zone: Option<&str>) -> ScheduleTimes {
        let schedule = Schedule { cron: cron.to_owned(), timezone: zone.map(str::to_owned) };
        ScheduleTimes::of(&schedule).unwrap()
    }

    fn next(cron: &str, zone: Option<&str>, from: &str, count: usize) -> Vec<String> {
        let times = times(cron, zone);
        let mut last = at(from);
        let following = std::iter::from_fn(|| {
            last = times.next_after(last)?;
            Some(jiff::Timestamp::from_millisecond(last.0).unwrap().to_string())
        });
        following.take(count).collect()
    }

    #[test]
    fn fields_are_lists_of_ranges_with_steps() {
        let from = "2026-01-01T00:00:00Z";
        assert_eq!(next("0 5 * * *", None, from, 2), ["2026-01-01T05:00:00Z", "2026-01-02T05:00:00Z"]);
        assert_eq!(next("*/20 8-9 * * *", None, from, 2), ["2026-01-01T08:00:00Z", "2026-01-01T08:20:00Z"]);
        assert_eq!(next("50/5 0 * * *", None, from, 2), ["2026-01-01T00:50:00Z", "2026-01-01T00:55:00Z"]);
        assert_eq!(next("0 0 * feb sun,mon", None, from, 2), ["2026-02-01T00:00:00Z", "2026-02-02T00:00:00Z"]);
        assert_eq!(next("0 0 29 2 *", None, from, 2), ["2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"]);
        assert!(next("0 0 30 2 *", None, from, 1).is_empty());
    }

    #[test]
    fn one_of_two_kinds_of_days_is_enough_unless_one_begins_with_a_star() {
        // The 1st of January 2026 is a Thursday.
        let from = "2026-01-01T00:00:00Z";
        assert_eq!(next("0 0 15 * fri", None, from, 3).last().unwrap(), "2026-01-15T00:00:00Z");
        assert_eq!(next("0 0 */14 * fri", None, from, 1), ["2026-05-01T00:00:00Z"]);
    }

    #[test]
    fn hours_that_clocks_leave_out_are_made_up_for_and_hours_that_come_twice_count_once() {
        let zone = Some("Europe/Berlin");
        // On the 29th of March 2026, clocks go from 2:00 to 3:00.
        let spring = next("30 2 * * *", zone, "2026-03-28T12:00:00Z", 2);
        assert_eq!(spring, ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"]);
        // On the 25th of October, from 3:00 to 2:00.
        let autumn = next("30 2 * * *", zone, "2026-10-24T12:00:00Z", 2);
        assert_eq!(autumn, ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]);
        let hourly = next("0 * * * *", zone, "2026-10-24T23:30:00Z", 3);
        assert_eq!(hourly, ["2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"]);
        let hourly = next("0 * * * *", zone, "2026-03-29T00:30:00Z", 2);
        assert_eq!(hourly, ["2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"]);
    }

    #[test]
    fn two_starts_are_five_minutes_apart() {
        let from = at("2026-01-01T00:00:00Z");
        let next = |cron: &str| times(cron, None).next_start(from).unwrap().0 - from.0;
        assert_eq!(next("*/5 * * * *"), 5 * 60_000);
        assert_eq!(next("* * * * *"), 5 * 60_000);
        assert_eq!(next("0,2 * * * *"), 60 * 60_000);
        assert_eq!(next("*/4 * * * *"), 8 * 60_000);
    }

    #[test]
    fn what_means_nothing_has_no_times() {
        let of = |cron: &str, zone: Option<&str>| {
            ScheduleTimes::of(&Schedule { cron: cron.to_owned(), timezone: zone.map(str::to_owned) })
        };
        assert!(of("* * * *", None).is_none());
        assert!(of("* * * * *", Some("Nowhere/Else")).is_none());
    }
}
