//! Rules as RFC 5545 writes them (`FREQ=WEEKLY;BYDAY=MO`).

use std::{fmt, ops::RangeInclusive, str::FromStr};

use super::{
    rule::{ByDay, Frequency, Limit, Rule, Until},
    wall::{Day, Wall, Weekday},
};
use crate::Timestamp;

/// Characters of a rule that is read. One that names every day of a year and of a month, each hour, minute and second
/// and every position has 7,000.
pub const RULE_LEN_MAX: usize = 16_384;
/// The longest interval that is read.
pub const INTERVAL_MAX: u32 = 1_000_000;
/// The highest count that is read; a series with a count is walked when it is written.
pub const COUNT_MAX: u32 = 100_000;

/// Why a text is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleFault {
    /// Longer than is read.
    #[error("A rule has at most {RULE_LEN_MAX} characters.")]
    TooLong,
    /// A part without a name or a value.
    #[error("A rule has parts such as INTERVAL=2.")]
    Shape,
    /// No `FREQ`, or none that there is.
    #[error("A rule needs FREQ, from YEARLY to SECONDLY.")]
    Frequency,
    /// A part that isn't known, or that stands there twice.
    #[error("{0} can't stand in a rule, or not twice.")]
    Part(String),
    /// A value that the part can't have.
    #[error("{0} has a value that it can't have.")]
    Value(&'static str),
    /// `COUNT` beside `UNTIL`.
    #[error("A rule has COUNT or UNTIL, not both.")]
    TwoEnds,
    /// `BYSETPOS` alone.
    #[error("BYSETPOS needs another BY part beside it.")]
    PositionsAlone,
}

impl FromStr for Rule {
    type Err = RuleFault;

    fn from_str(text: &str) -> Result<Self, RuleFault> {
        if text.len() > RULE_LEN_MAX {
            return Err(RuleFault::TooLong);
        }
        let mut parts = Parts::default();
        for part in text.trim().split(';').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').ok_or(RuleFault::Shape)?;
            parts.read(name.trim(), value.trim())?;
        }
        parts.into_rule()
    }
}

/// Names of parts, and which were there.
const NAMES: [&str; 14] = [
    "FREQ",
    "INTERVAL",
    "COUNT",
    "UNTIL",
    "WKST",
    "BYMONTH",
    "BYWEEKNO",
    "BYYEARDAY",
    "BYMONTHDAY",
    "BYDAY",
    "BYHOUR",
    "BYMINUTE",
    "BYSECOND",
    "BYSETPOS",
];

struct Parts {
    seen: [bool; NAMES.len()],
    rule: Rule,
}

impl Default for Parts {
    fn default() -> Self {
        Self { seen: [false; NAMES.len()], rule: Rule::every(Frequency::Daily) }
    }
}

impl Parts {
    fn read(&mut self, name: &str, value: &str) -> Result<(), RuleFault> {
        let at = NAMES
            .iter()
            .position(|known| known.eq_ignore_ascii_case(name))
            .filter(|&at| !self.seen[at])
            .ok_or_else(|| RuleFault::Part(name.chars().take(30).collect()))?;
        self.seen[at] = true;
        let name = NAMES[at];
        let fault = RuleFault::Value(name);
        let rule = &mut self.rule;
        match name {
            "FREQ" => {
                rule.frequency = Frequency::ALL
                    .into_iter()
                    .find(|it| it.code().eq_ignore_ascii_case(value))
                    .ok_or(RuleFault::Frequency)?;
            }
            "INTERVAL" => rule.interval = number(value, 1..=INTERVAL_MAX).ok_or(fault)?,
            "COUNT" => self.end(Limit::Count(number(value, 1..=COUNT_MAX).ok_or(fault)?))?,
            "UNTIL" => self.end(Limit::Until(until(value).ok_or(fault)?))?,
            "WKST" => rule.week_start = Weekday::of_code(value).ok_or(fault)?,
            "BYMONTH" => rule.by_month = list(value, |it| number(it, 1..=12)).ok_or(fault)?,
            "BYWEEKNO" => rule.by_week = list(value, |it| number(it, -53..=53).filter(|&it| it != 0)).ok_or(fault)?,
            "BYYEARDAY" => {
                rule.by_year_day = list(value, |it| number(it, -366..=366).filter(|&it| it != 0)).ok_or(fault)?;
            }
            "BYMONTHDAY" => {
                rule.by_month_day = list(value, |it| number(it, -31..=31).filter(|&it| it != 0)).ok_or(fault)?;
            }
            "BYDAY" => rule.by_day = list(value, by_day).ok_or(fault)?,
            "BYHOUR" => rule.by_hour = list(value, |it| number(it, 0..=23)).ok_or(fault)?,
            "BYMINUTE" => rule.by_minute = list(value, |it| number(it, 0..=59)).ok_or(fault)?,
            "BYSECOND" => rule.by_second = list(value, |it| number(it, 0..=60)).ok_or(fault)?,
            _ => rule.by_position = list(value, |it| number(it, -366..=366).filter(|&it| it != 0)).ok_or(fault)?,
        }
        Ok(())
    }

