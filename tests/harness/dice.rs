//! Chance that can be repeated: a seed, printed by whoever throws, makes the same throws again.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

/// A source of numbers that look random (`SplitMix64`).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// With the seed that the environment gives under this name, or a new one; prints which, so that a run can be repeated.
    pub fn from_environment(variable: &str) -> Self {
        let given = std::env::var(variable).ok().and_then(|seed| seed.parse().ok());
        let seed: u64 = given.unwrap_or_else(|| Self(now_nanos()).next());
        eprintln!("{variable}={seed} repeats this run's choices");
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `end`, without `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let place = self.below(from.len() as u64);
        &from[usize::try_from(place).unwrap()]
    }

    /// So many different ones of `from`.
    pub fn pick_some<T: Clone>(&mut self, from: &[T], count: usize) -> Vec<T> {
        let mut left = from.to_vec();
        let draws = count.min(left.len()) as u64;
        (0..draws).map(|_| left.swap_remove(usize::try_from(self.below(left.len() as u64)).unwrap())).collect()
    }

    /// Dice of their own for somebody who throws at the same time.
    pub fn fork(&mut self) -> Self {
        Self(self.next())
    }

    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.next().to_le_bytes()[0])
    }

    /// An id as devices make them: 22 base64url characters.
    pub fn device_made_id(&mut self) -> String {
        URL_SAFE_NO_PAD.encode(self.bytes::<16>())
    }
}

fn now_nanos() -> u64 {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::from(since_epoch.subsec_nanos()) << 20 ^ since_epoch.as_secs()
}
