//! Random rules, the same for the same seed: those that RFC 5545 permits, so that every engine should know them.

use troupe_domain::calendar::recurrence::{ByDay, Day, Frequency, Limit, Rule, Until, Wall, Walls, Weekday};

use crate::Case;

/// Zones with clock changes of an hour, of half an hour, at midnight and in the other half of the world, and one
/// without.
const ZONES: [&str; 8] = [
    "UTC",
    "America/New_York",
    "Europe/Vienna",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "Asia/Kathmandu",
    "Africa/Cairo",
    "Pacific/Auckland",
];

pub struct Generator {
    state: u64,
}

impl Generator {
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// `SplitMix64`, which needs nothing but its state.
    const fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to below `end`.
    fn below(&mut self, end: u64) -> i64 {
        i64::try_from(self.random() % end).expect("a small number")
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.random() % 100 < percent
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.random()).expect("64 bits") % all.len()]
    }

    /// One to `most` different numbers of a range, in any order; those from the end, too, where the range has any.
    fn some<T: TryFrom<i64> + PartialEq>(&mut self, from: i64, to: i64, most: u64) -> Vec<T> {
        let mut numbers = Vec::new();
        for _ in 0..=self.below(most) {
            let span = u64::try_from(to - from + 1).expect("a range");
            let Ok(number) = T::try_from(from + self.below(span)) else { continue };
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        numbers
    }

    /// The same with each number counted from either end, never 0.
    fn signed<T: TryFrom<i64> + PartialEq>(&mut self, to: i64, most: u64) -> Vec<T> {
        let mut numbers = Vec::new();
        for number in self.some::<i64>(1, to, most) {
            let number = if self.chance(30) { -number } else { number };
            numbers.extend(T::try_from(number).ok());
        }
        numbers
    }

    pub fn case(&mut self) -> Case {
        let frequency = self.pick(&[
            Frequency::Yearly,
            Frequency::Yearly,
            Frequency::Yearly,
            Frequency::Monthly,
            Frequency::Monthly,
            Frequency::Monthly,
            Frequency::Weekly,
            Frequency::Weekly,
            Frequency::Daily,
            Frequency::Daily,
            Frequency::Hourly,
            Frequency::Minutely,
            Frequency::Secondly,
        ]);
        let mut rule = Rule::every(frequency);
        if self.chance(40) {
            let most = if self.chance(80) { 6 } else { 60 };
            rule.interval = u32::try_from(1 + self.below(most)).expect("small");
        }
        if self.chance(25) {
            rule.week_start = self.pick(&Weekday::ALL);
        }
        self.dates(&mut rule);
        self.times(&mut rule);
        self.positions(&mut rule);
        let mut start = self.start();
        let to = Wall(start.0 + span(frequency));
        // Half of the series begin with what their rule gives, as calendars write them.
        if self.chance(50) {
            start = Walls::new(&rule, start, start, to).next().unwrap_or(start);
        }
        self.limit(&mut rule, start, to);
        let zoned = frequency <= Frequency::Daily && self.chance(40);
        Case { rule, start, zone: if zoned { self.pick(&ZONES) } else { "UTC" }, to }
    }

    fn start(&mut self) -> Wall {
        let day = Day(Day::of(1971, 1, 1).0 + self.below(365 * 70));
        let second = if self.chance(70) { 900 * self.below(96) } else { self.below(86_400) };
        day.midnight().plus(second)
    }

    fn dates(&mut self, rule: &mut Rule) {
        let frequency = rule.frequency;
        if self.chance(30) {
            rule.by_month = self.some(1, 12, 4);
        }
        if frequency == Frequency::Yearly && self.chance(20) {
            rule.by_week = self.signed(53, 4);
        }
        let year_days = frequency == Frequency::Yearly || frequency > Frequency::Daily;
        if year_days && self.chance(12) {
            rule.by_year_day = self.signed(366, 6);
        }
        if frequency != Frequency::Weekly && self.chance(25) {
            rule.by_month_day = self.signed(31, 5);
        }
        if self.chance(40) {
            let counted = frequency <= Frequency::Monthly && rule.by_week.is_empty() && self.chance(50);
            let within = if frequency == Frequency::Monthly || !rule.by_month.is_empty() { 5 } else { 53 };
            let days: Vec<i64> = self.some(0, 6, 4);
            for day in days {
                let nth = if counted { self.signed(within, 1).first().copied() } else { None };
                rule.by_day.push(ByDay { day: Weekday::ALL[usize::try_from(day).expect("a weekday")], nth });
            }
        }
    }

    fn times(&mut self, rule: &mut Rule) {
        if self.chance(15) {
            rule.by_hour = self.some(0, 23, 4);
        }
        if self.chance(12) {
            rule.by_minute = self.some(0, 59, 4);
        }
        if self.chance(8) {
            rule.by_second = self.some(0, 59, 3);
        }
    }

    fn positions(&mut self, rule: &mut Rule) {
        let says = !(rule.by_month.is_empty()
            && rule.by_week.is_empty()
            && rule.by_year_day.is_empty()
            && rule.by_month_day.is_empty()
            && rule.by_day.is_empty()
            && rule.by_hour.is_empty()
            && rule.by_minute.is_empty()
            && rule.by_second.is_empty());
        if says && self.chance(15) {
            let to = if self.chance(80) { 5 } else { 60 };
            rule.by_position = self.signed(to, 3);
        }
    }

    fn limit(&mut self, rule: &mut Rule, start: Wall, to: Wall) {
        rule.limit = match self.below(10) {
            0..=2 => Limit::Count(u32::try_from(1 + self.below(20)).expect("small")),
            3..=4 => {
                let span = u64::try_from(to.0 - start.0).expect("a span").max(1);
                Limit::Until(Until::Wall(start.plus(self.below(span))))
            }
            _ => Limit::Forever,
        };
    }
}

/// How far a rule is looked at: some dozens of its periods at least.
const fn span(frequency: Frequency) -> i64 {
    const DAY: i64 = 86_400;
    match frequency {
        Frequency::Yearly => 366 * DAY * 60,
        Frequency::Monthly => 366 * DAY * 20,
        Frequency::Weekly => 366 * DAY * 8,
        Frequency::Daily => 366 * DAY * 4,
        Frequency::Hourly => 100 * DAY,
        Frequency::Minutely => 20 * DAY,
        Frequency::Secondly => 2 * DAY,
    }
}
