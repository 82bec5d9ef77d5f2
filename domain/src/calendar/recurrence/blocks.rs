//! Rules by year, month and week: the days of a whole period at once, then the times of each day.

use super::{
    day_set::DaySet,
    days::Days,
    plan::Plan,
    rule::Frequency,
    wall::{Day, Wall},
};

/// The occurrences of a rule by year, month or week, in order, from a place on.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    days: Days,
    /// The period that comes next, counted as [`period_of`] counts.
    next_period: i64,
    /// Nothing before this counts.
    from: Wall,
    /// Nothing behind this counts.
    to: Wall,
    /// The first day of the period under way, and which of its days are still to come.
    base: Day,
    open: DaySet,
    /// The day under way, and how many of its times are done.
    day: Wall,
    times_done: u32,
    times: u32,
    /// The occurrences of the period under way that its positions name, the last one first.
    picked: Vec<Wall>,
}

/// The period of `day`: years, months, or weeks that begin on the rule's day.
fn period_of(plan: &Plan, day: Day) -> i64 {
    match plan.frequency {
        Frequency::Yearly => day.civil().year.into(),
        Frequency::Monthly => {
            let civil = day.civil();
            i64::from(civil.year) * 12 + i64::from(civil.month) - 1
        }
        // 1970-01-05 was a Monday.
        _ => (day.0 - 4 - plan.week_start.index()).div_euclid(7),
    }
}

impl Blocks {
    pub fn new(plan: &Plan, from: Wall, to: Wall) -> Self {
        let (from, to) = (from.max(plan.start), to.min(Wall::MAX));
        let first = period_of(plan, plan.start.day());
        let behind = period_of(plan, from.day()) - first;
        let times = plan.clock.len();
        Self {
            days: Days::new(),
            next_period: first + (behind + plan.interval - 1) / plan.interval * plan.interval,
            from,
            to,
            base: from.day(),
            open: DaySet::default(),
            day: from,
            times_done: times,
            times,
            picked: Vec::new(),
        }
    }

    /// The next occurrence; `steps` goes down by what was looked at in vain.
    pub fn next(&mut self, plan: &Plan, steps: &mut u64) -> Option<Wall> {
        loop {
            if let Some(wall) = self.left_of_period(plan) {
                return (wall <= self.to).then_some(wall);
            }
            *steps = steps.checked_sub(1)?;
            self.open_period(plan)?;
        }
    }

    /// What is left of the period under way.
    fn left_of_period(&mut self, plan: &Plan) -> Option<Wall> {
        if !plan.positions.is_empty() {
            return self.picked.pop();
        }
        if self.times_done == self.times {
            self.day = Day(self.base.0 + self.open.pop()?).midnight();
            self.times_done = if self.day < self.from && self.day.day() == self.from.day() {
                plan.clock.before(self.from.second_of_day())
            } else {
                0
            };
            // The times of the first day may all be over.
            if self.times_done == self.times {
                return self.left_of_period(plan);
            }
        }
        let time = plan.clock.nth(self.times_done);
        self.times_done += 1;
        Some(self.day.plus(time.into()))
    }

    /// Goes to the next period, or says that there is none.
    fn open_period(&mut self, plan: &Plan) -> Option<()> {
        let period = self.next_period;
        self.next_period = period.checked_add(plan.interval)?;
        (self.base, self.open) = self.days_of(plan, period)?;
        if self.base.midnight() > self.to {
            return None;
        }
        if plan.positions.is_empty() {
            self.open.keep_from(self.from.day().0 - self.base.0);
        } else {
            self.pick(plan);
        }
        Some(())
    }

    fn days_of(&mut self, plan: &Plan, period: i64) -> Option<(Day, DaySet)> {
        match plan.frequency {
            Frequency::Yearly => {
                let year = i32::try_from(period).ok().filter(|&year| year <= 9999)?;
                Some((Day::of(year, 1, 1), self.days.year(plan, year)))
            }
            Frequency::Monthly => {
                let year = i32::try_from(period.div_euclid(12)).ok().filter(|&year| year <= 9999)?;
                let month = self.days.month(plan, year, u32::try_from(period.rem_euclid(12)).ok()? + 1);
                let mut days = DaySet::default();
                days.place(0, month.days);
                Some((month.first, days))
            }
            _ => {
                let first = Day(period.checked_mul(7)? + 4 + plan.week_start.index());
                (first <= Day::MAX).then(|| (first, self.week(plan, first)))
            }
        }
    }

    fn week(&mut self, plan: &Plan, first: Day) -> DaySet {
        let mut days = DaySet::default();
        for at in 0..7 {
            let weekday = (plan.week_start.index() + at) % 7;
            let named = plan.weekdays == 0 || plan.weekdays >> weekday & 1 == 1;
            if named && (!plan.says_dates() || self.days.contains(plan, Day(first.0 + at))) {
                days.insert(at);
            }
        }
        days
    }

    /// Finds what the positions name: the nth of all times of all days.
    fn pick(&mut self, plan: &Plan) {
        let all = i64::from(self.open.len()) * i64::from(self.times);
        self.picked.clear();
        for &position in &plan.positions {
            let at = if position > 0 { position - 1 } else { all + position };
            let (Ok(day), Ok(time)) =
                (u32::try_from(at.div_euclid(self.times.into())), u32::try_from(at.rem_euclid(self.times.into())))
            else {
                continue;
            };
            if let Some(day) = self.open.nth(day) {
                let wall = Day(self.base.0 + day).midnight().plus(plan.clock.nth(time).into());
                self.picked.extend((wall >= self.from).then_some(wall));
            }
        }
        self.picked.sort_unstable_by(|one, other| other.cmp(one));
        self.picked.dedup();
    }
}
