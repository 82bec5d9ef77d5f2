//! Lanes: the parts of a bucket's keys that are written to side by side.

use std::{fmt, str::FromStr};

use domain::storage::FileKey;
use sha2::{Digest, Sha256};

/// Lanes of a bucket.
pub const LANES: u8 = 16;

/// One of a bucket's lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneNo(u8);

impl LaneNo {
    /// The lane in which a key is written, by its hash.
    pub fn of(key: &FileKey) -> Self {
        Self(Sha256::digest(key.as_str().as_bytes())[0] % LANES)
    }

    /// The number, from 0.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl fmt::Display for LaneNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

/// The text names no lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a lane of a bucket")]
pub struct NotALane;

impl FromStr for LaneNo {
    type Err = NotALane;

    fn from_str(text: &str) -> Result<Self, NotALane> {
        let lane = u8::from_str_radix(text, 16).map_err(|_| NotALane)?;
        if lane < LANES && text.len() == 1 { Ok(Self(lane)) } else { Err(NotALane) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_spread_over_all_lanes_and_each_reads_back() {
        let lanes: std::collections::BTreeSet<_> =
            (0..200).map(|at| LaneNo::of(&FileKey::parse(format!("file-{at}")).unwrap())).collect();
        assert_eq!(lanes.len(), usize::from(LANES));
        for lane in lanes {
            assert_eq!(lane.to_string().parse(), Ok(lane));
        }
        for text in ["", "g", "10", "+1", "-"] {
            assert_eq!(text.parse::<LaneNo>(), Err(NotALane), "{text}");
        }
    }
}
