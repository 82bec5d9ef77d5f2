//! Which days of a month and of a year a rule allows.

use super::{
    day_set::DaySet,
    plan::{Plan, Signed},
    wall::{Day, Weekday, month_len, year_len},
};

/// Looks days up in a plan, and keeps the year and the month that were looked at last.
#[derive(Clone, Debug)]
pub(super) struct Days {
    year: Option<(i32, DaySet)>,
    month: Option<Month>,
}

/// The days of a month that a rule allows; the bit 0 is the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Month {
    pub year: i32,
    pub number: u32,
    pub first: Day,
    pub days: u32,
}

impl Days {
    pub const fn new() -> Self {
        Self { year: None, month: None }
    }

    /// The days of a year.
    pub fn year(&mut self, plan: &Plan, year: i32) -> DaySet {
        let first = Day::of(year, 1, 1);
        let mut days = DaySet::default();
        for month in (1..=12).filter(|month| plan.months >> month & 1 == 1) {
            let at = Day::of(year, month, 1);
            days.place(usize::try_from(at.0 - first.0).unwrap_or(0), month_bits(plan, year, month, at));
        }
        match self.of_year(plan, year) {
            Some(allowed) => days.and(&allowed),
            None => days,
        }
    }

    /// The days of a month.
    pub fn month(&mut self, plan: &Plan, year: i32, month: u32) -> Month {
        if let Some(kept) = self.month
            && (kept.year, kept.number) == (year, month)
        {
            return kept;
        }
        let first = Day::of(year, month, 1);
        let mut days = if plan.months >> month & 1 == 1 { month_bits(plan, year, month, first) } else { 0 };
        if days != 0
            && let Some(allowed) = self.of_year(plan, year)
        {
            days &= allowed.month(usize::try_from(first.0 - Day::of(year, 1, 1).0).unwrap_or(0));
        }
        *self.month.insert(Month { year, number: month, first, days })
    }

    /// Whether the rule allows `day`.
    pub fn contains(&mut self, plan: &Plan, day: Day) -> bool {
        if let Some(Month { first, days, .. }) = self.month
            && (0..28).contains(&(day.0 - first.0))
        {
            return days >> (day.0 - first.0) & 1 == 1;
        }
        let civil = day.civil();
        self.month(plan, civil.year, civil.month).days >> (civil.day - 1) & 1 == 1
    }

    /// What the rule says of the days of a year as a whole: weeks, days of the year, the nth weekdays of the year.
    fn of_year(&mut self, plan: &Plan, year: i32) -> Option<DaySet> {
        let by_weekday = plan.counts_weekdays_by_year();
        if plan.weeks.is_none() && plan.year_days.is_empty() && !by_weekday {
            return None;
        }
        if let Some((kept, days)) = self.year
            && kept == year
        {
            return Some(days);
        }
        let mut days = DaySet::ALL;
        if let Some(weeks) = plan.weeks {
            days = days.and(&week_days(weeks, plan.week_start, year));
        }
        if !plan.year_days.is_empty() {
            days = days.and(&year_days(&plan.year_days, year));
        }
        if by_weekday {
            days = days.and(&weekdays_of_year(plan, year));
        }
        self.year = Some((year, days));
        Some(days)
    }
}

fn month_bits(plan: &Plan, year: i32, month: u32, first: Day) -> u32 {
    let len = month_len(year, month);
    let mut days = u32::MAX >> (32 - len);
    if let Some(named) = plan.month_days {
        let from_end = named.from_end.reverse_bits() >> (32 - len);
        days &= named.from_start | from_end;
    }
    if plan.says_weekdays() && !plan.counts_weekdays_by_year() {
        let first_weekday = first.weekday().index();
        let mut allowed = repeated(plan.weekdays) >> first_weekday;
        for &(weekday, nth) in &plan.nth_weekdays {
            let offset = (weekday.index() - first_weekday).rem_euclid(7);
            if let Some(day) = nth_from(offset, i64::from(len), nth) {
                allowed |= 1 << day;
            }
        }
        days &= low(allowed);
    }
    days
}

/// A week's days, again and again.
const fn repeated(week: u8) -> u64 {
    let week = week as u64;
    week | week << 7 | week << 14 | week << 21 | week << 28 | week << 35
}

const fn low(bits: u64) -> u32 {
    (bits & 0x7fff_ffff) as u32
}

/// The nth of the days `offset`, `offset + 7` and so on of a period of `len` days.
const fn nth_from(offset: i64, len: i64, nth: i64) -> Option<i64> {
    let day = if nth > 0 { offset + (nth - 1) * 7 } else { offset + ((len - 1 - offset) / 7 + 1 + nth) * 7 };
    if nth != 0 && day >= 0 && day < len { Some(day) } else { None }
}

fn weekdays_of_year(plan: &Plan, year: i32) -> DaySet {
    let first = Day::of(year, 1, 1).weekday().index();
    let len = i64::from(year_len(year));
    let mut days = DaySet::default();
    for day in (0..len).filter(|day| plan.weekdays >> ((first + day) % 7) & 1 == 1) {
        days.insert(day);
    }
    for &(weekday, nth) in &plan.nth_weekdays {
        if let Some(day) = nth_from((weekday.index() - first).rem_euclid(7), len, nth) {
            days.insert(day);
        }
    }
    days
}

fn year_days(named: &[i64], year: i32) -> DaySet {
    let len = i64::from(year_len(year));
    let mut days = DaySet::default();
    for &day in named {
        days.insert(if day > 0 { day - 1 } else { len + day });
    }
    days
}

/// The days of a year that lie in these weeks: the first week is the one with four days or more in the year. Days
/// before it are in the last week of the year before, days after the last week in the first of the next.
fn week_days(weeks: Signed<u64>, week_start: Weekday, year: i32) -> DaySet {
    let (first, count) = (first_week(week_start, year), week_count(week_start, year));
    let mut days = DaySet::default();
    let mut put = |from: i64| (from..from + 7).for_each(|day| days.insert(day));
    let named = |week: i64, of: i64| weeks.from_start >> (week - 1) & 1 == 1 || weeks.from_end >> (of - week) & 1 == 1;
    for week in (1..=count).filter(|&week| named(week, count)) {
        put(first + (week - 1) * 7);
    }
    let before = week_count(week_start, year - 1);
    if first > 0 && named(before, before) {
        put(first - 7);
    }
    if named(1, week_count(week_start, year + 1)) {
        put(first + count * 7);
    }
    days
}

/// The day of the year on which its first week begins; negative when that is in the year before.
fn first_week(week_start: Weekday, year: i32) -> i64 {
    let into = (Day::of(year, 1, 1).weekday().index() - week_start.index()).rem_euclid(7);
    if into <= 3 { -into } else { 7 - into }
}

fn week_count(week_start: Weekday, year: i32) -> i64 {
    let end = i64::from(year_len(year)) + first_week(week_start, year + 1);
    (end - first_week(week_start, year)) / 7
}
