//! What a protocol would do about an event: whom it would tell, when, over what, and why not anybody or anything else.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    catalog::EventType,
    escalation::{Audience, Passed, pick},
    reach::{Outcome, Reach, Recipient, reach},
    rota::Rota,
    rule::Rule,
    step::Step,
};
use crate::{Role, Timestamp, app::names, id::UserId};

/// An event that might happen.
#[derive(Clone, Debug)]
pub struct HypotheticalEvent {
    /// Its type.
    pub event: &'static EventType,
    /// When.
    pub at: Timestamp,
    /// When what it announces begins.
    pub starts_at: Option<Timestamp>,
    /// What it says.
    pub data: Map<String, Value>,
    /// Whom it concerns.
    pub concerned: Vec<UserId>,
}

/// The people and rotas that a protocol's rules may mean.
#[derive(Clone, Debug, Default)]
pub struct Cast {
    /// Those who belong to the organization, with their roles.
    pub members: BTreeMap<UserId, Role>,
    /// How each of them, and of those who left, can be told something.
    pub recipients: BTreeMap<UserId, Recipient>,
    /// The rotas.
    pub rotas: Vec<Rota>,
    /// Whether the server can text and call.
    pub calls_available: bool,
}

names! {
    /// Why a rule does nothing about an event.
    Idle { OtherEvents = "other_events", NoMatch = "no_match", NoStart = "no_start", }
}

names! {
    /// Why somebody is told.
    Because { UserId = "userId", Role = "role", Rota = "rota", Concerned = "concerned", }
}

/// What one rule would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulePreview {
    /// Its place in the protocol.
    pub rule: usize,
    /// Why it does nothing.
    pub idle: Option<Idle>,
    /// Its steps, in the order in which they are done.
    pub steps: Vec<StepPreview>,
}

/// What one step would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepPreview {
    /// Its place in the rule.
    pub step: usize,
    /// When.
    pub at: Timestamp,
    /// Whom it tells.
    pub told: Vec<PersonPreview>,
    /// Whom it doesn't; nobody in particular when there is nobody to tell.
    pub passed: Vec<(Option<UserId>, Passed)>,
}

/// How somebody would be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonPreview {
    /// They.
    pub user_id: UserId,
    /// Why they.
    pub because: Because,
    /// What becomes of each channel.
    pub ways: Vec<Reach>,
}

/// What each of `rules` would do about `event`, if the protocol is enabled and attached to where it happens.
pub fn preview(rules: &[Rule], event: &HypotheticalEvent, cast: &Cast) -> Vec<RulePreview> {
    let of_rule = |(place, rule): (usize, &Rule)| {
        let idle = idle(rule, event);
        let steps = if idle.is_some() { Vec::new() } else { steps(rule, event, cast) };
        RulePreview { rule: place, idle, steps }
    };
    rules.iter().enumerate().map(of_rule).collect()
}

fn idle(rule: &Rule, event: &HypotheticalEvent) -> Option<Idle> {
    let kind = event.event.kind;
    if !rule.events.iter().any(|event| event == kind) {
        Some(Idle::OtherEvents)
    } else if !rule.applies(kind, &event.data) {
        Some(Idle::NoMatch)
    } else if rule.step_times(event.at, event.starts_at).is_empty() {
        Some(Idle::NoStart)
    } else {
        None
    }
}

fn steps(rule: &Rule, event: &HypotheticalEvent, cast: &Cast) -> Vec<StepPreview> {
    let mut times = rule.step_times(event.at, event.starts_at);
    times.sort_by_key(|time| (time.at, time.step));
    let of_step = |time: super::rule::StepTime| {
        let step = &rule.steps[time.step];
        let audience = audience(rule, step, &event.concerned, time.at, cast);
        let picked = pick(&audience);
        let told = picked.told.iter().filter_map(|user_id| {
            let ways =
                reach(cast.recipients.get(user_id)?, &rule.asked(step, event.event), cast.calls_available, time.at);
            Some(PersonPreview { user_id: *user_id, because: because(rule, step, *user_id), ways })
        });
        StepPreview { step: time.step, at: time.at, told: told.collect(), passed: picked.passed }
    };
    times.into_iter().map(of_step).collect()
}

fn audience(rule: &Rule, step: &Step, concerned: &[UserId], at: Timestamp, cast: &Cast) -> Audience {
    let is_member = |user_id: UserId| cast.members.contains_key(&user_id);
    let rota = step.rota.and_then(|id| cast.rotas.iter().find(|rota| rota.id == id));
    let has_role = cast.members.iter().filter(|(_, role)| rule.roles.contains(role)).map(|(user_id, _)| *user_id);
    Audience {
        is_rota: step.rota.is_some(),
        on_call: rota.and_then(|rota| rota.on_call(at, is_member)).map(|on_call| on_call.user_id),
        named: rule.user_ids.iter().copied().chain(has_role).collect(),
        names_anybody: rule.names_anybody(),
        concerned: concerned.to_vec(),
        members: cast.members.keys().copied().collect(),
        ..Audience::default()
    }
}

fn because(rule: &Rule, step: &Step, user_id: UserId) -> Because {
    if step.rota.is_some() {
        Because::Rota
    } else if rule.user_ids.contains(&user_id) {
        Because::UserId
    } else if rule.names_anybody() {
        Because::Role
    } else {
        Because::Concerned
    }
}

/// Whether the rule would reach somebody at `at`, whatever happens. Of people whom an event will concern nothing is known;
/// they count as reached where the event may use one of the step's channels.
pub fn reaches_somebody(rule: &Rule, at: Timestamp, cast: &Cast) -> bool {
    let events = rule.events.iter().filter_map(|kind| EventType::find(kind));
    events.into_iter().any(|event| rule.steps.iter().any(|step| step_reaches(rule, step, event, at, cast)))
}

fn step_reaches(rule: &Rule, step: &Step, event: &EventType, at: Timestamp, cast: &Cast) -> bool {
    let asked = rule.asked(step, event);
    if step.rota.is_none() && !rule.names_anybody() {
        let texts = cast.calls_available && !event.texts_off;
        return asked.channels.iter().any(|channel| texts || !channel.needs_phone());
    }
    let picked = pick(&audience(rule, step, &[], at, cast));
    let mut recipients = picked.told.iter().filter_map(|user_id| cast.recipients.get(user_id));
    recipients.any(|recipient| {
        let ways = reach(recipient, &asked, cast.calls_available, at);
        ways.iter().any(|way| !matches!(way.outcome, Outcome::Not(_)))
    })
}

#[cfg(test)]
mod tests;
