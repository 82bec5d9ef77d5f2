//! The hands of a channel.

use std::sync::Arc;

use store::DeliveryLane;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Tries that a lane of one node has under way at once (decisions, "Notifications", "Deliveries").
const fn at_once_max(lane: DeliveryLane) -> u32 {
    match lane {
        DeliveryLane::Email => 8,
        DeliveryLane::Sms | DeliveryLane::Voice => 4,
        DeliveryLane::Push => 32,
        DeliveryLane::Held => 0,
    }
}

/// A channel and its hands: as many tries as it has of them are under way at once.
#[derive(Debug)]
pub(super) struct Lane {
    pub of: DeliveryLane,
    hands: Arc<Semaphore>,
}

/// One hand of a lane; it is free again when this is dropped.
pub(super) type Hand = OwnedSemaphorePermit;

/// A lane for each way out.
pub(super) fn all() -> Arc<[Lane]> {
    let lane = |of| Lane { of, hands: Arc::new(Semaphore::new(at_once_max(of) as usize)) };
    DeliveryLane::SENDING.into_iter().map(lane).collect()
}

impl Lane {
    /// Hands that are free.
    pub fn free(&self) -> u32 {
        u32::try_from(self.hands.available_permits()).unwrap_or(u32::MAX)
    }

    /// Takes a hand; never none, as the lane is never closed.
    pub async fn take(&self) -> Option<Hand> {
        Arc::clone(&self.hands).acquire_owned().await.ok()
    }

    /// Returns once all hands are free.
    pub async fn all_free(&self) {
        let _ = self.hands.acquire_many(at_once_max(self.of)).await;
    }
}
