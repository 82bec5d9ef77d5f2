//! Who listens to what in this process.
//!
//! A subscriber has a queue of its own, so that a slow one holds nobody up and an idle one costs nothing. A queue that
//! fills up is emptied and turned into one [`Signal::Gap`]: whoever reads it goes back to the store.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use dashmap::{DashMap, Entry};
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc, oneshot};

/// Messages that wait for one subscriber before they become a gap.
pub const SUBSCRIBER_MESSAGES_MAX: usize = 1024;
/// Bytes that wait for one subscriber before they become a gap; a single larger message is still carried.
pub const SUBSCRIBER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What a subscriber reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A message, as it was published.
    Message(Bytes),
    /// Messages may be missing before the next one: the subscriber fell behind, or the link between the nodes was cut.
    /// Read the store again.
    Gap,
}

/// Says that somebody joined or left a channel; `done` is told once Redis knows it too.
pub(super) struct Interest {
    pub(super) channel: Arc<str>,
    pub(super) done: Option<oneshot::Sender<()>>,
}

/// The channels of this process and their subscribers.
pub(super) struct Channels {
    subscribers: DashMap<Arc<str>, Vec<Arc<Queue>>>,
    interest: Option<mpsc::UnboundedSender<Interest>>,
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Notify,
}

#[derive(Default)]
struct Waiting {
    messages: VecDeque<Bytes>,
    bytes: usize,
    gap: bool,
}

impl Channels {
    pub(super) fn new(interest: Option<mpsc::UnboundedSender<Interest>>) -> Self {
        Self { subscribers: DashMap::new(), interest }
    }

    /// Adds a subscriber. The receiver, if there is one, resolves once Redis carries the channel to this node, or
    /// closes if it does not.
    pub(super) fn join(self: &Arc<Self>, channel: &str) -> (Subscription, Option<oneshot::Receiver<()>>) {
        let channel: Arc<str> = Arc::from(channel);
        let queue = Arc::new(Queue::default());
        let mut subscribers = self.subscribers.entry(Arc::clone(&channel)).or_default();
        subscribers.push(Arc::clone(&queue));
        // Told while the entry is locked, so that joining and leaving are heard in the order in which they happened.
        let confirmed = self.interest.as_ref().map(|interest| {
            let (done, confirmed) = oneshot::channel();
            // The link ends only with the hub; then nobody needs the confirmation.
            let _ = interest.send(Interest { channel: Arc::clone(&channel), done: Some(done) });
            confirmed
        });
        drop(subscribers);
        (Subscription { channels: Arc::clone(self), channel, queue }, confirmed)
    }

    fn leave(&self, channel: &Arc<str>, queue: &Arc<Queue>) {
        let Entry::Occupied(mut subscribers) = self.subscribers.entry(Arc::clone(channel)) else { return };
        subscribers.get_mut().retain(|other| !Arc::ptr_eq(other, queue));
        if !subscribers.get().is_empty() {
            return;
        }
        if let Some(interest) = &self.interest {
            let _ = interest.send(Interest { channel: Arc::clone(channel), done: None });
        }
        subscribers.remove();
    }

    /// Hands `message` to everybody who listens to `channel` here; answers to how many.
    pub(super) fn deliver(&self, channel: &str, message: &Bytes) -> usize {
        let Some(subscribers) = self.subscribers.get(channel) else { return 0 };
        subscribers.iter().for_each(|queue| queue.push(message.clone()));
        subscribers.len()
    }

    /// Tells everybody who listens to `channel` here that messages may be missing.
    pub(super) fn gap(&self, channel: &str) {
        if let Some(subscribers) = self.subscribers.get(channel) {
            subscribers.iter().for_each(|queue| queue.push_gap());
        }
    }

    /// Tells every subscriber of this process that messages may be missing.
    pub(super) fn gap_everywhere(&self) {
        for subscribers in &self.subscribers {
            subscribers.iter().for_each(|queue| queue.push_gap());
        }
    }

    pub(super) fn is_wanted(&self, channel: &str) -> bool {
        self.subscribers.contains_key(channel)
    }

