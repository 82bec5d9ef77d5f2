//! What clocks do as an issue's history goes on.

use serde::{Deserialize, Serialize};

use super::hours::Calendar;
use crate::Timestamp;

/// Something that happened to an issue in a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// The issue was made.
    Created,
    /// An agent answered in public.
    PublicReply,
    /// The customer answered.
    CustomerReply,
    /// The issue came to a status.
    Entered {
        /// Which one.
        status_id: String,
    },
    /// The issue left a status.
    Left {
        /// Which one.
        status_id: String,
    },
    /// Somebody was made responsible.
    Assigned,
    /// The issue was resolved.
    Resolved,
    /// The issue was opened again.
    Reopened,
}

/// Something that is so, and holds a clock as long as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Condition {
    /// The issue is in one of these.
    InStatus {
        /// Which ones.
        status_ids: Vec<String>,
    },
    /// Nobody is responsible.
    Unassigned,
    /// The issue is resolved.
    Resolved,
    /// The last public comment is an agent's.
    AwaitingCustomer,
}

/// A clock, as a space's configuration says it; its goals apart, which ask queries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sla {
    /// What starts it.
    pub start: Vec<Event>,
    /// What stops it.
    pub stop: Vec<Event>,
    /// What holds it.
    #[serde(default)]
    pub pause: Vec<Condition>,
    /// Milliseconds before its goal at which it warns.
    #[serde(default)]
    pub warn_before: Option<i64>,
}

/// How an issue stands after a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Standing {
    /// The status.
    pub status_id: String,
    /// Whether somebody is responsible.
    pub is_assigned: bool,
    /// Whether it is resolved.
    pub is_resolved: bool,
    /// Whether the last public comment is an agent's.
    pub awaits_customer: bool,
}

/// What of an issue goals ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// The type.
    pub type_id: String,
    /// The priority.
    pub priority_id: Option<String>,
    /// The request type.
    pub request_type_id: Option<String>,
}

/// A commit of an issue's history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// When it was.
    pub at: Timestamp,
    /// What happened.
    pub events: Vec<Event>,
    /// How the issue stands since.
    pub after: Standing,
    /// What goals ask for, since then.
    #[serde(default)]
    pub facts: Facts,
}

/// The goal that counts for an issue as it stands: the first whose query matches.
#[derive(Clone, Copy, Debug)]
pub struct Goal<'a> {
    /// The time it may take, in milliseconds; nothing where it may take any.
    pub millis: Option<i64>,
    /// The time that counts.
    pub calendar: Calendar<'a>,
}

/// A run of a clock, from a start to a stop.
#[derive(Clone, Debug)]
pub struct Cycle<'a> {
    /// When it started.
    pub started_at: Timestamp,
    /// Since when it runs; nothing while it is held, and once it is stopped.
    pub running_since: Option<Timestamp>,
    /// Milliseconds that counted up to then, or in all.
    pub elapsed: i64,
    /// When it was stopped.
    pub stopped_at: Option<Timestamp>,
    /// Which of the steps stopped it.
    pub stopped_by: Option<usize>,
    /// The goal that counts.
    pub goal: Goal<'a>,
    /// When the goal was reached. That stays, whatever becomes of the goal.
    pub breached_at: Option<Timestamp>,
    /// Milliseconds before its goal at which it warns.
    pub warn_before: Option<i64>,
    /// When it warned of its goal, before that was reached.
    pub warned_at: Option<Timestamp>,
}

impl Condition {
    fn holds(&self, standing: &Standing) -> bool {
        match self {
            Self::InStatus { status_ids } => status_ids.contains(&standing.status_id),
            Self::Unassigned => !standing.is_assigned,
            Self::Resolved => standing.is_resolved,
            Self::AwaitingCustomer => standing.awaits_customer,
        }
    }
}

