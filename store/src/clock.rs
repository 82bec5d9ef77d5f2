//! The one source of business time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use domain::time::Timestamp;
use tokio::sync::watch;

/// The longest single sleep of the system clock, so that a changed wall clock is noticed.
const NAP_MAX: Duration = Duration::from_mins(1);

/// Where everything reads the time from: the system's clock, or one that a test moves.
///
/// Deadlines of requests and measurements use the monotonic [`std::time::Instant`] instead: they are not business time.
#[derive(Clone, Debug)]
pub struct Clock {
    kind: Kind,
    /// What is added to what the system shows, in milliseconds; nothing to what a test shows.
    correction_ms: Option<Arc<AtomicI64>>,
}

#[derive(Clone, Debug)]
enum Kind {
    System,
    Manual(Arc<watch::Sender<Timestamp>>),
    /// The system's, moved by so many milliseconds.
    #[cfg(feature = "faults")]
    Jumping(Arc<watch::Sender<i64>>),
}

impl Clock {
    /// The system's clock.
    pub const fn system() -> Self {
        Self { kind: Kind::System, correction_ms: None }
    }

    /// A clock that shows `now` until it is moved; its clones move with it.
    pub fn manual(now: Timestamp) -> Self {
        Self { kind: Kind::Manual(Arc::new(watch::Sender::new(now))), correction_ms: None }
    }

    /// The system's clock, moved by as many milliseconds as `jump_ms` says at the time.
    #[cfg(feature = "faults")]
    pub(crate) const fn jumping(jump_ms: Arc<watch::Sender<i64>>) -> Self {
        Self { kind: Kind::Jumping(jump_ms), correction_ms: None }
    }

    /// The same clock, to which so many milliseconds are added from now on.
    pub(crate) fn corrected(self, correction_ms: Arc<AtomicI64>) -> Self {
        Self { correction_ms: Some(correction_ms), ..self }
    }

    /// What the clock shows.
    pub fn now(&self) -> Timestamp {
        match &self.kind {
            Kind::System => self.of_the_system(),
            Kind::Manual(shown) => *shown.borrow(),
            #[cfg(feature = "faults")]
            Kind::Jumping(jump_ms) => Timestamp(self.of_the_system().0.saturating_add(*jump_ms.borrow())),
        }
    }

    fn of_the_system(&self) -> Timestamp {
        let correction_ms = self.correction_ms.as_ref().map_or(0, |correction| correction.load(Ordering::Relaxed));
        Timestamp(of_the_system().0.saturating_add(correction_ms))
    }

    /// Moves a manual clock on by `span` and wakes who slept until then; the system's clock stays as it is.
    pub fn advance(&self, span: Duration) {
        if let Kind::Manual(shown) = &self.kind {
            shown.send_modify(|now| *now = now.after(span));
        }
    }

    /// Sets a manual clock to `now` and wakes who slept until then; the system's clock stays as it is.
    pub fn set(&self, now: Timestamp) {
        if let Kind::Manual(shown) = &self.kind {
            shown.send_replace(now);
        }
    }

    /// Returns once the clock shows `at` or later.
    pub async fn sleep_until(&self, at: Timestamp) {
        match &self.kind {
            Kind::System => {
                while self.now() < at {
                    tokio::time::sleep(at.since(self.now()).min(NAP_MAX)).await;
                }
            }
            Kind::Manual(shown) => {
                // An error would mean that the sender is gone, but it is held right here.
                let _ = shown.subscribe().wait_for(|now| *now >= at).await;
            }
            #[cfg(feature = "faults")]
            Kind::Jumping(jump_ms) => {
                let mut jumps = jump_ms.subscribe();
                while self.now() < at {
                    // Either ends the wait: time that passes, and a clock that is moved.
                    let nap = at.since(self.now()).min(NAP_MAX);
                    drop(tokio::time::timeout(nap, jumps.changed()).await);
                }
            }
        }
    }
}

/// What the system's clock shows.
pub(crate) fn of_the_system() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_manual_clock_wakes_sleepers_when_it_is_moved_and_not_before() {
        let clock = Clock::manual(Timestamp(1_000));
        let sleeper = tokio::spawn({
            let clock = clock.clone();
            async move {
                clock.sleep_until(Timestamp(3_000)).await;
                clock.now()
            }
        });
        clock.advance(Duration::from_millis(1_999));
        tokio::task::yield_now().await;
        assert!(!sleeper.is_finished());
        clock.set(Timestamp(3_000));
        assert_eq!(sleeper.await.expect("the sleeper ends"), Timestamp(3_000));
    }

    #[tokio::test]
    async fn the_systems_clock_cannot_be_moved() {
        let clock = Clock::system();
        clock.set(Timestamp(0));
        assert!(clock.now() > Timestamp(1_700_000_000_000));
        clock.sleep_until(Timestamp(0)).await;
    }
}
