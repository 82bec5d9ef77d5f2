//! Which time counts.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    Error, Result, Timestamp,
    issues::limits::{HOLIDAYS_MAX, HOURS_WITHOUT_SPAN},
    notify::{Date, Zone},
};

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;
/// Minutes of a day; a span may end there.
const DAY_MINUTES: u16 = 24 * 60;
/// How far ahead the moment of a goal is looked for. A goal beyond is never reached.
const HORIZON: i64 = 50 * 366 * DAY;

/// When a desk works, as a space's configuration says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HoursSettings {
    /// The zone whose clock is looked at.
    pub time_zone: Zone,
    /// Spans of the week; several a day leave time for lunch.
    pub days: Vec<DaySpan>,
    /// Days on which nobody works.
    #[serde(default)]
    pub holidays: Vec<Holiday>,
}

/// A span of each such day of the week.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaySpan {
    /// 0 is Sunday.
    pub day: u8,
    /// `HH:MM`.
    pub from: String,
    /// `HH:MM`, up to `24:00`.
    pub to: String,
}

/// A day on which nobody works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holiday {
    /// The day, as `YYYY-MM-DD`.
    pub date: String,
    /// How people call it.
    #[serde(default)]
    pub name: String,
    /// Whether it is one every year.
    #[serde(default)]
    pub yearly: bool,
}

/// Hours, read and in order.
///
/// An instant is business time when the zone's clock shows a time within one of that local day's spans and the date is no holiday.
/// There is no other rule for clock changes: an hour that the clock shows twice counts twice.
#[derive(Clone, Debug)]
pub struct Hours {
    zone: Zone,
    /// Of each day of the week, from Sunday: spans in milliseconds of the day, in order, none touching the next.
    week: [Vec<(i64, i64)>; 7],
    holidays: BTreeSet<i64>,
    yearly: BTreeSet<(i8, i8)>,
}

/// The time that counts for a goal.
#[derive(Clone, Copy, Debug)]
pub enum Calendar<'a> {
    /// Every instant.
    Always,
    /// Business time.
    Business(&'a Hours),
}

impl Hours {
    /// Reads what a space says.
    pub fn read(settings: &HoursSettings) -> Result<Self> {
        let mut week: [Vec<(i64, i64)>; 7] = Default::default();
        for (at, span) in settings.days.iter().enumerate() {
            let path = |name: &str| format!("hours.days.{at}.{name}");
            let Some(day) = week.get_mut(usize::from(span.day)) else {
                return Err(Error::invalid(path("day"), "Days go from 0, which is Sunday, to 6."));
            };
            let (from, to) = (minutes(&span.from), minutes(&span.to));
            let from = from.filter(|from| *from < DAY_MINUTES).ok_or_else(|| Error::invalid(path("from"), NO_TIME))?;
            let to = to.filter(|to| *to > from).ok_or_else(|| Error::invalid(path("to"), NO_END))?;
            day.push((i64::from(from) * MINUTE, i64::from(to) * MINUTE));
        }
        if week.iter().all(Vec::is_empty) {
            return Err(Error::invalid("hours.days", HOURS_WITHOUT_SPAN));
        }
        if settings.holidays.len() > HOLIDAYS_MAX {
            return Err(Error::invalid("hours.holidays", format!("There can be {HOLIDAYS_MAX} holidays.")));
        }
        week.iter_mut().for_each(merge);
        let mut hours =
            Self { zone: settings.time_zone.clone(), week, holidays: BTreeSet::new(), yearly: BTreeSet::new() };
        for (at, holiday) in settings.holidays.iter().enumerate() {
            let date = Some(&holiday.date).filter(|date| date.len() == 10).and_then(|date| date.parse::<Date>().ok());
            let date = date.ok_or_else(|| Error::invalid(format!("hours.holidays.{at}.date"), NO_DAY))?;
            if holiday.yearly {
                hours.yearly.insert((date.month(), date.day()));
            } else {
                hours.holidays.insert(day_number(date));
            }
        }
        Ok(hours)
    }

