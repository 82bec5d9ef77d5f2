//! The outbox: delivers what commits left to be told.
//!
//! Each topic is a lane of the dispatcher ([`work`](crate::work)), in turns by person or organization:
//!
//! - Live messages are numbered and published ([`live`](crate::live)), those that a process which died had claimed at
//!   once, as doing it twice does no harm; every node is told of revocations ([`REVOKED_CHANNEL`]); events are handed to
//!   whoever decides on them, those of an organization in one claim together. If the store fails meanwhile, they come again
//!   when their lease ends.
//! - E-mails are handed to the mail server side by side, up to [`EMAILS_AT_ONCE_MAX`] of a person or organization, and
//!   tried again with growing pauses ([`email`]). A mail server that hangs holds up nothing else.
//!
//! Delivery is at least once: the entry goes after its effect. It must never happen that it goes before.

mod email;
mod topic;

use std::{sync::Arc, time::Duration};

use store::{Change, OutboxClaim, OutboxEntry, Permits, StoreError, outbox};

pub use self::topic::{Deliver, OutboxTopic};
use crate::{Services, live, work::Lane};
pub use domain::backoff::TRIES_MAX;

/// The hub's channel on which nodes say that something was revoked. A message is the id of what was, and a reason to
/// read the list ([`Store::revocations_from`](store::Store::revocations_from)), which makes certain what the hub makes
/// quick.
pub const REVOKED_CHANNEL: &str = "revoked";
/// Entries that are delivered together.
const BATCH_MAX: u32 = 256;
/// Events of an organization that are decided on together: fewer, as each may concern many people, and those that come next
/// wait for all of them.
const EVENTS_MAX: u32 = 32;
/// Organizations whose events are decided on at once.
const EVENTS_TENANTS_MAX: u32 = 4;
/// How long a node has to deliver what stays within Troupe.
const PROMPT_LEASE: Duration = Duration::from_secs(10);
/// How long a node has for one e-mail; longer than any mail server is waited for.
const EMAIL_LEASE: Duration = Duration::from_mins(5);
/// E-mails of one person or organization that a node hands over at once.
const EMAILS_AT_ONCE_MAX: u32 = 8;
/// E-mails of others that it hands over meanwhile.
const EMAILS_SPARE: u32 = 2;

/// The lanes of the outbox; `deliver_events` decides on events.
pub fn lanes(services: &Services, deliver_events: Deliver) -> Vec<Arc<dyn Lane>> {
    let prompt =
        |topic, permits, deliver: Deliver| OutboxTopic::new(services.clone(), topic, permits, PROMPT_LEASE, deliver);
    let (batches, events) = (Permits::batches(BATCH_MAX), Permits::batches_by_tenant(EVENTS_MAX, EVENTS_TENANTS_MAX));
    let live = prompt(outbox::LIVE, batches, |services, claims| Box::pin(deliver_live(services, claims)));
    let emails = Permits::with_spare(EMAILS_AT_ONCE_MAX, EMAILS_SPARE);
    vec![
        // First, as events add to the others.
        Arc::new(prompt(outbox::EVENT, events, deliver_events)),
        Arc::new(live.beginning_with(|services| Box::pin(deliver_left_behind(services)))),
        Arc::new(prompt(outbox::REVOKED, batches, |services, claims| Box::pin(tell_revoked(services, claims)))),
        Arc::new(OutboxTopic::new(services.clone(), outbox::EMAIL, emails, EMAIL_LEASE, |services, claims| {
            Box::pin(email::deliver_all(services, claims))
        })),
    ]
}

async fn deliver_live(services: &Services, claims: &[OutboxClaim]) -> Result<(), StoreError> {
    let person = |claim: &OutboxClaim| match &claim.entry {
        OutboxEntry::Live { user_id, .. } => Some(*user_id),
        OutboxEntry::Event { .. } | OutboxEntry::Email { .. } | OutboxEntry::Revoked { .. } => None,
    };
    live::deliver(services, claims.iter().filter_map(person).collect()).await.map(drop)
}

/// Delivers the live messages that other processes have claimed too. One of them may have died over it, and its lease
/// shall keep nobody waiting.
async fn deliver_left_behind(services: &Services) -> Result<(), StoreError> {
    for people in services.store.outbox_live_people().await?.chunks(BATCH_MAX as usize) {
        live::deliver(services, people.iter().copied().collect()).await?;
    }
    Ok(())
}

async fn tell_revoked(services: &Services, claims: &[OutboxClaim]) -> Result<(), StoreError> {
    for claim in claims {
        if let OutboxEntry::Revoked { target_id, .. } = &claim.entry {
            services.hub.publish(REVOKED_CHANNEL, target_id.clone());
        }
    }
    let mut change = Change::new();
    change.outbox_done(claims.iter().map(|claim| claim.work.seq));
    Ok(services.store.commit(change).await?)
}
