//! What is wrong and has been told: an event that carries a `dedupKey` is told once until its source says that it is over.
//!
//! Sources repeat themselves. Alertmanager posts whatever still fires every few hours, and every group again when one
//! alert joins it. A person who has heard of an alert hears of it again only when it is over; one whom it concerns only
//! since (a new admin) hears of it once too.

use std::{collections::BTreeSet, time::Duration};

use crate::{id::UserId, time::Timestamp};

/// How long an alert that nobody posts any more counts as going on. A source that never says that something is over would
/// otherwise have the next outage go unheard.
pub const ALERT_FORGOTTEN_AFTER: Duration = Duration::from_hours(7 * 24);

/// An alert that goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenAlert {
    /// Who has been told.
    pub told: BTreeSet<UserId>,
    /// When the first event of it happened.
    pub opened_at: Timestamp,
    /// When the last one did.
    pub last_at: Timestamp,
}

impl OpenAlert {
    /// An alert that begins at `at`, and that nobody was told of.
    pub const fn new(at: Timestamp) -> Self {
        Self { told: BTreeSet::new(), opened_at: at, last_at: at }
    }

    /// Whether an event at `at` belongs to this alert, rather than to the next one with the same key.
    pub fn goes_on(&self, at: Timestamp) -> bool {
        at < self.last_at.after(ALERT_FORGOTTEN_AFTER)
    }

    /// Takes another event in, at `at`; answers which of those whom it concerns have not been told yet. They have been, from
    /// now on.
    pub fn take_in(&mut self, at: Timestamp, concerned: &[UserId]) -> Vec<UserId> {
        self.last_at = self.last_at.max(at);
        concerned.iter().copied().filter(|user_id| self.told.insert(*user_id)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_was_told_is_not_told_again_and_whoever_was_not_is() {
        let [ada, grace] = [UserId::new(Timestamp(1)), UserId::new(Timestamp(2))];
        let mut alert = OpenAlert::new(Timestamp(5));
        assert_eq!(alert.take_in(Timestamp(5), &[ada]), [ada]);
        assert_eq!(alert.take_in(Timestamp(6), &[ada, grace, grace]), [grace]);
        assert!(alert.take_in(Timestamp(4), &[grace, ada]).is_empty());
        assert_eq!((alert.opened_at, alert.last_at), (Timestamp(5), Timestamp(6)));
    }

    #[test]
    fn an_alert_goes_on_until_nobody_has_posted_it_for_seven_days() {
        let alert = OpenAlert::new(Timestamp(1_000));
        assert!(alert.goes_on(Timestamp(1_000 + 604_799_999)));
        assert!(!alert.goes_on(Timestamp(1_000 + 604_800_000)));
    }
}
