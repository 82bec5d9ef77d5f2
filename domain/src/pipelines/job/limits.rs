//! How much a job may make. The configuration says it (`pipelines.*`); these are the numbers where it says nothing else.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Bytes of a job's log, at most, unless the configuration says otherwise.
pub const LOG_LEN_MAX: u64 = 64 * 1024 * 1024;
/// Bytes of a job's summary, at most (contract C 4.1).
pub const SUMMARY_LEN_MAX: u64 = 65_536;
/// Bytes of an artifact, at most, unless the configuration says otherwise.
pub const ARTIFACT_LEN_MAX: u64 = 10 * 1024 * 1024 * 1024;
/// Bytes of a cache's entry, at most, unless the configuration says otherwise.
pub const CACHE_LEN_MAX: u64 = 5 * 1024 * 1024 * 1024;

/// Units in which sizes are told, the largest first.
const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];

/// How much a job may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobLimits {
    /// Bytes of the log.
    pub log_bytes: u64,
    /// Bytes of the summary.
    pub summary_bytes: u64,
    /// Bytes of an artifact.
    pub artifact_bytes: u64,
    /// Bytes of a cache's entry.
    pub cache_bytes: u64,
}

impl Default for JobLimits {
    fn default() -> Self {
        Self {
            log_bytes: LOG_LEN_MAX,
            summary_bytes: SUMMARY_LEN_MAX,
            artifact_bytes: ARTIFACT_LEN_MAX,
            cache_bytes: CACHE_LEN_MAX,
        }
    }
}

impl JobLimits {
    /// 413 for an artifact of so many bytes that is too large.
    pub fn artifact_check(&self, size: u64) -> Result<()> {
        let limit = self.artifact_bytes;
        if size <= limit { Ok(()) } else { Err(Error::too_large(format!("An artifact has at most {}.", sized(limit)))) }
    }

    /// 413 for a cache of so many bytes that is too large.
    pub fn cache_check(&self, size: u64) -> Result<()> {
        let limit = self.cache_bytes;
        if size <= limit { Ok(()) } else { Err(Error::too_large(format!("A cache has at most {}.", sized(limit)))) }
    }
}

/// A number of bytes as people read it: in the largest unit of which it is a whole number.
pub fn sized(bytes: u64) -> String {
    let whole = UNITS.iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    whole.map_or_else(|| format!("{bytes} bytes"), |(unit, name)| format!("{} {name}", bytes / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn artifacts_and_caches_are_held_to_what_is_configured() {
        let limits = JobLimits::default();
        for (bytes, check) in [
            (10_737_418_240, JobLimits::artifact_check as fn(&JobLimits, u64) -> Result<()>),
            (5_368_709_120, JobLimits::cache_check),
        ] {
            assert!(check(&limits, bytes - 1).is_ok() && check(&limits, bytes).is_ok());
            assert_eq!(check(&limits, bytes + 1).unwrap_err().status(), 413);
        }
        let small = JobLimits { artifact_bytes: 1_000, cache_bytes: 0, ..limits };
        assert!(small.artifact_check(999).is_ok() && small.artifact_check(1_000).is_ok());
        let refusal = small.artifact_check(1_001).unwrap_err();
        assert_eq!((refusal.status(), refusal.to_string().contains("at most 1000 bytes")), (413, true));
        assert_eq!(small.cache_check(1).unwrap_err().status(), 413);
    }

    #[test]
    fn a_size_is_told_in_a_unit_of_which_it_is_a_whole_number() {
        const MIB: u64 = 1024 * 1024;
        let told = [0, 1_023, 1_024, 1_025, MIB, MIB + 1_024, 64 * MIB, 5 * 1_024 * MIB].map(sized);
        assert_eq!(told, ["0 bytes", "1023 bytes", "1 KiB", "1025 bytes", "1 MiB", "1025 KiB", "64 MiB", "5 GiB"]);
    }
}