    /// The spans of a day, by its number since 1970.
    fn spans(&self, day: i64) -> &[(i64, i64)] {
        let date = i32::try_from(day).ok().and_then(date_of);
        let is_holiday =
            self.holidays.contains(&day) || date.is_some_and(|date| self.yearly.contains(&(date.month(), date.day())));
        // The first day of 1970 was a Thursday.
        let weekday = usize::try_from((day + 4).rem_euclid(7)).unwrap_or(0);
        if is_holiday { &[] } else { &self.week[weekday] }
    }

    /// Calls back with each piece of business time from `from` on, in order, until told to stop or the end is reached.
    fn pieces(&self, from: Timestamp, to: Timestamp, mut piece: impl FnMut(i64, i64) -> bool) {
        let mut at = from.0;
        while at < to.0 {
            let (offset, next) = self.zone.offset(Timestamp(at));
            let end = next.map_or(to.0, |next| next.0.min(to.0));
            let (local, local_end) = (at + offset, end + offset);
            for day in local.div_euclid(DAY)..=(local_end - 1).div_euclid(DAY) {
                for (start, stop) in self.spans(day) {
                    let (start, stop) = ((day * DAY + start).max(local), (day * DAY + stop).min(local_end));
                    if start < stop && !piece(start - offset, stop - offset) {
                        return;
                    }
                }
            }
            at = end;
        }
    }
}

const NO_DAY: &str = "Write the day as YYYY-MM-DD.";
const NO_TIME: &str = "Write the time as HH:MM, from 00:00 to 23:59.";
const NO_END: &str = "Write the time as HH:MM, up to 24:00 and after the beginning.";

fn minutes(text: &str) -> Option<u16> {
    let (hour, minute) = text.split_once(':')?;
    let two = |digits: &str| -> Option<u16> {
        let fits = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        fits.then(|| digits.parse().ok()).flatten()
    };
    let (hour, minute) = (two(hour)?, two(minute)?);
    (minute < 60 && hour * 60 + minute <= DAY_MINUTES).then_some(hour * 60 + minute)
}

/// Brings spans into order, and makes one of those that overlap or touch.
fn merge(spans: &mut Vec<(i64, i64)>) {
    spans.sort_unstable();
    let mut merged: Vec<(i64, i64)> = Vec::new();
    for (from, to) in spans.drain(..) {
        match merged.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    *spans = merged;
}

fn day_number(date: Date) -> i64 {
    crate::issues::jql::meaning::day_number(date)
}

fn date_of(day: i32) -> Option<Date> {
    Date::constant(1970, 1, 1).checked_add(jiff::Span::new().try_days(day).ok()?).ok()
}

impl Calendar<'_> {
    /// The milliseconds that count between two instants.
    pub fn elapsed(self, from: Timestamp, to: Timestamp) -> i64 {
        match self {
            Self::Always => to.0.saturating_sub(from.0).max(0),
            Self::Business(hours) => {
                let mut sum = 0;
                hours.pieces(from, to, |start, stop| {
                    sum += stop - start;
                    true
                });
                sum
            }
        }
    }

    /// The first instant by which so many milliseconds have counted; nothing where that takes more than a lifetime.
    pub fn reached(self, from: Timestamp, millis: i64) -> Option<Timestamp> {
        if millis <= 0 {
            return Some(from);
        }
        match self {
            Self::Always => from.0.checked_add(millis).map(Timestamp),
            Self::Business(hours) => {
                let mut left = millis;
                let mut found = None;
                hours.pieces(from, Timestamp(from.0.saturating_add(HORIZON)), |start, stop| {
                    if stop - start >= left {
                        found = Some(Timestamp(start + left));
                        return false;
                    }
                    left -= stop - start;
                    true
                });
                found
            }
        }
    }
}
