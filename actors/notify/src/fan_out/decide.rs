//! What follows from events: who gets a notice, which escalation starts, and which takes the event in.

use std::collections::BTreeMap;

use actors_base::Services;
use domain::{
    Timestamp,
    id::{EscalationId, OrgId, ProtocolId, UserId},
    notify::{
        Asked, Protocol, Recipient, Rule,
        escalation::{EndReason, EscalationState, Plan, PlannedStep, Progress},
    },
};
use serde_json::json;
use store::{
    AuditActor, AuditEntry, AuditTarget, Change, StoreError,
    notify::escalations::{Ended, Escalation},
};

use super::{
    alerts::Alerts,
    case::{Case, Facts, Known},
};
use crate::{
    ending::resolved_title,
    tell::{Message, Notifier},
};

/// Decides on one event after the other, and gathers what follows.
#[derive(Debug)]
pub(super) struct Decisions<'k> {
    now: Timestamp,
    recipients: &'k BTreeMap<UserId, Recipient>,
    notifier: Notifier,
    /// What takes in further events, by protocol and `dedupKey`.
    open: BTreeMap<(ProtocolId, String), Escalation>,
    alerts: Alerts,
    change: Change,
}

/// What becomes of an event at one protocol.
enum Taken {
    /// A running escalation took it in.
    In,
    /// It started one, or there was nothing to do.
    Up,
}

impl<'k> Decisions<'k> {
    pub async fn new(services: &Services, known: &'k Known) -> Result<Self, StoreError> {
        let people = known.recipients.keys().copied().collect();
        let open = known.open.iter().filter_map(|escalation| {
            Some(((escalation.protocol_id, escalation.dedup_key.clone()?), escalation.clone()))
        });
        Ok(Self {
            now: services.store.now(),
            recipients: &known.recipients,
            notifier: Notifier::new(services, &people).await?,
            open: open.collect(),
            alerts: Alerts::new(&known.alerts),
            change: Change::new(),
        })
    }

    /// What follows from all of them, as one change.
    pub fn into_change(mut self) -> Change {
        self.change.append(self.notifier.into_change());
        self.change.append(self.alerts.into_change());
        self.change
    }

    pub fn decide(&mut self, case: &Case<'_>, facts: &Facts) {
        let mut spared = Vec::new();
        for ending in &facts.ended {
            spared.extend(ending.people());
            self.change.append(ending.resolve(&mut self.notifier, self.recipients, self.now));
            self.change.audit_add(self.now, entry(&ending.escalation, "escalation.resolved"));
        }
        let mut is_known = false;
        for protocol in &facts.protocols {
            is_known |= matches!(self.escalate(case, facts, protocol), Taken::In);
        }
        let news_to = match case.alert_key(facts) {
            _ if !case.event.resolved && !case.event.audience.has_people() => Vec::new(),
            None => facts.concerned.clone(),
            Some(key) if case.event.resolved => self.alerts.close(&key, case.at, &facts.concerned),
            Some(key) => self.alerts.take_in(key, case.at, &facts.concerned),
        };
        // Another event of what is being escalated already tells nobody again.
        if !is_known {
            let told = news_to.iter().filter(|user_id| !spared.contains(user_id));
            told.for_each(|user_id| self.tell(case, facts.org_id, *user_id));
        }
    }

    /// A notice for somebody whom the event concerns, over the channels that they chose for its type.
    fn tell(&mut self, case: &Case<'_>, org_id: Option<OrgId>, user_id: UserId) {
        let Some(recipient) = self.recipients.get(&user_id) else { return };
        let title = if case.event.resolved { resolved_title(&case.event.title) } else { case.event.title.clone() };
        let asked = Asked {
            app: case.kind.app,
            channels: recipient.prefs.channels(case.kind),
            urgent: case.kind.urgent && !case.event.resolved,
            texts_off: case.kind.texts_off,
            overrides_quiet_hours: false,
        };
        let message = Message {
            event: case.kind,
            org_id,
            title: &title,
            body: Some(case.event.body.as_str()).filter(|body| !body.is_empty()),
            url: case.event.url.as_deref(),
            source: &case.source,
            escalation_id: None,
        };
        self.notifier.tell(recipient, asked, &message, None);
    }

