//! What waits: timers, the outbox, deliveries; and what was kept instead of sent.

use domain::{Timestamp, blank::blank_secrets};
use http_shell::{answer::Json, error::Result, permission::PlatformInfra, state::State};
use serde::Serialize;
use store::{
    KeptMessage,
    overview::{DeliveryCount, FailingDelivery, FailingEntry, LateTimer, OutboxCount, TimersOfKind},
};
use utoipa::ToSchema;

use super::Operator;

/// Timers, entries and deliveries in trouble that are shown at once, and kept messages.
const SHOWN_MAX: u32 = 100;

/// The durable timers.
#[derive(Serialize, ToSchema)]
pub(crate) struct TimersAnswer {
    /// How many are set, by kind of actor.
    kinds: Vec<TimersOfKindView>,
    /// Timers that should have come more than five seconds ago, the latest first, at most 100.
    late: Vec<LateTimerView>,
}

/// The timers of one kind of actor.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TimersOfKindView {
    /// The kind.
    kind: String,
    /// How many are set.
    set: u64,
    /// How many of them are late.
    late: u64,
    /// When the next one is due.
    next_due: i64,
}

/// A timer that is late.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LateTimerView {
    /// The kind of actor that it belongs to.
    kind: String,
    /// The actor's key.
    key: String,
    /// The timer's name among the actor's.
    name: String,
    /// When it was due.
    due: i64,
    /// When it is tried next.
    next_try: i64,
}

impl From<TimersOfKind> for TimersOfKindView {
    fn from(timers: TimersOfKind) -> Self {
        let TimersOfKind { kind, set, late, next_due } = timers;
        Self { kind, set, late, next_due: next_due.as_millis() }
    }
}

impl From<LateTimer> for LateTimerView {
    fn from(timer: LateTimer) -> Self {
        let LateTimer { kind, key, name, due, next_try } = timer;
        Self { kind, key, name, due: due.as_millis(), next_try: next_try.as_millis() }
    }
}

/// See the timers
#[utoipa::path(get, path = "/v1/platform/timers")]
pub(crate) async fn timers_get(_operator: Operator<PlatformInfra>, state: State) -> Result<Json<TimersAnswer>> {
    let kinds = state.store.timers_by_kind().await?.into_iter().map(Into::into).collect();
    let late = state.store.timers_late(SHOWN_MAX).await?.into_iter().map(Into::into).collect();
    Ok(Json(TimersAnswer { kinds, late }))
}

/// The outbox: what commits left behind to be delivered.
#[derive(Serialize, ToSchema)]
pub(crate) struct OutboxAnswer {
    /// How many entries there are, by topic and state.
    counts: Vec<OutboxCountView>,
    /// Entries that failed at least once, oldest first, at most 100.
    failing: Vec<FailingEntryView>,
}

/// Entries of the outbox that are alike.
#[derive(Serialize, ToSchema)]
pub(crate) struct OutboxCountView {
    /// `live`, `email`, `event` or `revoked`.
    topic: String,
    /// `waiting`, `claimed` by a node, `delayed` after a failure, or `parked`: given up.
    state: String,
    /// How many there are.
    entries: u64,
    /// When the oldest was committed.
    oldest: i64,
}

/// An entry of the outbox that failed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FailingEntryView {
    /// The entry's number.
    seq: i64,
    /// The entry's topic.
    topic: String,
    /// How often it was tried.
    attempts: u32,
    /// When it was committed.
    created_at: i64,
    /// When it is tried next; null for one that was given up.
    next_try: Option<i64>,
    /// What the last try met with.
    error: String,
}

impl From<OutboxCount> for OutboxCountView {
    fn from(count: OutboxCount) -> Self {
        let OutboxCount { topic, state, entries, oldest } = count;
        Self { topic, state, entries, oldest: oldest.as_millis() }
    }
}

impl From<FailingEntry> for FailingEntryView {
    fn from(entry: FailingEntry) -> Self {
        let FailingEntry { seq, topic, attempts, created_at, next_try, error } = entry;
        let next_try = next_try.map(Timestamp::as_millis);
        Self { seq, topic, attempts, created_at: created_at.as_millis(), next_try, error: blank_secrets(&error) }
    }
}

