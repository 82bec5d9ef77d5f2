//! The dispatcher: delivers what commits left in the outbox.
//!
//! Woken by each commit of this process that adds an entry, it claims what waits, delivers it by topic, and settles it.
//! Entries that another process left behind are found by looking every [`LOOK_EVERY`]. Any number of nodes may run one.
//!
//! - Live messages are numbered and published ([`live`](crate::live)), those that a process which died had claimed at
//!   once, as doing it twice does no harm; every node is told of revocations
//!   ([`REVOKED_CHANNEL`]); events become notices, deliveries and escalations (`notify::fan_out`), those of one claim
//!   together. These are delivered in turn, within milliseconds; if the store fails meanwhile, they come again when their
//!   lease ends.
//! - E-mails are handed to the mail server side by side, up to [`EMAILS_AT_ONCE_MAX`], and tried again with growing
//!   pauses ([`email`]). A mail server that hangs holds up nothing else.
//!
//! Delivery is at least once: the entry goes after its effect. It must never happen that it goes before.

mod email;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use domain::Timestamp;
use store::{Change, OutboxClaim, OutboxEntry, OutboxLane, StoreError};
use tokio::sync::{Notify, Semaphore, watch};

use crate::{Services, live, notify::fan_out, worker::Worker};
pub use domain::backoff::TRIES_MAX;

/// The hub's channel on which nodes say that something was revoked. A message is the id of what was, and a reason to
/// read the list ([`Store::revocations_from`](store::Store::revocations_from)), which makes certain what the hub makes
/// quick.
pub const REVOKED_CHANNEL: &str = "revoked";
/// Entries claimed at once.
const CLAIM_MAX: u32 = 256;
/// How long a node has to deliver what stays within Troupe.
const PROMPT_LEASE: Duration = Duration::from_secs(10);
/// How long a node has for one e-mail; longer than any mail server is waited for.
const EMAIL_LEASE: Duration = Duration::from_mins(5);
/// E-mails that one node hands over at once.
const EMAILS_AT_ONCE_MAX: u32 = 8;
/// How often entries that other processes left are looked for, and how soon after the store failed.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The dispatcher of one node. A cheap handle.
#[derive(Clone, Debug)]
pub struct Dispatcher {
    services: Services,
    emails: Arc<Semaphore>,
    email_finished: Arc<Notify>,
}

/// A dispatcher at work; it stops where it stands when this is dropped.
#[derive(Debug)]
pub struct RunningDispatcher {
    dispatcher: Dispatcher,
    worker: Worker,
}

impl Dispatcher {
    /// A dispatcher that does nothing until it is started or asked.
    pub fn new(services: Services) -> Self {
        let emails = Arc::new(Semaphore::new(EMAILS_AT_ONCE_MAX as usize));
        Self { services, emails, email_finished: Arc::default() }
    }

    /// Starts delivering, on the current runtime.
    pub fn start(self) -> RunningDispatcher {
        let worker = Worker::start(|stop| self.clone().run(stop));
        RunningDispatcher { dispatcher: self, worker }
    }

    /// Delivers all that is due now, and returns when each entry is settled or put off.
    pub async fn deliver_due(&self) -> Result<(), StoreError> {
        loop {
            let under_way = self.start_emails().await? > 0;
            self.deliver_prompt().await?;
            self.emails_finished().await;
            if !under_way {
                return Ok(());
            }
        }
    }

    async fn run(self, mut stop: watch::Receiver<bool>) {
        let store = self.services.store.clone();
        let mut is_first = true;
        loop {
            if is_first {
                is_first = self.deliver_left_behind().await.is_err();
            }
            // Looked at before the round: what was committed before the stop is delivered still.
            let last = *stop.borrow_and_update();
            let next = self.round().await.unwrap_or_else(|error| {
                tracing::warn!(%error, "the outbox can't be read; trying again");
                None
            });
            if last {
                return;
            }
            tokio::select! {
                () = store.outbox_changed().notified() => {}
                () = self.email_finished.notified() => {}
                () = self.sleep_until(next) => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
                _ = stop.changed() => {}
            }
        }
    }

    /// Delivers the live messages that other processes have claimed too. One of them may have died over it, and its lease
    /// shall keep nobody waiting.
    async fn deliver_left_behind(&self) -> Result<(), StoreError> {
        for people in self.services.store.outbox_live_people().await?.chunks(CLAIM_MAX as usize) {
            live::deliver(&self.services, people.iter().copied().collect()).await?;
        }
        Ok(())
    }

