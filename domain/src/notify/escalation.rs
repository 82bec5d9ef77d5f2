//! Escalations: what a protocol does about one event, step by step, until somebody takes it on.
//!
//! An escalation starts with the rules that applied when the event happened, and keeps its own copy of them: a later
//! change of the protocol touches only what starts later. Its [`Plan`] holds every step of these rules with its time. One
//! step is done at a time, in that order, each once; [`Progress::next`] says which comes next and when.
//!
//! One acknowledgement ends it for everybody. What is acknowledged or has run out of steps still takes in events with the
//! same `dedupKey` for a while ([`Progress::takes_in`]), so that an alarm that goes on firing wakes nobody twice.

mod audience;
mod plan;
mod standing;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::{
    audience::{Audience, Passed, Pick, pick},
    plan::{Plan, PlannedStep},
    standing::Standing,
};
use crate::{
    app::names,
    error::{Error, Result},
    time::Timestamp,
};

/// The longest that an escalation can be put off at a time.
pub const SNOOZE_MAX: Duration = Duration::from_hours(24);
/// The longest `dedupKey` of an event, in characters; a longer one is cut.
pub const DEDUP_KEY_LEN_MAX: usize = 512;
/// How long events with the same `dedupKey` are taken in after the last step, when nobody answered it. Then the next
/// one starts over: an alarm that still fires and that nobody has taken on must be heard.
pub const TAKES_IN_UNANSWERED: Duration = Duration::from_hours(1);
/// How long they are taken in after an acknowledgement. Whoever took it on is presumed to be at it for a day.
pub const TAKES_IN_ACKNOWLEDGED: Duration = Duration::from_hours(24);
/// How long after its last step an escalation that nobody answered counts as running.
pub const UNANSWERED_AFTER: Duration = Duration::from_hours(24);

names! {
    /// Where an escalation stands.
    EscalationState {
        Running = "running", Acknowledged = "acknowledged", Resolved = "resolved", Ended = "ended",
    }
}

names! {
    /// Over what somebody acknowledged an escalation.
    AckVia { App = "app", Sms = "sms", Voice = "voice", Operator = "operator", }
}

names! {
    /// Why an escalation ended without an acknowledgement.
    EndReason {
        Resolved = "resolved", Unanswered = "unanswered", ProtocolDisabled = "protocol_disabled",
        ProtocolDeleted = "protocol_deleted", Superseded = "superseded", OrganizationDeleted = "organization_deleted",
    }
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The step at this place of the plan.
    Step {
        /// Its place.
        place: usize,
        /// When.
        due: Timestamp,
    },
    /// It ends as unanswered.
    End {
        /// When.
        at: Timestamp,
    },
}

impl Next {
    /// When it comes.
    pub const fn at(self) -> Timestamp {
        match self {
            Self::Step { due, .. } => due,
            Self::End { at } => at,
        }
    }
}

/// How far an escalation has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// All of its steps.
    pub plan: Plan,
    /// How many of them are done.
    pub done: usize,
    /// Nothing happens before, because somebody snoozed it.
    pub snoozed_until: Option<Timestamp>,
    /// When the last step was done.
    pub last_step_at: Option<Timestamp>,
}

impl Progress {
    /// At the start of `plan`.
    pub const fn new(plan: Plan) -> Self {
        Self { plan, done: 0, snoozed_until: None, last_step_at: None }
    }

    /// What comes next while it runs; nothing for a plan without steps.
    pub fn next(&self) -> Option<Next> {
        match self.plan.steps().get(self.done) {
            Some(step) => Some(Next::Step { place: self.done, due: step.due }),
            None => Some(Next::End { at: self.last_step_at?.after(UNANSWERED_AFTER) }),
        }
    }

    /// Notes that the next step was done at `now`.
    pub fn step_done(&mut self, now: Timestamp) {
        self.done += 1;
        self.last_step_at = Some(now);
    }

    /// Puts everything that is left off until `until`: the pause between now and then is added to each step. Snoozing
    /// again replaces the pause.
    ///
    /// # Errors
    /// 400 when `until` is not in the next 24 hours.
    pub fn snooze(&mut self, now: Timestamp, until: Timestamp) -> Result<()> {
        if until <= now || until > now.after(SNOOZE_MAX) {
            return Err(Error::invalid("until", "must be within the next 24 hours"));
        }
        let resumes = self.snoozed_until.map_or(now, |before| before.max(now));
        self.plan.put_off(self.done, until.0.saturating_sub(resumes.0), until);
        self.snoozed_until = Some(until);
        Ok(())
    }

    /// Whether another event with the same `dedupKey` is part of this escalation, rather than the start of the next.
    pub fn takes_in(&self, now: Timestamp, acknowledged_at: Option<Timestamp>) -> bool {
        match (acknowledged_at, self.next(), self.last_step_at) {
            (Some(at), ..) => now < at.after(TAKES_IN_ACKNOWLEDGED),
            (None, Some(Next::End { .. }), Some(last)) => now < last.after(TAKES_IN_UNANSWERED),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests;
