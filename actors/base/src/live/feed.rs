//! Reading what is live for one person.

use std::collections::VecDeque;

use domain::{Result, id::UserId};
use gateways::{Hub, Signal, Subscription};
use store::Store;

use super::{LiveFrame, channel};

/// Messages read from the store at once.
const READ_MAX: u32 = 256;

/// One reader of a person's live messages: each once, in the order of their numbers, none missing.
///
/// It listens to the hub, and goes to the store whenever a number is missing or the hub says that one may be.
pub struct Feed {
    store: Store,
    user_id: UserId,
    subscription: Subscription,
    /// The number of the last message that was handed out.
    last: i64,
    read: VecDeque<LiveFrame>,
    must_read: bool,
    missed: bool,
}

impl Feed {
    /// Opens the feed behind the message `after`, or, without one, behind the newest.
    pub async fn open(store: &Store, hub: &Hub, user_id: UserId, after: Option<i64>) -> Result<Self> {
        // Listen first: what is appended after the store was read is heard.
        let subscription = hub.subscribe(&channel(user_id)).await;
        let newest = store.live_seq(user_id).await?;
        // A number that was never given out comes from another store, or from nowhere.
        let last = after.unwrap_or(newest).clamp(0, newest);
        let mut feed = Self {
            store: store.clone(),
            user_id,
            subscription,
            last,
            read: VecDeque::new(),
            must_read: last < newest,
            missed: false,
        };
        if feed.must_read {
            feed.fill().await?;
            feed.missed = feed.read.front().is_none_or(|first| first.seq > last + 1);
        }
        Ok(feed)
    }

    /// Whether messages behind `after` are gone, because they are older than an hour: the client should read all that it
    /// shows anew.
    pub const fn has_missed(&self) -> bool {
        self.missed
    }

    /// The number of the last message that was handed out, or that the feed was opened behind.
    pub const fn last(&self) -> i64 {
        self.last
    }

    /// The next message. Safe to cancel. After an error (the store is away) it may be called again, and misses nothing.
    pub async fn next(&mut self) -> Result<LiveFrame> {
        loop {
            if let Some(frame) = self.read.pop_front() {
                self.last = frame.seq;
                return Ok(frame);
            }
            if self.must_read {
                self.fill().await?;
                continue;
            }
            match self.subscription.next().await {
                Signal::Gap => self.must_read = true,
                Signal::Message(bytes) => match LiveFrame::from_bytes(&bytes) {
                    Some(frame) if frame.seq == self.last + 1 => self.read.push_back(frame),
                    Some(frame) if frame.seq <= self.last => {}
                    // One is missing in between, or it doesn't read.
                    _ => self.must_read = true,
                },
            }
        }
    }

    async fn fill(&mut self) -> Result<()> {
        let messages = self.store.live_after(self.user_id, self.last, READ_MAX).await?;
        self.must_read = messages.len() == READ_MAX as usize;
        self.read.extend(messages.iter().map(LiveFrame::new));
        Ok(())
    }
}

impl std::fmt::Debug for Feed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Feed").field("user_id", &self.user_id).field("last", &self.last).finish_non_exhaustive()
    }
}
