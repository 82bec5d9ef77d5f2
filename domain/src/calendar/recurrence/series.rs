//! A series: where it begins, its rule, the dates beside the rule and those taken out.

use super::{
    rule::{Limit, Rule, Until},
    wall::{DAY_SECONDS, Day, Wall},
    walls::Walls,
    zoned::ZonedClock,
};
use crate::{Timestamp, notify::Zone};

/// Dates that are taken out of a series, or stand beside its rule, at most; a file with more is refused.
pub const DATES_MAX: usize = 1_000;

/// How times of a series are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Whole days.
    Days,
    /// Times on the wall of a zone.
    Zoned,
    /// Times on whichever wall the reader looks at; the zone of the start is the reader's.
    Floating,
}

/// The beginning of a series (`DTSTART`).
#[derive(Clone, Debug)]
pub struct Start {
    /// The first occurrence; midnight for whole days.
    pub at: Wall,
    /// How it is written.
    pub form: Form,
    /// Where that wall is.
    pub zone: Zone,
}

impl Start {
    /// A time in a zone.
    pub const fn zoned(at: Wall, zone: Zone) -> Self {
        Self { at, form: Form::Zoned, zone }
    }

    /// A whole day, whose bounds are the zone's midnights.
    pub const fn day(day: Day, zone: Zone) -> Self {
        Self { at: day.midnight(), form: Form::Days, zone }
    }
}

/// A date of a series as a file has it (`EXDATE`, `RDATE`, `RECURRENCE-ID`), which may be in another form than the
/// start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    /// Whatever is on this day.
    Day(Day),
    /// What is at this time on the wall of the series.
    Wall(Wall),
    /// What is at this instant.
    Instant(Timestamp),
}

/// Why there is no such series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeriesFault {
    /// The rule counts what hardly ever occurs.
    #[error("This rule counts what is too hard to find.")]
    TooHard,
    /// More than [`DATES_MAX`] dates.
    #[error("A series has at most 1,000 dates beside its rule, and as many that are taken out.")]
    TooManyDates,
}

/// A series of occurrences. The first one always counts, also where the rule doesn't give it.
#[derive(Clone, Debug)]
pub struct Series {
    start: Start,
    rule: Option<Rule>,
    /// Nothing of the rule lies behind this; none when it never ends.
    last: Option<Wall>,
    /// The start and what stands beside the rule, in order.
    beside: Vec<Wall>,
    /// What was taken out, in order, as it was written.
    removed: Vec<Moment>,
    clock: ZonedClock,
}

impl Series {
    /// A series. With a count it is walked once, to find where it ends.
    pub fn new(start: Start, rule: Option<Rule>) -> Result<Self, SeriesFault> {
        let last = match &rule {
            Some(rule) => last_of(rule, &start)?,
            None => Some(start.at),
        };
        Ok(Self::stored(start, rule, last))
    }

    /// A series whose end is known, because it was found when it was written. It isn't walked.
    pub fn stored(start: Start, rule: Option<Rule>, last: Option<Wall>) -> Self {
        let clock = ZonedClock::new(start.zone.clone());
        Self { beside: vec![start.at], removed: Vec::new(), start, rule, last, clock }
    }

    /// The same series with other dates beside its rule and taken out.
    pub fn with_dates(mut self, beside: &[Moment], removed: &[Moment]) -> Result<Self, SeriesFault> {
        if beside.len() > DATES_MAX || removed.len() > DATES_MAX {
            return Err(SeriesFault::TooManyDates);
        }
        self.beside = beside.iter().map(|&moment| self.wall_of(moment)).chain([self.start.at]).collect();
        self.beside.sort_unstable();
        self.beside.dedup();
        self.removed = removed.to_vec();
        self.removed.sort_unstable();
        Ok(self)
    }

    /// Where it begins.
    pub const fn start(&self) -> &Start {
        &self.start
    }

    /// Its rule.
    pub const fn rule(&self) -> Option<&Rule> {
        self.rule.as_ref()
    }

    /// The rule as a file has it beside this start (RFC 5545, 3.3.10): `UNTIL` is a date beside whole days, universal
    /// time beside a time in a zone, and a time on the wall beside a floating one.
    pub fn rule_text(&self) -> Option<String> {
        let mut rule = self.rule.clone()?;
        if let Limit::Until(until) = rule.limit {
            let wall = match until {
                Until::Day(day) => day.last_second(),
                Until::Wall(wall) => wall,
                Until::Instant(at) if self.start.form == Form::Zoned => self.clock.wall(at),
                Until::Instant(at) => Wall(at.0.div_euclid(1000)),
            };
            rule.limit = Limit::Until(match (self.start.form, until) {
                (Form::Days, _) => Until::Day(wall.day()),
                (Form::Floating, _) => Until::Wall(wall),
                (Form::Zoned, Until::Instant(_)) => until,
                (Form::Zoned, _) => Until::Instant(self.instant(wall)),
            });
        }
        Some(rule.to_string())
    }

    /// Behind which nothing occurs; none when it never ends.
    pub fn last(&self) -> Option<Wall> {
        self.last.map(|last| self.beside.iter().copied().fold(last, Wall::max))
    }

    /// Behind which the rule gives nothing, as [`stored`](Self::stored) takes it; none when it never ends.
    pub const fn rule_last(&self) -> Option<Wall> {
        self.last
    }

    /// What stands beside the rule, the start included.
    pub fn beside(&self) -> &[Wall] {
        &self.beside
    }

    /// What was taken out.
    pub fn removed(&self) -> &[Moment] {
        &self.removed
    }

    /// The instant of an occurrence.
    pub fn instant(&self, wall: Wall) -> Timestamp {
        self.clock.instant(wall)
    }

