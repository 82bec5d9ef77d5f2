//! What is kept of an issue's clocks beside its history: cycles that ended stay as they are, whatever the configuration becomes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    cycle::{Event, Facts, Standing, Step, replay},
    hours::{Calendar, Hours},
    settings::{CalendarKind, SlaSettings},
};
use crate::{Timestamp, issues::issue::Issue};

/// The beginning of 2020, from which the counts of clocks are compared with one another.
const ANCHOR: Timestamp = Timestamp(1_577_836_800_000);

/// A run of a clock, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptCycle {
    /// When it started.
    pub started_at: Timestamp,
    /// Since when it runs; nothing while it is held, and once it is stopped.
    pub running_since: Option<Timestamp>,
    /// Milliseconds that counted up to then, or in all.
    pub elapsed: i64,
    /// When it was stopped.
    pub stopped_at: Option<Timestamp>,
    /// Which step of the history stopped it.
    pub stopped_by: Option<usize>,
    /// The time that it may take, in milliseconds.
    pub goal: Option<i64>,
    /// The time that counts.
    pub calendar: CalendarKind,
    /// When the goal was reached.
    pub breached_at: Option<Timestamp>,
    /// When the goal is reached if nothing more happens.
    pub breaches_at: Option<Timestamp>,
    /// When whoever is responsible was to be warned. That stays with the run, so that nobody is warned of it twice.
    #[serde(default)]
    pub warned_at: Option<Timestamp>,
    /// When they are to be warned if nothing more happens.
    #[serde(default)]
    pub warns_at: Option<Timestamp>,
}

/// A clock as it goes on: what was kept of it, and the whole history.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// The clock.
    pub sla: &'a SlaSettings,
    /// When the desk works.
    pub hours: Option<&'a Hours>,
    /// What was kept of it.
    pub before: &'a [KeptCycle],
    /// The history, from its beginning.
    pub steps: &'a [Step],
}

impl Course<'_> {
    /// The cycles at an instant. Those that ended stay; the one that goes on, and those that come, follow the configuration. A breach
    /// stays with its cycle.
    pub fn cycles(&self, now: Timestamp) -> Vec<KeptCycle> {
        let mut cycles: Vec<KeptCycle> =
            self.before.iter().take_while(|cycle| cycle.stopped_at.is_some()).cloned().collect();
        let open = self.before.get(cycles.len());
        let breached_at = open.and_then(|cycle| cycle.breached_at);
        let warned_at = open.and_then(|cycle| cycle.warned_at);
        // What stopped the last one may have started the next.
        let from = cycles.last().and_then(|cycle| cycle.stopped_by).unwrap_or(0).min(self.steps.len());
        let steps = &self.steps[from..];
        let replayed = replay(&self.sla.clock(), steps, now, |step| self.sla.goal_of(&step.facts, self.hours));
        for (at, cycle) in replayed.iter().enumerate() {
            let breached_at = breached_at.filter(|_| at == 0).or(cycle.breached_at);
            let warned_at = warned_at.filter(|_| at == 0).or(cycle.warned_at);
            let is_silent = breached_at.is_some() || warned_at.is_some();
            let calendar = match cycle.goal.calendar {
                Calendar::Always => CalendarKind::Always,
                Calendar::Business(_) => CalendarKind::Business,
            };
            cycles.push(KeptCycle {
                started_at: cycle.started_at,
                running_since: cycle.running_since,
                elapsed: cycle.elapsed,
                stopped_at: cycle.stopped_at,
                stopped_by: cycle.stopped_by.map(|step| from + step),
                goal: cycle.goal.millis,
                calendar,
                breached_at,
                breaches_at: if breached_at.is_some() { None } else { cycle.breaches_at() },
                warned_at,
                warns_at: if is_silent { None } else { cycle.warns_at() },
            });
        }
        cycles
    }
}

/// What counted by an instant since a fixed one, so that a row tells what has elapsed by a sum.
pub fn counted_by(calendar: CalendarKind, hours: Option<&Hours>, at: Timestamp) -> i64 {
    calendar.with(hours).elapsed(ANCHOR, at)
}

impl KeptCycle {
    /// The cycle as the contract has it (B 2.1, `sla`).
    pub fn wire(&self) -> Value {
        let mut wire = Map::new();
        let mut set = |name: &str, value: Value| {
            wire.insert(name.to_owned(), value);
        };
        set("elapsed", self.elapsed.into());
        set("calendar", json!(self.calendar));
        set("startedAt", self.started_at.0.into());
        let moments = [("runningSince", self.running_since), ("stoppedAt", self.stopped_at)];
        for (name, at) in moments.into_iter().filter_map(|(name, at)| Some((name, at?))) {
            set(name, at.0.into());
        }
        if let Some(goal) = self.goal {
            set("goal", goal.into());
        }
        let is_paused = self.running_since.is_none() && self.stopped_at.is_none();
        let marks =
            [("paused", is_paused), ("stopped", self.stopped_at.is_some()), ("breached", self.breached_at.is_some())];
        for (name, _) in marks.into_iter().filter(|(_, is_so)| *is_so) {
            set(name, true.into());
        }
        Value::Object(wire)
    }
}

/// Who said something in public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// An agent.
    ByAgent,
    /// One of the people of the request.
    ByCustomer,
}

/// The step that a commit adds to an issue's history; nothing where no clock hears of it.
pub fn step_of(
    before: Option<&Issue>,
    after: &Issue,
    said: Option<Said>,
    (last, at): (Option<&Step>, Timestamp),
) -> Option<Step> {
    let mut events = Vec::new();
    match before {
        None => events.push(Event::Created),
        Some(before) => {
            if before.status_id != after.status_id {
                events.push(Event::Left { status_id: before.status_id.clone() });
                events.push(Event::Entered { status_id: after.status_id.clone() });
            }
            match (before.resolved_at, after.resolved_at) {
                (None, Some(_)) => events.push(Event::Resolved),
                (Some(_), None) => events.push(Event::Reopened),
                _ => {}
            }
        }
    }
    if after.assignee_id.is_some() && after.assignee_id != before.and_then(|issue| issue.assignee_id) {
        events.push(Event::Assigned);
    }
    events.extend(said.map(|said| match said {
        Said::ByAgent => Event::PublicReply,
        Said::ByCustomer => Event::CustomerReply,
    }));
    let awaited = last.is_some_and(|step| step.after.awaits_customer);
    let standing = Standing {
        status_id: after.status_id.clone(),
        is_assigned: after.assignee_id.is_some(),
        is_resolved: after.resolved_at.is_some(),
        awaits_customer: said.map_or(awaited, |said| said == Said::ByAgent),
    };
    let facts = Facts {
        type_id: after.type_id.clone(),
        priority_id: after.priority_id.clone(),
        request_type_id: after.request_type_id.clone(),
    };
    let is_news = !events.is_empty() || last.is_none_or(|last| last.after != standing || last.facts != facts);
    is_news.then_some(Step { at, events, after: standing, facts })
}

/// The history of an issue that was made before its space had clocks: its making and, where it is over, its end.
pub fn steps_so_far(issue: &Issue) -> Vec<Step> {
    let mut made = issue.clone();
    made.resolved_at = None;
    let first = step_of(None, &made, None, (None, issue.created_at));
    let second = issue.resolved_at.and_then(|at| step_of(Some(&made), issue, None, (first.as_ref(), at)));
    first.into_iter().chain(second).collect()
}
