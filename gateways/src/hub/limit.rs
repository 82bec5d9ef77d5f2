//! Rate limits: the generic cell rate algorithm, with the same arithmetic in process and in Redis.
//!
//! Each key has one number, the instant at which it would be idle again. A request moves that instant on by `per / burst`
//! and is refused where that would put it more than `per` ahead of now. So memory holds only keys that are not idle.

use std::time::Duration;

use dashmap::DashMap;
use domain::Timestamp;
use parking_lot::Mutex;

/// Keys that one process counts; beyond them, requests of further keys pass uncounted (and are counted as such).
const KEYS_MAX: usize = 1_000_000;
/// Keys from which on idle ones are thrown out, whenever their number doubled.
const SWEEP_KEYS_MIN: usize = 4096;
/// The least time between two sweeps, in microseconds: even a map full of busy keys is not searched at every request.
const SWEEP_INTERVAL_US: i64 = 1_000_000;

/// The Lua of the same algorithm: KEYS\[1\]; ARGV now, interval, per, all in microseconds. Answers 0, or how many
/// microseconds to wait.
pub(super) const SCRIPT: &str = r"
local now, interval, per = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local idle_at = tonumber(redis.call('GET', KEYS[1]) or '0')
local function keep(at) redis.call('SET', KEYS[1], string.format('%.0f', at), 'PX', math.ceil((at - now) / 1000)) end
if idle_at > now + per then
  idle_at = now + per
  keep(idle_at)
end
idle_at = math.max(now, idle_at) + interval
if idle_at - now > per then return idle_at - now - per end
keep(idle_at)
return 0
";

/// How often something may be done: `burst` times at once, and evenly again, `burst` times over each `per`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    burst: u32,
    per: Duration,
}

impl Limit {
    /// `burst` times over each `per`; a `burst` of 0 counts as 1. Meant for spans between a millisecond and a day.
    pub const fn new(burst: u32, per: Duration) -> Self {
        Self { burst: if burst == 0 { 1 } else { burst }, per }
    }

    /// The share of `per` that one request takes, in microseconds; at least one.
    pub(super) fn interval_us(self) -> i64 {
        (self.per_us() / i64::from(self.burst)).max(1)
    }

    /// What `burst` requests take, in microseconds: `per`, but for rounding.
    pub(super) fn per_us(self) -> i64 {
        i64::try_from(self.per.as_micros()).unwrap_or(i64::MAX / 4)
    }
}

/// Refused by a rate limit; when the next request would pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryAfter(pub Duration);

/// The microseconds of `now`.
pub(super) fn micros(now: Timestamp) -> i64 {
    now.as_millis().saturating_mul(1000)
}

/// What [`SCRIPT`] and [`Limits::check`] answer: 0, or how many microseconds to wait.
pub(super) fn verdict(wait_us: i64) -> Result<(), RetryAfter> {
    match u64::try_from(wait_us) {
        Ok(0) | Err(_) => Ok(()),
        Ok(wait_us) => Err(RetryAfter(Duration::from_micros(wait_us))),
    }
}

/// The limits of one process.
pub(super) struct Limits {
    /// Key to the instant at which it is idle, in microseconds.
    idle_at: DashMap<Box<str>, i64>,
    next_sweep: Mutex<Sweep>,
}

/// From how many keys on, and from when on, idle ones are thrown out next.
struct Sweep {
    keys: usize,
    at: i64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { idle_at: DashMap::new(), next_sweep: Mutex::new(Sweep { keys: SWEEP_KEYS_MIN, at: 0 }) }
    }
}

impl Limits {
    pub(super) fn check(&self, key: &str, limit: Limit, now: Timestamp) -> Result<(), RetryAfter> {
        let now = micros(now);
        if let Some(mut idle_at) = self.idle_at.get_mut(key) {
            return verdict(take(&mut idle_at, limit, now));
        }
        self.sweep(now);
        if self.idle_at.len() >= KEYS_MAX {
            metrics::counter!("troupe_hub_limit_uncounted_total").increment(1);
            return Ok(());
        }
        let mut idle_at = self.idle_at.entry(key.into()).or_insert(0);
        verdict(take(&mut idle_at, limit, now))
    }

