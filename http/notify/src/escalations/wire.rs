//! Escalations as they are answered.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    id::DeliveryId,
    notify::{Channels, DeliveryState, escalation::Next},
};
use serde::Serialize;
use store::{
    Delivery,
    notify::escalations::{Escalation, Occasion, Telling},
};
use utoipa::ToSchema;

/// What a protocol does about an event.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "escalationId": "esc_01jd7rt4m5e9fv2w8x3c6k0hqz", "orgId": "org_01jd7rt4m5e9fv2w8x3c6k0hqz",
    "protocolId": "ptc_01jd7rt4m5e9fv2w8x3c6k0hqz", "protocolName": "Production on-call", "event": "ops.alarm",
    "title": "The disk of db-1 is full", "state": "running", "test": false, "dedupKey": "disk:db-1", "events": 3,
    "lastTitle": "The disk of db-1 is full", "lastEventAt": 1_767_225_900_000_i64, "stepsDone": 1, "steps": 5,
    "nextStepAt": 1_767_225_900_000_i64, "eventAt": 1_767_225_600_000_i64, "createdAt": 1_767_225_600_000_i64
}))]
pub(crate) struct EscalationBody {
    /// The escalation's id.
    escalation_id: String,
    /// The organization.
    org_id: String,
    /// The protocol.
    protocol_id: String,
    /// What the protocol was called when it started.
    protocol_name: String,
    /// The type of what happened.
    event: String,
    /// The headline.
    title: String,
    /// What happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// Where more about it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// `running`, `acknowledged`, `resolved` or `ended`.
    state: &'static str,
    /// Whether somebody only tried what the protocol does.
    test: bool,
    /// Events that carry the same are taken in.
    #[serde(skip_serializing_if = "Option::is_none")]
    dedup_key: Option<String>,
    /// How many events it stands for.
    events: i64,
    /// The headline of the last of them.
    last_title: String,
    /// When that one came.
    last_event_at: i64,
    /// How many of its steps are done.
    steps_done: usize,
    /// How many it has.
    steps: usize,
    /// When the next one is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_step_at: Option<i64>,
    /// Until when somebody put it off.
    #[serde(skip_serializing_if = "Option::is_none")]
    snoozed_until: Option<i64>,
    /// To whom the rest of it was handed.
    #[serde(skip_serializing_if = "Option::is_none")]
    handed_to: Option<String>,
    /// The person who took the escalation on.
    #[serde(skip_serializing_if = "Option::is_none")]
    acked_by: Option<String>,
    /// Over what: `app`, `sms`, `voice`, or `operator` for somebody who wasn't told.
    #[serde(skip_serializing_if = "Option::is_none")]
    acked_via: Option<&'static str>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    acked_at: Option<i64>,
    /// Why it ended: `resolved`, `unanswered`, `protocol_disabled`, `protocol_deleted` or `superseded`.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_reason: Option<&'static str>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<i64>,
    /// When the event happened.
    event_at: i64,
    /// When it started.
    created_at: i64,
}

impl From<Escalation> for EscalationBody {
    fn from(escalation: Escalation) -> Self {
        let next = escalation.progress.next().filter(|_| escalation.is_running());
        let next_step_at = match next {
            Some(Next::Step { due, .. }) => Some(due.as_millis()),
            Some(Next::End { .. }) | None => None,
        };
        Self {
            escalation_id: escalation.id.to_string(),
            org_id: escalation.org_id.to_string(),
            protocol_id: escalation.protocol_id.to_string(),
            protocol_name: escalation.protocol_name,
            event: escalation.kind,
            title: escalation.title,
            body: escalation.body,
            url: escalation.url,
            state: escalation.state.as_str(),
            test: escalation.is_test,
            dedup_key: escalation.dedup_key,
            events: escalation.event_count,
            last_title: escalation.last_title,
            last_event_at: escalation.last_event_at.as_millis(),
            steps_done: escalation.progress.done,
            steps: escalation.progress.plan.steps().len(),
            next_step_at,
            snoozed_until: escalation.progress.snoozed_until.map(Timestamp::as_millis),
            handed_to: escalation.handed_to.map(|id| id.to_string()),
            acked_by: escalation.acked.map(|acked| acked.by.to_string()),
            acked_via: escalation.acked.map(|acked| acked.via.as_str()),
            acked_at: escalation.acked.map(|acked| acked.at.as_millis()),
            end_reason: escalation.ended.map(|ended| ended.reason.as_str()),
            ended_at: escalation.ended.map(|ended| ended.at.as_millis()),
            event_at: escalation.event_at.as_millis(),
            created_at: escalation.created_at.as_millis(),
        }
    }
}

