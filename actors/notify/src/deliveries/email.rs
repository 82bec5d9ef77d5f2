//! Deliveries by e-mail, to the address that the person has by now.

use actors_base::Services;
use domain::notify::{Message, Recipient, Target};
use gateways::{Delivered, Email, SendError};
use store::Delivery;

use super::settle::Tried;

/// Hands it to the mail server.
pub(super) async fn send(
    services: &Services,
    delivery: &Delivery,
    recipient: &Recipient,
    message: &Message<'_>,
) -> Tried {
    let to = recipient.email.to_string();
    let target = Target::Email(to.clone());
    let email = Email {
        to,
        subject: message.subject(),
        text: message.email(),
        calendar: None,
        idempotency_key: delivery.id.to_string(),
    };
    match services.mailer.send(&email).await {
        Ok(Delivered::Sent { response }) => Tried::Sent { target, provider_id: Some(response) },
        Ok(Delivered::Keep) => Tried::Kept { target, subject: Some(email.subject), text: email.text },
        Err(SendError::Temporary(error)) => Tried::Later { error, retry_after: None },
        Err(SendError::Permanent(error)) => Tried::Refused { error },
    }
}
