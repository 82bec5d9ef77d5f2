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

    /// From when a new vault may replace the old one.
    pub fn at(self) -> Timestamp {
        self.requested_at.after(Self::DELAY)
    }

    /// Whether a new vault may replace the old one.
    pub fn is_due(self, now: Timestamp) -> bool {
        self.at() <= now
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
}
