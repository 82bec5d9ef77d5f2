//! When the people of a rota hand over.

use std::ops::RangeInclusive;

use jiff::{Span, civil::Date};
use serde::{Deserialize, Serialize};

use super::ASKABLE;
use crate::{
    Result, Timestamp,
    notify::zone::{TimeOfDay, Zone},
    problems::Problems,
};

/// Handovers a week at times of one's own choosing.
pub const MOMENTS: RangeInclusive<usize> = 1..=21;
/// Days or weeks of one turn.
pub const INTERVAL: RangeInclusive<u8> = 1..=12;
/// The last day of a week that starts with 0, Sunday.
const SATURDAY: u8 = 6;
const WEEK: i64 = 7;

/// When one hands over to the next. In JSON it is `{"every": "day", "at": "09:00", "interval": 1}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "every", rename_all = "lowercase")]
pub enum Handover {
    /// Every so many days.
    Day {
        /// At this time.
        at: TimeOfDay,
        /// How many days.
        interval: u8,
    },
    /// Every so many weeks.
    Week {
        /// On this day, from 0, Sunday.
        day: u8,
        /// At this time.
        at: TimeOfDay,
        /// How many weeks.
        interval: u8,
    },
    /// Each week at these moments.
    Custom {
        /// They, in their order.
        moments: Vec<HandoverMoment>,
    },
}

/// A moment of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HandoverMoment {
    /// The day, from 0, Sunday.
    pub day: u8,
    /// The time.
    pub at: TimeOfDay,
}

impl Handover {
    /// Checks what somebody wrote, and orders its moments; `path` names it.
    pub(super) fn check(&self, path: &str) -> Result<Self> {
        let mut problems = Problems::new();
        let mut checked = self.clone();
        match &mut checked {
            Self::Day { interval, .. } => interval_check(&mut problems, path, *interval),
            Self::Week { day, interval, .. } => {
                day_check(&mut problems, format!("{path}.day"), *day);
                interval_check(&mut problems, path, *interval);
            }
            Self::Custom { moments } => {
                for (place, moment) in moments.iter().enumerate() {
                    day_check(&mut problems, format!("{path}.moments[{place}].day"), moment.day);
                }
                moments.sort_unstable();
                let different = moments.windows(2).all(|pair| pair[0] != pair[1]);
                let fits = MOMENTS.contains(&moments.len()) && different;
                problems.require(fits, format!("{path}.moments"), "Give 1 to 21 moments, each once.");
            }
        }
        problems.into_result().map(|()| checked)
    }

    /// Its handovers in `zone`, counted from the day or the week of `start`.
    pub(super) fn beat(&self, zone: &Zone, start: Timestamp) -> Beat {
        let (today, _) = zone.local(start.clamp(*ASKABLE.start(), *ASKABLE.end()));
        let sunday = || days_after(today, -i64::from(today.weekday().to_sunday_zero_offset()));
        let (base, days, moments) = match self {
            Self::Day { at, interval } => (today, i64::from(*interval), vec![(0, *at)]),
            Self::Week { day, at, interval } => (sunday(), WEEK * i64::from(*interval), vec![(i64::from(*day), *at)]),
            Self::Custom { moments } => {
                let moments = moments.iter().map(|moment| (i64::from(moment.day), moment.at));
                (sunday(), WEEK, moments.collect())
            }
        };
        Beat { zone: zone.clone(), base, days, moments }
    }
}

fn day_check(problems: &mut Problems, path: String, day: u8) {
    problems.require(day <= SATURDAY, path, "Days are 0 (Sunday) to 6 (Saturday).");
}

fn interval_check(problems: &mut Problems, path: &str, interval: u8) {
    problems.require(INTERVAL.contains(&interval), format!("{path}.interval"), "Use 1 to 12.");
}

/// Handovers, numbered without end in both directions: a pattern of moments that repeats after so many days.
#[derive(Clone, Debug)]
pub(super) struct Beat {
    zone: Zone,
    /// The day from which the pattern counts.
    base: Date,
    /// How long the pattern is.
    days: i64,
    /// Days after the pattern's start and the times there; never empty.
    moments: Vec<(i64, TimeOfDay)>,
}

impl Beat {
    fn len(&self) -> i64 {
        i64::try_from(self.moments.len()).unwrap_or(1)
    }

    /// When the turn of this number begins, and the one before it ends.
    pub(super) fn handover(&self, turn: i64) -> Timestamp {
        let place = usize::try_from(turn.rem_euclid(self.len())).unwrap_or(0);
        let (day, time) = self.moments[place];
        self.zone.instant(days_after(self.base, turn.div_euclid(self.len()) * self.days + day), time)
    }

    /// The number of the turn in which `at` is.
    pub(super) fn turn_at(&self, at: Timestamp) -> i64 {
        let at = at.clamp(*ASKABLE.start(), *ASKABLE.end());
        let days = (self.zone.local(at).0 - self.base).get_days();
        // The first turn of the pattern that the day is in, from where it is a few steps.
        let mut turn = i64::from(days).div_euclid(self.days) * self.len();
        while self.handover(turn) > at {
            turn -= 1;
        }
        while self.handover(turn + 1) <= at {
            turn += 1;
        }
        turn
    }
}

fn days_after(date: Date, days: i64) -> Date {
    let end = if days < 0 { Date::MIN } else { Date::MAX };
    Span::new().try_days(days).and_then(|span| date.checked_add(span)).unwrap_or(end)
}
