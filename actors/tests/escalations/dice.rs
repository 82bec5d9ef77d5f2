//! Chance that can be repeated: a seed makes the same throws again.

/// A source of numbers that look random (`SplitMix64`).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `end`, without `end`.
    pub fn below(&mut self, end: i64) -> i64 {
        (self.next() % end.unsigned_abs()).cast_signed()
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let place = self.below(i64::try_from(from.len()).expect("a length"));
        &from[usize::try_from(place).expect("a place")]
    }
}