/// See the outbox
#[utoipa::path(get, path = "/v1/platform/outbox")]
pub(crate) async fn outbox_get(_operator: Operator<PlatformInfra>, state: State) -> Result<Json<OutboxAnswer>> {
    let counts = state.store.outbox_by_state().await?.into_iter().map(Into::into).collect();
    let failing = state.store.outbox_failing(SHOWN_MAX).await?.into_iter().map(Into::into).collect();
    Ok(Json(OutboxAnswer { counts, failing }))
}

/// The deliveries of notices, and what was kept instead of sent.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeliveriesOverview {
    /// How many there are, by channel and state: all that are not settled, and the settled ones of the last 24 hours.
    counts: Vec<DeliveryCountView>,
    /// Deliveries of the last 24 hours that failed, or that met with an error and are tried again, newest first, at most
    /// 100.
    failing: Vec<FailingDeliveryView>,
    /// The last messages that were kept because no gateway is configured to send them, newest first, at most 100. Codes
    /// and secrets in them are left out.
    kept: Vec<KeptMessageView>,
}

/// Deliveries that are alike.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeliveryCountView {
    /// `email`, `sms`, `voice`, `push` or `inapp`.
    channel: String,
    /// `queued`, `held`, `sent`, `failed` or `cancelled`.
    state: String,
    /// How many there are.
    deliveries: u64,
    /// When the oldest was made.
    oldest: i64,
}

/// A delivery in trouble.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FailingDeliveryView {
    /// The delivery's id.
    delivery_id: String,
    /// The delivery's channel.
    channel: String,
    /// The delivery's state.
    state: String,
    /// How often it was tried.
    attempts: u32,
    /// What the last try met with.
    error: String,
    /// When it was made.
    created_at: i64,
    /// When its state changed last.
    updated_at: i64,
    /// When it is tried next; null for one that is settled.
    next_try: Option<i64>,
}

/// A message that was kept instead of sent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeptMessageView {
    /// Which gateway kept it.
    gateway: String,
    /// What it would have gone over.
    channel: String,
    /// The address that the message would have gone to.
    to: String,
    /// The message's subject line, where the channel has one.
    subject: Option<String>,
    /// The message's text.
    body: String,
    /// When.
    created_at: i64,
}

impl From<DeliveryCount> for DeliveryCountView {
    fn from(count: DeliveryCount) -> Self {
        let DeliveryCount { channel, state, deliveries, oldest } = count;
        Self { channel, state, deliveries, oldest: oldest.as_millis() }
    }
}

impl From<FailingDelivery> for FailingDeliveryView {
    fn from(delivery: FailingDelivery) -> Self {
        let FailingDelivery { id, channel, state, attempts, error, created_at, updated_at, next_try } = delivery;
        Self {
            delivery_id: id,
            channel,
            state,
            attempts,
            error: blank_secrets(&error),
            created_at: created_at.as_millis(),
            updated_at: updated_at.as_millis(),
            next_try: next_try.map(Timestamp::as_millis),
        }
    }
}

impl From<KeptMessage> for KeptMessageView {
    fn from(kept: KeptMessage) -> Self {
        Self {
            gateway: kept.gateway,
            channel: kept.channel,
            to: kept.recipient,
            subject: kept.subject.as_deref().map(blank_secrets),
            body: blank_secrets(&kept.body),
            created_at: kept.created_at.as_millis(),
        }
    }
}

/// See the deliveries
///
/// And what was kept instead of sent, without what opens something.
#[utoipa::path(get, path = "/v1/platform/deliveries")]
pub(crate) async fn deliveries_get(
    _operator: Operator<PlatformInfra>,
    state: State,
) -> Result<Json<DeliveriesOverview>> {
    let counts = state.store.deliveries_by_state().await?.into_iter().map(Into::into).collect();
    let failing = state.store.deliveries_failing(SHOWN_MAX).await?.into_iter().map(Into::into).collect();
    let kept = state.store.kept_list(None, SHOWN_MAX).await?.into_iter().map(Into::into).collect();
    Ok(Json(DeliveriesOverview { counts, failing, kept }))
}
