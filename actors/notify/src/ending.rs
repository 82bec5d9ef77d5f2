//! The end of an escalation: nothing more goes out, nobody is asked to acknowledge any more, and everybody who was told
//! hears of it.

use std::collections::{BTreeMap, BTreeSet};

use domain::{
    Timestamp,
    id::UserId,
    notify::{
        Asked, CancelReason, Channel, Channels, EventType, Recipient,
        escalation::{EndReason, EscalationState},
    },
};
use serde_json::json;
use store::{
    Change, Notice, Store, StoreError,
    notify::escalations::{Ended, Escalation, Occasion},
};

use super::{
    tell::{Message, Notifier},
    telling::note,
};

/// What the headline of something that is over starts with.
const RESOLVED: &str = "Resolved: ";

/// An escalation that ends, and who was told of it.
#[derive(Clone, Debug)]
pub(crate) struct Ending {
    pub escalation: Escalation,
    /// Over what each person was told.
    told: BTreeMap<UserId, Channels>,
    /// The notice that asks each of them to acknowledge.
    notices: BTreeMap<UserId, Notice>,
}

/// The headline of something that is over.
pub(super) fn resolved_title(title: &str) -> String {
    if title.starts_with(RESOLVED) { title.to_owned() } else { format!("{RESOLVED}{title}") }
}

impl Ending {
    pub async fn load(store: &Store, escalation: Escalation) -> Result<Self, StoreError> {
        let mut told = BTreeMap::<UserId, Channels>::new();
        for over in store.escalation_told(escalation.id).await? {
            told.entry(over.user_id).or_default().insert(over.channel);
        }
        let people: Vec<_> = told.keys().copied().collect();
        let notices = store.notices_of_source(&escalation.source, &people).await?;
        let notices = notices.into_iter().map(|notice| (notice.user_id, notice)).collect();
        Ok(Self { escalation, told, notices })
    }

    /// Who was told.
    pub fn people(&self) -> impl Iterator<Item = UserId> {
        self.told.keys().copied()
    }

    /// Who was told, as a set.
    pub fn told(&self) -> BTreeSet<UserId> {
        self.people().collect()
    }

    /// Stops what still waits to go out, takes the request to acknowledge back from everybody, and says so on their
    /// sockets. `by` is who acknowledged, where somebody did; to them the notice counts as read.
    pub fn settle(&self, change: &mut Change, notifier: &mut Notifier, by: Option<UserId>, now: Timestamp) {
        let id = self.escalation.id;
        let reason = if by.is_some() { CancelReason::Acknowledged } else { CancelReason::EscalationOver };
        change.deliveries_cancel_of_escalation(id, reason, now);
        change.notices_ack_of_escalation(id, by, now);
        for (user_id, notice) in &self.notices {
            if by == Some(*user_id) && !notice.is_read {
                notifier.has_read_one(*user_id);
            }
            let message = json!({
                "type": "notice.acked",
                "noticeId": notice.id,
                "escalationId": id,
                "ackedAt": now,
                "ackedBy": by,
                "unread": notifier.unread(*user_id),
            });
            notifier.live(*user_id, message);
        }
    }

    /// Ends it because what it is about is over, and tells so those who were told, over the channels that they were told
    /// over and in the app; nobody is woken for it.
    pub fn resolve(&self, notifier: &mut Notifier, recipients: &BTreeMap<UserId, Recipient>, now: Timestamp) -> Change {
        let mut change = Change::new();
        change.escalation_set(&self.resolved(now));
        self.settle(&mut change, notifier, None, now);
        let Some(kind) = EventType::find(&self.escalation.kind) else { return change };
        let title = resolved_title(&self.escalation.title);
        let message = Message {
            event: kind,
            org_id: Some(self.escalation.org_id),
            title: &title,
            body: self.escalation.body.as_deref(),
            url: self.escalation.url.as_deref(),
            source: &format!("{}:resolved", self.escalation.id),
            escalation_id: None,
        };
        for (user_id, channels) in &self.told {
            let Some(recipient) = recipients.get(user_id) else { continue };
            let asked = Asked {
                app: kind.app,
                channels: *channels | Channels::of(&[Channel::Inapp]),
                urgent: false,
                texts_off: kind.texts_off,
                overrides_quiet_hours: false,
            };
            let told = notifier.tell(recipient, asked, &message, None);
            note(&mut change, self.escalation.id, Occasion::Resolved, *user_id, &told, now);
        }
        change
    }

    pub fn resolved(&self, now: Timestamp) -> Escalation {
        let mut over = Escalation { is_open: false, ..self.escalation.clone() };
        if over.is_running() {
            over.state = EscalationState::Resolved;
        }
        over.ended = Some(Ended { reason: EndReason::Resolved, at: now });
        over
    }
}
