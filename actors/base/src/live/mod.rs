//! What is live for one person: numbered messages to all of their sockets (decisions, "Sockets").
//!
//! A message starts as an outbox entry of the commit that it tells of. The dispatcher has it numbered ([`deliver`]):
//! per person, one more than the one before, in the order of the commits, whichever node does it. Then it goes over the
//! hub to whoever listens, and only then the outbox entry is settled: if the process dies in between, another publishes
//! it again, under the same number.
//!
//! A socket reads a [`Feed`], which turns all of that into "each message once, in order, none missing". No actor owns a
//! feed: numbering is one statement of the store, and needs nothing remembered.

mod feed;
mod frame;

use std::collections::BTreeSet;

use domain::id::UserId;
use store::{Change, LiveDraft, StoreError};

pub use self::{feed::Feed, frame::LiveFrame};
use crate::Services;

/// Messages numbered in one commit.
const DELIVER_MAX: u32 = 512;

/// The hub's channel for what is live for a person.
pub fn channel(user_id: UserId) -> String {
    format!("live:{user_id}")
}

/// Numbers, publishes and settles all that waits for `people`; answers how many messages that were.
pub(crate) async fn deliver(services: &Services, people: BTreeSet<UserId>) -> Result<usize, StoreError> {
    let people: Vec<_> = people.into_iter().collect();
    match deliver_to(services, &people).await {
        // What can't be stored for one person must not hold up the others.
        Err(StoreError::Failed(error)) if people.len() > 1 => {
            tracing::warn!(error, "live messages failed together; trying person by person");
            let mut delivered = 0;
            for user_id in people {
                match deliver_to(services, &[user_id]).await {
                    Ok(more) => delivered += more,
                    Err(StoreError::Failed(error)) => {
                        tracing::error!(%user_id, error, "live messages can't be stored; tried again later");
                    }
                    Err(error @ StoreError::Unavailable(_)) => return Err(error),
                }
            }
            Ok(delivered)
        }
        outcome => outcome,
    }
}

async fn deliver_to(services: &Services, people: &[UserId]) -> Result<usize, StoreError> {
    let mut delivered = 0;
    if people.is_empty() {
        return Ok(delivered);
    }
    loop {
        let drafts = services.store.outbox_live(people, DELIVER_MAX).await?;
        publish(services, &drafts).await?;
        let mut settled = Change::new();
        settled.outbox_done(drafts.iter().map(|draft| draft.source));
        services.store.commit(settled).await?;
        delivered += drafts.len();
        if drafts.len() < DELIVER_MAX as usize {
            return Ok(delivered);
        }
    }
}

async fn publish(services: &Services, drafts: &[LiveDraft]) -> Result<(), StoreError> {
    for message in services.store.live_append(drafts).await? {
        let frame = LiveFrame::new(&message);
        services.hub.publish(&channel(message.user_id), frame.to_bytes());
    }
    Ok(())
}
