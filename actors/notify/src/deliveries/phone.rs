//! Deliveries by text and call.
//!
//! What tells of a notice goes to the number that the person has confirmed by now. Anything else (a code that confirms a
//! number, a summary) was made for one number and goes there.

use actors_base::Services;
use domain::notify::{CancelReason, Channel, Message, Recipient, Target};
use gateways::{Call, Delivered, Sms, TextError};
use store::{Delivery, StoreError};

use super::{
    budget::{self, Budget},
    settle::Tried,
    whole_link,
};

/// Hands it to who sends texts and calls people, as long as the organization's budget of today lasts.
pub(super) async fn send(
    services: &Services,
    delivery: &Delivery,
    recipient: &Recipient,
    message: &Message<'_>,
) -> Result<Tried, StoreError> {
    let Some(to) = number(delivery, recipient) else { return Ok(Tried::Cancelled(CancelReason::NoConfirmedPhone)) };
    if budget::spend(services, delivery).await? == Budget::Spent {
        return Ok(Tried::Cancelled(CancelReason::BudgetSpent));
    }
    let target = Target::Phone(to.clone());
    let idempotency_key = delivery.id.to_string();
    let status_callback = Some(callback(services, delivery, "status"));
    let (taken, text) = if delivery.channel == Channel::Voice {
        let gather_url = message.code.map(|_| callback(services, delivery, "voice"));
        let call = Call { to, say: message.speech(), gather_url, status_callback, idempotency_key };
        (services.texter.call(&call).await, call.say)
    } else {
        let sms = Sms { to, body: message.text(), status_callback, idempotency_key };
        (services.texter.sms(&sms).await, sms.body)
    };
    Ok(match taken {
        Ok(Delivered::Sent { response }) => Tried::Sent { target, provider_id: Some(response) },
        Ok(Delivered::Keep) => Tried::Kept { target, subject: None, text },
        Err(TextError::Temporary { reason, retry_after }) => Tried::Later { error: reason, retry_after },
        Err(TextError::Permanent(error)) => Tried::Refused { error },
    })
}

fn number(delivery: &Delivery, recipient: &Recipient) -> Option<String> {
    match &delivery.target {
        Target::Phone(phone) if delivery.notice_id.is_none() && delivery.escalation_id.is_none() => Some(phone.clone()),
        _ => recipient.phone.clone(),
    }
}

/// Where the provider reports on it, or hands over which key was pressed.
fn callback(services: &Services, delivery: &Delivery, what: &str) -> String {
    let path = format!("/v1/hooks/notify/{what}/{}/{}", delivery.id, services.store.delivery_token(delivery.id));
    whole_link(&services.settings.public_url, &path)
}
