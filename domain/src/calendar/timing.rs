//! When an event is: its series as it is stored, and what a reader's window finds it by.

use super::recurrence::{Form, Length, Moment, Recurrence, Rule, Series, SeriesFault, Start, Wall};
use crate::{Error, Result, Timestamp};

/// Milliseconds of the longest event that is looked for by its beginning alone: 31 days.
const SINGLE_MS_MAX: i64 = 31 * 86_400_000;
/// Milliseconds that are added on both sides of a series: more than any clock is moved by.
const SLACK_MS: i64 = 86_400_000;

/// When an event is. The end of a series was found when it was written, so that nothing is walked to read it.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Its first occurrence, and the zone.
    pub start: Start,
    /// When the first occurrence ends, on the same wall.
    pub end: Wall,
    /// How it recurs.
    pub rule: Option<Rule>,
    /// Behind which the rule gives nothing; none when it never ends.
    pub last: Option<Wall>,
    /// What stands beside the rule, the start included.
    pub beside: Vec<Wall>,
    /// What was taken out.
    pub removed: Vec<Wall>,
}

/// How an event is found by a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// It occurs once, and lasts 31 days at most: found by its beginning.
    Single,
    /// It occurs once and lasts longer.
    Long,
    /// It recurs.
    Series,
}

impl SpanKind {
    /// As it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Long => "long",
            Self::Series => "series",
        }
    }
}

/// Between which instants all of an event lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// How it is found.
    pub kind: SpanKind,
    /// Nothing of it is before.
    pub first_at: Timestamp,
    /// Nothing of it is behind; the end of time when it never ends.
    pub last_at: Timestamp,
    /// Milliseconds that each occurrence lasts at most.
    pub lasts_ms: i64,
}

/// What can't be a series, as a fault of `recurrence`.
pub fn series_fault(fault: SeriesFault) -> Error {
    Error::invalid("recurrence", fault.to_string())
}

impl Timing {
    /// The time of a new event. A rule that counts is walked once.
    pub fn new(start: Start, end: Wall, rule: Option<Rule>) -> Result<Self> {
        Ok(Self::of(&Series::new(start, rule).map_err(series_fault)?, end))
    }

    /// The time of a series whose first occurrence ends at `end`.
    pub fn of(series: &Series, end: Wall) -> Self {
        Self {
            start: series.start().clone(),
            end,
            rule: series.rule().cloned(),
            last: series.rule_last(),
            beside: series.beside().to_vec(),
            removed: series.removed().iter().map(|&moment| series.wall_of(moment)).collect(),
        }
    }

    /// The series.
    pub fn series(&self) -> Result<Series> {
        let moments = |walls: &[Wall]| walls.iter().copied().map(Moment::Wall).collect::<Vec<_>>();
        let series = Series::stored(self.start.clone(), self.rule.clone(), self.last);
        series.with_dates(&moments(&self.beside), &moments(&self.removed)).map_err(series_fault)
    }

    /// Whether it may occur more than once.
    pub fn is_recurring(&self) -> bool {
        self.rule.is_some() || self.beside.len() > 1
    }

    /// Whether it is of whole days.
    pub fn is_all_day(&self) -> bool {
        self.start.form == Form::Days
    }

    /// A time of it as the contract writes it: a day of whole days.
    pub fn local(&self, wall: Wall) -> String {
        if self.is_all_day() { wall.day().to_string() } else { wall.to_string() }
    }

    /// The rule as the contract writes it, where it can (contract B 2.8, `recurrence`).
    pub fn recurrence(&self) -> Option<Recurrence> {
        self.rule.as_ref().and_then(|rule| Recurrence::of(rule, &self.start.zone))
    }

    /// When an occurrence that begins at `start` ends, on the wall.
    pub fn end_of(&self, series: &Series, start: Wall) -> Wall {
        match series.length(self.end) {
            Length::Days(days) => start.plus(days * super::recurrence::DAY_SECONDS),
            Length::Seconds(seconds) => {
                let end = Timestamp(series.instant(start).0 + seconds * 1000);
                series.wall_of(Moment::Instant(end))
            }
        }
    }

    /// Between which instants it and those of its occurrences lie that were changed alone, by their beginnings and ends.
    pub fn span(&self, changed: &[(Wall, Wall)]) -> Result<Span> {
        let series = self.series()?;
        let (start, end) = (series.instant(self.start.at), series.instant(self.end));
        let mut lasts_ms = (end.0 - start.0).max(0);
        if !self.is_recurring() && changed.is_empty() {
            let kind = if lasts_ms <= SINGLE_MS_MAX { SpanKind::Single } else { SpanKind::Long };
            return Ok(Span { kind, first_at: start, last_at: end, lasts_ms });
        }
        lasts_ms += SLACK_MS;
        let mut first = start.0 - SLACK_MS;
        let mut last = series.last().map(|last| series.instant(last).0.saturating_add(lasts_ms + SLACK_MS));
        for &(start, end) in changed {
            first = first.min(series.instant(start).0);
            last = last.map(|last| last.max(series.instant(end).0));
        }
        let last_at = last.map_or(Timestamp(i64::MAX), Timestamp);
        Ok(Span { kind: SpanKind::Series, first_at: Timestamp(first), last_at, lasts_ms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        calendar::recurrence::{Day, Frequency, Limit},
        notify::Zone,
    };

    fn vienna(day: Day, hour: i64) -> Start {
        Start::zoned(day.midnight().plus(hour * 3600), Zone::find("Europe/Vienna").unwrap())
    }

    #[test]
    fn a_single_event_lasts_31_days_and_a_long_one_more() {
        let start = vienna(Day::of(2026, 11, 23), 9);
        let lasting = |seconds| Timing::new(start.clone(), start.at.plus(seconds), None).unwrap().span(&[]).unwrap();
        let month = 31 * 86_400;
        assert_eq!(lasting(month - 1).kind, SpanKind::Single);
        assert_eq!(lasting(month).kind, SpanKind::Single);
        assert_eq!(lasting(month + 1).kind, SpanKind::Long);
        assert_eq!(lasting(3600).last_at.0 - lasting(3600).first_at.0, 3_600_000);
    }

    #[test]
    fn a_series_without_end_reaches_the_end_of_time() {
        let start = vienna(Day::of(2026, 11, 23), 9);
        let end = start.at.plus(3600);
        let span = |limit| {
            let rule = Rule { limit, ..Rule::every(Frequency::Daily) };
            Timing::new(start.clone(), end, Some(rule)).unwrap().span(&[]).unwrap()
        };
        assert_eq!(span(Limit::Forever).last_at, Timestamp(i64::MAX));
        let counted = span(Limit::Count(10));
        assert!(counted.last_at.0 - counted.first_at.0 < 14 * 86_400_000, "{counted:?}");
        assert_eq!(counted.kind, SpanKind::Series);
    }

    #[test]
    fn what_is_stored_is_the_same_series() {
        let start = vienna(Day::of(2026, 11, 23), 9);
        let rule = Rule { limit: Limit::Count(5), ..Rule::every(Frequency::Daily) };
        let timing = Timing::new(start.clone(), start.at.plus(3600), Some(rule)).unwrap();
        let without = timing.series().unwrap().without(start.at.plus(86_400)).unwrap();
        let again = Timing::of(&without, timing.end).series().unwrap();
        let walls = |series: &Series| series.walls(Wall::MIN, Wall::MAX).collect::<Vec<_>>();
        assert_eq!(walls(&again), walls(&without));
        assert_eq!(walls(&again).len(), 4);
    }
}
