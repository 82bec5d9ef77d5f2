//! Taking what is due, for a lease.

use std::{collections::BTreeMap, time::Duration};

use domain::{id::UserId, notify::Channel, time::Timestamp};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::row::{self, Delivery};
use crate::{Store, StoreError, claim::Claim, reader::Reads, sql::Sql};

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
    pub(super) const fn of(channel: Channel) -> Self {
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
    /// Takes up to `limit` deliveries that are due on `lane`, for `lease`, the longest due first; no other node gets them
    /// meanwhile.
    ///
    /// One that doesn't read any more is logged, put off by `lease` and left for an operator.
    pub async fn deliveries_claim(
        &self,
        lane: DeliveryLane,
        limit: u32,
        lease: Duration,
    ) -> Result<Vec<DeliveryClaim>, StoreError> {
        let next = self.deliveries_next(lane).await?;
        let taking = |now: Timestamp, claim: &Claim| {
            Sql::new(
                // Materialized: PostgreSQL may otherwise run the selection several times, and take more than `limit`.
                "WITH due AS MATERIALIZED (SELECT id FROM deliveries WHERE lane = $5 AND wake_at <= $3 \
                 ORDER BY wake_at LIMIT $4 /*skip locked*/) \
                 UPDATE deliveries SET claimed_by = $1, wake_at = $2, attempts = attempts + 1 \
                 WHERE lane = $5 AND wake_at <= $3 AND id IN (SELECT id FROM due)",
                [
                    claim.id.as_str().into(),
                    claim.until.0.into(),
                    now.0.into(),
                    i64::from(limit).into(),
                    lane.as_str().into(),
                ],
            )
        };
        let Some(claim) = self.claim(next, lease, taking).await? else { return Ok(Vec::new()) };
        let claimed = self.claimed(lane, &claim).await?;
        Ok(claimed.into_iter().map(|delivery| DeliveryClaim { delivery, claim: claim.id.clone() }).collect())
    }

    /// Takes what is due of up to `limit` people for whom quiet hours held something back, for `lease`; no other node
    /// gets it meanwhile.
    pub async fn deliveries_claim_held(&self, limit: u32, lease: Duration) -> Result<Vec<HeldClaim>, StoreError> {
        let next = self.deliveries_next(DeliveryLane::Held).await?;
        let taking = |now: Timestamp, claim: &Claim| {
            Sql::new(
                "UPDATE deliveries SET claimed_by = $1, wake_at = $2 \
                 WHERE lane = 'held' AND wake_at <= $3 AND user_id IN (SELECT DISTINCT user_id FROM \
                 (SELECT user_id FROM deliveries WHERE lane = 'held' AND wake_at <= $3 ORDER BY wake_at LIMIT $4) AS due)",
                [claim.id.as_str().into(), claim.until.0.into(), now.0.into(), i64::from(limit).into()],
            )
        };
        let Some(claim) = self.claim(next, lease, taking).await? else { return Ok(Vec::new()) };
        let mut people = BTreeMap::<UserId, Vec<Delivery>>::new();
        for delivery in self.claimed(DeliveryLane::Held, &claim).await? {
            people.entry(delivery.user_id).or_default().push(delivery);
        }
        let held = |(user_id, deliveries)| HeldClaim { user_id, deliveries, claim: claim.id.clone() };
        Ok(people.into_iter().map(held).collect())
    }

    /// When the next delivery of `lane` may be tried; in the past when one waits. None on a node whose clock is off.
    pub async fn deliveries_next(&self, lane: DeliveryLane) -> Result<Option<Timestamp>, StoreError> {
        if self.clock_is_off() {
            return Ok(None);
        }
        let next = row::Entity::find()
            .select_only()
            .column(row::Column::WakeAt)
            .filter(row::Column::Lane.eq(lane.as_str()))
            .order_by_asc(row::Column::WakeAt)
            .read_columns(self.reader())
            .await?;
        Ok(next.map(|(next,): (i64,)| Timestamp(next)))
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