/// A step of an escalation.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "afterMinutes": 5, "beforeEvent": false, "channels": ["push", "inapp"], "due": 1_767_225_900_000_i64, "done": true,
    "told": [{ "userId": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "channel": "push", "at": 1_767_225_900_000_i64,
        "deliveryId": "dlv_01jd7rt4m5e9fv2w8x3c6k0hqz", "delivery": "sent" }]
}))]
pub(crate) struct EscalationStepBody {
    /// How long after the event the protocol wants it done, or before the event's own start.
    after_minutes: u32,
    /// Whether it counts back from the event's own start.
    before_event: bool,
    /// Over which channels.
    #[schema(value_type = Vec<String>)]
    channels: Channels,
    /// The rota whose person on call is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    rota: Option<String>,
    /// When it is due, or was.
    due: i64,
    /// Whether it is done.
    done: bool,
    /// The people whom the step told or not, and why not.
    told: Vec<TellingBody>,
}

/// What became of telling one person over one channel.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "occasion": "step", "userId": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "channel": "sms", "at": 1_767_225_900_000_i64,
    "whyNot": "no_confirmed_phone"
}))]
pub(crate) struct TellingBody {
    /// `step`, `hand_over` or `resolved`.
    occasion: &'static str,
    /// The person; absent when there was nobody to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    /// Over what; absent when the person wasn't to be told at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<&'static str>,
    /// When.
    at: i64,
    /// Until when quiet hours hold it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    held_until: Option<i64>,
    /// Why not: `no_confirmed_phone`, `no_device`, `texts_off`, `calls_unavailable`, `not_a_member`,
    /// `already_acknowledged`, `nobody_on_call` or `nobody_named`.
    #[serde(skip_serializing_if = "Option::is_none")]
    why_not: Option<String>,
    /// The delivery.
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery_id: Option<String>,
    /// What has become of it: `queued`, `sent`, `failed`, `held` or `cancelled`; absent once it is forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery: Option<&'static str>,
}

type States = BTreeMap<DeliveryId, DeliveryState>;

impl TellingBody {
    fn new(telling: Telling, states: &States) -> Self {
        let delivery = telling.delivery_id.and_then(|id| states.get(&id));
        Self {
            occasion: telling.occasion.as_str(),
            user_id: telling.user_id.map(|id| id.to_string()),
            channel: telling.channel.map(domain::notify::Channel::as_str),
            at: telling.at.as_millis(),
            held_until: telling.held_until.map(Timestamp::as_millis),
            why_not: telling.why_not,
            delivery_id: telling.delivery_id.map(|id| id.to_string()),
            delivery: delivery.map(|state| state.as_str()),
        }
    }
}

/// The steps with whom each told, and who was told between them.
pub(super) fn told(
    escalation: &Escalation,
    tellings: Vec<Telling>,
    deliveries: &[Delivery],
) -> (Vec<EscalationStepBody>, Vec<TellingBody>) {
    let states: States = deliveries.iter().map(|delivery| (delivery.id, delivery.state)).collect();
    let mut steps: Vec<_> = (0..escalation.progress.plan.steps().len()).filter_map(|at| step(escalation, at)).collect();
    let mut others = Vec::new();
    for telling in tellings {
        let place = if let Occasion::Step(place) = telling.occasion { steps.get_mut(place) } else { None };
        let list = place.map_or(&mut others, |step| &mut step.told);
        list.push(TellingBody::new(telling, &states));
    }
    (steps, others)
}

fn step(escalation: &Escalation, place: usize) -> Option<EscalationStepBody> {
    let planned = escalation.progress.plan.steps().get(place)?;
    let step = escalation.rules.get(planned.rule)?.steps.get(planned.step)?;
    Some(EscalationStepBody {
        after_minutes: step.after_minutes,
        before_event: planned.before_event,
        channels: step.channels.0,
        rota: step.rota.map(|id| id.to_string()),
        due: planned.due.as_millis(),
        done: place < escalation.progress.done,
        told: Vec::new(),
    })
}
