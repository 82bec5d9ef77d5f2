//! Which packs of a repository are joined, and when.

use std::time::Duration;

use crate::time::Timestamp;

/// So many packs are joined at once.
pub const PACKS_MAX: usize = 20;
/// Packs that are older than this are joined, however few.
pub const JOINED_AFTER: Duration = Duration::from_hours(24);
/// Bytes of what is joined, at most: what one upload to S3-compatible storage takes, several times over.
pub const JOINED_MAX: u64 = 16 << 30;
/// A pack of fewer bytes is always joined.
const LARGE_MIN: u64 = 64 << 20;
/// A large pack stays as it is where it has so many times the bytes of all smaller ones together. So what is written again
/// and again is never much more than what came.
const LARGE_TIMES: u64 = 2;

/// A pack, as far as it counts for whether it is joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackFacts {
    /// Its bytes.
    pub size: u64,
    /// When it was made.
    pub made_at: Timestamp,
}

/// What is to be done with the packs of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joining {
    /// The places of those that become one.
    pub packs: Vec<usize>,
    /// When, if none comes before.
    pub due: Timestamp,
}

impl Joining {
    /// What is to be done with these packs; nothing where fewer than two of them can be joined.
    pub fn of(packs: &[PackFacts]) -> Option<Self> {
        let mut small = small_ones(packs);
        if small.len() < 2 {
            return None;
        }
        let mut made: Vec<Timestamp> = small.iter().map(|(_, pack)| pack.made_at).collect();
        made.sort_unstable();
        let due = match made.as_slice() {
            made if made.len() >= PACKS_MAX => made.last().copied(),
            made => made.get(1).map(|second| second.after(JOINED_AFTER)),
        };
        small.sort_unstable_by_key(|(place, _)| *place);
        Some(Self { packs: small.into_iter().map(|(place, _)| place).collect(), due: due? })
    }

    /// Whether it is to be done at once, since there are so many.
    pub const fn is_urgent(&self) -> bool {
        self.packs.len() >= PACKS_MAX
    }
}

/// The packs that aren't large beside all smaller ones, the smallest first, with their places.
fn small_ones(packs: &[PackFacts]) -> Vec<(usize, PackFacts)> {
    let mut found: Vec<_> = packs.iter().copied().enumerate().collect();
    found.sort_unstable_by_key(|(place, pack)| (pack.size, *place));
    let mut size = 0_u64;
    let fitting = found.iter().take_while(|(_, pack)| {
        size = size.saturating_add(pack.size);
        size <= JOINED_MAX
    });
    let fitting = fitting.count();
    found.truncate(fitting);
    let mut size = found.iter().map(|(_, pack)| pack.size).sum::<u64>();
    while let Some((_, largest)) = found.last() {
        let beside = size - largest.size;
        if largest.size < LARGE_MIN || largest.size < LARGE_TIMES.saturating_mul(beside) {
            break;
        }
        size = beside;
        found.pop();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp(1_800_000_000_000);
    const MB: u64 = 1 << 20;

    /// Packs of these sizes, made a minute after each other.
    fn packs(sizes: &[u64]) -> Vec<PackFacts> {
        let made = |at: usize| START.after(Duration::from_mins(at as u64));
        sizes.iter().enumerate().map(|(at, size)| PackFacts { size: *size, made_at: made(at) }).collect()
    }

    fn joined(sizes: &[u64]) -> Vec<usize> {
        Joining::of(&packs(sizes)).map(|joining| joining.packs).unwrap_or_default()
    }

    #[test]
    fn many_are_joined_at_once_and_few_a_day_after_the_second() {
        assert_eq!(Joining::of(&packs(&[])), None);
        assert_eq!(Joining::of(&packs(&[5])), None);
        let day = JOINED_AFTER;
        for count in [2, 3, PACKS_MAX - 1] {
            let joining = Joining::of(&packs(&vec![5; count])).unwrap();
            assert_eq!(joining.due, START.after(Duration::from_mins(1)).after(day));
            assert!(!joining.is_urgent() && joining.packs.len() == count);
        }
        for count in [PACKS_MAX, PACKS_MAX + 1] {
            let joining = Joining::of(&packs(&vec![5; count])).unwrap();
            assert_eq!(joining.due, START.after(Duration::from_mins(count as u64 - 1)));
            assert!(joining.is_urgent() && joining.packs == (0..count).collect::<Vec<_>>());
        }
        // Whatever their order.
        let mut turned = packs(&[5, 6, 7]);
        turned.reverse();
        assert_eq!(Joining::of(&turned).unwrap().due, START.after(Duration::from_mins(1)).after(day));
    }

    #[test]
    fn a_pack_that_is_large_beside_the_others_stays() {
        assert_eq!(joined(&[MB, 64 * MB - 1]), [0, 1]);
        assert_eq!(joined(&[MB, 64 * MB]), Vec::<usize>::new());
        assert_eq!(joined(&[64 * MB, 32 * MB + 1]), [0, 1]);
        assert_eq!(joined(&[64 * MB, 32 * MB]), Vec::<usize>::new());
        assert_eq!(joined(&[3, 1_000 * MB, 4, 300 * MB, 5]), [0, 2, 4]);
        // One that isn't takes the larger ones along.
        assert_eq!(joined(&[100 * MB, 90 * MB, 300 * MB]), [0, 1, 2]);
        assert_eq!(joined(&[100 * MB, 90 * MB, 380 * MB]), [0, 1]);
        // Large ones don't count.
        let many = [vec![1; PACKS_MAX - 1], vec![64 * MB]].concat();
        assert!(!Joining::of(&packs(&many)).unwrap().is_urgent());
    }

    #[test]
    fn no_more_is_joined_than_fits() {
        let half = JOINED_MAX / 2;
        assert_eq!(joined(&[half, half]), [0, 1]);
        assert_eq!(joined(&[half, half + 1]), Vec::<usize>::new());
        assert_eq!(joined(&[half, half / 2, half / 2, half]), [0, 1, 2]);
        assert_eq!(joined(&[u64::MAX, u64::MAX]), Vec::<usize>::new());
    }
}
