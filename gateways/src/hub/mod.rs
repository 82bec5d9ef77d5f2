//! One hub for what must reach every node at once: messages on channels, socket tickets and rate limits.
//!
//! In process it needs nothing. With Redis it spans nodes, and the rules are these:
//!
//! - Subscribers on the publishing node hear a message directly, Redis or not. Redis carries it to the other nodes.
//! - A message is a wake-up, never the truth: it may be lost. Whoever may have lost one reads a [`Signal::Gap`] and goes
//!   back to the store. That holds when this node's link was cut, and when another's was and its messages got lost.
//! - While Redis is away, rate limits are counted in process, tickets answer 503 `busy`, [`Hub::health`] says so, and the
//!   link tries to come back by itself.
//! - Nothing waits for Redis longer than [`OPERATION_TIMEOUT`].

mod channels;
mod limit;
mod link;
mod ticket;
mod wire;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use domain::{Error, Result, Timestamp};

use self::{
    channels::Channels,
    limit::Limits,
    link::{Away, Link},
    ticket::{Kept, Tickets},
};
pub use self::{
    channels::{SUBSCRIBER_BYTES_MAX, SUBSCRIBER_MESSAGES_MAX, Signal, Subscription},
    limit::{Limit, RetryAfter},
    link::OPERATION_TIMEOUT,
    ticket::{TICKET_LIFETIME, Ticket},
};

/// Where the hub lives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum HubOptions {
    /// In this process: one node.
    #[default]
    InProcess,
    /// On Redis: several nodes.
    Redis {
        /// `redis://[user:password@]host[:port][/database]`, or `rediss://…` for TLS.
        url: String,
        /// What every key and channel starts with, before a `:`, so that several installations can share one Redis.
        prefix: String,
    },
}

/// The options can't be used.
#[derive(Debug, thiserror::Error)]
#[error("the address of Redis can't be used: {0}")]
pub struct HubOptionsError(String);

/// Whether the hub spans nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HubMode {
    /// In this process.
    InProcess,
    /// On Redis.
    Redis,
}

/// How the hub is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HubHealth {
    /// Whether it spans nodes.
    pub mode: HubMode,
    /// Whether it reaches the other nodes; always so in process.
    pub connected: bool,
    /// Since when `connected` is what it is.
    pub since: Instant,
}

/// A handle to the hub; cheap to clone. The link to Redis ends with the last one.
#[derive(Clone)]
pub struct Hub {
    shared: Arc<Shared>,
}

struct Shared {
    channels: Arc<Channels>,
    tickets: Tickets,
    limits: Limits,
    link: Option<Link>,
    started: Instant,
}

impl Hub {
    /// A hub as the options say. Redis may be away: the hub connects when it comes. Must be called on a tokio runtime
    /// that outlives the hub.
    pub fn new(options: &HubOptions) -> Result<Self, HubOptionsError> {
        match options {
            HubOptions::InProcess => Ok(Self::in_process()),
            HubOptions::Redis { url, prefix } => {
                let (interest, interests) = tokio::sync::mpsc::unbounded_channel();
                let channels = Arc::new(Channels::new(Some(interest)));
                let link = Link::open(url, prefix, Arc::clone(&channels), interests)
                    .map_err(|error| HubOptionsError(error.to_string()))?;
                Ok(Self::with(channels, Some(link)))
            }
        }
    }

    /// A hub of this process alone.
    pub fn in_process() -> Self {
        Self::with(Arc::new(Channels::new(None)), None)
    }

    fn with(channels: Arc<Channels>, link: Option<Link>) -> Self {
        let shared =
            Shared { channels, tickets: Tickets::default(), limits: Limits::default(), link, started: Instant::now() };
        Self { shared: Arc::new(shared) }
    }

