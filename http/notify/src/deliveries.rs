//! What became of what a person was told, and trying a channel out.

use actors::notify::deliveries::SendTest;
use domain::{
    Timestamp,
    notify::{Channel, Target},
};
use http_shell::{
    answer::{Created, Json},
    body::{Body, RequestBody},
    error::Result,
    owned::Owned,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::{Delivery, Notice};
use utoipa::ToSchema;

use super::NotifyPerson;

/// One message to one address over one channel.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "deliveryId": "dlv_01jd7rt4m5e9fv2w8x3c6k0hqz", "noticeId": "nte_01jd7rt4m5e9fv2w8x3c6k0hqz", "channel": "sms",
    "target": "+491701234567", "state": "sent", "attempts": 1, "providerId": "SM7f1c0a",
    "createdAt": 1_767_225_600_000_i64, "updatedAt": 1_767_225_601_000_i64
}))]
pub(crate) struct DeliveryBody {
    /// The delivery's id, which every try carries as its idempotency key.
    delivery_id: String,
    /// The notice that it tells of.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice_id: Option<String>,
    /// `email`, `sms`, `push`, `voice` or `inapp`
    channel: &'static str,
    /// The address, the telephone number, or the device's id; `inbox` in the app.
    target: String,
    /// `queued`, `sent`, `failed`, `held` (by quiet hours) or `cancelled`
    state: &'static str,
    /// Tries so far.
    attempts: u32,
    /// Why it failed or was cancelled, or what the last try met with.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// What the provider calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_id: Option<String>,
    /// When it was made.
    created_at: i64,
    /// When something about it changed last.
    updated_at: i64,
    /// When the provider said that it arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    delivered_at: Option<i64>,
    /// When it is tried next, while it waits for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_attempt_at: Option<i64>,
}

impl From<Delivery> for DeliveryBody {
    fn from(delivery: Delivery) -> Self {
        Self {
            delivery_id: delivery.id.to_string(),
            notice_id: delivery.notice_id.map(|id| id.to_string()),
            channel: delivery.channel.as_str(),
            target: match delivery.target {
                Target::Email(address) | Target::Phone(address) => address,
                Target::Device(device) => device.device_id,
                Target::Inbox => "inbox".to_owned(),
            },
            state: delivery.state.as_str(),
            attempts: delivery.attempts,
            error: delivery.error,
            provider_id: delivery.provider_id,
            created_at: delivery.created_at.as_millis(),
            updated_at: delivery.updated_at.as_millis(),
            delivered_at: delivery.delivered_at.map(Timestamp::as_millis),
            next_attempt_at: delivery.next_attempt_at.map(Timestamp::as_millis),
        }
    }
}

/// The deliveries of a notice.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeliveriesAnswer {
    /// The oldest first.
    deliveries: Vec<DeliveryBody>,
}

/// Over what a notice was told, and what became of it
///
/// Settled deliveries are kept for 90 days.
#[utoipa::path(get, path = "/v1/me/notifications/{noticeId}/deliveries")]
pub(crate) async fn notice_deliveries(
    _: NotifyPerson,
    notice: Owned<Notice>,
    state: State,
) -> Result<Json<DeliveriesAnswer>> {
    let found = state.store.deliveries_of_notice(notice.id).await?;
    Ok(Json(DeliveriesAnswer { deliveries: found.into_iter().map(DeliveryBody::from).collect() }))
}

/// Which channel to try out.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"channel": "sms"}))]
pub(crate) struct NotifyTest {
    /// `email`, `sms`, `push`, `voice` or `inapp`
    #[schema(value_type = String)]
    channel: Channel,
}

impl RequestBody for NotifyTest {}

/// The delivery that tries a channel out.
#[derive(Serialize, ToSchema)]
pub(crate) struct NotifyTestAnswer {
    /// The delivery.
    delivery: DeliveryBody,
}

/// Try a channel out
///
/// Sends you a notice over this channel alone, at once, quiet hours or not; 10 an hour. A push message goes to the device
/// that registered last.
#[utoipa::path(post, path = "/v1/me/notifications/test", responses(
    (status = 400, description = "Confirm a telephone number first.\n\nNo device of yours is registered for push \
                                  messages.\n\nThis server doesn't text or call."),
    (status = 429, description = "That were too many tests; try again later."),
))]
pub(crate) async fn notify_test(
    person: NotifyPerson,
    body: Body<NotifyTest>,
    state: State,
) -> Result<Created<NotifyTestAnswer>> {
    let delivery = state.actors.inbox.ask(&person.user_id(), SendTest(body.channel), person.context()).await?;
    Ok(Created(NotifyTestAnswer { delivery: delivery.into() }))
}
