//! Events for notifications (contract A 6). They leave with the commit that they belong to.
//!
//! From the outbox, `notify::fan_out` makes notices, deliveries and escalations of them.

use std::borrow::Cow;

use domain::{
    Timestamp,
    id::{OrgId, UserId},
    notify::{ResourceType, Rule},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::{Change, OutboxEntry};

/// Something that people may want to be told of. Start from [`Event::new`], and set what applies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Its type, such as `account.new_sign_in`.
    #[serde(rename = "type")]
    pub kind: Cow<'static, str>,
    /// The organization that it happened in.
    #[serde(default)]
    pub org_id: Option<OrgId>,
    /// The people whom it concerns.
    #[serde(default)]
    pub user_ids: Vec<UserId>,
    /// The headline.
    pub title: String,
    /// What happened, in a sentence or two.
    #[serde(default)]
    pub body: String,
    /// Where more about it is shown.
    #[serde(default)]
    pub url: Option<String>,
    /// What it is about.
    pub resource: Subject,
    /// What it happened in: protocols that are attached to one of these, or to the organization, may apply.
    #[serde(default)]
    pub within: Vec<(ResourceType, String)>,
    /// What protocols may match on.
    #[serde(default)]
    pub data: Map<String, Value>,
    /// When what it announces begins; steps before an event count back from here.
    #[serde(default)]
    pub starts_at: Option<Timestamp>,
    /// Names what is wrong: another event with the same key says no more than one that is being escalated.
    #[serde(default)]
    pub dedup_key: Option<String>,
    /// Whether what `dedup_key` names is over.
    #[serde(default)]
    pub resolved: bool,
    /// Whom it is for. Of what is over, it makes no difference.
    #[serde(default)]
    pub audience: Audience,
}

/// Whom an event is for. What is announced may be told of more than once: to people when it is near, and long before that to
/// the protocols that count back from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// People and protocols.
    #[default]
    All,
    /// The people whom it concerns alone.
    People,
    /// The rules of protocols that count back alone.
    CountingBack,
    /// All but those rules.
    Rest,
}

impl Audience {
    /// Whether the people whom it concerns are told.
    pub const fn has_people(self) -> bool {
        !matches!(self, Self::CountingBack)
    }

    /// Whether it is for a rule of a protocol.
    pub const fn has(self, rule: &Rule) -> bool {
        match self {
            Self::All => true,
            Self::People => false,
            Self::CountingBack => rule.before_event,
            Self::Rest => !rule.before_event,
        }
    }
}

/// The kind and the id of what an event is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// The kind, such as `sign_in`.
    #[serde(rename = "type")]
    pub kind: Cow<'static, str>,
    /// The id.
    pub id: String,
}

impl Event {
    /// An event of the type `kind` about the thing `resource` (its kind and its id), that concerns nobody yet.
    pub fn new(kind: &'static str, resource: (&'static str, String), title: impl Into<String>) -> Self {
        let (resource_kind, id) = resource;
        Self {
            kind: Cow::Borrowed(kind),
            org_id: None,
            user_ids: Vec::new(),
            title: title.into(),
            body: String::new(),
            url: None,
            resource: Subject { kind: Cow::Borrowed(resource_kind), id },
            within: Vec::new(),
            data: Map::new(),
            starts_at: None,
            dedup_key: None,
            resolved: false,
            audience: Audience::All,
        }
    }

    /// Emits it once `change` is committed.
    pub fn emit(self, change: &mut Change, now: Timestamp) {
        change.outbox_add(now, &OutboxEntry::Event { event: json!(Emitted { event: self, at: now }) });
    }
}

/// An event as it waits in the outbox.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Emitted {
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
    /// When it happened.
    pub at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whom_an_event_is_for() {
        let [onward, counting_back] = [false, true].map(|before_event| Rule { before_event, ..Rule::default() });
        for (audience, people, has_onward, has_counting_back) in [
            (Audience::All, true, true, true),
            (Audience::People, true, false, false),
            (Audience::CountingBack, false, false, true),
            (Audience::Rest, true, true, false),
        ] {
            assert_eq!(audience.has_people(), people, "{audience:?}");
            let has = (audience.has(&onward), audience.has(&counting_back));
            assert_eq!(has, (has_onward, has_counting_back), "{audience:?}");
        }
        let before = r#"{"type": "ops.alarm", "title": "", "resource": {"type": "alarm", "id": ""}, "at": 3}"#;
        assert_eq!(serde_json::from_str::<Emitted>(before).unwrap().event.audience, Audience::All);
    }

    #[test]
    fn an_event_is_read_as_it_was_emitted() {
        let event = Event {
            within: vec![(ResourceType::Project, "prj_1".to_owned())],
            starts_at: Some(Timestamp(5)),
            dedup_key: Some("disk".to_owned()),
            ..Event::new("ops.alarm", ("alarm", "disk".to_owned()), "The disk is full")
        };
        let emitted = Emitted { event, at: Timestamp(3) };
        let stored = json!(emitted);
        assert_eq!(stored["type"], "ops.alarm");
        assert_eq!(stored["resource"], json!({ "type": "alarm", "id": "disk" }));
        assert_eq!(serde_json::from_str::<Emitted>(&stored.to_string()).unwrap(), emitted);
    }
}
