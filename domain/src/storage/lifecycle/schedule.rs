//! When the rules of a bucket are looked at.

use std::time::Duration;

use super::next_midnight;
use crate::{Timestamp, id::ResourceId};

/// Minutes after midnight over which the buckets are spread.
const SPREAD_MINUTES: u64 = 60;

/// When a bucket's rules are looked at next: once a day, always at the same minute after the midnight of UTC, so that not all
/// buckets are at once.
pub fn next_lifecycle_run(bucket: ResourceId, now: Timestamp) -> Timestamp {
    let sum: u64 = bucket.to_string().bytes().fold(0, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let offset = Duration::from_mins(sum % SPREAD_MINUTES);
    let behind = now.before(offset).after(Duration::from_millis(1));
    next_midnight(behind).after(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    #[test]
    fn a_bucket_is_looked_at_every_day_at_the_same_moment_within_an_hour_of_midnight() {
        for _ in 0..50 {
            let bucket = ResourceId::new(Timestamp(0));
            let now = Timestamp(0).after(DAY * 20_000 + Duration::from_hours(13));
            let first = next_lifecycle_run(bucket, now);
            assert!(first > now && first <= now.after(DAY));
            let into_the_day = first.0.rem_euclid(i64::try_from(DAY.as_millis()).unwrap());
            assert!(into_the_day < 3_600_000);
            assert_eq!(next_lifecycle_run(bucket, first), first.after(DAY));
            assert_eq!(next_lifecycle_run(bucket, first.before(Duration::from_millis(1))), first);
        }
    }
}
