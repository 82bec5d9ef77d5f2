//! Every step of an escalation with its time.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// One step of one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedStep {
    /// The rule's place among the escalation's.
    pub rule: usize,
    /// The step's place in the rule.
    pub step: usize,
    /// When the rule wants it done.
    pub at: Timestamp,
    /// When it is done, after all snoozing.
    pub due: Timestamp,
    /// Whether the rule counts back from the event's own start.
    pub before_event: bool,
}

fn in_order(steps: &mut [PlannedStep]) {
    steps.sort_by_key(|step| (step.due, step.rule, step.step));
}

/// The steps of all rules, in the order in which they are done: by time, then as the protocol lists them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Plan(Vec<PlannedStep>);

impl Plan {
    /// Orders `steps`.
    pub fn new(steps: impl IntoIterator<Item = PlannedStep>) -> Self {
        let mut steps: Vec<_> = steps.into_iter().collect();
        in_order(&mut steps);
        Self(steps)
    }

    /// Moves the steps from the place `done` on by `pause_ms`, and none before `until`. Counted back from the event's own
    /// start, a step stays where it is, for the start doesn't move.
    pub(super) fn put_off(&mut self, done: usize, pause_ms: i64, until: Timestamp) {
        let left = self.0.get_mut(done..).unwrap_or_default();
        for step in &mut *left {
            let due = if step.before_event { step.at } else { Timestamp(step.due.0.saturating_add(pause_ms)) };
            step.due = due.max(until);
        }
        in_order(left);
    }

    /// The steps in their order.
    pub fn steps(&self) -> &[PlannedStep] {
        &self.0
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
