//! What must happen, worked out from the rules as they are written, without any of the code under test but the types.

use std::collections::BTreeSet;

use domain::{
    Timestamp,
    id::UserId,
    notify::{Channel, EventType, Rule, escalation::EscalationState},
};

use crate::{
    calendar::{DAY, MINUTE},
    world::Member,
};

/// One line of who was told when, over what, and why not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    pub at: i64,
    /// The rule and the step; none when the escalation was handed over.
    pub step: Option<(usize, usize)>,
    pub user_id: UserId,
    pub channel: Channel,
    pub held_until: Option<i64>,
    pub why_not: Option<String>,
}

/// A step that is still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Coming {
    due: i64,
    rule: usize,
    step: usize,
}

/// An escalation as it must go.
#[derive(Clone, Debug)]
pub struct Expected {
    pub title: String,
    kind: &'static EventType,
    rules: Vec<Rule>,
    concerned: Vec<UserId>,
    starts_at: Option<i64>,
    coming: BTreeSet<Coming>,
    pub done: usize,
    last_at: i64,
    snoozed_until: i64,
    handed_to: Option<UserId>,
    pub state: EscalationState,
    pub lines: Vec<Line>,
}

impl Expected {
    /// Of an event at `at`, with those of the protocol's rules that are for it.
    pub fn new(
        title: String,
        kind: &str,
        rules: Vec<Rule>,
        concerned: Vec<UserId>,
        at: Timestamp,
        starts_at: Option<Timestamp>,
    ) -> Self {
        let kind = EventType::find(kind).expect("a type of event");
        let starts_at = starts_at.map(|at| at.0);
        let mut coming = BTreeSet::new();
        for (place, rule) in rules.iter().enumerate() {
            let times = rule.steps.iter().enumerate().map(|(step, it)| {
                let span = i64::from(it.after_minutes) * MINUTE;
                let due = if rule.before_event { starts_at.expect("a start") - span } else { at.0 + span };
                Coming { due, rule: place, step }
            });
            // Of what is too late before an event, the latest is done at once.
            let latest = times.clone().map(|step| step.due).filter(|due| *due <= at.0).max();
            let kept = times.filter(|step| !rule.before_event || step.due > at.0 || Some(step.due) == latest);
            coming.extend(kept.map(|step| Coming { due: step.due.max(at.0), ..step }));
        }
        let state = EscalationState::Running;
        Self {
            title,
            kind,
            rules,
            concerned,
            starts_at,
            coming,
            done: 0,
            last_at: at.0,
            snoozed_until: at.0,
            handed_to: None,
            state,
            lines: Vec::new(),
        }
    }

    pub fn starts(&self) -> bool {
        !self.coming.is_empty()
    }

    /// When something happens next by itself.
    pub fn next(&self) -> Option<Timestamp> {
        match self.coming.first() {
            _ if self.state != EscalationState::Running => None,
            Some(step) => Some(Timestamp(step.due)),
            None => Some(Timestamp(self.last_at + DAY)),
        }
    }

    /// Lets everything happen that is due at `now`, when something is there to do it.
    pub fn run(&mut self, now: Timestamp, members: &[Member]) {
        while self.next().is_some_and(|next| next <= now) {
            let Some(step) = self.coming.pop_first() else {
                self.state = EscalationState::Ended;
                return;
            };
            let rule = self.rules[step.rule].clone();
            for member in members {
                if !self.is_for(&rule, member) {
                    continue;
                }
                let channels = rule.steps[step.step].channels.0;
                for channel in channels.iter() {
                    let place = Some((step.rule, step.step));
                    self.lines.push(self.line(now, place, member, channel, rule.override_quiet_hours));
                }
            }
            self.done += 1;
            self.last_at = now.0;
        }
    }

    fn is_for(&self, rule: &Rule, member: &Member) -> bool {
        match self.handed_to {
            Some(user_id) => user_id == member.user_id,
            None if rule.roles.is_empty() && rule.user_ids.is_empty() => self.concerned.contains(&member.user_id),
            None => rule.roles.contains(&member.role) || rule.user_ids.contains(&member.user_id),
        }
    }

    fn line(
        &self,
        now: Timestamp,
        step: Option<(usize, usize)>,
        member: &Member,
        channel: Channel,
        over: bool,
    ) -> Line {
        let why_not = match channel {
            Channel::Sms | Channel::Voice if self.kind.texts_off => Some("texts_off"),
            Channel::Sms | Channel::Voice if !member.has_phone => Some("no_confirmed_phone"),
            Channel::Push if !member.has_device => Some("no_device"),
            _ => None,
        };
        let wakes = matches!(channel, Channel::Push | Channel::Sms | Channel::Voice);
        let quiet = member.quiet.filter(|quiet| wakes && !over && !(self.kind.urgent && quiet.allow_urgent));
        let held_until = quiet.and_then(|quiet| quiet.until(now)).map(|at| at.0).filter(|_| why_not.is_none());
        Line { at: now.0, step, user_id: member.user_id, channel, held_until, why_not: why_not.map(str::to_owned) }
    }

    pub fn acknowledge(&mut self) {
        self.state = EscalationState::Acknowledged;
    }

    pub fn snooze(&mut self, now: Timestamp, until: Timestamp) {
        let pause = until.0 - self.snoozed_until.max(now.0);
        let moved = self.coming.iter().map(|step| {
            let rule = &self.rules[step.rule];
            let own = rule.before_event.then_some(self.starts_at).flatten();
            let due = match own {
                Some(start) => start - i64::from(rule.steps[step.step].after_minutes) * MINUTE,
                None => step.due + pause,
            };
            Coming { due: due.max(until.0), ..*step }
        });
        self.coming = moved.collect();
        self.snoozed_until = until.0;
    }

    pub fn hand_over(&mut self, now: Timestamp, to: &Member, last: (usize, usize)) {
        self.handed_to = Some(to.user_id);
        let rule = &self.rules[last.0];
        let (channels, over) = (rule.steps[last.1].channels.0, rule.override_quiet_hours);
        for channel in Channel::ALL.iter().copied().filter(|it| channels.contains(*it) || *it == Channel::Inapp) {
            self.lines.push(self.line(now, None, to, channel, over));
        }
    }

    /// The step that was done last.
    pub fn last_step(&self) -> Option<(usize, usize)> {
        self.lines.iter().rev().find_map(|line| line.step)
    }

    /// Who may acknowledge.
    pub fn told(&self) -> Vec<UserId> {
        self.lines.iter().map(|line| line.user_id).collect::<BTreeSet<_>>().into_iter().collect()
    }
}
