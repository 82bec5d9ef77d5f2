//! A rule of RFC 5545: how often, until when, and which of the days and times in between.

use super::wall::{Day, Wall, Weekday};
use crate::Timestamp;

/// How long a rule's period is (`FREQ`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Frequency {
    /// `YEARLY`
    Yearly,
    /// `MONTHLY`
    Monthly,
    /// `WEEKLY`
    Weekly,
    /// `DAILY`
    Daily,
    /// `HOURLY`
    Hourly,
    /// `MINUTELY`
    Minutely,
    /// `SECONDLY`
    Secondly,
}

impl Frequency {
    /// From the longest to the shortest.
    pub const ALL: [Self; 7] =
        [Self::Yearly, Self::Monthly, Self::Weekly, Self::Daily, Self::Hourly, Self::Minutely, Self::Secondly];

    /// As RFC 5545 writes it.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Yearly => "YEARLY",
            Self::Monthly => "MONTHLY",
            Self::Weekly => "WEEKLY",
            Self::Daily => "DAILY",
            Self::Hourly => "HOURLY",
            Self::Minutely => "MINUTELY",
            Self::Secondly => "SECONDLY",
        }
    }
}

/// When a rule ends; the end belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The whole of this day.
    Day(Day),
    /// This second on the wall of the event's zone.
    Wall(Wall),
    /// This instant (`UNTIL=…Z`).
    Instant(Timestamp),
}

/// What ends a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Nothing.
    Forever,
    /// A number of occurrences, the first included.
    Count(u32),
    /// A moment.
    Until(Until),
}

/// A weekday of `BYDAY`: each one, or the nth of the month or year, counted from the end when `nth` is negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByDay {
    /// The day of the week.
    pub day: Weekday,
    /// Which one of the period; none is each.
    pub nth: Option<i16>,
}

/// A rule. Lists are in the order in which they came; an empty one says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The period.
    pub frequency: Frequency,
    /// Every how many periods, from 1.
    pub interval: u32,
    /// What ends it.
    pub limit: Limit,
    /// 1 to 12.
    pub by_month: Vec<u8>,
    /// 1 to 53, or from the end of the year.
    pub by_week: Vec<i8>,
    /// 1 to 366, or from the end of the year.
    pub by_year_day: Vec<i16>,
    /// 1 to 31, or from the end of the month.
    pub by_month_day: Vec<i8>,
    /// Days of the week.
    pub by_day: Vec<ByDay>,
    /// 0 to 23.
    pub by_hour: Vec<u8>,
    /// 0 to 59.
    pub by_minute: Vec<u8>,
    /// 0 to 59; the 60th second that RFC 5545 knows is the 59th here, because no clock shows it.
    pub by_second: Vec<u8>,
    /// Which of a period's occurrences, from its end when negative.
    pub by_position: Vec<i16>,
    /// The day on which weeks begin.
    pub week_start: Weekday,
}

impl Rule {
    /// A rule that says nothing but its frequency.
    pub const fn every(frequency: Frequency) -> Self {
        Self {
            frequency,
            interval: 1,
            limit: Limit::Forever,
            by_month: Vec::new(),
            by_week: Vec::new(),
            by_year_day: Vec::new(),
            by_month_day: Vec::new(),
            by_day: Vec::new(),
            by_hour: Vec::new(),
            by_minute: Vec::new(),
            by_second: Vec::new(),
            by_position: Vec::new(),
            week_start: Weekday::Monday,
        }
    }

    /// The same rule with what it leaves open filled from its first occurrence, so that it means the same when it
    /// begins later.
    #[must_use]
    pub fn filled(&self, start: Wall) -> Self {
        let mut rule = self.clone();
        let civil = start.day().civil();
        let says_days = !(self.by_week.is_empty()
            && self.by_year_day.is_empty()
            && self.by_month_day.is_empty()
            && self.by_day.is_empty());
        let day = i8::try_from(civil.day).unwrap_or(1);
        match self.frequency {
            _ if says_days => {}
            Frequency::Yearly => {
                if rule.by_month.is_empty() {
                    rule.by_month = vec![u8::try_from(civil.month).unwrap_or(1)];
                }
                rule.by_month_day = vec![day];
            }
            Frequency::Monthly => rule.by_month_day = vec![day],
            Frequency::Weekly => rule.by_day = vec![ByDay { day: start.day().weekday(), nth: None }],
            _ => {}
        }
        rule
    }
}
