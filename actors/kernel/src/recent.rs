//! What a key did lately: the command that it is at, and the last few before that.

use std::time::{Duration, Instant};

use domain::{RequestId, Timestamp};
use serde::Serialize;

/// Commands that a key remembers.
const KEPT_MAX: usize = 8;

/// The command that a key is at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running {
    pub(super) command: &'static str,
    pub(super) since: Instant,
}

/// A command that is over. Small, because every key keeps some.
#[derive(Clone, Debug)]
pub(super) struct Done {
    pub(super) command: &'static str,
    pub(super) started: Instant,
    pub(super) queued_us: u32,
    pub(super) handled_us: u32,
    /// `ok`, `crashed`, or the code of the error that it was answered with.
    pub(super) outcome: &'static str,
    pub(super) request_id: RequestId,
}

/// What a key did lately.
#[derive(Debug, Default)]
pub(super) struct Recent {
    pub(super) running: Option<Running>,
    /// At most [`KEPT_MAX`]; there is room from the first one on.
    done: Vec<Done>,
    /// The oldest, once there is no more room.
    oldest: usize,
}

/// A command that a key did, as operators see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecentCommand {
    /// When its turn began.
    pub at: Timestamp,
    /// The command.
    pub command: &'static str,
    /// The time in the queue, in microseconds.
    pub queued_us: u32,
    /// The time from the front of the queue to the answer, in microseconds.
    pub handled_us: u32,
    /// `ok`, `crashed`, or the code of the error that it was answered with.
    pub outcome: &'static str,
    /// The request that it came from, `-` for Troupe's own.
    pub request_id: RequestId,
}

impl Recent {
    pub(super) fn add(&mut self, done: Done) {
        if self.done.len() < KEPT_MAX {
            self.done.push(done);
            return;
        }
        self.done[self.oldest] = done;
        self.oldest = (self.oldest + 1) % KEPT_MAX;
    }

    /// The last commands, newest first; `now` is what the clock shows.
    pub(super) fn commands(&self, now: Timestamp) -> Vec<RecentCommand> {
        let (newer, older) = self.done.split_at(self.oldest);
        let newest_first = newer.iter().rev().chain(older.iter().rev());
        newest_first
            .map(|done| RecentCommand {
                at: now.before(done.started.elapsed()),
                command: done.command,
                queued_us: done.queued_us,
                handled_us: done.handled_us,
                outcome: done.outcome,
                request_id: done.request_id.clone(),
            })
            .collect()
    }
}

/// Microseconds, as far as they fit: beyond an hour and a bit, all is one.
pub(super) fn micros(span: Duration) -> u32 {
    u32::try_from(span.as_micros()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_eight_are_kept_newest_first() {
        let mut recent = Recent::default();
        let numbers =
            |recent: &Recent| recent.commands(Timestamp(0)).iter().map(|command| command.queued_us).collect::<Vec<_>>();
        assert!(numbers(&recent).is_empty());
        for queued_us in 1..=19 {
            let request_id = RequestId::OWN;
            let started = Instant::now();
            recent.add(Done { command: "note", started, queued_us, handled_us: 0, outcome: "ok", request_id });
            let expected: Vec<u32> = (1..=queued_us).rev().take(KEPT_MAX).collect();
            assert_eq!(numbers(&recent), expected);
        }
    }
}
