//! The clocks of a desk, as its space's configuration says them (contract B 2.3, `slas`).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    cycle::{Condition, Event, Facts, Goal, Sla},
    hours::{Calendar, Hours},
};
use crate::{
    issues::{
        limits::{NAME_LEN, SLA_ENTRIES_MAX, SLA_GOAL_MS, SLA_GOALS_MAX, SLA_ID_LEN},
        settings::Settings,
    },
    problems::Problems,
};

/// The time that counts for a goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CalendarKind {
    /// Business time.
    #[default]
    Business,
    /// Every instant.
    Always,
}

/// A clock of a desk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SlaSettings {
    /// What it goes by; never changes.
    pub sla_id: String,
    /// What people, and queries, call it.
    pub name: String,
    /// What starts it.
    pub start: Vec<Event>,
    /// What stops it.
    pub stop: Vec<Event>,
    /// What holds it.
    #[serde(default)]
    pub pause: Vec<Condition>,
    /// The times that it may take; the first that fits an issue counts, and none where none fits.
    #[serde(default)]
    pub goals: Vec<GoalSettings>,
    /// Milliseconds before a goal is reached, as its calendar counts them, at which whoever is responsible is warned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warn_before: Option<i64>,
}

/// The time that a clock may take for some issues. A list that is empty takes every issue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GoalSettings {
    /// Priorities of the issues.
    #[serde(default)]
    pub priority_ids: Vec<String>,
    /// Types of the issues.
    #[serde(default)]
    pub type_ids: Vec<String>,
    /// Request types of the issues.
    #[serde(default)]
    pub request_type_ids: Vec<String>,
    /// Milliseconds; null where it may take any.
    pub time: Option<i64>,
    /// The time that counts.
    #[serde(default)]
    pub calendar: CalendarKind,
}

impl GoalSettings {
    fn fits(&self, facts: &Facts) -> bool {
        let takes =
            |wanted: &[String], id: Option<&String>| wanted.is_empty() || id.is_some_and(|id| wanted.contains(id));
        takes(&self.priority_ids, facts.priority_id.as_ref())
            && takes(&self.type_ids, Some(&facts.type_id))
            && takes(&self.request_type_ids, facts.request_type_id.as_ref())
    }
}

impl CalendarKind {
    /// The calendar; every instant counts where a desk has no hours.
    pub fn with(self, hours: Option<&Hours>) -> Calendar<'_> {
        match (self, hours) {
            (Self::Business, Some(hours)) => Calendar::Business(hours),
            _ => Calendar::Always,
        }
    }
}

impl SlaSettings {
    /// How long the answer to a new request may take, and how long all of it.
    pub fn defaults() -> Vec<Self> {
        const HOUR: i64 = 3_600_000;
        let goal = |priority: Option<&str>, hours: i64| GoalSettings {
            priority_ids: priority.map(str::to_owned).into_iter().collect(),
            time: Some(hours * HOUR),
            ..GoalSettings::default()
        };
        let by_priority = [("highest", 4), ("high", 8), ("medium", 24), ("low", 40), ("lowest", 80)];
        vec![
            Self {
                sla_id: "first_response".to_owned(),
                name: "Time to first response".to_owned(),
                start: vec![Event::Created],
                stop: vec![Event::PublicReply, Event::Resolved],
                pause: Vec::new(),
                goals: vec![goal(None, 4)],
                warn_before: Some(HOUR),
            },
            Self {
                sla_id: "resolution".to_owned(),
                name: "Time to resolution".to_owned(),
                start: vec![Event::Created, Event::Reopened],
                stop: vec![Event::Resolved],
                pause: vec![Condition::InStatus { status_ids: vec!["waiting_for_customer".to_owned()] }],
                goals: by_priority.map(|(priority, hours)| goal(Some(priority), hours)).into(),
                warn_before: Some(HOUR),
            },
        ]
    }

    pub(super) fn clock(&self) -> Sla {
        let Self { start, stop, pause, warn_before, .. } = self;
        Sla { start: start.clone(), stop: stop.clone(), pause: pause.clone(), warn_before: *warn_before }
    }

    /// The goal that counts for an issue, and the time that counts for it.
    pub(super) fn goal(&self, facts: &Facts) -> (Option<i64>, CalendarKind) {
        let found = self.goals.iter().find(|goal| goal.fits(facts));
        found.map_or((None, CalendarKind::default()), |goal| (goal.time, goal.calendar))
    }

    pub(super) fn goal_of<'a>(&self, facts: &Facts, hours: Option<&'a Hours>) -> Goal<'a> {
        let (millis, calendar) = self.goal(facts);
        Goal { millis, calendar: calendar.with(hours) }
    }

    /// Says everything that is wrong, below `path`. Request types are those of the desk.
    pub fn check(&self, problems: &mut Problems, path: &str, (settings, request_types): (&Settings, &BTreeSet<&str>)) {
        let is_part = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
        let fits = SLA_ID_LEN.contains(&self.sla_id.len()) && self.sla_id.chars().all(is_part);
        problems.require(fits, format!("{path}.slaId"), "Use 1 to 32 lower-case letters, digits and underscores.");
        let fits = NAME_LEN.contains(&self.name.trim().chars().count()) && !self.name.contains('\0');
        problems.require(fits, format!("{path}.name"), "Use 1 to 80 characters.");
        for (name, events) in [("start", &self.start), ("stop", &self.stop)] {
            let fits = (1..=SLA_ENTRIES_MAX).contains(&events.len());
            problems.require(fits, format!("{path}.{name}"), "Use 1 to 20 events.");
            for (at, event) in events.iter().enumerate() {
                let (Event::Entered { status_id } | Event::Left { status_id }) = event else { continue };
                let known = settings.status(status_id).is_some();
                problems.require(known, format!("{path}.{name}[{at}].statusId"), "There is no such status.");
            }
        }
        problems.require(self.pause.len() <= SLA_ENTRIES_MAX, format!("{path}.pause"), "Use at most 20 conditions.");
        for (at, condition) in self.pause.iter().enumerate() {
            let Condition::InStatus { status_ids } = condition else { continue };
            let known = status_ids.iter().all(|id| settings.status(id).is_some());
            problems.require(known, format!("{path}.pause[{at}].statusIds"), "There is no such status.");
        }
        let fits = self.warn_before.is_none_or(|time| SLA_GOAL_MS.contains(&time));
        problems.require(fits, format!("{path}.warnBefore"), "Use 1 second to 10 years, in milliseconds.");
        problems.require(self.goals.len() <= SLA_GOALS_MAX, format!("{path}.goals"), "Use at most 30.");
        for (at, goal) in self.goals.iter().enumerate() {
            goal.check(problems, &format!("{path}.goals[{at}]"), (settings, request_types));
        }
    }
}

impl GoalSettings {
    fn check(&self, problems: &mut Problems, path: &str, (settings, request_types): (&Settings, &BTreeSet<&str>)) {
        let fits = self.time.is_none_or(|time| SLA_GOAL_MS.contains(&time));
        problems.require(fits, format!("{path}.time"), "Use 1 second to 10 years, in milliseconds.");
        let known = self.priority_ids.iter().all(|id| settings.priorities.iter().any(|it| it.id == *id));
        problems.require(known, format!("{path}.priorityIds"), "There is no such priority.");
        let known = self.type_ids.iter().all(|id| settings.issue_type(id).is_some());
        problems.require(known, format!("{path}.typeIds"), "There is no such type.");
        let known = self.request_type_ids.iter().all(|id| request_types.contains(id.as_str()));
        problems.require(known, format!("{path}.requestTypeIds"), "The desk has no such request type.");
    }
}
