//! What the kernel remembers about a key that crashed, and what follows from it.

use std::{collections::VecDeque, time::Duration};

use domain::Timestamp;

use super::{jitter::Jitter, policy::Policy};

/// The crashes of one key.
#[derive(Debug)]
pub(super) struct CrashHistory {
    recent: VecDeque<Timestamp>,
    /// How often the key crashed since it has its actor.
    pub(super) crashes: u64,
    /// Before when the resource isn't loaded again.
    pub(super) load_at: Timestamp,
    /// The last panic's text.
    pub(super) last_error: String,
}

/// What follows from a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The next load waits until then.
    LoadAt(Timestamp),
    /// The key is in quarantine until then.
    QuarantineUntil(Timestamp),
}

impl CrashHistory {
    pub(super) fn new() -> Self {
        Self { recent: VecDeque::new(), crashes: 0, load_at: Timestamp::default(), last_error: String::new() }
    }

    /// Notes a crash.
    pub(super) fn crashed(&mut self, now: Timestamp, error: String, policy: &Policy, jitter: &Jitter) -> Verdict {
        self.forget_before(now.before(policy.crash_window));
        self.recent.push_back(now);
        self.crashes += 1;
        self.last_error = error;
        let recent = u32::try_from(self.recent.len()).unwrap_or(u32::MAX);
        if recent > policy.crash_max {
            let until = now.after(policy.quarantine);
            self.load_at = until;
            return Verdict::QuarantineUntil(until);
        }
        self.load_at = now.after(jitter.around(backoff(recent, policy)));
        Verdict::LoadAt(self.load_at)
    }

    /// Whether a crash still counts at `now`, so that the key must be remembered.
    pub(super) fn is_fresh(&self, now: Timestamp, policy: &Policy) -> bool {
        self.recent.back().is_some_and(|last| now.since(*last) < policy.crash_window)
    }

    fn forget_before(&mut self, start: Timestamp) {
        while self.recent.front().is_some_and(|at| *at <= start) {
            self.recent.pop_front();
        }
    }
}

/// The pause after the `crash`-th crash in a row (from 1).
fn backoff(crash: u32, policy: &Policy) -> Duration {
    let factor = 1_u32.checked_shl(crash.saturating_sub(1)).unwrap_or(u32::MAX);
    policy.backoff_min.saturating_mul(factor).min(policy.backoff_max)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: Policy = Policy {
        queue_len_max: 1,
        idle_after: Duration::ZERO,
        crash_max: 3,
        crash_window: Duration::from_mins(1),
        backoff_min: Duration::from_millis(100),
        backoff_max: Duration::from_secs(1),
        quarantine: Duration::from_mins(5),
        slow_after: Duration::from_secs(1),
        turn_max: Duration::from_secs(1),
        yield_every: 1,
    };
    const START: Timestamp = Timestamp(1_700_000_000_000);

    #[test]
    fn the_pause_doubles_up_to_its_limit() {
        let pauses: Vec<_> = (1..=6).map(|crash| backoff(crash, &POLICY).as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1_000, 1_000]);
        assert_eq!(backoff(u32::MAX, &POLICY), POLICY.backoff_max);
    }

    #[test]
    fn one_crash_more_than_the_limit_within_the_window_is_quarantine() {
        let (mut history, jitter) = (CrashHistory::new(), Jitter::new());
        for _ in 0..3 {
            assert!(matches!(history.crashed(START, "boom".into(), &POLICY, &jitter), Verdict::LoadAt(_)));
        }
        let verdict = history.crashed(START, "boom".into(), &POLICY, &jitter);
        assert_eq!(verdict, Verdict::QuarantineUntil(START.after(POLICY.quarantine)));
    }

    #[test]
    fn crashes_further_apart_than_the_window_never_are() {
        let (mut history, jitter) = (CrashHistory::new(), Jitter::new());
        let mut now = START;
        for _ in 0..20 {
            assert!(matches!(history.crashed(now, "boom".into(), &POLICY, &jitter), Verdict::LoadAt(_)));
            now = now.after(Duration::from_secs(20));
        }
        assert!(history.is_fresh(now, &POLICY));
        assert!(!history.is_fresh(now.after(POLICY.crash_window), &POLICY));
    }
}
