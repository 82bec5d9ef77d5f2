//! Texts, calls and push messages against real servers of their protocols, on loopback.

mod apns;
mod fcm;
mod keys;
mod places;
mod server;
mod texts;
mod web;

use std::{collections::BTreeMap, time::Duration};

use domain::{App, Timestamp, notify::PushPlatform};
use gateways::{PushError, PushMessage};

/// When messages are sent.
const NOW: Timestamp = Timestamp(1_800_000_000_000);
/// How long a service is waited for that answers.
const PATIENCE: Duration = Duration::from_secs(60);

fn message(platform: PushPlatform, token: &str) -> PushMessage {
    PushMessage {
        platform,
        token: token.to_owned(),
        app: App::Tasks,
        title: "The disk is full".to_owned(),
        body: "On db-1, since 10:32.".to_owned(),
        url: Some("https://troupe.example/alarms/1".to_owned()),
        data: BTreeMap::from([("noticeId".to_owned(), "nte_1".to_owned())]),
        collapse_id: Some("esc_1".to_owned()),
        urgent: true,
        keep_for: Duration::from_secs(3_600),
        idempotency_key: "dlv_1".to_owned(),
    }
}

fn retry_after(error: &PushError) -> Option<Duration> {
    match error {
        PushError::Temporary { retry_after, .. } => *retry_after,
        PushError::Permanent(reason) | PushError::DeadToken(reason) => panic!("not for later: {reason}"),
    }
}
