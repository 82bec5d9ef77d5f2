//! Rules as the contract writes them (`recurrence` of an event, B 2.8 and 4.9).

use std::ops::RangeInclusive;

use super::{
    rule::{ByDay, Frequency, Limit, Rule, Until},
    wall::{Day, Wall, Weekday},
    zoned::ZonedClock,
};
use crate::{Result, notify::Zone, problems::Problems};

/// Every how many periods (contract B 4.9).
pub const WIRE_INTERVAL: RangeInclusive<i64> = 1..=999;
/// Occurrences of a rule that counts (contract B 4.9).
pub const WIRE_COUNT: RangeInclusive<i64> = 1..=5000;
/// Entries of `byDay` (contract B 4.9).
pub const BY_DAY_MAX: usize = 7;
/// Entries of `byMonthDay` (contract B 4.9).
pub const BY_MONTH_DAY_MAX: usize = 31;
/// Entries of `byMonth` (contract B 4.9).
pub const BY_MONTH_MAX: usize = 12;
/// Entries of `bySetPos` (contract B 4.9).
pub const BY_SET_POS_MAX: usize = 10;
/// A year has 53 of a weekday at most.
const NTH: RangeInclusive<i64> = -53..=53;

/// `recurrence` as it was sent, or is to be; nothing of it has been looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recurrence {
    /// `daily`, `weekly`, `monthly` or `yearly`.
    pub freq: String,
    /// Every how many of these; 1 when it isn't given.
    pub interval: Option<i64>,
    /// How many occurrences there are.
    pub count: Option<i64>,
    /// The last day, or the last moment on the wall of the event's zone.
    pub until: Option<String>,
    /// Weekdays: `SU` to `SA`, and which one of the month or year.
    pub by_day: Vec<(String, Option<i64>)>,
    /// Days of the month, from its end when negative.
    pub by_month_day: Vec<i64>,
    /// Months.
    pub by_month: Vec<i64>,
    /// Which occurrences of a period, from its end when negative.
    pub by_set_pos: Vec<i64>,
    /// The day on which weeks begin; Monday when it isn't given.
    pub week_start: Option<String>,
}

impl Recurrence {
    /// The rule that this says for a series that begins at `start`; `path` is where it stands in the request.
    pub fn check(&self, path: &str, start: Wall) -> Result<Rule> {
        let mut problems = Problems::new();
        let at = |field: &str| format!("{path}.{field}");
        let frequency = wire_frequency(&self.freq);
        problems.require(frequency.is_some(), at("freq"), "Choose daily, weekly, monthly or yearly.");
        let frequency = frequency.unwrap_or(Frequency::Daily);
        let mut rule = Rule::every(frequency);
        let interval = self.interval.unwrap_or(1);
        problems.require(WIRE_INTERVAL.contains(&interval), at("interval"), "Use 1 to 999.");
        rule.interval = u32::try_from(interval).unwrap_or(1);
        rule.limit = self.limit(path, start, &mut problems);
        rule.by_day = self.days(path, frequency, &mut problems);
        rule.by_month_day = signed(&self.by_month_day, BY_MONTH_DAY_MAX, 31).unwrap_or_else(|| {
            problem(&mut problems, at("byMonthDay"), "Give up to 31 days, from 1 to 31 or -31 to -1.")
        });
        rule.by_month = signed(&self.by_month, BY_MONTH_MAX, 12)
            .filter(|months: &Vec<u8>| !months.contains(&0))
            .unwrap_or_else(|| problem(&mut problems, at("byMonth"), "Give up to 12 months, from 1 to 12."));
        rule.by_position = signed(&self.by_set_pos, BY_SET_POS_MAX, 366).unwrap_or_else(|| {
            problem(&mut problems, at("bySetPos"), "Give up to 10 positions, from 1 to 366 or -366 to -1.")
        });
        let alone = self.by_day.is_empty() && self.by_month_day.is_empty() && self.by_month.is_empty();
        let lonely = alone && !self.by_set_pos.is_empty();
        problems.require(!lonely, at("bySetPos"), "Name days or months that the positions are of.");
        let week_start = self.week_start.as_deref().map_or(Some(Weekday::Monday), weekday);
        problems.require(week_start.is_some(), at("weekStart"), "Choose SU, MO, TU, WE, TH, FR or SA.");
        rule.week_start = week_start.unwrap_or(Weekday::Monday);
        problems.into_result().map(|()| rule)
    }

