//! How long what failed to go out waits for its next try (decisions, "Notifications", "Deliveries").

use std::time::Duration;

/// How often a delivery is tried before it is given up.
pub const TRIES_MAX: u32 = 8;
/// The first pause, and the shortest.
const PAUSE_MIN: Duration = Duration::from_secs(5);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_hours(1);
/// By how much each pause is longer than the one before: seven pauses then lead from the shortest to the longest.
const PAUSE_GROWTH: u32 = 3;

/// The pause after the try number `tries` (from 1) of what has the number `seed`, give or take a quarter, within 5 s and
/// 1 h.
///
/// What is given or taken follows from the seed, so that those that failed together don't come back together.
pub fn pause_after(tries: u32, seed: i64) -> Duration {
    let grown = PAUSE_GROWTH.saturating_pow(tries.saturating_sub(1));
    let pause = PAUSE_MIN.saturating_mul(grown).min(PAUSE_MAX);
    pause.mul_f64(0.75 + share(seed, tries) / 2.0).clamp(PAUSE_MIN, PAUSE_MAX)
}

/// The same where the other side may have said how long it wants to be left alone: no sooner than that, and no later
/// than in an hour.
pub fn pause_asked(tries: u32, seed: i64, asked: Option<Duration>) -> Duration {
    pause_after(tries, seed).max(asked.unwrap_or_default().min(PAUSE_MAX))
}

/// A number from 0 to 1 that looks random (splitmix64).
fn share(seed: i64, tries: u32) -> f64 {
    let mut mixed = seed.cast_unsigned().wrapping_add(u64::from(tries)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
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
    fn a_pause_that_was_asked_for_is_kept_up_to_an_hour() {
        let asked = |seconds| pause_asked(1, 7, Some(Duration::from_secs(seconds)));
        assert_eq!(pause_asked(1, 7, None), pause_after(1, 7));
        assert_eq!(asked(1), pause_after(1, 7), "never sooner than without");
        assert_eq!(asked(120), Duration::from_secs(120));
        assert_eq!((asked(3_600), asked(3_601)), (PAUSE_MAX, PAUSE_MAX));
    }

    #[test]
    fn entries_that_failed_together_come_back_apart() {
        let pauses: std::collections::HashSet<_> = (0..100).map(|seq| pause_after(4, seq)).collect();
        assert!(pauses.len() > 90);
    }
}
