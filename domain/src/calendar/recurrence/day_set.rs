//! Days of a year as bits, so that what a rule says of days is an intersection and not a loop.

/// Days of a year, a month or a week, counted from its first, which is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DaySet([u64; 6]);

impl DaySet {
    /// Every day that a year can have.
    pub const ALL: Self = Self([u64::MAX, u64::MAX, u64::MAX, u64::MAX, u64::MAX, (1 << 46) - 1]);

    /// Puts `day` in; a day that no year has is left out.
    pub fn insert(&mut self, day: i64) {
        if let Ok(day) = usize::try_from(day)
            && day < 366
        {
            self.0[day / 64] |= 1 << (day % 64);
        }
    }

    /// Whether `day` is in.
    #[cfg(test)]
    pub fn contains(&self, day: usize) -> bool {
        self.0[day / 64] >> (day % 64) & 1 == 1
    }

    /// Puts a month's or a week's days in, whose first is the day `at`.
    pub fn place(&mut self, at: usize, days: u32) {
        let (word, shift) = (at / 64, at % 64);
        self.0[word] |= u64::from(days) << shift;
        if shift > 32 && word + 1 < self.0.len() {
            self.0[word + 1] |= u64::from(days) >> (64 - shift);
        }
    }

    /// 31 days from the day `at` on, as a month has them.
    pub fn month(&self, at: usize) -> u32 {
        let (word, shift) = (at / 64, at % 64);
        let low = self.0[word] >> shift;
        let high = if shift > 32 && word + 1 < self.0.len() { self.0[word + 1] << (64 - shift) } else { 0 };
        ((low | high) & 0x7fff_ffff) as u32
    }

    /// What is in both.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(ours, theirs)| *ours &= theirs);
        self
    }

    /// How many days are in.
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Takes the first day out.
    pub fn pop(&mut self) -> Option<i64> {
        let (at, word) = self.0.iter_mut().enumerate().find(|(_, word)| **word != 0)?;
        let day = at * 64 + word.trailing_zeros() as usize;
        *word &= *word - 1;
        i64::try_from(day).ok()
    }

    /// Takes out what is before `day`.
    pub fn keep_from(&mut self, day: i64) {
        for (at, word) in (0..).step_by(64).zip(&mut self.0) {
            match day - at {
                ..=0 => {}
                shift @ 1..=63 => *word &= u64::MAX << shift,
                _ => *word = 0,
            }
        }
    }

    /// The day that has `before` others before it.
    pub fn nth(&self, mut before: u32) -> Option<i64> {
        for (at, mut word) in (0..).step_by(64).zip(self.0) {
            let ones = word.count_ones();
            if before < ones {
                (0..before).for_each(|_| word &= word - 1);
                return Some(at + i64::from(word.trailing_zeros()));
            }
            before -= ones;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn filled(days: &BTreeSet<usize>) -> DaySet {
        let mut set = DaySet::default();
        for &day in days {
            set.insert(i64::try_from(day).unwrap());
        }
        set
    }

    proptest! {
        #[test]
        fn a_set_is_a_set(days in prop::collection::btree_set(0..366_usize, 0..60), from in -3..370_i64, at in 0..336_usize) {
            let set = filled(&days);
            prop_assert_eq!(set.len() as usize, days.len());
            prop_assert!((0..366).all(|day| set.contains(day) == days.contains(&day)));
            for (before, &day) in (0..).zip(&days) {
                prop_assert_eq!(set.nth(before), i64::try_from(day).ok());
            }
            prop_assert_eq!(set.nth(set.len()), None);
            let mut rest = set;
            rest.keep_from(from);
            let popped: Vec<_> = std::iter::from_fn(|| rest.pop()).collect();
            let kept: Vec<_> = days.iter().map(|&day| i64::try_from(day).unwrap()).filter(|&day| day >= from).collect();
            prop_assert_eq!(popped, kept);
            let month = set.month(at);
            prop_assert!((0..31).all(|day| (month >> day & 1 == 1) == days.contains(&(at + day))));
            let mut placed = DaySet::default();
            placed.place(at, month);
            prop_assert_eq!(placed.month(at), month);
            prop_assert_eq!(placed.len(), month.count_ones());
        }
    }
}
