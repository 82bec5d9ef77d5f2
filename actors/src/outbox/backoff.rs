//! How long a failed delivery waits for its next try (decisions, "Notifications", "Deliveries").

use std::time::Duration;

/// How often a delivery is tried before it is given up.
pub const TRIES_MAX: u32 = 8;
/// The first pause, and the shortest.
const PAUSE_MIN: Duration = Duration::from_secs(5);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_hours(1);
/// By how much each pause is longer than the one before: seven pauses then lead from the shortest to the longest.
const PAUSE_GROWTH: u32 = 3;

/// The pause after the try number `tries` (from 1) of the entry `seq`, give or take a quarter, within 5 s and 1 h.
///
/// What is given or taken follows from the entry, so that entries that failed together don't come back together.
pub(super) fn pause_after(tries: u32, seq: i64) -> Duration {
    let grown = PAUSE_GROWTH.saturating_pow(tries.saturating_sub(1));
    let pause = PAUSE_MIN.saturating_mul(grown).min(PAUSE_MAX);
    pause.mul_f64(0.75 + share(seq, tries) / 2.0).clamp(PAUSE_MIN, PAUSE_MAX)
}

/// A number from 0 to 1 that looks random (splitmix64).
fn share(seq: i64, tries: u32) -> f64 {
    let mut mixed = seq.cast_unsigned().wrapping_add(u64::from(tries)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    f64::from(u32::try_from(mixed >> 32).unwrap_or(u32::MAX)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_from_five_seconds_to_an_hour_over_the_tries() {
        let middle = [5, 15, 45, 135, 405, 1_215, 3_600].map(Duration::from_secs);
        for (tries, middle) in (1..TRIES_MAX).zip(middle) {
            for seq in 0..1_000 {
                let pause = pause_after(tries, seq);
                assert!((PAUSE_MIN..=PAUSE_MAX).contains(&pause), "{tries} {pause:?}");
                assert!(pause >= middle * 3 / 4 && pause <= middle * 5 / 4, "{tries} {pause:?}");
            }
        }
    }

    #[test]
    fn entries_that_failed_together_come_back_apart() {
        let pauses: std::collections::HashSet<_> = (0..100).map(|seq| pause_after(4, seq)).collect();
        assert!(pauses.len() > 90);
    }
}