    /// Throws idle keys out when their number has doubled since the last time.
    fn sweep(&self, now: i64) {
        let mut next = self.next_sweep.lock();
        if self.idle_at.len() < next.keys || now < next.at {
            return;
        }
        self.idle_at.retain(|_, idle_at| now < *idle_at);
        *next = Sweep {
            keys: (self.idle_at.len() * 2).clamp(SWEEP_KEYS_MIN, KEYS_MAX),
            at: now.saturating_add(SWEEP_INTERVAL_US),
        };
    }
}

/// Counts one request; answers how many microseconds too early it came.
fn take(idle_at: &mut i64, limit: Limit, now: i64) -> i64 {
    // No further ahead than a full burst, and kept so: a clock that was set back does not lock anybody out.
    *idle_at = (*idle_at).min(now.saturating_add(limit.per_us()));
    let next = (*idle_at).max(now).saturating_add(limit.interval_us());
    let wait = next - now - limit.per_us();
    if wait > 0 {
        return wait;
    }
    *idle_at = next;
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp(1_700_000_000_000);
    const LIMIT: Limit = Limit::new(10, Duration::from_mins(1));

    fn later(millis: u64) -> Timestamp {
        START.after(Duration::from_millis(millis))
    }

    #[test]
    fn a_burst_passes_and_the_next_one_waits_for_its_share() {
        let limits = Limits::default();
        for _ in 0..10 {
            assert_eq!(limits.check("a", LIMIT, START), Ok(()));
        }
        assert_eq!(limits.check("a", LIMIT, START), Err(RetryAfter(Duration::from_secs(6))));
        assert_eq!(limits.check("a", LIMIT, later(5_999)), Err(RetryAfter(Duration::from_millis(1))));
        assert_eq!(limits.check("a", LIMIT, later(6_000)), Ok(()));
        assert_eq!(limits.check("a", LIMIT, later(6_000)), Err(RetryAfter(Duration::from_secs(6))));
    }

    #[test]
    fn a_refusal_costs_nothing() {
        let limits = Limits::default();
        for _ in 0..1_000 {
            let _ = limits.check("a", LIMIT, START);
        }
        assert_eq!(limits.check("a", LIMIT, later(6_000)), Ok(()));
    }

    #[test]
    fn a_clock_set_back_locks_nobody_out() {
        let limits = Limits::default();
        for _ in 0..10 {
            assert_eq!(limits.check("a", LIMIT, later(86_400_000)), Ok(()));
        }
        assert_eq!(limits.check("a", LIMIT, START), Err(RetryAfter(Duration::from_secs(6))));
        assert_eq!(limits.check("a", LIMIT, later(5_999)), Err(RetryAfter(Duration::from_millis(1))));
        assert_eq!(limits.check("a", LIMIT, later(6_000)), Ok(()));
    }

    #[test]
    fn keys_do_not_share() {
        let limits = Limits::default();
        let once = Limit::new(1, Duration::from_secs(1));
        assert_eq!(limits.check("a", once, START), Ok(()));
        assert_eq!(limits.check("b", once, START), Ok(()));
        assert!(limits.check("a", once, START).is_err());
    }

    #[test]
    fn idle_keys_give_their_memory_back() {
        let limits = Limits::default();
        let once = Limit::new(1, Duration::from_millis(1));
        for round in 0_u32..100_000 {
            let _ = limits.check(&round.to_string(), once, later(u64::from(round)));
        }
        // Each key is idle after a millisecond; what stays is what came since the last sweep.
        assert!(limits.idle_at.len() <= SWEEP_KEYS_MIN + 1_000, "{}", limits.idle_at.len());
    }

    #[test]
    fn many_small_shares_are_exact_enough() {
        let limits = Limits::default();
        let generous = Limit::new(6_000, Duration::from_mins(1));
        let passed = (0..10_000).filter(|_| limits.check("a", generous, START).is_ok()).count();
        assert_eq!(passed, 6_000);
        assert_eq!(limits.check("a", generous, later(10)), Ok(()));
    }
}
