//! One person's inbox: their notices, how they want to be told things, and where they can be pushed to.
//!
//! The actor puts a person's changes in order. It holds nothing in memory: notices come from elsewhere at the same time, so
//! each command reads what it decides on, and settings are committed against the version that was read.

mod devices;
mod live_activities;
mod notices;
mod prefs;

use actors_base::Services;
use domain::{Error, Result, Timestamp, id::UserId};
use kernel::{Resource, Turn};
use serde_json::{Value, json};
use store::{Change, Notice, OutboxEntry};

pub use self::{
    devices::{PutPushDevice, RemovePushDevice},
    live_activities::{PutLiveActivity, RemoveLiveActivity},
    notices::{AckNotice, DeleteNotice, ReadAllNotices, ReadNotices},
    prefs::{ChangePrefs, ChooseChannels},
};

/// A person's inbox.
#[derive(Debug)]
pub struct Inbox;

impl Resource for Inbox {
    type Key = UserId;
    type Services = Services;

    const KIND: &'static str = "inbox";

    async fn load(_: &UserId, _: &Services) -> Result<Self> {
        Ok(Self)
    }
}

/// A notice as live messages carry it: what `GET /v1/me/notifications` answers of it.
pub fn notice_message(notice: &Notice) -> Value {
    let mut message = json!({
        "noticeId": notice.id,
        "event": notice.event,
        "app": notice.app,
        "title": notice.title,
        "read": notice.is_read,
        "requireAck": notice.require_ack,
        "createdAt": notice.created_at,
    });
    let optional = [
        ("orgId", notice.org_id.map(|id| json!(id))),
        ("body", notice.body.as_ref().map(|body| json!(body))),
        ("url", notice.url.as_ref().map(|url| json!(url))),
        ("ackedAt", notice.acked_at.map(|at| json!(at))),
    ];
    for (field, value) in optional {
        if let Some(value) = value {
            message[field] = value;
        }
    }
    message
}

/// Tells the person's sockets.
pub(crate) fn tell(change: &mut Change, user_id: UserId, now: Timestamp, message: Value) {
    change.outbox_add(now, &OutboxEntry::Live { user_id, message });
}

/// Tells the sockets of the person whose turn it is.
fn tell_own(change: &mut Change, turn: &Turn<'_, Inbox>, message: Value) {
    tell(change, *turn.key(), turn.now(), message);
}

/// 404 `Notice not found.`
fn no_notice() -> Error {
    Error::not_found("Notice not found.")
}
