//! From what became of a try to what is committed.

use std::time::Duration;

use domain::{
    Timestamp,
    backoff::{TRIES_MAX, pause_asked},
    notify::{CancelReason, Target, pause_seed},
};
use store::{Change, DeliveryClaim, KeptMessage, notify::PushKey};

/// What became of one try.
#[derive(Debug)]
pub(super) enum Tried {
    /// A gateway took it.
    Sent {
        /// Where to.
        target: Target,
        /// The name that the other side gave it.
        provider_id: Option<String>,
    },
    /// There is no gateway: it is kept for operators to see, and counts as sent.
    Kept {
        /// Where it would have gone.
        target: Target,
        /// Its subject line, where the channel has one.
        subject: Option<String>,
        /// Its text.
        text: String,
    },
    /// It may go better next time.
    Later {
        /// What it met with.
        error: String,
        /// How long the other side wants to be left alone, where it said so.
        retry_after: Option<Duration>,
    },
    /// It will never go better.
    Refused {
        /// Why.
        error: String,
    },
    /// The device is not registered any more with who pushes to it.
    DeadToken {
        /// The registration that must go.
        key: PushKey,
        /// The token that is dead.
        token: String,
        /// Why.
        error: String,
    },
    /// It would be of no use any more.
    Cancelled(CancelReason),
}

/// What is committed after the try.
pub(super) fn settlement(claim: &DeliveryClaim, tried: Tried, now: Timestamp) -> Change {
    let delivery = &claim.delivery;
    let (id, channel, attempts) = (delivery.id, delivery.channel, delivery.attempts);
    let mut change = Change::new();
    match tried {
        Tried::Sent { target, provider_id } => change.delivery_sent(id, target, provider_id, now),
        Tried::Kept { target, subject, text } => {
            change.kept_add(KeptMessage {
                gateway: "console".to_owned(),
                channel: channel.to_string(),
                recipient: address(&target),
                subject,
                body: text,
                created_at: now,
            });
            change.delivery_sent(id, target, None, now);
        }
        Tried::Later { error, retry_after } if attempts < TRIES_MAX => {
            let pause = pause_asked(attempts, pause_seed(id), retry_after);
            tracing::warn!(%id, %channel, attempts, ?pause, error, "a delivery waits for another try");
            change.delivery_put_off(claim, &error, now.after(pause), now);
        }
        Tried::Later { error, .. } | Tried::Refused { error } => {
            tracing::error!(%id, %channel, attempts, error, "a delivery was given up");
            change.delivery_failed(claim, &error, now);
        }
        Tried::DeadToken { key, token, error } => {
            tracing::info!(%id, error, "a device is not registered any more");
            change.push_device_dead(&key, &token);
            change.delivery_failed(claim, &error, now);
        }
        Tried::Cancelled(reason) => change.delivery_cancelled(claim, reason, now),
    }
    change
}

/// The name under which it is counted what became of a try.
pub(super) const fn outcome(tried: &Tried, attempts: u32) -> &'static str {
    match tried {
        Tried::Sent { .. } => "sent",
        Tried::Kept { .. } => "kept",
        Tried::Later { .. } if attempts < TRIES_MAX => "retried",
        Tried::Later { .. } | Tried::Refused { .. } | Tried::DeadToken { .. } => "failed",
        Tried::Cancelled(_) => "cancelled",
    }
}

/// A target as operators read it.
fn address(target: &Target) -> String {
    match target {
        Target::Email(address) | Target::Phone(address) => address.clone(),
        Target::Device(device) => format!("{} ({} on {})", device.device_id, device.app, device.platform),
        Target::Inbox => "inbox".to_owned(),
    }
}
