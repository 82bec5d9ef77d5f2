//! When days have passed: at the midnight of UTC with which the last of them ends.

use crate::Timestamp;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// The midnight of UTC that follows, or the moment itself where it is one.
pub fn next_midnight(at: Timestamp) -> Timestamp {
    let rest = at.0.rem_euclid(DAY_MS);
    if rest == 0 { at } else { Timestamp(at.0.saturating_add(DAY_MS - rest)) }
}

/// When what lasts so many days from `at` on is over (S3): at the midnight that follows those days.
pub fn due_after_days(at: Timestamp, days: u32) -> Timestamp {
    next_midnight(Timestamp(at.0.saturating_add(DAY_MS.saturating_mul(i64::from(days)))))
}

/// Whether a moment is a midnight of UTC.
pub(super) const fn is_midnight(at: Timestamp) -> bool {
    at.0.rem_euclid(DAY_MS) == 0
}
