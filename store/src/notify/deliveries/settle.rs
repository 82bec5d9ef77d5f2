//! What became of a try.
//!
//! That a message went out counts whatever happened to its delivery meanwhile. Anything else counts only as long as the
//! claim does: a delivery that was cancelled during the try stays so, and one whose lease ended is somebody else's.

use domain::{
    id::DeliveryId,
    notify::{CancelReason, Target},
    time::Timestamp,
};

use super::{DeliveryClaim, DeliveryLane, HeldClaim, columns};
use crate::{Change, Expect, sql::Sql, work::shortened};

impl Change {
    /// Notes that the delivery went out to `target` and is called `provider_id` there.
    pub fn delivery_sent(&mut self, id: DeliveryId, target: Target, provider_id: Option<String>, now: Timestamp) {
        let (address, _, _) = columns(target);
        self.run_statement(
            Sql::new(
                "UPDATE deliveries SET state = 'sent', lane = NULL, claimed_by = NULL, error = NULL, address = $2, \
                 provider_id = $3, updated_at = $4 WHERE id = $1",
                [id.to_string().into(), address.into(), provider_id.into(), now.0.into()],
            ),
            Expect::Any,
        );
    }

    /// Keeps the delivery for who claimed it, until `until`; not one that was cancelled, or is somebody else's by now.
    pub fn delivery_renew(&mut self, claim: &DeliveryClaim, until: Timestamp) {
        self.run_statement(
            Sql::new(
                "UPDATE deliveries SET wake_at = $3 WHERE id = $1 AND claimed_by = $2 AND lane IS NOT NULL",
                [claim.delivery.id.to_string().into(), claim.claim.as_str().into(), until.0.into()],
            ),
            Expect::Any,
        );
    }

    /// Has the delivery tried again from `again_at` on, because of `error`.
    pub fn delivery_put_off(&mut self, claim: &DeliveryClaim, error: &str, again_at: Timestamp, now: Timestamp) {
        self.wakes_work(DeliveryLane::of(claim.delivery.channel).topic());
        self.run_statement(
            Sql::new(
                "UPDATE deliveries SET claimed_by = NULL, error = $3, wake_at = $4, updated_at = $5 \
                 WHERE id = $1 AND claimed_by = $2 AND lane IS NOT NULL",
                [
                    claim.delivery.id.to_string().into(),
                    claim.claim.as_str().into(),
                    shortened(error).into(),
                    again_at.0.into(),
                    now.0.into(),
                ],
            ),
            Expect::Any,
        );
    }

    /// Gives the delivery up, because of `error`.
    pub fn delivery_failed(&mut self, claim: &DeliveryClaim, error: &str, now: Timestamp) {
        self.delivery_ended(claim, "failed", error, now);
    }

    /// Cancels the delivery that was to be tried.
    pub fn delivery_cancelled(&mut self, claim: &DeliveryClaim, reason: CancelReason, now: Timestamp) {
        self.delivery_ended(claim, "cancelled", reason.as_str(), now);
    }

    fn delivery_ended(&mut self, claim: &DeliveryClaim, state: &str, error: &str, now: Timestamp) {
        self.run_statement(
            Sql::new(
                "UPDATE deliveries SET state = $3, lane = NULL, claimed_by = NULL, error = $4, updated_at = $5 \
                 WHERE id = $1 AND claimed_by = $2 AND lane IS NOT NULL",
                [
                    claim.delivery.id.to_string().into(),
                    claim.claim.as_str().into(),
                    state.into(),
                    shortened(error).into(),
                    now.0.into(),
                ],
            ),
            Expect::Any,
        );
    }

    /// Cancels what was held back, in favour of what else is in this change. The commit is
    /// [`Stale`](crate::CommitError::Stale) when some of it is not this claim's to decide on any more.
    pub fn deliveries_held_cancelled(&mut self, claim: &HeldClaim, reason: CancelReason, now: Timestamp) {
        self.run_statement(
            Sql::new(
                "UPDATE deliveries SET state = 'cancelled', lane = NULL, claimed_by = NULL, error = $2, updated_at = $3 \
                 WHERE claimed_by = $1 AND user_id = $4 AND lane = 'held'",
                [
                    claim.claim.as_str().into(),
                    reason.as_str().into(),
                    now.0.into(),
                    claim.user_id.to_string().into(),
                ],
            ),
            Expect::Rows(claim.deliveries.len() as u64),
        );
    }

    /// Goes on holding back what was held back, until `until`.
    pub fn deliveries_hold_on(&mut self, claim: &HeldClaim, until: Timestamp) {
        self.wakes_work(DeliveryLane::Held.topic());
        self.run_statement(
            Sql::new(
                "UPDATE deliveries SET claimed_by = NULL, wake_at = $3, hold_until = $3 \
                 WHERE claimed_by = $1 AND user_id = $2 AND lane = 'held'",
                [claim.claim.as_str().into(), claim.user_id.to_string().into(), until.0.into()],
            ),
            Expect::Any,
        );
    }

    /// Notes that the provider says that the delivery arrived.
    pub fn delivery_arrived(&mut self, id: DeliveryId, now: Timestamp) {
        self.run_statement(
            Sql::new(
                "UPDATE deliveries SET delivered_at = $2, updated_at = $2 \
                 WHERE id = $1 AND state = 'sent' AND delivered_at IS NULL",
                [id.to_string().into(), now.0.into()],
            ),
            Expect::Any,
        );
    }

    /// Notes that the provider says that the delivery, which it had taken, can't arrive.
    pub fn delivery_lost(&mut self, id: DeliveryId, error: &str, now: Timestamp) {
        self.run_statement(
            Sql::new(
                "UPDATE deliveries SET state = 'failed', error = $2, updated_at = $3 \
                 WHERE id = $1 AND state = 'sent' AND delivered_at IS NULL",
                [id.to_string().into(), shortened(error).into(), now.0.into()],
            ),
            Expect::Any,
        );
    }
}
