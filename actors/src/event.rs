//! Events for notifications (contract A 6). They leave with the commit that they belong to.

use domain::{
    Timestamp,
    id::{OrgId, UserId},
};
use serde_json::{Map, Value, json};
use store::{Change, OutboxEntry};

/// Something that people may want to be told of.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its type, such as `account.new_sign_in`.
    pub kind: &'static str,
    /// The organization that it happened in.
    pub org_id: Option<OrgId>,
    /// The people whom it concerns.
    pub user_ids: Vec<UserId>,
    /// The headline.
    pub title: String,
    /// What happened, in a sentence or two.
    pub body: String,
    /// The kind and the id of what it is about.
    pub resource: (&'static str, String),
    /// What protocols may match on.
    pub data: Map<String, Value>,
}

impl Event {
    /// Emits it once `change` is committed.
    pub fn emit(self, change: &mut Change, now: Timestamp) {
        let (resource_type, resource_id) = self.resource;
        let event = json!({
            "type": self.kind,
            "orgId": self.org_id,
            "userIds": self.user_ids,
            "title": self.title,
            "body": self.body,
            "resource": { "type": resource_type, "id": resource_id },
            "data": self.data,
            "at": now,
        });
        change.outbox_add(now, &OutboxEntry::Event { event });
    }
}