impl Cycle<'_> {
    /// Milliseconds that have counted by an instant.
    pub fn elapsed_by(&self, now: Timestamp) -> i64 {
        self.elapsed + self.running_since.map_or(0, |since| self.goal.calendar.elapsed(since, now))
    }

    /// The instant at which the goal is reached if nothing more happens; nothing where that never comes, and once it was.
    pub fn breaches_at(&self) -> Option<Timestamp> {
        let (since, millis) = (self.running_since?, self.goal.millis?);
        if self.breached_at.is_some() {
            return None;
        }
        self.goal.calendar.reached(since, millis - self.elapsed)
    }

    /// What has counted when the clock warns; nothing where the goal leaves less time than that from the start.
    fn warned_after(&self) -> Option<i64> {
        self.goal.millis?.checked_sub(self.warn_before?).filter(|millis| *millis > 0)
    }

    /// The instant at which the clock warns if nothing more happens; nothing where that never comes, and once it did or is late.
    pub fn warns_at(&self) -> Option<Timestamp> {
        let (since, millis) = (self.running_since?, self.warned_after()?);
        if self.warned_at.is_some() || self.breached_at.is_some() {
            return None;
        }
        self.goal.calendar.reached(since, millis - self.elapsed)
    }

    /// Whether the clock is held.
    pub fn is_paused(&self) -> bool {
        self.running_since.is_none() && self.stopped_at.is_none()
    }

    /// Notes that the goal was near, and reached, where that came by an instant.
    fn reach(&mut self, by: Timestamp) {
        self.warned_at = self.warned_at.or(self.warns_at().filter(|at| *at <= by));
        self.breached_at = self.breached_at.or(self.breaches_at().filter(|at| *at <= by));
    }

    /// Counts what has run up to an instant, and holds the clock there.
    fn hold(&mut self, at: Timestamp) {
        self.elapsed = self.elapsed_by(at);
        self.running_since = None;
    }
}

/// The cycles of a clock over a history, as they stand at `now`. Steps come in their order; those after `now` are left out.
///
/// Within one commit a stop goes before a start, and pauses are looked at last. A start does nothing while a cycle goes on. The goal
/// is looked up anew at each commit and held against what has counted.
pub fn replay<'a>(sla: &Sla, steps: &[Step], now: Timestamp, goal: impl Fn(&Step) -> Goal<'a>) -> Vec<Cycle<'a>> {
    let mut cycles: Vec<Cycle<'a>> = Vec::new();
    for (place, step) in steps.iter().enumerate().take_while(|(_, step)| step.at <= now) {
        let has = |wanted: &[Event]| step.events.iter().any(|event| wanted.contains(event));
        let mut open = cycles.last_mut().filter(|cycle| cycle.stopped_at.is_none());
        if let Some(cycle) = &mut open {
            cycle.reach(step.at);
            if has(&sla.stop) {
                cycle.hold(step.at);
                cycle.stopped_at = Some(step.at);
                cycle.stopped_by = Some(place);
            }
        }
        let is_open = open.is_some_and(|cycle| cycle.stopped_at.is_none());
        let goal = goal(step);
        if !is_open && has(&sla.start) {
            let running_since = Some(step.at);
            cycles.push(Cycle {
                started_at: step.at,
                running_since,
                elapsed: 0,
                stopped_at: None,
                stopped_by: None,
                goal,
                breached_at: None,
                warn_before: sla.warn_before,
                warned_at: None,
            });
        }
        let is_held = sla.pause.iter().any(|condition| condition.holds(&step.after));
        if let Some(cycle) = cycles.last_mut().filter(|cycle| cycle.stopped_at.is_none()) {
            settle(cycle, step.at, goal, is_held);
        }
    }
    if let Some(cycle) = cycles.last_mut() {
        cycle.reach(now);
    }
    cycles
}

/// Takes over goal and pauses as they are after a commit. What has counted so far counted by the calendar that held until then.
fn settle<'a>(cycle: &mut Cycle<'a>, at: Timestamp, goal: Goal<'a>, is_held: bool) {
    cycle.hold(at);
    cycle.goal = goal;
    if cycle.breached_at.is_none() && cycle.warned_after().is_some_and(|millis| cycle.elapsed >= millis) {
        cycle.warned_at = cycle.warned_at.or(Some(at));
    }
    if goal.millis.is_some_and(|millis| cycle.elapsed >= millis) {
        cycle.breached_at = cycle.breached_at.or(Some(at));
    }
    cycle.running_since = (!is_held).then_some(at);
}
