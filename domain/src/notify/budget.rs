//! The budget of texts and calls: what they cost an organization in one day has a bound, whatever its alarms do.
//!
//! Texts and calls cost money at a provider, each one; a loop that raises alarms must not spend without end. What is beyond
//! the budget is neither texted nor called. The app, push messages and e-mails go on.

use crate::time::Timestamp;

/// Milliseconds of one day. Budgets end at midnight, UTC.
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
/// The share of a budget of which owners are warned, in per cent.
const MOST_PERCENT: u64 = 80;

/// The day of `now`, counted from the Unix epoch, UTC.
pub const fn budget_day(now: Timestamp) -> i64 {
    now.0.div_euclid(DAY_MS)
}

/// Whether most of a budget of `most` is gone once `spent` are.
pub const fn is_mostly_spent(spent: u64, most: u64) -> bool {
    spent.saturating_mul(100) >= most.saturating_mul(MOST_PERCENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_ends_at_midnight() {
        for (millis, day) in [(0, 0), (86_399_999, 0), (86_400_000, 1), (-1, -1)] {
            assert_eq!(budget_day(Timestamp(millis)), day, "{millis}");
        }
    }

    #[test]
    fn most_of_a_budget_is_four_fifths_rounded_up() {
        for (spent, most, is_mostly) in [(3, 5, false), (4, 5, true), (79, 100, false), (80, 100, true), (1, 1, true)] {
            assert_eq!(is_mostly_spent(spent, most), is_mostly, "{spent} of {most}");
        }
        assert!(!is_mostly_spent(1, 2), "half of two is not most of it");
    }
}
