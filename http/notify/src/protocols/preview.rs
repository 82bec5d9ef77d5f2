//! What a protocol would do about an event.

use actors::notify::cast;
use domain::{
    id::UserId,
    notify::{
        EventType, Outcome, Protocol, Reach, ResourceType, Target,
        preview::{Cast, HypotheticalEvent, PersonPreview, RulePreview, StepPreview, preview, reaches_somebody},
        rota::ASKABLE,
    },
    problems::Problems,
};
use http_shell::{
    answer::Json,
    error::Result,
    owned::Owned,
    permission::OrgWrite,
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use crate::organization::NotifyOrg;

/// People whom an event of a preview concerns.
const CONCERNED_MAX: usize = 50;
/// Characters of a telephone number that are shown, from its end.
const PHONE_SHOWN: usize = 2;

/// The event that is looked at.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(rename_all = "camelCase")]
pub(crate) struct PreviewQuery {
    /// The event's type.
    #[param(example = "ops.alarm")]
    event: String,
    /// When it happens; now where it isn't said.
    at: Option<i64>,
    /// When what it announces begins.
    starts_at: Option<i64>,
    /// What it says, as a JSON object.
    #[param(example = "{\"severity\": \"critical\"}")]
    data: Option<String>,
    /// The people whom the event concerns: up to 50 ids with commas between; you where it isn't said.
    user_ids: Option<String>,
}

impl RequestQuery for PreviewQuery {
    fn check(&self, problems: &mut Problems) {
        let may_be = |at: Option<i64>| at.is_none_or(|at| ASKABLE.contains(&domain::Timestamp(at)));
        problems.require(may_be(self.at), "at", "Use a moment between 1970 and the year 9000.");
        problems.require(may_be(self.starts_at), "startsAt", "Use a moment between 1970 and the year 9000.");
    }
}

impl PreviewQuery {
    fn event(&self, now: domain::Timestamp, caller: UserId) -> domain::Result<HypotheticalEvent> {
        let mut problems = Problems::new();
        let event = EventType::find(&self.event).filter(|event| event.in_protocols);
        problems.require(event.is_some(), "event", "A protocol can't list this event.");
        let data = self.data.as_deref().map_or_else(|| Ok(Map::new()), serde_json::from_str::<Map<String, Value>>);
        problems.require(data.is_ok(), "data", "Use a JSON object.");
        let concerned = match &self.user_ids {
            None => Some(vec![caller]),
            Some(ids) => ids.split(',').map(|id| id.parse::<UserId>().ok()).collect::<Option<Vec<_>>>(),
        };
        let concerned = concerned.filter(|concerned| concerned.len() <= CONCERNED_MAX);
        problems.require(concerned.is_some(), "userIds", "Use up to 50 ids of people, with commas between.");
        match (event, data, concerned) {
            (Some(event), Ok(data), Some(concerned)) => Ok(HypotheticalEvent {
                event,
                at: self.at.map_or(now, domain::Timestamp),
                starts_at: self.starts_at.map(domain::Timestamp),
                data,
                concerned,
            }),
            _ => Err(problems.into_error()),
        }
    }
}

/// What the protocol would do.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PreviewAnswer {
    /// The event.
    event: &'static str,
    /// When it happens.
    at: i64,
    /// Whether the protocol is enabled; a disabled one does nothing of this.
    enabled: bool,
    /// Whether the protocol is attached to anything; one that isn't does nothing of this.
    attached: bool,
    /// Whether it is attached to its whole organization, and not only to things in it.
    attached_to_organization: bool,
    /// The protocol's rules, each with what it would do.
    rules: Vec<RulePreviewBody>,
}

/// What a rule would do.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RulePreviewBody {
    /// The rule's place, from 0.
    rule: usize,
    /// Whether it does something about this event.
    applies: bool,
    /// Why it doesn't: `other_events`, `no_match` (the event's data) or `no_start` (a rule that counts back needs one to come).
    #[serde(skip_serializing_if = "Option::is_none")]
    why_not: Option<&'static str>,
    /// Whether the rule reaches nobody at all, whatever happens.
    reaches_nobody: bool,
    /// What it does, in order.
    steps: Vec<StepPreviewBody>,
}

/// What a step would do.
#[derive(Serialize, ToSchema)]
pub(crate) struct StepPreviewBody {
    /// The step's place in the rule, from 0.
    step: usize,
    /// When.
    at: i64,
    /// The people whom the step tells.
    people: Vec<PersonPreviewBody>,
    /// The people whom the step doesn't tell.
    others: Vec<PassedBody>,
}

/// How somebody would be told.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PersonPreviewBody {
    /// The person's id.
    user_id: String,
    /// What they are called.
    name: String,
    /// Why they: `userId`, `role`, `rota` or `concerned`.
    because: &'static str,
    /// What becomes of each channel; of push, for each device.
    channels: Vec<ChannelPreviewBody>,
}