    /// Delivers what waits; answers when the next entry is due, if that is known.
    async fn round(&self) -> Result<Option<Timestamp>, StoreError> {
        self.deliver_prompt().await?;
        self.start_emails().await?;
        let prompt = self.services.store.outbox_next(OutboxLane::Prompt).await?;
        // With no hand free, the next e-mail waits for one rather than for its time.
        let email = match self.emails.available_permits() {
            0 => None,
            _ => self.services.store.outbox_next(OutboxLane::Email).await?,
        };
        Ok([prompt, email].into_iter().flatten().min())
    }

    async fn sleep_until(&self, next: Option<Timestamp>) {
        match next {
            Some(next) => self.services.store.clock().sleep_until(next).await,
            None => std::future::pending().await,
        }
    }

    /// Delivers what stays within Troupe until nothing waits.
    async fn deliver_prompt(&self) -> Result<(), StoreError> {
        let store = &self.services.store;
        loop {
            let claims = store.outbox_claim(OutboxLane::Prompt, CLAIM_MAX, PROMPT_LEASE).await?;
            let last = claims.len() < CLAIM_MAX as usize;
            let mut people = BTreeSet::new();
            let mut settled = Vec::new();
            for claim in &claims {
                match &claim.entry {
                    OutboxEntry::Revoked { target_id, .. } => {
                        self.services.hub.publish(REVOKED_CHANNEL, target_id.clone());
                        settled.push(claim.seq);
                    }
                    OutboxEntry::Live { user_id, .. } => drop(people.insert(*user_id)),
                    // Events follow, and e-mails are on the other lane.
                    OutboxEntry::Event { .. } | OutboxEntry::Email { .. } => {}
                }
            }
            let mut change = Change::new();
            change.outbox_done(settled);
            store.commit(change).await?;
            live::deliver(&self.services, people).await?;
            let events = fan_out::deliver(&self.services, &claims).await?;
            for claim in &claims {
                self.count_delivered(claim);
            }
            // What events left behind is delivered at once, too.
            if last && events == 0 {
                return Ok(());
            }
        }
    }

    /// Takes as many e-mails as there are hands free, and starts handing them over; answers how many.
    async fn start_emails(&self) -> Result<usize, StoreError> {
        let mut started = 0;
        loop {
            let free = u32::try_from(self.emails.available_permits()).unwrap_or(EMAILS_AT_ONCE_MAX);
            if free == 0 {
                return Ok(started);
            }
            let claims = self.services.store.outbox_claim(OutboxLane::Email, free, EMAIL_LEASE).await?;
            let last = claims.len() < free as usize;
            started += claims.len();
            for claim in claims {
                self.start_email(claim).await;
            }
            if last {
                return Ok(started);
            }
        }
    }

    async fn start_email(&self, claim: OutboxClaim) {
        // Never closed; and free, or nearly so, as this is the only place that takes one.
        let Ok(hand) = Arc::clone(&self.emails).acquire_owned().await else { return };
        let dispatcher = self.clone();
        tokio::spawn(async move {
            email::deliver(&dispatcher.services, &claim).await;
            dispatcher.count_delivered(&claim);
            drop(hand);
            dispatcher.email_finished.notify_one();
        });
    }

    /// Returns once no e-mail is being handed over.
    async fn emails_finished(&self) {
        // The semaphore is never closed.
        let _ = self.emails.acquire_many(EMAILS_AT_ONCE_MAX).await;
    }

    fn count_delivered(&self, claim: &OutboxClaim) {
        let topic = claim.entry.topic();
        let waited = self.services.store.now().since(claim.created_at);
        metrics::counter!("troupe_outbox_dispatched_total", "topic" => topic).increment(1);
        metrics::histogram!("troupe_outbox_delay_seconds", "topic" => topic).record(waited);
    }
}

impl RunningDispatcher {
    /// Delivers what waits now, takes no more entries, and returns once what is under way is settled, at the latest after
    /// `grace`. What could not be finished comes again at the next start.
    pub async fn stop(&self, grace: Duration) {
        if !self.worker.stop(self.dispatcher.emails_finished(), grace).await {
            tracing::warn!("the outbox was left before all under way was settled; it comes again");
        }
    }
}