    pub(super) fn names(&self) -> Vec<Arc<str>> {
        self.subscribers.iter().map(|entry| Arc::clone(entry.key())).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.subscribers.len()
    }
}

impl Queue {
    fn push(&self, message: Bytes) {
        let mut waiting = self.waiting.lock();
        let full = waiting.messages.len() >= SUBSCRIBER_MESSAGES_MAX
            || (waiting.bytes + message.len() > SUBSCRIBER_BYTES_MAX && !waiting.messages.is_empty());
        if full {
            metrics::counter!("troupe_hub_dropped_total", "reason" => "slow_subscriber")
                .increment(waiting.messages.len() as u64);
            *waiting = Waiting { gap: true, ..Waiting::default() };
        }
        waiting.bytes += message.len();
        waiting.messages.push_back(message);
        drop(waiting);
        self.arrived.notify_one();
    }

    fn push_gap(&self) {
        self.waiting.lock().gap = true;
        self.arrived.notify_one();
    }

    fn take(&self) -> Option<Signal> {
        let mut waiting = self.waiting.lock();
        if std::mem::take(&mut waiting.gap) {
            return Some(Signal::Gap);
        }
        let message = waiting.messages.pop_front()?;
        waiting.bytes -= message.len();
        if waiting.messages.is_empty() {
            // What one burst needed is not kept for ever.
            waiting.messages = VecDeque::new();
        }
        Some(Signal::Message(message))
    }
}

/// A place among the listeners of one channel; dropping it leaves the channel.
pub struct Subscription {
    channels: Arc<Channels>,
    channel: Arc<str>,
    queue: Arc<Queue>,
}

impl Subscription {
    /// The next message or gap. Safe to cancel: nothing is lost when the future is dropped.
    pub async fn next(&mut self) -> Signal {
        loop {
            if let Some(signal) = self.queue.take() {
                return signal;
            }
            self.queue.arrived.notified().await;
        }
    }

    /// What already waits, without waiting for more.
    pub fn try_next(&mut self) -> Option<Signal> {
        self.queue.take()
    }

    /// The channel's name.
    pub fn channel(&self) -> &str {
        &self.channel
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.channels.leave(&self.channel, &self.queue);
    }
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Subscription").field(&self.channel).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscriber_that_falls_behind_reads_one_gap_and_then_what_came_after() {
        let channels = Arc::new(Channels::new(None));
        let (mut subscription, _) = channels.join("page");
        for number in 0..=SUBSCRIBER_MESSAGES_MAX {
            channels.deliver("page", &Bytes::from(number.to_string()));
        }
        assert_eq!(subscription.try_next(), Some(Signal::Gap));
        assert_eq!(subscription.try_next(), Some(Signal::Message(SUBSCRIBER_MESSAGES_MAX.to_string().into())));
        assert_eq!(subscription.try_next(), None);
    }

    #[test]
    fn a_subscriber_at_its_limit_misses_nothing() {
        let channels = Arc::new(Channels::new(None));
        let (mut subscription, _) = channels.join("page");
        for number in 0..SUBSCRIBER_MESSAGES_MAX {
            channels.deliver("page", &Bytes::from(number.to_string()));
        }
        for number in 0..SUBSCRIBER_MESSAGES_MAX {
            assert_eq!(subscription.try_next(), Some(Signal::Message(number.to_string().into())));
        }
        assert_eq!(subscription.try_next(), None);
    }

    #[test]
    fn bytes_are_bounded_too_but_one_large_message_passes() {
        let channels = Arc::new(Channels::new(None));
        let (mut subscription, _) = channels.join("page");
        let large = Bytes::from(vec![0; SUBSCRIBER_BYTES_MAX + 1]);
        channels.deliver("page", &large);
        channels.deliver("page", &Bytes::from_static(b"after"));
        assert_eq!(subscription.try_next(), Some(Signal::Gap));
        assert_eq!(subscription.try_next(), Some(Signal::Message(Bytes::from_static(b"after"))));
        channels.deliver("page", &large);
        assert_eq!(subscription.try_next(), Some(Signal::Message(large)));
    }
}
