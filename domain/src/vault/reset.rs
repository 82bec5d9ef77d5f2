//! Resetting a vault that nobody can open any more (contract A 3, "reset pending").
//!
//! Whoever is signed in but cannot sign may ask for a reset. It waits seven days, so that a device that can open the
//! vault may cancel it; after that a new vault may replace the old one. Nothing deletes the vault by itself.

use std::time::Duration;

use crate::time::Timestamp;

/// A reset that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reset {
    /// When it was asked for.
    pub requested_at: Timestamp,
}

impl Reset {
    /// How long a reset waits (contract A 8: 7 days).
    pub const DELAY: Duration = Duration::from_hours(7 * 24);

    /// When the person is mailed again, counted from when it was asked for: whoever didn't ask for it has a second and a
    /// third chance to cancel it.
    pub const REMINDERS: [Duration; 2] = [Duration::from_hours(3 * 24), Duration::from_hours(6 * 24)];

    /// From when a new vault may replace the old one.
    pub fn at(self) -> Timestamp {
        self.requested_at.after(Self::DELAY)
    }

    /// Whether a new vault may replace the old one.
    pub fn is_due(self, now: Timestamp) -> bool {
        self.at() <= now
    }

    /// When the person is mailed again after `now`; never once all reminders are over.
    pub fn next_reminder(self, now: Timestamp) -> Option<Timestamp> {
        Self::REMINDERS.into_iter().map(|span| self.requested_at.after(span)).find(|at| *at > now)
    }

    /// Days until it is due, a begun one counted as one.
    pub fn days_left(self, now: Timestamp) -> u64 {
        const DAY_SECS: u64 = 24 * 60 * 60;
        self.at().since(now).as_secs().div_ceil(DAY_SECS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_is_due_after_exactly_seven_days() {
        let reset = Reset { requested_at: Timestamp(1_000) };
        assert_eq!(reset.at(), Timestamp(1_000 + 604_800_000));
        assert!(!reset.is_due(Timestamp(1_000 + 604_799_999)));
        assert!(reset.is_due(Timestamp(1_000 + 604_800_000)));
    }

    #[test]
    fn the_person_is_reminded_after_three_and_after_six_days() {
        const DAY: i64 = 86_400_000;
        let reset = Reset { requested_at: Timestamp(1_000) };
        let day = |days: i64| Timestamp(1_000 + days * DAY);
        assert_eq!(reset.next_reminder(day(0)), Some(day(3)));
        assert_eq!(reset.next_reminder(day(3)), Some(day(6)));
        assert_eq!(reset.next_reminder(day(6)), None);
        assert_eq!(
            (reset.days_left(day(3)), reset.days_left(Timestamp(day(6).0 + 1)), reset.days_left(day(7))),
            (4, 1, 0)
        );
    }
}
