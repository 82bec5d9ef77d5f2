//! The table, and the record that it is read as.

use domain::{
    App, Tenant,
    id::{DeliveryId, EscalationId, NoticeId, UserId},
    notify::{Channel, DeliveryState, PushPlatform, PushTarget, Target},
    time::Timestamp,
};
use sea_orm::entity::prelude::*;

use crate::StoreError;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "deliveries")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub tenant: String,
    pub user_id: String,
    pub notice_id: Option<String>,
    pub escalation_id: Option<String>,
    pub channel: String,
    pub address: Option<String>,
    pub platform: Option<String>,
    pub app: Option<String>,
    pub state: String,
    pub lane: Option<String>,
    pub wake_at: i64,
    pub claimed_by: Option<String>,
    pub hold_until: Option<i64>,
    pub attempts: i32,
    pub error: Option<String>,
    pub provider_id: Option<String>,
    pub ack_code: Option<String>,
    pub urgent: bool,
    pub title: String,
    pub body: Option<String>,
    pub url: Option<String>,
    pub created_at: i64,
    pub updated_at: i64,
    pub delivered_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// One message to one address over one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its id, which every try carries as its idempotency key.
    pub id: DeliveryId,
    /// In whose turn it is tried: that of the organization whose event it tells of, else the person's.
    pub tenant: Tenant,
    /// The person.
    pub user_id: UserId,
    /// The notice that it tells of; none for a summary.
    pub notice_id: Option<NoticeId>,
    /// The escalation that a step of sent it, where one did.
    pub escalation_id: Option<EscalationId>,
    /// The way.
    pub channel: Channel,
    /// Where to: as it was when the delivery was made, and once it went out, as it was then.
    pub target: Target,
    /// What has become of it.
    pub state: DeliveryState,
    /// Tries so far, the one under way included.
    pub attempts: u32,
    /// Why it failed or was cancelled, or what the last try met with.
    pub error: Option<String>,
    /// The name that the gateway's other side gave it.
    pub provider_id: Option<String>,
    /// Whether it is urgent.
    pub urgent: bool,
    /// The headline.
    pub title: String,
    /// What happened.
    pub body: Option<String>,
    /// Where to look.
    pub url: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its state changed last.
    pub updated_at: Timestamp,
    /// When the provider said that it arrived, where it did.
    pub delivered_at: Option<Timestamp>,
    /// When it is tried next, while it waits for that.
    pub next_attempt_at: Option<Timestamp>,
}

impl TryFrom<Model> for Delivery {
    type Error = StoreError;

    fn try_from(row: Model) -> Result<Self, StoreError> {
        let id = row.id.clone();
        read(row).ok_or_else(|| StoreError::corrupt(format_args!("deliveries {id}")))
    }
}

fn read(row: Model) -> Option<Delivery> {
    let channel = Channel::from_name(&row.channel)?;
    Some(Delivery {
        id: row.id.parse().ok()?,
        tenant: Tenant::of_key(&row.tenant),
        user_id: row.user_id.parse().ok()?,
        notice_id: row.notice_id.map(|id| id.parse()).transpose().ok()?,
        escalation_id: row.escalation_id.map(|id| id.parse()).transpose().ok()?,
        channel,
        target: target(channel, row.address, row.platform.as_deref(), row.app.as_deref())?,
        state: DeliveryState::from_name(&row.state)?,
        attempts: u32::try_from(row.attempts).unwrap_or_default(),
        error: row.error,
        provider_id: row.provider_id,
        urgent: row.urgent,
        title: row.title,
        body: row.body,
        url: row.url,
        created_at: Timestamp(row.created_at),
        updated_at: Timestamp(row.updated_at),
        delivered_at: row.delivered_at.map(Timestamp),
        next_attempt_at: (row.lane.is_some() && row.claimed_by.is_none()).then_some(Timestamp(row.wake_at)),
    })
}

fn target(channel: Channel, address: Option<String>, platform: Option<&str>, app: Option<&str>) -> Option<Target> {
    Some(match channel {
        Channel::Email => Target::Email(address?),
        Channel::Sms | Channel::Voice => Target::Phone(address?),
        Channel::Push => Target::Device(PushTarget {
            device_id: address?,
            platform: PushPlatform::from_name(platform?)?,
            app: App::from_name(app?)?,
        }),
        Channel::Inapp => Target::Inbox,
    })
}
