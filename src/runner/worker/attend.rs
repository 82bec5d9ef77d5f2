//! Waiting for a step: until it ends, is cancelled, or takes too long.

use std::{pin::Pin, time::Duration};

use domain::pipelines::job::{OnCancel, StepConclusion, StepTurn};
use rustix::process::{self, Pid, Signal};
use tokio::time::{Instant, sleep_until};

use super::{abandoned, job::Job};
use crate::runner::words::{Order, Said};

/// What a step that is to end is sent, and how long after the one before; as at GitHub.
const SIGNALS: [(Duration, Signal); 3] = [
    (Duration::ZERO, Signal::INT),
    (Duration::from_millis(7_500), Signal::TERM),
    (Duration::from_millis(2_500), Signal::KILL),
];

/// The end of a step, as it comes from whatever does it.
pub type Work<'w> = Pin<&'w mut (dyn Future<Output = StepConclusion> + 'w)>;

/// How a step that is to end is stopped, and what it then came to.
struct Stopping {
    verdict: StepConclusion,
    sent: usize,
    next: Instant,
}

impl Stopping {
    fn new(verdict: StepConclusion) -> Self {
        Self { verdict, sent: 0, next: Instant::now() }
    }

    /// Sends the group what is next.
    fn send(&mut self, group: Pid) {
        if let Some((_, signal)) = SIGNALS.get(self.sent) {
            let _ = process::kill_process_group(group, *signal);
        }
        self.sent += 1;
        self.next = Instant::now() + SIGNALS.get(self.sent).map_or(Duration::from_secs(1), |(after, _)| *after);
    }
}

impl Job {
    /// Waits for a step's end. A step that has processes of its own is asked to end before it is made to; another one just ends.
    pub(super) async fn attend(
        &mut self,
        turn: &StepTurn,
        mut work: Work<'_>,
        group: Option<Pid>,
        deadline: Option<Instant>,
    ) -> StepConclusion {
        let mut stopping: Option<Stopping> = None;
        loop {
            let verdict = tokio::select! {
                conclusion = &mut work => {
                    let Some(stopping) = stopping else { return conclusion };
                    // What the step started, and didn't notice that it was to end.
                    kill(group);
                    return stopping.verdict;
                }
                order = self.orders.recv() => match order {
                    None => {
                        kill(group);
                        abandoned()
                    }
                    Some(order) => self.take(&order, Some(turn)),
                },
                () = until(self.deadline.filter(|_| !self.has_timed_out)) => {
                    self.has_timed_out = true;
                    self.output.error(&format!("The job took longer than its {} minutes.", self.minutes()));
                    self.cancel(Some(turn))
                }
                () = until(deadline.filter(|_| stopping.is_none())) => {
                    self.output.error("The step took longer than it may.");
                    Some(StepConclusion::Failure)
                }
                () = until(stopping.as_ref().map(|stopping| stopping.next)) => {
                    if let (Some(stopping), Some(group)) = (&mut stopping, group) {
                        stopping.send(group);
                    }
                    None
                }
            };
            let Some(verdict) = verdict.filter(|_| stopping.is_none()) else { continue };
            let Some(group) = group else { return verdict };
            let mut begun = Stopping::new(verdict);
            begun.send(group);
            stopping = Some(begun);
        }
    }

    /// Follows an order, and says what the running step comes to where it has to stop.
    pub(super) fn take(&mut self, order: &Order, turn: Option<&StepTurn>) -> Option<StepConclusion> {
        match order {
            Order::Cancel => return self.cancel(turn),
            Order::Said(said) => self.said(said),
            Order::Heard { index } => self.heard = Some(*index),
            Order::Work(_) => {}
        }
        None
    }

    fn said(&mut self, said: &Said) {
        let Some(index) = self.steps.running() else { return };
        match said {
            Said::Output { name, value } => self.steps.output(index, name, value),
            Said::State { name, value } => self.save(index, name, value),
            Said::Refused => self.is_refused = true,
        }
    }

    /// Cancels the job. The running step stops unless its condition holds for cancelled jobs too.
    fn cancel(&mut self, turn: Option<&StepTurn>) -> Option<StepConclusion> {
        let mut steps = self.steps.clone();
        let on_cancel = steps.cancel(|steps| turn.is_some_and(|turn| self.still_holds(steps, turn)));
        self.steps = steps;
        (on_cancel == OnCancel::Stop).then_some(StepConclusion::Cancelled)
    }

    /// Follows the orders that came between steps.
    pub(super) fn catch_up(&mut self) {
        while let Ok(order) = self.orders.try_recv() {
            self.take(&order, None);
        }
        if self.orders.is_closed() && self.orders.is_empty() {
            abandoned();
        }
        if !self.has_timed_out && self.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            self.has_timed_out = true;
            self.cancel(None);
        }
    }

    /// Waits until all that the step printed was read, since what it said counts for what it came to.
    pub(super) async fn until_heard(&mut self, index: usize) {
        while self.heard != Some(index) {
            let Some(order) = self.orders.recv().await else { abandoned() };
            // The step is over: there is nothing to stop.
            self.take(&order, None);
        }
    }
}

/// Ends what is left of a step's processes; there may be nothing.
fn kill(group: Option<Pid>) {
    if let Some(group) = group {
        let _ = process::kill_process_group(group, Signal::KILL);
    }
}

/// A point in time, or never.
async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
