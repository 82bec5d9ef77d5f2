//! Guessing is slow: ten failures in 15 minutes lock what was guessed at for 15 minutes.

use std::time::Duration;

use crate::{
    error::{Error, Result},
    time::Timestamp,
};

/// So many failures within [`WINDOW`] lock.
pub const FAILURES_MAX: usize = 10;
/// How long a failure counts.
pub const WINDOW: Duration = Duration::from_mins(15);
/// How long a lock holds.
pub const LOCK: Duration = Duration::from_mins(15);

/// The failed attempts at one account, whether it exists or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attempts {
    /// When the failures that may still count happened, oldest first; fewer than [`FAILURES_MAX`].
    pub failures: Vec<Timestamp>,
    /// Until when no attempt is looked at.
    pub locked_until: Option<Timestamp>,
}

impl Attempts {
    /// Whether an attempt may be made at `now`; 429 while locked, even for the right password.
    pub fn check(&self, now: Timestamp) -> Result<()> {
        match self.locked_until {
            Some(until) if until > now => Err(Error::RateLimited {
                message: "Too many failed attempts. Try again later.".into(),
                retry_after: until.since(now),
            }),
            _ => Ok(()),
        }
    }

    /// Notes a failure at `now`; the tenth within the window locks.
    pub fn note_failure(&mut self, now: Timestamp) {
        self.failures.retain(|at| *at > now.before(WINDOW));
        self.failures.push(now);
        if self.failures.len() >= FAILURES_MAX {
            self.failures.clear();
            self.locked_until = Some(now.after(LOCK));
        }
    }

    /// Whether there is nothing to remember.
    pub fn is_clear(&self) -> bool {
        *self == Self::default()
    }
}

/// Notes of failures that were last changed before this instant mean nothing any more at `now`.
pub fn forgotten_before(now: Timestamp) -> Timestamp {
    now.before(WINDOW + LOCK)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const START: Timestamp = Timestamp(1_700_000_000_000);

    fn minutes(count: u64) -> Duration {
        Duration::from_secs(count * 60)
    }

    fn failed(times: usize, at: Timestamp) -> Attempts {
        let mut attempts = Attempts::default();
        for _ in 0..times {
            attempts.note_failure(at);
        }
        attempts
    }

    #[test]
    fn nine_failures_do_not_lock_and_ten_do() {
        assert!(failed(9, START).check(START).is_ok());
        let Err(Error::RateLimited { retry_after, .. }) = failed(10, START).check(START) else { panic!("locked") };
        assert_eq!(retry_after, LOCK);
    }

    #[test]
    fn a_lock_ends_after_its_time_with_a_clean_slate() {
        let mut attempts = failed(10, START);
        assert!(attempts.check(START.after(LOCK).before(Duration::from_millis(1))).is_err());
        assert!(attempts.check(START.after(LOCK)).is_ok());
        attempts.note_failure(START.after(LOCK));
        assert!(attempts.check(START.after(LOCK)).is_ok());
    }

    #[test]
    fn failures_older_than_the_window_do_not_count() {
        let mut attempts = failed(9, START);
        attempts.note_failure(START.after(WINDOW));
        assert!(attempts.check(START.after(WINDOW)).is_ok());
        let mut attempts = failed(9, START);
        attempts.note_failure(START.after(minutes(14)));
        assert!(attempts.check(START.after(minutes(14))).is_err());
    }

    proptest! {
        #[test]
        fn no_window_lets_more_than_ten_guesses_through(gaps in prop::collection::vec(0_u64..300_000, 1..200)) {
            let mut attempts = Attempts::default();
            let mut now = START;
            let mut guesses: Vec<Timestamp> = Vec::new();
            for gap in gaps {
                now = now.after(Duration::from_millis(gap));
                if attempts.check(now).is_ok() {
                    attempts.note_failure(now);
                    guesses.push(now);
                }
                let recent = guesses.iter().filter(|at| **at > now.before(WINDOW)).count();
                prop_assert!(recent <= FAILURES_MAX);
                prop_assert!(attempts.failures.len() < FAILURES_MAX);
            }
        }
    }
}
