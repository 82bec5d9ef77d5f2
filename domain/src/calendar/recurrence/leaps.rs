//! Rules by day and by what is shorter: from one allowed time to the next by leaps, first over days, then over the
//! times of a day, then to the next period that the interval reaches, until all three agree.

use super::{
    clock::Clock,
    days::Days,
    plan::Plan,
    rule::Frequency,
    wall::{DAY_SECONDS, Day, Wall, month_len},
};

/// The occurrences of a rule by day, hour, minute or second, in order, from a place on.
#[derive(Clone, Debug)]
pub(super) struct Leaps {
    days: Days,
    dated: bool,
    /// Where periods may begin in a day.
    beginnings: Clock,
    /// Seconds from one period to the next that the interval reaches, and where the first one begins.
    stride: i64,
    first: Wall,
    /// Seconds into a period at which something occurs.
    within: Within,
    from: Wall,
    to: Wall,
    /// The period under way, and how many of its times are done.
    period: Wall,
    done: u32,
    /// Where the next period is looked for.
    next: Wall,
    ended: bool,
}

/// Times within a period: all that the parts give, or those that positions pick, which are the same in each period.
#[derive(Clone, Debug)]
enum Within {
    All(Clock),
    Picked(Vec<u32>),
}

impl Within {
    fn new(clock: Clock, positions: &[i64]) -> Self {
        if positions.is_empty() {
            return Self::All(clock);
        }
        let all = i64::from(clock.len());
        let at = |position: i64| if position > 0 { position - 1 } else { all + position };
        let mut picked: Vec<u32> = positions
            .iter()
            .map(|&position| at(position))
            .filter(|at| (0..all).contains(at))
            .filter_map(|at| u32::try_from(at).ok().map(|at| clock.nth(at)))
            .collect();
        picked.sort_unstable();
        picked.dedup();
        Self::Picked(picked)
    }

    fn len(&self) -> u32 {
        match self {
            Self::All(clock) => clock.len(),
            Self::Picked(times) => u32::try_from(times.len()).unwrap_or(u32::MAX),
        }
    }

    fn nth(&self, at: u32) -> u32 {
        match self {
            Self::All(clock) => clock.nth(at),
            Self::Picked(times) => times[at as usize],
        }
    }

    /// How many are before `second`.
    fn before(&self, second: i64) -> u32 {
        match (self, u32::try_from(second)) {
            (_, Err(_)) => 0,
            (Self::All(clock), Ok(second)) => clock.before(second),
            (Self::Picked(times), Ok(second)) => {
                u32::try_from(times.partition_point(|&time| time < second)).unwrap_or(u32::MAX)
            }
        }
    }
}

impl Leaps {
    pub fn new(plan: &Plan, from: Wall, to: Wall) -> Self {
        let (unit, beginnings, within) = match plan.frequency {
            Frequency::Hourly => (3600, plan.clock.hours_only(), plan.clock.within_hour()),
            Frequency::Minutely => (60, plan.clock.minutes_only(), plan.clock.within_minute()),
            Frequency::Secondly => (1, plan.clock, Clock::MIDNIGHT),
            _ => (DAY_SECONDS, Clock::MIDNIGHT, plan.clock),
        };
        let (from, to) = (from.max(plan.start), to.min(Wall::MAX));
        let within = Within::new(within, &plan.positions);
        let stride = plan.interval.saturating_mul(unit);
        let first = Wall(plan.start.0.div_euclid(unit) * unit);
        let ended = within.len() == 0 || !meets(beginnings, first, stride);
        let next = Wall(from.0.div_euclid(unit) * unit);
        let dated = plan.says_dates() || plan.says_weekdays();
        let done = within.len();
        Self { days: Days::new(), dated, beginnings, stride, first, within, from, to, period: next, done, next, ended }
    }

    /// The next occurrence; `steps` goes down by what was looked at in vain.
    pub fn next(&mut self, plan: &Plan, steps: &mut u64) -> Option<Wall> {
        loop {
            if self.ended {
                return None;
            }
            if self.done < self.within.len() {
                let wall = self.period.plus(self.within.nth(self.done).into());
                self.done += 1;
                return (wall <= self.to).then_some(wall);
            }
            let Some(period) = self.leap(plan, steps) else {
                self.ended = true;
                return None;
            };
            self.period = period;
            self.next = period.plus(1);
            self.done = self.within.before(self.from.0 - period.0);
        }
    }

    /// The next beginning of a period at or after `next` that the days, the times and the interval allow.
    fn leap(&mut self, plan: &Plan, steps: &mut u64) -> Option<Wall> {
        let mut at = self.next;
        loop {
            let looked = at;
            at = self.aligned(at);
            if at > self.to {
                return None;
            }
            at = self.on_allowed_day(plan, at)?;
            at = match self.beginnings.at_or_after(at.second_of_day()) {
                Some(time) => at.day().midnight().plus(time.into()),
                None => Day(at.day().0 + 1).midnight(),
            };
            if at > self.to {
                return None;
            }
            if at == looked {
                return Some(at);
            }
            *steps = steps.checked_sub(1)?;
        }
    }

    /// The first period at or after `at` that the interval reaches.
    fn aligned(&self, at: Wall) -> Wall {
        let behind = (self.first.0 - at.0).rem_euclid(self.stride);
        at.plus(behind)
    }

    /// `at`, or the midnight of the first allowed day behind it.
    fn on_allowed_day(&mut self, plan: &Plan, at: Wall) -> Option<Wall> {
        if !self.dated {
            return Some(at);
        }
        let civil = at.day().civil();
        let (mut year, mut month, mut from) = (civil.year, civil.month, civil.day - 1);
        loop {
            let looked = self.days.month(plan, year, month);
            let rest = looked.days & u32::MAX << from;
            if rest != 0 {
                let day = Day(looked.first.0 + i64::from(rest.trailing_zeros()));
                return Some(at.max(day.midnight()));
            }
            if looked.first.0 + i64::from(month_len(year, month)) > self.to.day().0 {
                return None;
            }
            (year, month, from) = if month == 12 { (year + 1, 1, 0) } else { (year, month + 1, 0) };
        }
    }
}

/// Whether the interval ever reaches one of these times of a day: every other second doesn't meet the odd ones. Without
/// this a rule that never occurs would be looked for to the end of time.
fn meets(beginnings: Clock, first: Wall, stride: i64) -> bool {
    let common = common_divisor(stride, DAY_SECONDS);
    let mut at = 0;
    while let Some(time) = beginnings.at_or_after(at) {
        if (i64::from(time) - first.0).rem_euclid(common) == 0 {
            return true;
        }
        at = time + 1;
        if i64::from(at) == DAY_SECONDS {
            break;
        }
    }
    false
}

const fn common_divisor(mut one: i64, mut other: i64) -> i64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}
