//! What orders siblings: a number each, so that a page goes between two others without touching them.
//!
//! Halving runs out of numbers. Where two neighbours come closer than [`GAP_MIN`], or a number passes [`MAX`], all of
//! the siblings are numbered anew: 1, 2, 3, …

/// How far apart neighbours must lie.
pub const GAP_MIN: f64 = 1e-6;
/// The highest position that is kept; up to here neighbours can lie [`GAP_MIN`] apart.
pub const MAX: f64 = 1e9;
/// From one page to the next where nobody said where.
const STEP: f64 = 1.0;

/// Whether somebody may ask for it (contract B 4.6: from 0 up).
pub fn is_usable(position: f64) -> bool {
    position.is_finite() && position >= 0.0
}

/// The position behind all siblings, of which `last` is the highest.
pub fn behind(last: Option<f64>) -> f64 {
    last.unwrap_or(0.0) + STEP
}

/// What lies around a position among the siblings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Neighbours {
    /// The highest position below it.
    pub below: Option<f64>,
    /// The lowest position at it or above.
    pub above: Option<f64>,
}

/// Whether the siblings must be numbered anew once a page lies at `position`. Of two at the same position the one that
/// came last goes first.
pub fn is_crowded(position: f64, around: Neighbours) -> bool {
    let too_close = |a: f64, b: f64| b - a < GAP_MIN;
    position > MAX
        || around.below.is_some_and(|below| too_close(below, position))
        || around.above.is_some_and(|above| too_close(position, above))
}

/// The position of the page at `place` (from 0) after the siblings were numbered anew.
#[expect(clippy::cast_precision_loss, reason = "there are fewer pages than a double counts")]
pub fn at_place(place: u64) -> f64 {
    (place as f64 + 1.0) * STEP
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn positions_are_numbers_from_zero_up() {
        assert!(is_usable(0.0) && is_usable(f64::MAX));
        assert!(!is_usable(-0.1) && !is_usable(f64::INFINITY) && !is_usable(f64::NAN));
    }

    #[test]
    fn a_page_that_nobody_placed_goes_behind_all_others() {
        assert!((behind(None) - 1.0).abs() < GAP_MIN);
        assert!((behind(Some(2.5)) - 3.5).abs() < GAP_MIN);
    }

    #[test]
    fn neighbours_keep_their_distance() {
        let around = |below, above| Neighbours { below, above };
        assert!(!is_crowded(0.0, around(None, None)));
        assert!(!is_crowded(1.5, around(Some(1.0), Some(2.0))));
        assert!(is_crowded(1.0, around(None, Some(1.0))));
        assert!(is_crowded(1.0 + GAP_MIN / 2.0, around(Some(1.0), None)));
        assert!(!is_crowded(1.0 + GAP_MIN * 1.5, around(Some(1.0), None)));
        assert!(!is_crowded(MAX, around(None, None)));
        assert!(is_crowded(MAX + 1.0, around(None, None)));
    }

    proptest! {
        /// Whatever is asked for, what is kept stays in order and apart.
        #[test]
        fn siblings_stay_apart(asked in prop::collection::vec(0.0..1e10, 1..40)) {
            let mut kept: Vec<f64> = Vec::new();
            for position in asked {
                let place = kept.iter().filter(|other| **other < position).count();
                let below = place.checked_sub(1).map(|before| kept[before]);
                let above = kept.get(place).copied();
                kept.insert(place, position);
                if is_crowded(position, Neighbours { below, above }) {
                    kept = (0..kept.len() as u64).map(at_place).collect();
                }
                prop_assert!(kept.windows(2).all(|pair| pair[1] - pair[0] >= GAP_MIN), "{kept:?}");
                prop_assert!(kept.iter().all(|position| *position <= MAX));
            }
        }
    }
}
