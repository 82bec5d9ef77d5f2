//! What orders issues by hand: a text each, compared byte by byte, so that an issue goes between two others without touching them.
//!
//! A new issue's rank comes from the instant at which it is made, so that making one reads no other. Between two ranks there is
//! always another one, a bit longer; a space whose ranks grow too long is evened out piece by piece.

use crate::Timestamp;

/// Digits in the order of their bytes.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Digits of the instant at which an issue was made.
const INSTANT_LEN: usize = 9;
/// Characters from which on a rank calls for evening out.
pub const RANK_LEN_MAX: usize = 60;
/// Neighbours that are evened out at once.
pub const EVENED_MAX: usize = 1_000;

/// A rank. None ends in the lowest digit, so that there is room below each.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(String);

impl Rank {
    /// The rank of an issue that is made now: behind all that were made before.
    pub fn of_new(at: Timestamp) -> Self {
        let mut left = u64::try_from(at.0).unwrap_or(0);
        let mut digits = [0; INSTANT_LEN];
        for digit in digits.iter_mut().rev() {
            *digit = left % 62;
            left /= 62;
        }
        let written = digits.iter().map(|digit| char::from(DIGITS[usize::try_from(*digit).unwrap_or(0)]));
        Self(written.chain(['V']).collect())
    }

    /// Reads a rank.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) && !text.ends_with('0');
        fits.then(|| Self(text.to_owned()))
    }

    /// The rank as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A rank between two; nothing where the two aren't in order, or are the same.
    pub fn between(below: Option<&Self>, above: Option<&Self>) -> Option<Self> {
        let low = below.map_or(&[][..], |rank| rank.0.as_bytes());
        let mut high = above.map(|rank| rank.0.as_bytes());
        if high.is_some_and(|high| low >= high) {
            return None;
        }
        let mut middle = String::new();
        for at in 0.. {
            let from = low.get(at).map_or(0, |byte| digit(*byte));
            let to = high.map_or(62, |high| high.get(at).map_or(0, |byte| digit(*byte)));
            if to > from + 1 {
                middle.push(char::from(DIGITS[usize::midpoint(from, to)]));
                break;
            }
            middle.push(char::from(DIGITS[from]));
            if to > from {
                high = None;
            }
        }
        Some(Self(middle))
    }

    /// So many ranks between two, in order and far from each other.
    pub fn spread(below: Option<&Self>, above: Option<&Self>, count: usize) -> Option<Vec<Self>> {
        if count == 0 {
            return Some(Vec::new());
        }
        let middle = Self::between(below, above)?;
        let mut ranks = Self::spread(below, Some(&middle), count / 2)?;
        let behind = Self::spread(Some(&middle), above, count - count / 2 - 1)?;
        ranks.push(middle);
        ranks.extend(behind);
        Some(ranks)
    }

    /// Whether the neighbours should be evened out.
    pub fn is_crowded(&self) -> bool {
        self.0.len() > RANK_LEN_MAX
    }
}

fn digit(byte: u8) -> usize {
    DIGITS.binary_search(&byte).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn new_issues_go_behind_those_before() {
        let rank = |at| Rank::of_new(Timestamp(at));
        assert_eq!(rank(0).as_str(), "000000000V");
        assert_eq!(rank(61).as_str(), "00000000zV");
        assert!(rank(1_700_000_000_000) < rank(1_700_000_000_001));
        assert!(Rank::between(None, Some(&rank(0))).expect("room below") < rank(0));
        assert_eq!(Rank::between(Some(&rank(1)), Some(&rank(1))), None);
        assert_eq!((Rank::parse("a0"), Rank::parse(""), Rank::parse("a-")), (None, None, None));
    }

    #[test]
    fn a_thousand_neighbours_are_evened_out_to_short_ranks() {
        let (low, high) = (Rank::of_new(Timestamp(1)), Rank::of_new(Timestamp(2)));
        let ranks = Rank::spread(Some(&low), Some(&high), EVENED_MAX).expect("room");
        assert_eq!(ranks.len(), EVENED_MAX);
        assert!(ranks.is_sorted_by(|one, other| one < other) && ranks[0] > low && ranks[999] < high);
        assert!(ranks.iter().all(|rank| rank.as_str().len() <= INSTANT_LEN + 4), "{}", ranks[500].as_str());
    }

    proptest! {
        #[test]
        fn order_stays_after_any_moves(moves in prop::collection::vec((0_usize..50, 0_usize..50), 1..300)) {
            let mut ranks: Vec<Rank> = (0..50).map(|at| Rank::of_new(Timestamp(at))).collect();
            for (from, to) in moves {
                ranks.remove(from);
                let below = to.checked_sub(1).map(|at| ranks[at].clone());
                let moved = Rank::between(below.as_ref(), ranks.get(to)).expect("room between two");
                prop_assert!(Rank::parse(moved.as_str()).is_some());
                ranks.insert(to, moved);
                prop_assert!(ranks.is_sorted_by(|one, other| one < other));
            }
        }
    }
}