    /// Sends `message` to everybody who listens to `channel`, on this node and on the others. Never waits and never
    /// fails: a message that can't be carried becomes a [`Signal::Gap`] on the other nodes.
    ///
    /// Messages that one thread publishes on one channel arrive in their order.
    pub fn publish(&self, channel: &str, message: impl Into<Bytes>) {
        let message = message.into();
        metrics::counter!("troupe_hub_published_total").increment(1);
        self.shared.channels.deliver(channel, &message);
        if let Some(link) = &self.shared.link {
            link.publish(channel, &message);
        }
    }

    /// Listens to `channel`. When it returns, a message published on any node is heard: read the store after it. Where
    /// Redis could not confirm that, a [`Signal::Gap`] follows as soon as it can.
    pub async fn subscribe(&self, channel: &str) -> Subscription {
        let (subscription, confirmed) = self.shared.channels.join(channel);
        if let (Some(link), Some(confirmed)) = (&self.shared.link, confirmed)
            && link.is_connected()
        {
            // Not confirmed in time means that the link is being cut; its return is a gap.
            let _ = tokio::time::timeout(OPERATION_TIMEOUT, confirmed).await;
        }
        subscription
    }

    /// How many channels have a subscriber on this node.
    pub fn channels_len(&self) -> usize {
        self.shared.channels.len()
    }

    /// Makes a ticket that can be spent once, on any node, for [`TICKET_LIFETIME`] from `now`.
    pub async fn ticket_issue(&self, ticket: Ticket, now: Timestamp) -> Result<String> {
        let token = ticket::token_new()?;
        let kept = Kept::new(ticket, now);
        match &self.shared.link {
            None => self.shared.tickets.put(token.clone(), kept, now)?,
            Some(link) => {
                let text = serde_json::to_string(&kept).map_err(Error::internal)?;
                link.ticket_put(&token, text).await.map_err(busy)?;
            }
        }
        Ok(token)
    }

    /// Spends a ticket: of all who try, on all nodes, one gets it. None for a ticket that was never issued, is spent,
    /// has expired, or was issued for another resource (which spends it too).
    pub async fn ticket_spend(&self, token: &str, resource: &str, now: Timestamp) -> Result<Option<Ticket>> {
        if !ticket::is_token(token) {
            return Ok(None);
        }
        let kept = match &self.shared.link {
            None => self.shared.tickets.take(token),
            Some(link) => match link.ticket_take(token).await.map_err(busy)? {
                None => None,
                Some(text) => Some(serde_json::from_str::<Kept>(&text).map_err(Error::internal)?),
            },
        };
        Ok(kept.and_then(|kept| kept.open(resource, now)))
    }

    /// Counts one use of `key` against `limit`, across nodes; in process while Redis is away. A key always goes with the
    /// same limit.
    pub async fn limit_check(&self, key: &str, limit: Limit, now: Timestamp) -> Result<(), RetryAfter> {
        if let Some(link) = &self.shared.link {
            match link.limit_check(key, limit, now).await {
                Ok(verdict) => return verdict,
                Err(Away) => metrics::counter!("troupe_hub_limit_fallback_total").increment(1),
            }
        }
        self.shared.limits.check(key, limit, now)
    }

    /// How the hub is.
    pub fn health(&self) -> HubHealth {
        match &self.shared.link {
            None => HubHealth { mode: HubMode::InProcess, connected: true, since: self.shared.started },
            Some(link) => {
                let (connected, since) = link.state();
                HubHealth { mode: HubMode::Redis, connected, since }
            }
        }
    }

    /// Waits until the hub reaches the other nodes, at most for `patience`; answers whether it does.
    pub async fn connected_within(&self, patience: Duration) -> bool {
        match &self.shared.link {
            None => true,
            Some(link) => tokio::time::timeout(patience, link.connected()).await.is_ok(),
        }
    }
}

fn busy(_: Away) -> Error {
    Error::busy(Duration::from_secs(1))
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Hub").field(&self.health()).finish()
    }
}
