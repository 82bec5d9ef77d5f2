//! What people do about an escalation, and trying out a protocol.

use std::time::Duration;

use actors::notify::escalation::{Acknowledge, HandOver, Rehearse, Resolve, Snooze};
use domain::{
    Error, Timestamp,
    id::{EscalationId, UserId},
    notify::{Protocol, escalation::AckVia},
    problems::Problems,
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    owned::Owned,
    permission::{OrgRead, OrgWrite},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::notify::escalations::Escalation;
use utoipa::ToSchema;

use super::{super::NotifyOrg, EscalationBody, EscalationDetails};

/// Minutes that an escalation can be put off for: a day.
const MINUTES: std::ops::RangeInclusive<u32> = 1..=24 * 60;

/// One escalation.
#[derive(Serialize, ToSchema)]
pub(crate) struct EscalationAnswer {
    /// The escalation.
    escalation: EscalationBody,
}

/// Whether the escalation was acknowledged by this request.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"acked": true}))]
pub(crate) struct EscalationAcked {
    /// False when somebody had acknowledged it already.
    acked: bool,
}

/// Acknowledge an escalation
///
/// The escalation ends for everybody. Whoever was told may, and whoever runs the organization. A key acts as its maker does
/// who runs it.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/notify/escalations/{escalationId}/ack", responses(
    (status = 403, description = "This needs the org:write permission.")
))]
pub(crate) async fn escalation_ack(
    org: Org<OrgRead>,
    escalation: Owned<Escalation>,
    state: State,
) -> Result<Json<EscalationAcked>> {
    let command = Acknowledge { by: org.authority().on_behalf_of()?, via: AckVia::App };
    let acked = state.actors.escalation.ask(&escalation.id, command, org.context()).await?;
    Ok(Json(EscalationAcked { acked }))
}

/// For how long, or until when.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"minutes": 30}))]
pub(crate) struct EscalationSnooze {
    /// 1 to 1440 minutes.
    minutes: Option<u32>,
    /// A moment within the next 24 hours.
    until: Option<i64>,
}

impl RequestBody for EscalationSnooze {
    fn check(&self, problems: &mut Problems) {
        problems.require(self.minutes.is_some() != self.until.is_some(), "minutes", "Give either minutes or until.");
        let fits = self.minutes.is_none_or(|minutes| MINUTES.contains(&minutes));
        problems.require(fits, "minutes", "Use 1 to 1440 minutes.");
    }
}

/// Put an escalation off
///
/// All steps that are left come later by that pause; those that count back from an event's own start stay where they are,
/// but none comes before the pause ends.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/notify/escalations/{escalationId}/snooze", responses(
    (status = 403, description = "This needs the org:write permission."),
    (status = 409, description = "This escalation is over."),
))]
pub(crate) async fn escalation_snooze(
    org: Org<OrgRead>,
    body: Body<EscalationSnooze>,
    escalation: Owned<Escalation>,
    state: State,
) -> Result<Json<EscalationAnswer>> {
    let pause = |minutes: u32| state.store.now().after(Duration::from_secs(u64::from(minutes) * 60));
    let until = body.until.map(Timestamp).or_else(|| body.minutes.map(pause));
    let until = until.ok_or_else(|| Error::invalid("minutes", "Give either minutes or until."))?;
    let command = Snooze { until, by: org.authority().on_behalf_of()? };
    let escalation = state.actors.escalation.ask(&escalation.id, command, org.context()).await?;
    Ok(Json(EscalationAnswer { escalation: escalation.into() }))
}

/// The person who takes over.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"userId": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz"}))]
pub(crate) struct EscalationHandOver {
    /// A member of the organization.
    #[schema(value_type = String)]
    user_id: UserId,
}

impl RequestBody for EscalationHandOver {}

/// Hand an escalation over
///
/// The member is told at once, over the channels of the last step, and all that is left goes to them alone.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/notify/escalations/{escalationId}/hand-over", responses(
    (status = 403, description = "This needs the org:write permission."),
    (status = 404, description = "Member not found."),
    (status = 409, description = "This escalation is over."),
))]
pub(crate) async fn escalation_hand_over(
    org: Org<OrgRead>,
    body: Body<EscalationHandOver>,
    escalation: Owned<Escalation>,
    state: State,
) -> Result<Json<EscalationAnswer>> {
    let command = HandOver { to: body.user_id, by: org.authority().on_behalf_of()? };
    let escalation = state.actors.escalation.ask(&escalation.id, command, org.context()).await?;
    Ok(Json(EscalationAnswer { escalation: escalation.into() }))
}

/// Declare an escalation over
///
/// For what nobody else says is over. Those who were told hear of it.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/notify/escalations/{escalationId}/resolve", responses(
    (status = 403, description = "This needs the org:write permission."),
    (status = 409, description = "This escalation is over."),
))]
pub(crate) async fn escalation_resolve(
    org: Org<OrgRead>,
    escalation: Owned<Escalation>,
    state: State,
) -> Result<Json<EscalationAnswer>> {
    let command = Resolve { by: org.authority().on_behalf_of()? };
    let escalation = state.actors.escalation.ask(&escalation.id, command, org.context()).await?;
    Ok(Json(EscalationAnswer { escalation: escalation.into() }))
}

/// Try a protocol out
///
/// Runs all of its steps at once, to you alone, quiet hours or not; what you get is marked as a test.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/notify/protocols/{protocolId}/test")]
pub(crate) async fn protocol_test(
    org: NotifyOrg<OrgWrite>,
    Owned(protocol): Owned<Protocol>,
    state: State,
) -> Result<Json<EscalationDetails>> {
    let id = EscalationId::new(state.store.now());
    let command = Rehearse { protocol, user_id: org.user_id() };
    let escalation = state.actors.escalation.ask(&id, command, org.context()).await?;
    Ok(Json(EscalationDetails::of(&state, escalation).await?))
}
