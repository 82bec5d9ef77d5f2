//! Deliveries, from the commit that makes them to the one that settles them.
//!
//! Each channel is a lane of the dispatcher, which is woken by [`Store::deliveries_changed`], takes what is due in turns by
//! tenant with [`Store::deliveries_claim`], tries each once, and commits what became of it with a function of
//! [`settle`]. What was claimed and never settled comes again after its lease. What quiet hours held back is taken person
//! by person with [`Store::deliveries_claim_held`], to become one summary.

mod claim;
mod row;
mod settle;
mod token;

use std::sync::Arc;

use domain::{
    Tenant,
    id::{DeliveryId, EscalationId, NoticeId, UserId},
    notify::{AckCode, CancelReason, Channel, DeliveryState, Target},
    time::Timestamp,
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, ExprTrait, QueryFilter, QueryOrder, sea_query::Expr};
use tokio::sync::Notify;

pub use self::{
    claim::{DeliveryClaim, DeliveryLane, HeldClaim},
    row::Delivery,
};
use crate::{Change, Expect, Purge, Store, StoreError, reader::Reads, sql::Sql};

/// Deliveries that one statement asks for by their ids.
const IDS_PER_READ: usize = 500;

/// A delivery that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    /// Its id.
    pub id: DeliveryId,
    /// The person.
    pub user_id: UserId,
    /// The notice that it tells of.
    pub notice_id: Option<NoticeId>,
    /// The escalation that a step of sends it, where one does.
    pub escalation_id: Option<EscalationId>,
    /// The way.
    pub channel: Channel,
    /// Where to. What goes to the inbox is there with this commit.
    pub target: Target,
    /// Until when quiet hours hold it back, where they do.
    pub hold_until: Option<Timestamp>,
    /// Whether it is urgent.
    pub urgent: bool,
    /// The headline.
    pub title: String,
    /// What happened.
    pub body: Option<String>,
    /// Where to look.
    pub url: Option<String>,
    /// Now.
    pub created_at: Timestamp,
}

impl Change {
    /// Has `delivery` worked off once this change is committed, in the person's turn: at once, or when quiet hours end.
    pub fn delivery_add(&mut self, delivery: NewDelivery) {
        self.delivery_add_for(delivery.user_id, delivery);
    }

    /// The same in the turn of `tenant`, on whose behalf it is sent.
    pub fn delivery_add_for(&mut self, tenant: impl Into<Tenant>, delivery: NewDelivery) {
        let NewDelivery { channel, created_at, hold_until, .. } = delivery;
        let (state, lane) = match (&delivery.target, hold_until) {
            (Target::Inbox, _) => (DeliveryState::Sent, None),
            (_, Some(_)) => (DeliveryState::Held, Some(DeliveryLane::Held)),
            (_, None) => (DeliveryState::Queued, Some(DeliveryLane::of(channel))),
        };
        if let Some(lane) = lane {
            self.wakes_work(lane.topic());
        }
        let code = (channel == Channel::Sms).then(|| AckCode::of(delivery.id).to_string());
        let (address, platform, app) = columns(delivery.target);
        self.insert(row::ActiveModel {
            id: Set(delivery.id.to_string()),
            tenant: Set(tenant.into().to_string()),
            user_id: Set(delivery.user_id.to_string()),
            notice_id: Set(delivery.notice_id.map(|id| id.to_string())),
            escalation_id: Set(delivery.escalation_id.map(|id| id.to_string())),
            channel: Set(channel.to_string()),
            address: Set(address),
            platform: Set(platform),
            app: Set(app),
            state: Set(state.to_string()),
            lane: Set(lane.map(|lane| lane.as_str().to_owned())),
            wake_at: Set(hold_until.unwrap_or(created_at).0),
            claimed_by: Set(None),
            hold_until: Set(hold_until.map(|until| until.0)),
            attempts: Set(0),
            error: Set(None),
            provider_id: Set(None),
            ack_code: Set(code),
            urgent: Set(delivery.urgent),
            title: Set(delivery.title),
            body: Set(delivery.body),
            url: Set(delivery.url),
            created_at: Set(created_at.0),
            updated_at: Set(created_at.0),
            delivered_at: Set(None),
        });
    }

    /// Cancels what is still queued or held of the escalation `id`, because it was acknowledged or is over. What is being
    /// tried at this moment may still go out.
    pub fn deliveries_cancel_of_escalation(&mut self, id: EscalationId, reason: CancelReason, now: Timestamp) {
        self.run_statement(
            Sql::new(
                "UPDATE deliveries SET state = 'cancelled', lane = NULL, error = $2, updated_at = $3 \
                 WHERE escalation_id = $1 AND lane IS NOT NULL",
                [id.to_string().into(), reason.as_str().into(), now.0.into()],
            ),
            Expect::Any,
        );
    }

