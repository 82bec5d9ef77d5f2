//! Quiet hours (contract A 2.3): when a person is not to be interrupted, as the clock where they live shows it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::zone::{Date, TimeOfDay, Zone};
use crate::{Timestamp, problems::Problems};

/// Days of the week: 0 is Sunday, 6 is Saturday.
pub const DAYS: std::ops::RangeInclusive<u8> = 0..=6;
/// Days in a request (contract A 4.3).
pub const DAYS_LEN_MAX: usize = 7;
/// Periods that follow one another without a break before the search for their end is given up: more than two weeks have.
/// Where a zone skips the day between them (Samoa, 30 December 2011), the periods of two weeks are one.
const CHAIN_MAX: usize = 15;

/// Quiet hours, every day or on some days.
///
/// A period belongs to the day on which it starts, also where it reaches into the next. Where `end` is not after `start`,
/// it ends on the next day; where they are equal, it lasts for a whole day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuietHours {
    /// When a period starts.
    pub start: TimeOfDay,
    /// When it ends.
    pub end: TimeOfDay,
    /// The days on which one starts; every day where none are named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<BTreeSet<u8>>,
    /// Whether what is urgent interrupts all the same.
    pub allow_urgent: bool,
}

impl QuietHours {
    /// The end of the quiet period that `at` is in; nothing while it is not quiet. Periods that touch are one.
    pub fn quiet_until(&self, zone: &Zone, at: Timestamp) -> Option<Timestamp> {
        let mut end = self.period_end(zone, at)?;
        for _ in 1..CHAIN_MAX {
            match self.period_end(zone, end) {
                Some(later) => end = later,
                None => break,
            }
        }
        Some(end)
    }

    /// Notes what is wrong with them, where they were read from a request.
    pub fn check(&self, path: &str, problems: &mut Problems) {
        if let Some(days) = &self.days {
            let known = days.iter().all(|day| DAYS.contains(day));
            problems.require(known, format!("{path}.days"), "Days are numbers from 0 (Sunday) to 6 (Saturday).");
        }
        let always = self.start == self.end && self.days.as_ref().is_none_or(|days| days.len() == DAYS_LEN_MAX);
        problems.require(!always, path, "Leave some time outside the quiet hours.");
    }

    fn period_end(&self, zone: &Zone, at: Timestamp) -> Option<Timestamp> {
        let (today, _) = zone.local(at);
        // A period reaches into one more day, and a zone may skip a whole day (Samoa, 30 December 2011).
        let first = (0..2).fold(today, |day, _| day.yesterday().unwrap_or(day));
        let days = std::iter::successors(Some(first), |day| day.tomorrow().ok()).take(3);
        days.filter(|day| self.starts_on(*day))
            .map(|day| self.period(zone, day))
            .find_map(|(start, end)| (start <= at && at < end).then_some(end))
    }

    fn starts_on(&self, day: Date) -> bool {
        let number = u8::try_from(day.weekday().to_sunday_zero_offset()).unwrap_or(0);
        self.days.as_ref().is_none_or(|days| days.contains(&number))
    }

    fn period(&self, zone: &Zone, day: Date) -> (Timestamp, Timestamp) {
        let last = if self.end > self.start { day } else { day.tomorrow().unwrap_or(day) };
        (zone.instant(day, self.start), zone.instant(last, self.end))
    }
}

#[cfg(test)]
mod tests;