    fn limit(&self, path: &str, start: Wall, problems: &mut Problems) -> Limit {
        let at = |field: &str| format!("{path}.{field}");
        if self.count.is_some() && self.until.is_some() {
            problems.add(at("until"), "Give count or until, not both.");
        }
        if let Some(count) = self.count {
            problems.require(WIRE_COUNT.contains(&count), at("count"), "Use 1 to 5,000.");
            return u32::try_from(count).map_or(Limit::Forever, Limit::Count);
        }
        let Some(until) = &self.until else { return Limit::Forever };
        match parse_until(until) {
            Some(end @ (Until::Day(_) | Until::Wall(_))) if last_second(end) < start => {
                problems.add(at("until"), "Choose a day that isn't before the start.");
                Limit::Forever
            }
            Some(end) => Limit::Until(end),
            None => {
                problems.add(at("until"), "Write the date as YYYY-MM-DD.");
                Limit::Forever
            }
        }
    }

    fn days(&self, path: &str, frequency: Frequency, problems: &mut Problems) -> Vec<ByDay> {
        let at = format!("{path}.byDay");
        problems.require(self.by_day.len() <= BY_DAY_MAX, at.as_str(), "Give up to 7 days.");
        let mut days = Vec::new();
        for (place, (code, nth)) in self.by_day.iter().take(BY_DAY_MAX).enumerate() {
            let Some(day) = weekday(code) else {
                problems.add(format!("{at}[{place}].day"), "Choose SU, MO, TU, WE, TH, FR or SA.");
                continue;
            };
            if let Some(nth) = *nth {
                let fits = NTH.contains(&nth) && nth != 0;
                problems.require(fits, format!("{at}[{place}].nth"), "Use 1 to 53, or -53 to -1.");
                let counts = frequency <= Frequency::Monthly;
                problems.require(counts, format!("{at}[{place}].nth"), "Only months and years have an nth weekday.");
            }
            days.push(ByDay { day, nth: nth.and_then(|nth| i16::try_from(nth).ok()) });
        }
        days
    }

    /// The rule as the contract writes it, where it can: by day at the shortest, and without weeks, days of the year
    /// and times. What it can't say is shown as `rrule` alone.
    pub fn of(rule: &Rule, zone: &Zone) -> Option<Self> {
        let plain = rule.by_week.is_empty()
            && rule.by_year_day.is_empty()
            && rule.by_hour.is_empty()
            && rule.by_minute.is_empty()
            && rule.by_second.is_empty();
        let fits = WIRE_INTERVAL.contains(&rule.interval.into())
            && rule.by_day.len() <= BY_DAY_MAX
            && rule.by_month_day.len() <= BY_MONTH_DAY_MAX
            && rule.by_month.len() <= BY_MONTH_MAX
            && rule.by_position.len() <= BY_SET_POS_MAX
            && (rule.frequency <= Frequency::Monthly || rule.by_day.iter().all(|by| by.nth.is_none()));
        if !plain || !fits {
            return None;
        }
        let (count, until) = match rule.limit {
            Limit::Forever => (None, None),
            Limit::Count(count) if WIRE_COUNT.contains(&count.into()) => (Some(count.into()), None),
            Limit::Count(_) => return None,
            Limit::Until(until) => (None, Some(wire_until(until, zone))),
        };
        Some(Self {
            freq: wire_name(rule.frequency)?.to_owned(),
            interval: Some(rule.interval.into()),
            count,
            until,
            by_day: rule.by_day.iter().map(|by| (by.day.code().to_owned(), by.nth.map(i64::from))).collect(),
            by_month_day: rule.by_month_day.iter().map(|&day| day.into()).collect(),
            by_month: rule.by_month.iter().map(|&month| month.into()).collect(),
            by_set_pos: rule.by_position.iter().map(|&position| position.into()).collect(),
            week_start: (rule.week_start != Weekday::Monday).then(|| rule.week_start.code().to_owned()),
        })
    }
}