/// What would become of one channel.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChannelPreviewBody {
    /// The channel.
    channel: &'static str,
    /// Whether it is used.
    used: bool,
    /// When: with the step, or when quiet hours end.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<i64>,
    /// Until when quiet hours hold it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    quiet_until: Option<i64>,
    /// Where to: an address, the end of a telephone number, the platform and app of a device.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// Why it isn't used: `not_chosen` (by the step), `no_confirmed_phone`, `no_device`, `texts_off` (the event never texts
    /// or calls) or `calls_unavailable` (on this server).
    #[serde(skip_serializing_if = "Option::is_none")]
    why_not: Option<&'static str>,
}

/// A person whom a step doesn't tell.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PassedBody {
    /// The person's id; absent when there is nobody in particular to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    /// What they are called.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Why: `not_a_member`, `nobody_on_call` or `nobody_named`.
    why_not: &'static str,
}

fn name(cast: &Cast, user_id: UserId) -> Option<String> {
    cast.recipients.get(&user_id).map(|recipient| recipient.name.clone())
}

fn rule_body(rule: RulePreview, reaches_nobody: bool, cast: &Cast) -> RulePreviewBody {
    RulePreviewBody {
        rule: rule.rule,
        applies: rule.idle.is_none(),
        why_not: rule.idle.map(domain::notify::preview::Idle::as_str),
        reaches_nobody,
        steps: rule.steps.into_iter().map(|step| step_body(step, cast)).collect(),
    }
}

fn step_body(step: StepPreview, cast: &Cast) -> StepPreviewBody {
    let others = step.passed.into_iter().map(|(user_id, why_not)| PassedBody {
        name: user_id.and_then(|user_id| name(cast, user_id)),
        user_id: user_id.map(|user_id| user_id.to_string()),
        why_not: why_not.as_str(),
    });
    StepPreviewBody {
        step: step.step,
        at: step.at.as_millis(),
        others: others.collect(),
        people: step.told.iter().map(|told| person_body(told, step.at, cast)).collect(),
    }
}

fn person_body(told: &PersonPreview, at: domain::Timestamp, cast: &Cast) -> PersonPreviewBody {
    PersonPreviewBody {
        user_id: told.user_id.to_string(),
        name: name(cast, told.user_id).unwrap_or_default(),
        because: told.because.as_str(),
        channels: told.ways.iter().map(|way| channel_body(way, at)).collect(),
    }
}

fn channel_body(way: &Reach, step_at: domain::Timestamp) -> ChannelPreviewBody {
    let (at, quiet_until, target, why_not) = match &way.outcome {
        Outcome::Now(to) => (Some(step_at), None, target(to), None),
        Outcome::Held { until, target: to } => (Some(*until), Some(*until), target(to), None),
        Outcome::Not(why_not) => (None, None, None, Some(why_not.as_str())),
    };
    ChannelPreviewBody {
        channel: way.channel.as_str(),
        used: why_not.is_none(),
        at: at.map(domain::Timestamp::as_millis),
        quiet_until: quiet_until.map(domain::Timestamp::as_millis),
        target,
        why_not,
    }
}

/// Where a message goes, as far as colleagues may know.
fn target(target: &Target) -> Option<String> {
    match target {
        Target::Email(address) => Some(address.clone()),
        Target::Phone(number) => Some(masked(number)),
        Target::Device(device) => Some(format!("{} ({})", device.platform, device.app)),
        Target::Inbox => None,
    }
}

/// The end of a telephone number, and dots for the rest.
fn masked(number: &str) -> String {
    let hidden = number.chars().count().saturating_sub(PHONE_SHOWN);
    number.chars().enumerate().map(|(place, digit)| if place < hidden { '•' } else { digit }).collect()
}

/// What a notification protocol would do about an event
///
/// The people who would be told, when, over which channels and where; and why nobody else, and why not over the others.
/// Nothing is sent.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/notify/protocols/{protocolId}/preview")]
pub(crate) async fn protocol_preview(
    org: NotifyOrg<OrgWrite>,
    query: Query<PreviewQuery>,
    protocol: Owned<Protocol>,
    state: State,
) -> Result<Json<PreviewAnswer>> {
    let event = query.event(state.store.now(), org.user_id())?;
    let rules = &protocol.draft.rules;
    let calls_available = state.settings.calls_available;
    let cast = cast(&state.store, calls_available, org.id(), rules, &event.concerned).await?;
    let previews = preview(rules, &event, &cast).into_iter().zip(rules);
    let body = |(preview, rule): (RulePreview, _)| rule_body(preview, !reaches_somebody(rule, event.at, &cast), &cast);
    let is_org = |attachment: &domain::notify::Attachment| attachment.resource_type == ResourceType::Org;
    Ok(Json(PreviewAnswer {
        event: event.event.kind,
        at: event.at.as_millis(),
        enabled: protocol.draft.enabled,
        attached: !protocol.attachments.is_empty(),
        attached_to_organization: protocol.attachments.iter().any(is_org),
        rules: previews.map(body).collect(),
    }))
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn of_a_telephone_number_its_end_is_shown() {
        assert_eq!(masked("+43123456"), "•••••••56");
        assert_eq!(masked("+1"), "+1");
        assert_eq!(masked(""), "");
    }
}
