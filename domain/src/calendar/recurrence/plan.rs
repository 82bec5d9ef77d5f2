//! A rule as the expansion reads it: lists are bits, and what a rule leaves open is filled from its first occurrence.

use super::{
    clock::Clock,
    rule::{Frequency, Rule},
    wall::{Wall, Weekday},
};

/// Bits of 1 to n and of -1 to -n, each counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signed<T> {
    pub from_start: T,
    pub from_end: T,
}

/// What a rule says, with its first occurrence.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub frequency: Frequency,
    pub interval: i64,
    pub start: Wall,
    /// Bits 1 to 12.
    pub months: u16,
    /// Whether the rule names days of the month; those are 0 to 30.
    pub month_days: Option<Signed<u32>>,
    /// Weekdays that count each time, from Monday.
    pub weekdays: u8,
    /// Weekdays of which one of the month or year counts.
    pub nth_weekdays: Vec<(Weekday, i64)>,
    pub year_days: Vec<i64>,
    /// Whether the rule names weeks; those are 0 to 52.
    pub weeks: Option<Signed<u64>>,
    pub clock: Clock,
    pub positions: Vec<i64>,
    pub week_start: Weekday,
}

const ANY_MONTH: u16 = 0b1_1111_1111_1110;

impl Plan {
    pub fn new(rule: &Rule, start: Wall) -> Self {
        let first = start.day().civil();
        let says_days = !(rule.by_week.is_empty()
            && rule.by_year_day.is_empty()
            && rule.by_month_day.is_empty()
            && rule.by_day.is_empty());
        let mut months = rule.by_month.iter().fold(0, |bits, &month| bits | 1_u16 << month);
        let mut month_days = month_days(&rule.by_month_day);
        let mut weekdays = 0;
        let mut nth_weekdays = Vec::new();
        for by in &rule.by_day {
            match by.nth {
                Some(nth) if rule.frequency <= Frequency::Monthly => nth_weekdays.push((by.day, nth.into())),
                _ => weekdays |= 1 << by.day.index(),
            }
        }
        if !says_days {
            match rule.frequency {
                Frequency::Yearly => {
                    months = if months == 0 { 1 << first.month } else { months };
                    month_days = Some(Signed { from_start: 1 << (first.day - 1), from_end: 0 });
                }
                Frequency::Monthly => month_days = Some(Signed { from_start: 1 << (first.day - 1), from_end: 0 }),
                Frequency::Weekly => weekdays = 1 << start.day().weekday().index(),
                _ => {}
            }
        }
        Self {
            frequency: rule.frequency,
            interval: rule.interval.max(1).into(),
            start,
            months: if months == 0 { ANY_MONTH } else { months },
            month_days,
            weekdays,
            nth_weekdays,
            year_days: rule.by_year_day.iter().map(|&day| day.into()).collect(),
            weeks: weeks(&rule.by_week),
            clock: clock(rule, start),
            positions: positions(&rule.by_position),
            week_start: rule.week_start,
        }
    }

    /// Whether the nth weekdays are counted within the year, and not within months.
    pub fn counts_weekdays_by_year(&self) -> bool {
        self.frequency == Frequency::Yearly && self.months == ANY_MONTH && !self.nth_weekdays.is_empty()
    }

    /// Whether the rule says which weekdays count.
    pub fn says_weekdays(&self) -> bool {
        self.weekdays != 0 || !self.nth_weekdays.is_empty()
    }

    /// Whether the rule says anything of days but which weekdays they are.
    pub fn says_dates(&self) -> bool {
        self.months != ANY_MONTH || self.month_days.is_some() || self.weeks.is_some() || !self.year_days.is_empty()
    }
}

/// Each position once; 0 is none.
fn positions(named: &[i16]) -> Vec<i64> {
    let mut positions: Vec<i64> = named.iter().map(|&position| position.into()).filter(|&it| it != 0).collect();
    positions.sort_unstable();
    positions.dedup();
    positions
}

fn month_days(days: &[i8]) -> Option<Signed<u32>> {
    let mut bits = Signed::default();
    for &day in days {
        let side = if day > 0 { &mut bits.from_start } else { &mut bits.from_end };
        *side |= 1_u32 << (day.unsigned_abs().clamp(1, 31) - 1);
    }
    (!days.is_empty()).then_some(bits)
}

fn weeks(weeks: &[i8]) -> Option<Signed<u64>> {
    let mut bits = Signed::default();
    for &week in weeks {
        let side = if week > 0 { &mut bits.from_start } else { &mut bits.from_end };
        *side |= 1_u64 << (week.unsigned_abs().clamp(1, 53) - 1);
    }
    (!weeks.is_empty()).then_some(bits)
}

/// The times that the rule names, or those of its first occurrence, or all, where its period is shorter than they.
fn clock(rule: &Rule, start: Wall) -> Clock {
    let second = start.second_of_day();
    let part = |named: &[u8], longer_than: Frequency, first: u32, all: u64| {
        if !named.is_empty() {
            named.iter().fold(0, |bits, &at| bits | 1_u64 << at.min(59))
        } else if rule.frequency < longer_than {
            1 << first
        } else {
            all
        }
    };
    let hours = part(&rule.by_hour, Frequency::Hourly, second / 3600, (1 << 24) - 1);
    Clock {
        hours: u32::try_from(hours & ((1 << 24) - 1)).unwrap_or(0),
        minutes: part(&rule.by_minute, Frequency::Minutely, second / 60 % 60, (1 << 60) - 1),
        seconds: part(&rule.by_second, Frequency::Secondly, second % 60, (1 << 60) - 1),
    }
}