fn problem<T: Default>(problems: &mut Problems, path: String, message: &str) -> T {
    problems.add(path, message);
    T::default()
}

/// The contract's own spelling: small letters, nothing shorter than a day.
fn wire_name(frequency: Frequency) -> Option<&'static str> {
    Some(match frequency {
        Frequency::Yearly => "yearly",
        Frequency::Monthly => "monthly",
        Frequency::Weekly => "weekly",
        Frequency::Daily => "daily",
        _ => return None,
    })
}

fn wire_frequency(name: &str) -> Option<Frequency> {
    Frequency::ALL.into_iter().find(|&it| wire_name(it) == Some(name))
}

/// The contract writes weekdays in capitals alone.
fn weekday(code: &str) -> Option<Weekday> {
    Weekday::ALL.into_iter().find(|it| it.code() == code)
}

/// Up to `most` numbers from 1 to `to`, or from the end; 0 is none.
fn signed<T: TryFrom<i64>>(values: &[i64], most: usize, to: i64) -> Option<Vec<T>> {
    let fits = values.len() <= most && values.iter().all(|&it| it != 0 && (-to..=to).contains(&it));
    fits.then(|| values.iter().map(|&it| T::try_from(it).ok()).collect()).flatten()
}

const fn last_second(until: Until) -> Wall {
    match until {
        Until::Day(day) => day.last_second(),
        Until::Wall(wall) => wall,
        Until::Instant(at) => Wall(at.0.div_euclid(1000)),
    }
}

fn parse_until(text: &str) -> Option<Until> {
    match LocalTime::parse(text)? {
        LocalTime::Day(day) => Some(Until::Day(day)),
        LocalTime::Wall(wall) => Some(Until::Wall(wall)),
    }
}

fn wire_until(until: Until, zone: &Zone) -> String {
    let wall = match until {
        Until::Day(day) => return day.to_string(),
        Until::Wall(wall) => wall,
        Until::Instant(at) => ZonedClock::new(zone.clone()).wall(at),
    };
    if wall == wall.day().last_second() { wall.day().to_string() } else { wall.to_string() }
}

/// A day, or a time on the wall, as the contract writes both (B 4.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LocalTime {
    /// `YYYY-MM-DD`
    Day(Day),
    /// `YYYY-MM-DDTHH:MM` or `YYYY-MM-DDTHH:MM:SS`
    Wall(Wall),
}

impl LocalTime {
    /// Reads one of the three forms.
    pub fn parse(text: &str) -> Option<Self> {
        let (day, time) = match text.split_once('T') {
            Some((day, time)) => (day, Some(time)),
            None => (text, None),
        };
        let [year, month, date] = numbers(day, '-', [4, 2, 2])?;
        let day = Day::checked(i32::try_from(year).ok()?, month, date)?;
        let Some(time) = time else { return Some(Self::Day(day)) };
        let [hour, minute, second] = match time.len() {
            5 => numbers(time, ':', [2, 2]).map(|[hour, minute]| [hour, minute, 0])?,
            _ => numbers(time, ':', [2, 2, 2])?,
        };
        let shown = hour < 24 && minute < 60 && second < 60;
        shown.then(|| Self::Wall(day.midnight().plus(i64::from(hour * 3600 + minute * 60 + second))))
    }

    /// The time on the wall; midnight of a day.
    pub const fn wall(self) -> Wall {
        match self {
            Self::Day(day) => day.midnight(),
            Self::Wall(wall) => wall,
        }
    }
}

/// Numbers of so many digits, with `between` between them.
fn numbers<const N: usize>(text: &str, between: char, lengths: [usize; N]) -> Option<[u32; N]> {
    let mut numbers = [0; N];
    let mut parts = text.split(between);
    for (number, length) in numbers.iter_mut().zip(lengths) {
        let part = parts.next().filter(|it| it.len() == length && it.bytes().all(|byte| byte.is_ascii_digit()))?;
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}
