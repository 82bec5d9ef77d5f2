//! Telling people something: a notice each, a delivery for each way that reaches them, and the live message.
//!
//! Everything that tells somebody something goes through a [`Notifier`], which gathers what is said in one commit and writes
//! it as few statements.

use std::collections::{BTreeMap, BTreeSet};

use actors_base::Services;
use domain::{
    Tenant, Timestamp,
    id::{DeliveryId, EscalationId, NoticeId, OrgId, UserId},
    notify::{Asked, EventType, Outcome, Reach, Recipient, Target, reach},
};
use serde_json::{Value, json};
use store::{Change, Delivery, NewDelivery, NewNotice, OutboxEntry, StoreError};

use super::inbox::notice_message;

/// What somebody is told.
#[derive(Clone, Debug)]
pub(crate) struct Message<'a> {
    /// The type of what happened.
    pub event: &'static EventType,
    /// The organization that it happened in.
    pub org_id: Option<OrgId>,
    /// The headline.
    pub title: &'a str,
    /// What happened.
    pub body: Option<&'a str>,
    /// Where more about it is shown.
    pub url: Option<&'a str>,
    /// What it comes from: a person has one notice of it, however often they are told.
    pub source: &'a str,
    /// The escalation that the notice asks to acknowledge.
    pub escalation_id: Option<EscalationId>,
}

/// What became of one way to tell somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// The way.
    pub reach: Reach,
    /// The delivery, unless there is none.
    pub delivery_id: Option<DeliveryId>,
}

/// Tells people, all in one commit.
#[derive(Debug)]
pub(crate) struct Notifier {
    now: Timestamp,
    calls_available: bool,
    /// What each person has not read.
    unread: BTreeMap<UserId, u64>,
    notices: Vec<NewNotice>,
    /// Deliveries that say the same already.
    under_way: Vec<Delivery>,
    change: Change,
}

impl Notifier {
    /// Somebody who may tell `people` something now.
    pub async fn new(services: &Services, people: &BTreeSet<UserId>) -> Result<Self, StoreError> {
        Ok(Self {
            now: services.store.now(),
            calls_available: services.calls_available(),
            unread: services.store.notices_unread_counts(people).await?,
            notices: Vec::new(),
            under_way: Vec::new(),
            change: Change::new(),
        })
    }

    /// Has nobody told once more what one of `deliveries` has just told them at the same place.
    pub fn spare(mut self, deliveries: Vec<Delivery>) -> Self {
        self.under_way = deliveries;
        self
    }

    /// Tells `recipient`; `known` is their notice of the same source, where they have one.
    pub fn tell(
        &mut self,
        recipient: &Recipient,
        asked: Asked,
        message: &Message<'_>,
        known: Option<NoticeId>,
    ) -> Vec<Told> {
        let ways = reach(recipient, &asked, self.calls_available, self.now);
        // Who is asked to acknowledge must find where.
        let is_listed =
            message.escalation_id.is_some() || ways.iter().any(|way| way.outcome == Outcome::Now(Target::Inbox));
        let notice = self.notice(recipient.user_id, message, is_listed);
        let notice_id = known.unwrap_or(notice.id);
        if is_listed {
            let is_new = known.is_none();
            self.announce(&NewNotice { id: notice_id, ..notice.clone() }, is_new);
        }
        self.notices.push(notice);
        ways.into_iter().map(|way| self.deliver(way, recipient.user_id, notice_id, asked, message)).collect()
    }

    fn notice(&self, user_id: UserId, message: &Message<'_>, is_listed: bool) -> NewNotice {
        NewNotice {
            id: NoticeId::new(self.now),
            user_id,
            org_id: message.org_id,
            event: message.event.kind.to_owned(),
            app: message.event.app,
            title: message.title.to_owned(),
            body: message.body.map(str::to_owned),
            url: message.url.map(str::to_owned),
            require_ack: message.escalation_id.is_some(),
            escalation_id: message.escalation_id,
            is_read: !is_listed,
            created_at: self.now,
            source: message.source.to_owned(),
        }
    }

    /// A live message to the person's sockets.
    fn announce(&mut self, notice: &NewNotice, is_new: bool) {
        let unread = self.unread.entry(notice.user_id).or_default();
        *unread += u64::from(is_new);
        let message =
            json!({ "type": "notice.created", "notice": notice_message(&notice.to_notice()), "unread": unread });
        self.live(notice.user_id, message);
    }

    /// What a person has not read, once all of this is committed.
    pub fn unread(&self, user_id: UserId) -> u64 {
        self.unread.get(&user_id).copied().unwrap_or_default()
    }

    /// A person reads one of their notices with this commit.
    pub fn has_read_one(&mut self, user_id: UserId) {
        let unread = self.unread.entry(user_id).or_default();
        *unread = unread.saturating_sub(1);
    }

    /// Has `message` sent to the person's sockets.
    pub fn live(&mut self, user_id: UserId, message: Value) {
        self.change.outbox_add(self.now, &OutboxEntry::Live { user_id, message });
    }

    fn deliver(
        &mut self,
        way: Reach,
        user_id: UserId,
        notice_id: NoticeId,
        asked: Asked,
        message: &Message<'_>,
    ) -> Told {
        let (target, hold_until) = match &way.outcome {
            Outcome::Now(target) => (target.clone(), None),
            Outcome::Held { until, target } => (target.clone(), Some(*until)),
            Outcome::Not(_) => return Told { reach: way, delivery_id: None },
        };
        let says_so = |delivery: &&Delivery| {
            delivery.notice_id == Some(notice_id) && delivery.channel == way.channel && delivery.target == target
        };
        if let (Some(delivery), None) = (self.under_way.iter().find(says_so), hold_until) {
            return Told { delivery_id: Some(delivery.id), reach: way };
        }
        let id = DeliveryId::new(self.now);
        let tenant = message.org_id.map_or_else(|| user_id.into(), Tenant::from);
        self.change.delivery_add_for(
            tenant,
            NewDelivery {
                id,
                user_id,
                notice_id: Some(notice_id),
                escalation_id: message.escalation_id,
                channel: way.channel,
                target,
                hold_until,
                urgent: asked.urgent,
                title: message.title.to_owned(),
                body: message.body.map(str::to_owned),
                url: message.url.map(str::to_owned),
                created_at: self.now,
            },
        );
        Told { reach: way, delivery_id: Some(id) }
    }

    /// What was told, as a change.
    pub fn into_change(mut self) -> Change {
        self.change.notices_add(self.notices);
        self.change
    }
}
