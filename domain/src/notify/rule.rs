//! The rules of protocols (contract A 2.3): which events they are about, whom they tell, and when.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{catalog::EventType, reach::Asked, step::Step};
use crate::{
    Role, Timestamp,
    id::{RotaId, UserId},
    problems::Problems,
};

/// Steps of one rule (decisions, "Notifications").
pub const STEPS_MAX: usize = 10;
/// People whom one rule names.
pub const RULE_PEOPLE_MAX: usize = 50;
/// Keys of one rule's `match`.
pub const MATCH_KEYS_MAX: usize = 20;
/// Values of one key of `match`.
pub const MATCH_VALUES_MAX: usize = 50;
/// Characters of a key of `match`.
pub const MATCH_KEY_LEN: RangeInclusive<usize> = 1..=64;
/// Characters of a value of `match`.
pub const MATCH_VALUE_LEN: RangeInclusive<usize> = 1..=256;

/// A rule of a protocol. In JSON it is the contract's, and as such it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// The types of events that it is about.
    pub events: Vec<String>,
    /// What an event's data must say: for each key, one of the values.
    #[serde(rename = "match", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub matches: BTreeMap<String, Vec<String>>,
    /// What it does, and when.
    pub steps: Vec<Step>,
    /// Whether the steps count back from the event's own start, rather than on from when the event happened.
    #[serde(default, skip_serializing_if = "is_false")]
    pub before_event: bool,
    /// Tells the members with these roles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<Role>,
    /// Tells these people. With no roles and no people, it tells whom the event concerns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub user_ids: Vec<UserId>,
    /// Whether it interrupts quiet hours.
    #[serde(default, skip_serializing_if = "is_false")]
    pub override_quiet_hours: bool,
}

/// When one step of a rule is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepTime {
    /// The step's place in the rule.
    pub step: usize,
    /// When.
    pub at: Timestamp,
}

impl Rule {
    /// Whether it is about an event of the type `kind` that says `data`.
    pub fn applies(&self, kind: &str, data: &Map<String, Value>) -> bool {
        self.events.iter().any(|event| event == kind)
            && self.matches.iter().all(|(key, values)| data.get(key).is_some_and(|said| says_one_of(said, values)))
    }

    /// When its steps are done, for an event that happened at `at` and announces what begins at `starts_at`; in the order
    /// of the steps.
    ///
    /// A rule that counts back does nothing without a start that is still to come. Of the steps that it is too late for,
    /// only those nearest to the start are done, at once: whoever hears of a meeting ten minutes before it has no use for
    /// three reminders in the same moment, but for one.
    pub fn step_times(&self, at: Timestamp, starts_at: Option<Timestamp>) -> Vec<StepTime> {
        let times = |time: &dyn Fn(Duration) -> Timestamp| -> Vec<StepTime> {
            let span = |step: &Step| Duration::from_secs(u64::from(step.after_minutes) * 60);
            self.steps.iter().enumerate().map(|(place, step)| StepTime { step: place, at: time(span(step)) }).collect()
        };
        if !self.before_event {
            return times(&|span| at.after(span));
        }
        let Some(start) = starts_at.filter(|start| *start >= at) else { return Vec::new() };
        in_time(times(&|span| start.before(span)), at)
    }

    /// How `step` asks for somebody to be told of an event of this type.
    pub fn asked(&self, step: &Step, event: &EventType) -> Asked {
        Asked {
            app: event.app,
            channels: step.channels.0,
            urgent: event.urgent,
            texts_off: event.texts_off,
            overrides_quiet_hours: self.override_quiet_hours,
        }
    }

    /// Whether it names people or roles at all.
    pub fn names_anybody(&self) -> bool {
        !self.roles.is_empty() || !self.user_ids.is_empty()
    }

    /// The rotas that its steps go to.
    pub fn rotas(&self) -> impl Iterator<Item = RotaId> {
        self.steps.iter().filter_map(|step| step.rota)
    }

    /// Notes every field that breaks a rule; `path` names the rule.
    pub(super) fn check(&self, path: &str, problems: &mut Problems) {
        self.check_events(path, problems);
        self.check_match(path, problems);
        let steps = (1..=STEPS_MAX).contains(&self.steps.len());
        problems.require(steps, format!("{path}.steps"), "A rule has 1 to 10 steps.");
        for (place, step) in self.steps.iter().enumerate() {
            step.check(&format!("{path}.steps[{place}]"), problems);
        }
        let roles = are_different(&self.roles);
        problems.require(roles, format!("{path}.roles"), "Name each role once.");
        let people = self.user_ids.len() <= RULE_PEOPLE_MAX && are_different(&self.user_ids);
        problems.require(people, format!("{path}.userIds"), "Name up to 50 people, each once.");
    }

    fn check_events(&self, path: &str, problems: &mut Problems) {
        let list = !self.events.is_empty() && are_different(&self.events);
        problems.require(list, format!("{path}.events"), "List at least one event, each once.");
        for (place, kind) in self.events.iter().enumerate() {
            let may_list = EventType::find(kind).is_some_and(|event| event.in_protocols);
            problems.require(may_list, format!("{path}.events[{place}]"), "A protocol can't list this event.");
        }
    }

    fn check_match(&self, path: &str, problems: &mut Problems) {
        let keys = self.matches.len() <= MATCH_KEYS_MAX;
        problems.require(keys, format!("{path}.match"), "Match on up to 20 keys.");
        for (key, values) in &self.matches {
            let at = format!("{path}.match.{}", key.chars().take(*MATCH_KEY_LEN.end()).collect::<String>());
            let key = MATCH_KEY_LEN.contains(&key.chars().count());
            problems.require(key, at.as_str(), "A key has 1 to 64 characters.");
            let values = (1..=MATCH_VALUES_MAX).contains(&values.len())
                && values.iter().all(|value| MATCH_VALUE_LEN.contains(&value.chars().count()));
            problems.require(values, at, "Give 1 to 50 values of 1 to 256 characters.");
        }
    }
}

/// Whether what an event says is one of `values`. A number or a truth value counts as it is written in JSON; a list says
/// each of its entries.
fn says_one_of(said: &Value, values: &[String]) -> bool {
    match said {
        Value::String(text) => values.contains(text),
        Value::Array(entries) => entries.iter().any(|entry| !entry.is_array() && says_one_of(entry, values)),
        Value::Number(_) | Value::Bool(_) => values.contains(&said.to_string()),
        Value::Null | Value::Object(_) => false,
    }
}

/// The times after `now`; of the others only the latest, moved to `now`.
fn in_time(times: Vec<StepTime>, now: Timestamp) -> Vec<StepTime> {
    let latest = times.iter().map(|time| time.at).filter(|at| *at <= now).max();
    let kept = times.into_iter().filter(|time| time.at > now || Some(time.at) == latest);
    kept.map(|time| StepTime { at: time.at.max(now), ..time }).collect()
}

fn are_different<T: Ord>(entries: &[T]) -> bool {
    entries.iter().collect::<BTreeSet<_>>().len() == entries.len()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

#[cfg(test)]
mod tests;
