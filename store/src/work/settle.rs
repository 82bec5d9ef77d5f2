//! What became of work that was claimed.
//!
//! Every commit here names the fence of the claim that it is made under, and is [`Stale`](crate::CommitError::Stale) when
//! somebody else has claimed the entry since, or settled it: what the commit would have caused must not happen then.

use domain::time::Timestamp;

use super::{DEAD, Work};
use crate::{Change, Expect, sql::Sql};

/// How much of an error is kept beside an entry, in characters.
const ERROR_LEN_MAX: usize = 1_000;

/// Has entries of the topic `$1` stop (`$2` is true): those of which what follows holds.
macro_rules! cancelling {
    () => {
        "UPDATE work SET cancelled = $2, wake_at = CASE WHEN claimed_by IS NULL THEN 0 ELSE wake_at END \
         WHERE topic = $1 AND "
    };
}

/// As much of an error as is kept.
pub(crate) fn shortened(error: &str) -> String {
    error.chars().take(ERROR_LEN_MAX).collect()
}

impl Change {
    /// Settles `work`: it was done, in this commit or before it, or need not be any more.
    pub fn work_done(&mut self, work: &Work) {
        self.run_statement(
            Sql::new("DELETE FROM work WHERE seq = $1 AND fence = $2", [work.seq.into(), work.fence.into()]),
            Expect::Rows(1),
        );
    }

    /// Has `work` tried again from `again_at` on; `error` is kept for operators.
    pub fn work_put_off(&mut self, topic: &'static str, work: &Work, error: &str, again_at: Timestamp) {
        self.wakes_work(topic);
        self.work_failed(work, error, again_at);
    }

    /// Gives `work` up: it is not tried any more, and kept with `error` as a dead letter.
    pub fn work_given_up(&mut self, work: &Work, error: &str) {
        self.work_failed(work, error, DEAD);
    }

    fn work_failed(&mut self, work: &Work, error: &str, wake_at: Timestamp) {
        self.run_statement(
            Sql::new(
                "UPDATE work SET claimed_by = NULL, last_error = $3, wake_at = $4 WHERE seq = $1 AND fence = $2",
                [work.seq.into(), work.fence.into(), shortened(error).into(), wake_at.0.into()],
            ),
            Expect::Rows(1),
        );
    }

    /// Records that a step of `work` was done, as JSON text, and keeps the claim until `until`. What failed before the step
    /// counts no more. The commit is stale, too, once the work was cancelled.
    pub fn work_step(&mut self, work: &Work, progress: &str, until: Timestamp) {
        self.run_statement(
            Sql::new(
                "UPDATE work SET progress = $3, wake_at = $4, attempts = 1 \
                 WHERE seq = $1 AND fence = $2 AND cancelled = $5",
                [work.seq.into(), work.fence.into(), progress.into(), until.0.into(), false.into()],
            ),
            Expect::Rows(1),
        );
    }

    /// Keeps the claim on `work` until `until`.
    pub fn work_renew(&mut self, work: &Work, until: Timestamp) {
        self.run_statement(
            Sql::new(
                "UPDATE work SET wake_at = $3 WHERE seq = $1 AND fence = $2 AND claimed_by IS NOT NULL",
                [work.seq.into(), work.fence.into(), until.0.into()],
            ),
            Expect::Rows(1),
        );
    }

    /// Gives the claim on `work` back, as if it had not been taken: the next node that looks goes on with it.
    pub fn work_release(&mut self, work: &Work) {
        self.run_statement(
            Sql::new(
                "UPDATE work SET claimed_by = NULL, wake_at = 0, attempts = attempts - 1 WHERE seq = $1 AND fence = $2",
                [work.seq.into(), work.fence.into()],
            ),
            Expect::Rows(1),
        );
    }

    /// Has the entry that is called `key` within `topic` done at once, if it still waits until it is due.
    pub fn work_hasten(&mut self, topic: &'static str, key: &str) {
        self.wakes_work(topic);
        self.run_statement(
            Sql::new(
                "UPDATE work SET wake_at = 0 WHERE topic = $1 AND key = $2 AND attempts = 0 AND wake_at < $3",
                [topic.into(), key.into(), DEAD.0.into()],
            ),
            Expect::Any,
        );
    }

    /// Asks the entry that is called `key` within `topic` to stop: what waits is handed over at once, as cancelled, and what
    /// is under way stops at its next step.
    pub fn work_cancel(&mut self, topic: &'static str, key: &str) {
        let named = Sql::new(concat!(cancelling!(), "key = $3"), [topic.into(), true.into(), key.into()]);
        self.wakes_work(topic);
        self.run_statement(named, Expect::Any);
    }

    /// Asks the entry `seq` of `topic` to stop in the same way; stale when it is gone or was given up.
    pub fn work_cancel_one(&mut self, topic: &'static str, seq: i64) {
        let values = [topic.into(), true.into(), seq.into(), DEAD.0.into()];
        self.wakes_work(topic);
        self.run_statement(Sql::new(concat!(cancelling!(), "seq = $3 AND wake_at < $4"), values), Expect::Rows(1));
    }
}