    /// What a clock shows at an occurrence: another time where clocks went forward over its own.
    pub fn shown(&self, wall: Wall) -> Wall {
        self.clock.wall(self.instant(wall))
    }

    /// The time on this series' wall that is meant by `moment`.
    pub fn wall_of(&self, moment: Moment) -> Wall {
        let wall = match moment {
            Moment::Day(day) => day.midnight().plus(self.start.at.second_of_day().into()),
            Moment::Wall(wall) => wall,
            Moment::Instant(at) => self.clock.wall(at),
        };
        match self.start.form {
            Form::Days => wall.day().midnight(),
            Form::Zoned | Form::Floating => wall,
        }
    }

    /// What occurs between two walls, both included, in the order of the wall.
    pub fn walls(&self, from: Wall, to: Wall) -> SeriesWalls<'_> {
        let end = self.last.map_or(to, |last| last.min(to));
        let rule = self.rule.as_ref().map(|rule| Walls::new(rule, self.start.at, from, end));
        let beside = self.beside.partition_point(|&wall| wall < from);
        SeriesWalls { series: self, rule, next: None, beside: &self.beside[beside..], to }
    }

    /// Whether `wall` is an occurrence.
    pub fn occurs(&self, wall: Wall) -> bool {
        self.walls(wall, wall).next().is_some()
    }

    /// Whether the rule gives `wall`, or it is the first.
    pub(super) fn is_of_rule(&self, wall: Wall) -> bool {
        wall == self.start.at || SeriesWalls { beside: &[], ..self.walls(wall, wall) }.peek_rule().is_some()
    }

    /// What the rule gives from `from` on, whether it was taken out or not.
    pub(super) fn rule_walls(&self, from: Wall) -> impl Iterator<Item = Wall> + '_ {
        let to = self.last.unwrap_or(Wall::MAX);
        let walls = self.rule.as_ref().map(|rule| Walls::new(rule, self.start.at, from, to));
        walls.into_iter().flatten().filter(|&wall| !self.is_over(wall))
    }

    fn is_removed(&self, wall: Wall) -> bool {
        let has = |moment| self.removed.binary_search(&moment).is_ok();
        !self.removed.is_empty()
            && (has(Moment::Day(wall.day())) || has(Moment::Wall(wall)) || has(Moment::Instant(self.instant(wall))))
    }

    /// Whether the rule's end, where it is an instant, is over at `wall`.
    fn is_over(&self, wall: Wall) -> bool {
        match self.rule.as_ref().map(|rule| rule.limit) {
            Some(Limit::Until(Until::Instant(at))) if self.start.form == Form::Zoned => self.instant(wall) > at,
            _ => false,
        }
    }
}

/// Behind which a rule gives nothing.
fn last_of(rule: &Rule, start: &Start) -> Result<Option<Wall>, SeriesFault> {
    let until = match rule.limit {
        Limit::Forever => return Ok(None),
        Limit::Count(count) => return counted(rule, start.at, count).map(Some),
        Limit::Until(until) => until,
    };
    Ok(Some(match until {
        Until::Day(day) => day.last_second(),
        Until::Wall(wall) if start.form == Form::Days => wall.day().last_second(),
        Until::Wall(wall) => wall,
        Until::Instant(at) if start.form == Form::Zoned => {
            // Clocks may go back behind it; what is too late is seen when its instant is known.
            ZonedClock::new(start.zone.clone()).wall(at).plus(DAY_SECONDS)
        }
        Until::Instant(at) if start.form == Form::Days => Wall(at.0.div_euclid(1000)).day().last_second(),
        Until::Instant(at) => Wall(at.0.div_euclid(1000)),
    }))
}

fn counted(rule: &Rule, start: Wall, count: u32) -> Result<Wall, SeriesFault> {
    let mut walls = Walls::new(rule, start, start, Wall::MAX);
    let mut last = start;
    let mut left = count.saturating_sub(1);
    while left > 0 {
        match walls.next() {
            Some(wall) if wall == start => {}
            Some(wall) => (last, left) = (wall, left - 1),
            None if walls.gave_up() => return Err(SeriesFault::TooHard),
            None => break,
        }
    }
    Ok(last)
}

/// The occurrences of a series on the wall, in order.
#[derive(Clone, Debug)]
pub struct SeriesWalls<'s> {
    series: &'s Series,
    rule: Option<Walls>,
    /// What the rule gave, and comes behind what is beside it.
    next: Option<Wall>,
    beside: &'s [Wall],
    to: Wall,
}

impl SeriesWalls<'_> {
    /// Whether the walk ended because too much was looked at in vain.
    pub fn gave_up(&self) -> bool {
        self.rule.as_ref().is_some_and(Walls::gave_up)
    }

    fn peek_rule(&mut self) -> Option<Wall> {
        if self.next.is_none() {
            let series = self.series;
            self.next = self.rule.as_mut().and_then(|rule| rule.find(|&wall| !series.is_over(wall)));
        }
        self.next
    }

    fn step(&mut self) -> Option<Wall> {
        let of_rule = self.peek_rule();
        let beside = self.beside.first().copied().filter(|&wall| wall <= self.to);
        let wall = match (of_rule, beside) {
            (Some(one), Some(other)) => one.min(other),
            (one, other) => one.or(other)?,
        };
        if of_rule == Some(wall) {
            self.next = None;
        }
        if beside == Some(wall) {
            self.beside = &self.beside[1..];
        }
        Some(wall)
    }
}

impl Iterator for SeriesWalls<'_> {
    type Item = Wall;

    fn next(&mut self) -> Option<Wall> {
        loop {
            let wall = self.step()?;
            if !self.series.is_removed(wall) {
                return Some(wall);
            }
        }
    }
}
