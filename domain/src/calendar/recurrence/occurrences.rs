//! What of a series lies in a window, with those of its occurrences that were changed alone.

use super::{
    series::{Form, Series},
    wall::{DAY_SECONDS, Wall},
};
use crate::{
    Result, Timestamp,
    calendar::window::{Window, too_many_occurrences},
};

/// How long each occurrence lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// This many days on the wall, for whole days.
    Days(i64),
    /// This many seconds, also where clocks change in between (RFC 5545, 3.8.5.3).
    Seconds(i64),
}

/// An occurrence that was changed alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Override {
    /// The occurrence, by the time that the series gives it.
    pub recurrence: Wall,
    /// When it begins.
    pub start: Timestamp,
    /// When it ends.
    pub end: Timestamp,
}

/// An occurrence of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The time that the series gives it, which it is known by.
    pub recurrence: Wall,
    /// When it begins.
    pub start: Timestamp,
    /// When it ends.
    pub end: Timestamp,
    /// Whether it was changed alone: its place among the overrides.
    pub changed: Option<usize>,
}

impl Occurrence {
    /// What the occurrence is known by on the wire (`recurrenceId`): a time on the wall, so that it survives changes of
    /// zones.
    pub fn recurrence_id(&self, form: Form) -> String {
        match form {
            Form::Days => self.recurrence.day().to_string(),
            Form::Zoned | Form::Floating => self.recurrence.to_string(),
        }
    }
}

impl Series {
    /// The length of each occurrence of a series whose first one ends at `end` on the wall.
    pub fn length(&self, end: Wall) -> Length {
        match self.start().form {
            Form::Days => Length::Days((end.day().0 - self.start().at.day().0).max(1)),
            Form::Zoned | Form::Floating => {
                let millis = self.instant(end).0 - self.instant(self.start().at).0;
                Length::Seconds(millis.max(0) / 1000)
            }
        }
    }

    /// The occurrences that lie in `window` at least in part, by their beginnings; one without length counts when it
    /// begins there. More than `most` are refused.
    pub fn occurrences(
        &self,
        length: Length,
        overrides: &[Override],
        window: Window,
        most: usize,
    ) -> Result<Vec<Occurrence>> {
        let lasts = match length {
            Length::Days(days) => days.saturating_mul(DAY_SECONDS),
            Length::Seconds(seconds) => seconds,
        };
        // Zones are applied last; a day on both sides is more than any clock is moved by.
        let from = Wall(window.from.0.div_euclid(1000).saturating_sub(lasts)).plus(-2 * DAY_SECONDS);
        let to = Wall(window.to.0.div_euclid(1000)).plus(2 * DAY_SECONDS);
        let mut replaced: Vec<Wall> = overrides.iter().map(|it| it.recurrence).collect();
        replaced.sort_unstable();
        let mut found: Vec<Occurrence> = Vec::new();
        let mut walls = self.walls(from, to);
        for wall in walls.by_ref().filter(|wall| replaced.binary_search(wall).is_err()) {
            let start = self.instant(wall);
            let end = match length {
                Length::Days(days) => self.instant(wall.plus(days * DAY_SECONDS)),
                Length::Seconds(seconds) => Timestamp(start.0 + seconds * 1000),
            };
            add(&mut found, Occurrence { recurrence: wall, start, end, changed: None }, window, most)?;
        }
        if walls.gave_up() {
            return Err(too_many_occurrences());
        }
        for (at, it) in overrides.iter().enumerate() {
            let occurrence = Occurrence { recurrence: it.recurrence, start: it.start, end: it.end, changed: Some(at) };
            add(&mut found, occurrence, window, most)?;
        }
        found.sort_by_key(|it| (it.start, it.recurrence));
        Ok(found)
    }
}

fn add(found: &mut Vec<Occurrence>, it: Occurrence, window: Window, most: usize) -> Result<()> {
    let begins = it.start < window.to && it.start >= window.from;
    let runs_into = it.start < window.from && it.end > window.from;
    if !(begins || runs_into) {
        return Ok(());
    }
    if found.len() == most {
        return Err(too_many_occurrences());
    }
    found.push(it);
    Ok(())
}
