//! Deliveries to phones and browsers, as long as they are registered.

use std::{collections::BTreeMap, time::Duration};

use actors_base::Services;
use domain::notify::{CancelReason, Message, PushTarget, Target};
use gateways::{Delivered, PushError, PushMessage};
use store::{Delivery, StoreError, notify::PushKey};

use super::settle::Tried;

/// How long a message waits for a device that is off.
const KEPT_FOR: Duration = Duration::from_hours(24);
/// The same for what is of no use a little later: somebody else is asked by then.
const URGENT_KEPT_FOR: Duration = Duration::from_hours(4);

/// Hands it to the service that pushes to the device.
pub(super) async fn send(
    services: &Services,
    delivery: &Delivery,
    device: &PushTarget,
    message: &Message<'_>,
) -> Result<Tried, StoreError> {
    let key = PushKey { user_id: delivery.user_id, device_id: device.device_id.clone(), app: device.app };
    let Some(registered) = services.store.push_device(&key).await? else {
        return Ok(Tried::Cancelled(CancelReason::NoDevice));
    };
    let push = PushMessage {
        platform: registered.platform,
        token: registered.token,
        app: device.app,
        title: message.subject(),
        body: message.body.unwrap_or_default().to_owned(),
        url: message.link.map(str::to_owned),
        data: ids(delivery),
        collapse_id: delivery.notice_id.map(|id| id.to_string()),
        urgent: delivery.urgent,
        keep_for: if delivery.urgent { URGENT_KEPT_FOR } else { KEPT_FOR },
        idempotency_key: delivery.id.to_string(),
    };
    let target = Target::Device(PushTarget { platform: registered.platform, ..device.clone() });
    Ok(match services.pusher.push(&push, services.store.now()).await {
        Ok(Delivered::Sent { response }) => Tried::Sent { target, provider_id: Some(response) },
        Ok(Delivered::Keep) => Tried::Kept { target, subject: Some(push.title), text: push.body },
        Err(PushError::Temporary { reason, retry_after }) => Tried::Later { error: reason, retry_after },
        Err(PushError::Permanent(error)) => Tried::Refused { error },
        Err(PushError::DeadToken(error)) => Tried::DeadToken { key, token: push.token, error },
    })
}

/// What the app finds the notice and the escalation by.
fn ids(delivery: &Delivery) -> BTreeMap<String, String> {
    let ids = [
        ("deliveryId", Some(delivery.id.to_string())),
        ("noticeId", delivery.notice_id.map(|id| id.to_string())),
        ("escalationId", delivery.escalation_id.map(|id| id.to_string())),
    ];
    ids.into_iter().filter_map(|(name, id)| Some((name.to_owned(), id?))).collect()
}