    fn escalate(&mut self, case: &Case<'_>, facts: &Facts, protocol: &Protocol) -> Taken {
        let key = case.event.dedup_key.clone().map(|key| (protocol.id, key));
        if let Some(open) = key.as_ref().and_then(|key| self.open.get(key)) {
            if open.progress.takes_in(self.now, open.acked.map(|acked| acked.at)) {
                self.change.escalation_take_in(open.id, &case.event.title, case.at);
                return Taken::In;
            }
            let superseded = superseded(open, self.now);
            self.change.escalation_set(&superseded);
        }
        let rules = protocol.rules_for(&case.event.kind, &case.event.data).map(|(_, rule)| rule);
        let rules: Vec<Rule> = rules.filter(|rule| case.event.audience.has(rule)).cloned().collect();
        let plan = plan(&rules, case);
        if plan.is_empty() {
            return Taken::Up;
        }
        let escalation = started(case, facts, protocol, rules, plan, self.now);
        self.change.protocol_hold(protocol.id);
        self.change.escalation_add(&escalation);
        self.change.audit_add(self.now, entry(&escalation, "escalation.started"));
        if let Some(key) = key {
            self.open.insert(key, escalation);
        }
        Taken::Up
    }
}

/// All steps of `rules` with their times.
fn plan(rules: &[Rule], case: &Case<'_>) -> Plan {
    Plan::new(rules.iter().enumerate().flat_map(|(place, rule)| {
        rule.step_times(case.at, case.event.starts_at).into_iter().map(move |time| PlannedStep {
            rule: place,
            step: time.step,
            at: time.at,
            due: time.at,
            before_event: rule.before_event,
        })
    }))
}

fn started(
    case: &Case<'_>,
    facts: &Facts,
    protocol: &Protocol,
    rules: Vec<Rule>,
    plan: Plan,
    now: Timestamp,
) -> Escalation {
    let event = &case.event;
    Escalation {
        id: EscalationId::new(now),
        version: 1,
        org_id: protocol.org_id,
        protocol_id: protocol.id,
        protocol_name: protocol.draft.name.clone(),
        source: case.source.clone(),
        is_test: false,
        kind: event.kind.clone().into_owned(),
        title: event.title.clone(),
        body: Some(event.body.clone()).filter(|body| !body.is_empty()),
        url: event.url.clone(),
        concerned: facts.concerned.clone(),
        rules,
        progress: Progress::new(plan),
        state: EscalationState::Running,
        dedup_key: event.dedup_key.clone(),
        is_open: event.dedup_key.is_some(),
        event_count: 1,
        last_title: event.title.clone(),
        last_event_at: case.at,
        handed_to: None,
        acked: None,
        ended: None,
        event_at: case.at,
        created_at: now,
    }
}

/// An escalation that takes in no more, because the next event of the same starts over.
fn superseded(open: &Escalation, now: Timestamp) -> Escalation {
    let mut over = Escalation { is_open: false, ..open.clone() };
    if over.is_running() {
        over.state = EscalationState::Ended;
        over.ended = Some(Ended { reason: EndReason::Superseded, at: now });
    }
    over
}

fn entry(escalation: &Escalation, action: &str) -> AuditEntry {
    let target = AuditTarget::new("escalation", escalation.id).labelled(&escalation.title);
    let metadata = json!({ "protocolId": escalation.protocol_id, "event": escalation.kind });
    AuditEntry {
        org_id: Some(escalation.org_id),
        action: action.to_owned(),
        actor: AuditActor::system(),
        target,
        metadata: Some(metadata),
        ip: None,
        user_agent: None,
    }
}