    fn end(&mut self, limit: Limit) -> Result<(), RuleFault> {
        if self.rule.limit != Limit::Forever {
            return Err(RuleFault::TwoEnds);
        }
        self.rule.limit = limit;
        Ok(())
    }

    fn into_rule(self) -> Result<Rule, RuleFault> {
        if !self.seen[0] {
            return Err(RuleFault::Frequency);
        }
        let alone = !self.seen[5..13].contains(&true);
        if alone && !self.rule.by_position.is_empty() {
            return Err(RuleFault::PositionsAlone);
        }
        Ok(self.rule)
    }
}

fn number<T: FromStr + PartialOrd>(text: &str, range: RangeInclusive<T>) -> Option<T> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten().filter(|it| range.contains(it))
}

fn list<T>(text: &str, item: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    text.split(',').map(|it| item(it.trim())).collect()
}

fn by_day(text: &str) -> Option<ByDay> {
    let (nth, day) = text.split_at_checked(text.len().checked_sub(2)?)?;
    let nth = if nth.is_empty() { None } else { Some(number(nth, -53..=53).filter(|&nth| nth != 0)?) };
    Some(ByDay { day: Weekday::of_code(day)?, nth })
}

/// `YYYYMMDD`, `YYYYMMDDTHHMMSS`, and with `Z`.
fn until(text: &str) -> Option<Until> {
    let part = |range: std::ops::Range<usize>| -> Option<u32> {
        let digits = text.get(range)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
    };
    let day = Day::checked(i32::try_from(part(0..4)?).ok()?, part(4..6)?, part(6..8)?)?;
    if text.len() == 8 {
        return Some(Until::Day(day));
    }
    text.get(8..9).filter(|it| it.eq_ignore_ascii_case("T"))?;
    let (hour, minute, second) = (part(9..11)?, part(11..13)?, part(13..15)?);
    (hour < 24 && minute < 60 && second <= 60).then_some(())?;
    let wall = day.midnight().plus(i64::from(hour * 3600 + minute * 60 + second.min(59)));
    match text.get(15..)? {
        "" => Some(Until::Wall(wall)),
        "Z" | "z" => Some(Until::Instant(Timestamp(wall.0 * 1000))),
        _ => None,
    }
}

/// A date as RFC 5545 writes it (`20261123`).
pub(super) fn basic_day(day: Day) -> String {
    day.to_string().replace('-', "")
}

/// A date and time as RFC 5545 writes it (`20261123T090000`).
pub(super) fn basic_wall(wall: Wall) -> String {
    wall.to_string().replace(['-', ':'], "")
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FREQ={}", self.frequency.code())?;
        match self.limit {
            Limit::Forever => {}
            Limit::Count(count) => write!(f, ";COUNT={count}")?,
            Limit::Until(until) => write!(f, ";UNTIL={until}")?,
        }
        if self.interval != 1 {
            write!(f, ";INTERVAL={}", self.interval)?;
        }
        part(f, "BYMONTH", &self.by_month)?;
        part(f, "BYWEEKNO", &self.by_week)?;
        part(f, "BYYEARDAY", &self.by_year_day)?;
        part(f, "BYMONTHDAY", &self.by_month_day)?;
        part(f, "BYDAY", &self.by_day)?;
        part(f, "BYHOUR", &self.by_hour)?;
        part(f, "BYMINUTE", &self.by_minute)?;
        part(f, "BYSECOND", &self.by_second)?;
        part(f, "BYSETPOS", &self.by_position)?;
        if self.week_start != Weekday::Monday {
            write!(f, ";WKST={}", self.week_start.code())?;
        }
        Ok(())
    }
}

fn part<T: fmt::Display>(f: &mut fmt::Formatter<'_>, name: &str, values: &[T]) -> fmt::Result {
    for (at, value) in values.iter().enumerate() {
        if at == 0 {
            write!(f, ";{name}={value}")?;
        } else {
            write!(f, ",{value}")?;
        }
    }
    Ok(())
}

impl fmt::Display for ByDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(nth) = self.nth {
            write!(f, "{nth}")?;
        }
        f.write_str(self.day.code())
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Day(day) => f.write_str(&basic_day(day)),
            Self::Wall(wall) => f.write_str(&basic_wall(wall)),
            Self::Instant(at) => write!(f, "{}Z", basic_wall(Wall(at.0.div_euclid(1000)))),
        }
    }
}
