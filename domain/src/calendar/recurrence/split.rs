//! Changes of a part of a series: one occurrence, one and all that follow, or all. Nothing that people wrote is lost.

use super::{
    rule::{Limit, Rule, Until},
    series::{Moment, Series, SeriesFault, Start},
    wall::Wall,
};

/// A series that was cut in two.
#[derive(Clone, Debug)]
pub struct Split {
    /// What was before.
    pub before: Series,
    /// What begins with the cut.
    pub following: Series,
}

impl Series {
    /// The same series without the occurrence at `wall`; other dates that are taken out stay as they are.
    pub fn without(self, wall: Wall) -> Result<Self, SeriesFault> {
        let mut removed = self.removed().to_vec();
        removed.push(Moment::Wall(wall));
        let beside = walls(self.beside());
        self.with_dates(&beside, &removed)
    }

    /// Cuts the series before its occurrence at `wall`; none when that is the first, and all of it follows, or when
    /// nothing of the series lies at or behind it.
    ///
    /// A count is shared out between both, other ends stay. Dates beside the rule and those taken out go to the side on
    /// which they lie. The part that follows begins with the rule's next occurrence, so that its periods stay those of
    /// the whole.
    pub fn cut(&self, wall: Wall) -> Result<Option<Split>, SeriesFault> {
        let Some(rule) = self.rule().filter(|_| wall > self.start().at) else { return Ok(None) };
        let Some(next) = self.next_of_rule(wall) else { return Ok(None) };
        let before = self.before(rule, wall)?;
        let mut rest = rule.filled(self.start().at);
        if let Limit::Count(count) = rule.limit {
            let done = self.given_before(wall);
            rest.limit = Limit::Count(count.saturating_sub(done).max(1));
        }
        let start = Start { at: next, ..self.start().clone() };
        let beside: Vec<Wall> = self.beside().iter().copied().filter(|&it| it >= wall).collect();
        let removed: Vec<Moment> = self.removed().iter().copied().filter(|&it| self.wall_of(it) >= wall).collect();
        let following = Self::new(start, Some(rest))?.with_dates(&walls(&beside), &removed)?;
        Ok(Some(Split { before, following }))
    }

    fn before(&self, rule: &Rule, wall: Wall) -> Result<Self, SeriesFault> {
        let mut ended = rule.clone();
        ended.limit = Limit::Until(Until::Wall(wall.plus(-1)));
        let beside: Vec<Wall> = self.beside().iter().copied().filter(|&it| it < wall).collect();
        let removed: Vec<Moment> = self.removed().iter().copied().filter(|&it| self.wall_of(it) < wall).collect();
        Self::new(self.start().clone(), Some(ended))?.with_dates(&walls(&beside), &removed)
    }

    /// What the rule gives at `wall` or next after it, whether it was taken out or not.
    fn next_of_rule(&self, wall: Wall) -> Option<Wall> {
        self.rule_walls(wall).next()
    }

    /// How many of its count are before `wall`.
    fn given_before(&self, wall: Wall) -> u32 {
        let rule = self.rule_walls(self.start().at).take_while(|&it| it < wall);
        let of_rule = rule.filter(|&it| it != self.start().at).count();
        u32::try_from(of_rule + 1).unwrap_or(u32::MAX)
    }

    /// The series with another beginning and rule. What was taken out, and each of `overridden`, moves by as much as
    /// the beginning does; an overridden occurrence that the new rule doesn't give stands beside it from then on.
    pub fn moved(&self, start: Start, rule: Option<Rule>, overridden: &[Wall]) -> Result<Moved, SeriesFault> {
        let by = start.at.0 - self.start().at.0;
        let removed: Vec<Moment> = self.removed().iter().map(|&moment| shifted(moment, by)).collect();
        let kept = self.beside().iter().copied().filter(|&wall| wall != self.start().at);
        let mut beside: Vec<Moment> = kept.map(|wall| Moment::Wall(wall.plus(by))).collect();
        let moved = Self::new(start, rule)?;
        let overridden: Vec<Wall> = overridden.iter().map(|wall| moved.wall_of(Moment::Wall(wall.plus(by)))).collect();
        let lost = overridden.iter().copied().filter(|&wall| !moved.is_of_rule(wall));
        beside.extend(lost.map(Moment::Wall));
        beside.sort_unstable();
        beside.dedup();
        Ok(Moved { series: moved.with_dates(&beside, &removed)?, overridden })
    }
}

/// A series that was moved, and where its overridden occurrences are now, in the order in which they came.
#[derive(Clone, Debug)]
pub struct Moved {
    /// The series.
    pub series: Series,
    /// What each overridden occurrence is known by from now on.
    pub overridden: Vec<Wall>,
}

fn walls(walls: &[Wall]) -> Vec<Moment> {
    walls.iter().copied().map(Moment::Wall).collect()
}

fn shifted(moment: Moment, by: i64) -> Moment {
    match moment {
        Moment::Day(day) => Moment::Day(day.midnight().plus(by.div_euclid(86_400) * 86_400).day()),
        Moment::Wall(wall) => Moment::Wall(wall.plus(by)),
        Moment::Instant(at) => Moment::Instant(crate::Timestamp(at.0 + by * 1000)),
    }
}
