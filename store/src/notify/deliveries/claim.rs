//! Taking what is due, for a lease.

use std::{collections::BTreeMap, time::Duration};

use domain::{id::UserId, notify::Channel, time::Timestamp};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use super::row::{self, Delivery};
use crate::{
    Claimed, Store, StoreError, Turns,
    reader::Reads,
    sql::Sql,
    work::{Claim, Leased},
};

/// Deliveries of quiet hours that one claim takes. Whoever has more is told in several summaries.
const HELD_ROWS_MAX: u32 = 1_000;

/// How deliveries are claimed.
const DELIVERIES: Leased =
    Leased { table: "deliveries", lane: "lane", key: "id", order: "wake_at", counts: "attempts = attempts + 1" };

/// Whom a delivery waits for. Those on one lane wait for each other, and for no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryLane {
    /// Mail servers.
    Email,
    /// Who sends texts.
    Sms,
    /// Who calls people.
    Voice,
    /// Who pushes to devices.
    Push,
    /// The end of quiet hours.
    Held,
}

impl DeliveryLane {
    /// Those on which messages leave.
    pub const SENDING: [Self; 4] = [Self::Email, Self::Sms, Self::Voice, Self::Push];

    /// The lane of a channel. What goes to an inbox never waits; it has none, and so gets any.
    pub(crate) const fn of(channel: Channel) -> Self {
        match channel {
            Channel::Email | Channel::Inapp => Self::Email,
            Channel::Sms => Self::Sms,
            Channel::Voice => Self::Voice,
            Channel::Push => Self::Push,
        }
    }

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Sms => "sms",
            Self::Voice => "voice",
            Self::Push => "push",
            Self::Held => "held",
        }
    }

    /// The name by which the dispatcher is woken for it.
    pub const fn topic(self) -> &'static str {
        match self {
            Self::Email => "delivery.email",
            Self::Sms => "delivery.sms",
            Self::Voice => "delivery.voice",
            Self::Push => "delivery.push",
            Self::Held => "delivery.held",
        }
    }
}

/// A delivery that this node shall try once, and then settle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryClaim {
    /// The delivery; its attempts count this one.
    pub delivery: Delivery,
    /// Names the claim: only who holds it puts the delivery off or gives it up.
    pub(super) claim: String,
}

/// What quiet hours held back of one person, which this node shall make a summary of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldClaim {
    /// The person.
    pub user_id: UserId,
    /// The deliveries, oldest first; at least one.
    pub deliveries: Vec<Delivery>,
    /// Names the claim.
    pub(super) claim: String,
}

impl Store {
    /// Takes deliveries that are due on `lane` for `lease`, as many as `turns` has room for; no other node gets them
    /// meanwhile.
    ///
    /// One that doesn't read any more is logged, put off by `lease` and left for an operator.
    pub async fn deliveries_claim(
        &self,
        lane: DeliveryLane,
        turns: &Turns,
        lease: Duration,
    ) -> Result<Claimed<DeliveryClaim>, StoreError> {
        Ok(match self.claim_in_turns(&DELIVERIES, lane.as_str(), turns, lease).await? {
            Claimed::Taken(claims) => {
                let mut taken = Vec::new();
                for claim in claims {
                    let claimed = self.claimed(lane, &claim).await?;
                    taken.extend(
                        claimed.into_iter().map(|delivery| DeliveryClaim { delivery, claim: claim.id.clone() }),
                    );
                }
                Claimed::Taken(taken)
            }
            Claimed::NothingDue => Claimed::NothingDue,
            Claimed::NoRoom => Claimed::NoRoom,
        })
    }

    /// Takes what is due of up to `limit` people for whom quiet hours held something back, for `lease`, at most
    /// [`HELD_ROWS_MAX`] deliveries; no other node gets it meanwhile.
    pub async fn deliveries_claim_held(&self, limit: u32, lease: Duration) -> Result<Vec<HeldClaim>, StoreError> {
        let next = self.deliveries_next(DeliveryLane::Held).await?;
        let taking = |now: Timestamp, claim: &Claim| {
            Sql::new(
                "UPDATE deliveries SET claimed_by = $1, wake_at = $2 \
                 WHERE id IN (SELECT id FROM deliveries WHERE lane = 'held' AND wake_at <= $3 AND user_id IN \
                 (SELECT DISTINCT user_id FROM (SELECT user_id FROM deliveries WHERE lane = 'held' AND wake_at <= $3 \
                 ORDER BY wake_at LIMIT $4) AS due) ORDER BY user_id, id LIMIT $5)",
                [
                    claim.id.as_str().into(),
                    claim.until.0.into(),
                    now.0.into(),
                    i64::from(limit).into(),
                    i64::from(HELD_ROWS_MAX).into(),
                ],
            )
        };
        let Some(claim) = self.claim_by(next, lease, taking).await? else { return Ok(Vec::new()) };
        let mut people = BTreeMap::<UserId, Vec<Delivery>>::new();
        for delivery in self.claimed(DeliveryLane::Held, &claim).await? {
            people.entry(delivery.user_id).or_default().push(delivery);
        }
        let held = |(user_id, deliveries)| HeldClaim { user_id, deliveries, claim: claim.id.clone() };
        Ok(people.into_iter().map(held).collect())
    }

    /// When the next delivery of `lane` may be tried; in the past when one waits. None on a node whose clock is off.
    pub async fn deliveries_next(&self, lane: DeliveryLane) -> Result<Option<Timestamp>, StoreError> {
        self.leased_next(&DELIVERIES, lane.as_str()).await
    }

    async fn claimed(&self, lane: DeliveryLane, claim: &Claim) -> Result<Vec<Delivery>, StoreError> {
        let rows = row::Entity::find()
            .filter(row::Column::Lane.eq(lane.as_str()))
            .filter(row::Column::WakeAt.eq(claim.until.0))
            .filter(row::Column::ClaimedBy.eq(claim.id.as_str()))
            .order_by_asc(row::Column::Id)
            .read_all(self.reader())
            .await?;
        let read = |row| Delivery::try_from(row).inspect_err(|error| tracing::error!(%error)).ok();
        Ok(rows.into_iter().filter_map(read).collect())
    }
}