    /// Cancels what is still queued or held of the notice `id`, because it was acknowledged or deleted. What is being
    /// tried at this moment may still go out.
    pub fn deliveries_cancel_of_notice(&mut self, id: NoticeId, reason: CancelReason, now: Timestamp) {
        self.run_statement(
            Sql::new(
                "UPDATE deliveries SET state = 'cancelled', lane = NULL, error = $2, updated_at = $3 \
                 WHERE notice_id = $1 AND lane IS NOT NULL",
                [id.to_string().into(), reason.as_str().into(), now.0.into()],
            ),
            Expect::Any,
        );
    }

    /// Has what quiet hours hold back of a person looked at now: their quiet hours are others from this commit on.
    pub fn deliveries_review_held(&mut self, user_id: UserId, now: Timestamp) {
        self.wakes_work(DeliveryLane::Held.topic());
        self.run_statement(
            Sql::new(
                "UPDATE deliveries SET wake_at = $2 \
                 WHERE user_id = $1 AND lane = 'held' AND wake_at > $2 AND claimed_by IS NULL",
                [user_id.to_string().into(), now.0.into()],
            ),
            Expect::Any,
        );
    }
}

impl Purge {
    /// The settled deliveries that were made before `before`.
    pub fn deliveries(before: Timestamp) -> Self {
        Self::new("deliveries", ["deliveries", "id", "created_at < $1 AND lane IS NULL"], before.0)
    }
}

impl Store {
    /// The delivery `id`.
    pub async fn delivery(&self, id: DeliveryId) -> Result<Option<Delivery>, StoreError> {
        let row = row::Entity::find_by_id(id.to_string()).read_one(self.reader()).await?;
        row.map(Delivery::try_from).transpose()
    }

    /// The deliveries of a notice, oldest first.
    pub async fn deliveries_of_notice(&self, id: NoticeId) -> Result<Vec<Delivery>, StoreError> {
        self.deliveries_where(row::Column::NoticeId.eq(id.to_string())).await
    }

    /// The deliveries of these notices, oldest first.
    pub async fn deliveries_of_notices(&self, ids: &[NoticeId]) -> Result<Vec<Delivery>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.deliveries_where(row::Column::NoticeId.is_in(ids.iter().map(NoticeId::to_string))).await
    }

    /// The deliveries of an escalation, oldest first.
    pub async fn deliveries_of_escalation(&self, id: EscalationId) -> Result<Vec<Delivery>, StoreError> {
        self.deliveries_where(row::Column::EscalationId.eq(id.to_string())).await
    }

    /// These deliveries, as far as they are there.
    pub async fn deliveries(&self, ids: &[DeliveryId]) -> Result<Vec<Delivery>, StoreError> {
        let mut found = Vec::with_capacity(ids.len());
        for ids in ids.chunks(IDS_PER_READ) {
            found.extend(self.deliveries_where(row::Column::Id.is_in(ids.iter().map(DeliveryId::to_string))).await?);
        }
        Ok(found)
    }

    /// The last text to `phone` that asked to be acknowledged with `code`.
    pub async fn delivery_of_code(&self, phone: &str, code: &AckCode) -> Result<Option<Delivery>, StoreError> {
        let asked = row::Column::AckCode.eq(code.as_str()).and(row::Column::Address.eq(phone));
        Ok(self.deliveries_where(asked).await?.pop())
    }

    async fn deliveries_where(&self, which: Expr) -> Result<Vec<Delivery>, StoreError> {
        let select = row::Entity::find().filter(which).order_by_asc(row::Column::CreatedAt);
        let rows = select.order_by_asc(row::Column::Id).read_all(self.reader()).await?;
        rows.into_iter().map(Delivery::try_from).collect()
    }

    /// Told after a commit of this process made a delivery on `lane`, or put one off.
    pub fn deliveries_changed(&self, lane: DeliveryLane) -> Arc<Notify> {
        self.work_changed(lane.topic())
    }
}

/// The columns that hold a target.
fn columns(target: Target) -> (Option<String>, Option<String>, Option<String>) {
    match target {
        Target::Email(address) | Target::Phone(address) => (Some(address), None, None),
        Target::Device(device) => {
            (Some(device.device_id), Some(device.platform.to_string()), Some(device.app.to_string()))
        }
        Target::Inbox => (None, None, None),
    }
}
