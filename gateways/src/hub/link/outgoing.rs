//! Messages on their way to Redis, and what becomes of those that it could not take.

use std::{collections::HashSet, sync::Arc};

use parking_lot::Mutex;
use redis::aio::MultiplexedConnection;
use tokio::sync::mpsc;

use super::{Shared, within};

/// The channel on which a node tells the others that it lost messages of more channels than it could remember.
pub(super) const EVERY_CHANNEL: &str = "*";
/// Messages that wait for Redis; further ones are lost, which other nodes are told.
const QUEUE_MESSAGES_MAX: usize = 8192;
/// Messages in one pipeline.
const PIPELINE_MESSAGES_MAX: usize = 256;
/// Channels with lost messages that are remembered one by one; with more, all channels count as such.
const LOST_CHANNELS_MAX: usize = 1000;

type Message = (Arc<str>, Vec<u8>);

/// Where messages go in.
pub(super) struct Outgoing {
    queue: mpsc::Sender<Message>,
    road: Arc<Mutex<Road>>,
}

/// Where messages come out, to Redis.
pub(super) struct Publisher {
    queue: mpsc::Receiver<Message>,
    /// What was taken from the queue and not yet confirmed; it outlives the session that took it.
    batch: Vec<Message>,
    road: Arc<Mutex<Road>>,
}

#[derive(Default)]
struct Road {
    open: bool,
    lost: Lost,
}

#[derive(Default)]
struct Lost {
    channels: HashSet<Arc<str>>,
    every: bool,
}

pub(super) fn pair() -> (Outgoing, Publisher) {
    let (sender, receiver) = mpsc::channel(QUEUE_MESSAGES_MAX);
    let road = Arc::new(Mutex::new(Road::default()));
    (Outgoing { queue: sender, road: Arc::clone(&road) }, Publisher { queue: receiver, batch: Vec::new(), road })
}

impl Outgoing {
    pub(super) fn send(&self, channel: &str, frame: Vec<u8>) {
        let channel: Arc<str> = Arc::from(channel);
        let mut road = self.road.lock();
        if !road.open || self.queue.try_send((Arc::clone(&channel), frame)).is_err() {
            road.lost.add(channel);
        }
    }
}

impl Publisher {
    /// From now on messages are carried again.
    pub(super) fn session_started(&mut self) {
        self.road.lock().open = true;
    }

    /// The session is over: what was under way, and what comes until the next one, is lost.
    pub(super) fn lose_all(&mut self) {
        let mut road = self.road.lock();
        road.open = false;
        self.batch.drain(..).for_each(|(channel, _)| road.lost.add(channel));
        while let Ok((channel, _)) = self.queue.try_recv() {
            road.lost.add(channel);
        }
    }

    /// Carries messages until Redis fails; answers why it did.
    pub(super) async fn work(&mut self, mut redis: MultiplexedConnection, shared: &Shared) -> String {
        loop {
            if let Err(reason) = self.tell_lost(&mut redis, shared).await {
                return reason;
            }
            if self.queue.recv_many(&mut self.batch, PIPELINE_MESSAGES_MAX).await == 0 {
                return "the hub is closing".into();
            }
            let mut pipeline = redis::pipe();
            for (channel, frame) in &self.batch {
                pipeline.cmd("PUBLISH").arg(shared.channel_key(channel)).arg(frame).ignore();
            }
            if let Err(reason) = within(pipeline.exec_async(&mut redis)).await {
                return reason;
            }
            self.batch.clear();
        }
    }

    /// Tells the other nodes of which channels messages were lost.
    async fn tell_lost(&mut self, redis: &mut MultiplexedConnection, shared: &Shared) -> Result<(), String> {
        let lost = std::mem::take(&mut self.road.lock().lost);
        if lost.is_empty() {
            return Ok(());
        }
        // Until Redis has it, each counts as a message under way: when this session ends too, it is lost again.
        self.batch.extend(lost.names().map(|channel| (channel, shared.node.gap())));
        let mut pipeline = redis::pipe();
        for (channel, frame) in &self.batch {
            pipeline.cmd("PUBLISH").arg(shared.channel_key(channel)).arg(frame).ignore();
        }
        within(pipeline.exec_async(redis)).await?;
        self.batch.clear();
        Ok(())
    }
}

impl Lost {
    fn add(&mut self, channel: Arc<str>) {
        metrics::counter!("troupe_hub_dropped_total", "reason" => "not_carried").increment(1);
        self.every |= &*channel == EVERY_CHANNEL || self.channels.len() >= LOST_CHANNELS_MAX;
        if self.every {
            self.channels.clear();
        } else {
            self.channels.insert(channel);
        }
    }

    fn is_empty(&self) -> bool {
        !self.every && self.channels.is_empty()
    }

    fn names(self) -> impl Iterator<Item = Arc<str>> {
        self.every.then(|| Arc::from(EVERY_CHANNEL)).into_iter().chain(self.channels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(lost: Lost) -> Vec<String> {
        let mut names: Vec<_> = lost.names().map(|name| name.to_string()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_sent_without_a_session_is_remembered_as_lost() {
        let (outgoing, publisher) = pair();
        outgoing.send("a", vec![]);
        outgoing.send("a", vec![]);
        outgoing.send("b", vec![]);
        assert_eq!(names(std::mem::take(&mut publisher.road.lock().lost)), ["a", "b"]);
    }

    #[test]
    fn what_was_under_way_when_the_session_ended_is_lost() {
        let (outgoing, mut publisher) = pair();
        publisher.session_started();
        outgoing.send("queued", vec![]);
        publisher.batch.push((Arc::from("sent"), vec![]));
        assert!(publisher.road.lock().lost.is_empty());
        publisher.lose_all();
        assert_eq!(names(std::mem::take(&mut publisher.road.lock().lost)), ["queued", "sent"]);
    }

    #[test]
    fn a_full_queue_loses_the_message_and_says_so() {
        let (outgoing, mut publisher) = pair();
        publisher.session_started();
        for _ in 0..QUEUE_MESSAGES_MAX {
            outgoing.send("early", vec![]);
        }
        assert!(publisher.road.lock().lost.is_empty());
        outgoing.send("late", vec![]);
        assert_eq!(names(std::mem::take(&mut publisher.road.lock().lost)), ["late"]);
    }

    #[test]
    fn more_lost_channels_than_can_be_remembered_are_all_channels() {
        let mut lost = Lost::default();
        for number in 0..=LOST_CHANNELS_MAX {
            lost.add(Arc::from(number.to_string()));
        }
        assert_eq!(names(lost), [EVERY_CHANNEL]);
    }
}
