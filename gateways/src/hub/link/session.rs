//! The work of one session: each loop runs until Redis fails, and answers why it did.

use std::{collections::HashSet, time::Duration};

use futures::StreamExt;
use redis::aio::{MultiplexedConnection, PubSubSink, PubSubStream};
use tokio::sync::mpsc;

use super::{
    super::{
        channels::{Channels, Interest},
        wire::Frame,
    },
    Shared,
    outgoing::EVERY_CHANNEL,
    within,
};

/// How often an idle session is tried.
const PING_INTERVAL: Duration = Duration::from_secs(5);
/// Joins and leaves that are told to Redis at once.
const INTERESTS_MAX: usize = 256;

/// Hands on what other nodes publish.
pub(super) async fn receive(mut stream: PubSubStream, shared: &Shared, channels: &Channels) -> String {
    let prefix = shared.channel_key("");
    while let Some(message) = stream.next().await {
        let Some(channel) = message.get_channel_name().strip_prefix(&prefix) else { continue };
        match shared.node.read(message.get_payload_bytes().to_vec()) {
            None => {}
            Some(Frame::Message(message)) => {
                metrics::counter!("troupe_hub_received_total").increment(1);
                channels.deliver(channel, &message);
            }
            Some(Frame::Gap) if channel == EVERY_CHANNEL => channels.gap_everywhere(),
            Some(Frame::Gap) => channels.gap(channel),
        }
    }
    "the subscribing connection closed".into()
}

/// Tells Redis which channels are listened to here, as that changes.
pub(super) async fn follow_interest(
    mut sink: PubSubSink,
    shared: &Shared,
    channels: &Channels,
    interests: &mut mpsc::UnboundedReceiver<Interest>,
) -> String {
    let mut changes = Vec::new();
    loop {
        changes.clear();
        if interests.recv_many(&mut changes, INTERESTS_MAX).await == 0 {
            return "the hub is closing".into();
        }
        // What counts is how things are now; whatever changes from here on is told again.
        let names: HashSet<_> = changes.iter().map(|change| &*change.channel).collect();
        let (wanted, unwanted): (Vec<_>, Vec<_>) = names.into_iter().partition(|channel| channels.is_wanted(channel));
        let keys = |names: Vec<&str>| names.into_iter().map(|name| shared.channel_key(name)).collect::<Vec<_>>();
        let (wanted, unwanted) = (keys(wanted), keys(unwanted));
        if !unwanted.is_empty()
            && let Err(reason) = within(sink.unsubscribe(unwanted)).await
        {
            return reason;
        }
        if !wanted.is_empty()
            && let Err(reason) = within(sink.subscribe(wanted)).await
        {
            return reason;
        }
        for done in changes.drain(..).filter_map(|change| change.done) {
            // Whoever asked may have gone.
            let _ = done.send(());
        }
    }
}

/// Ends a session whose connections hang without closing.
pub(super) async fn keep_trying(mut sink: PubSubSink, mut commands: MultiplexedConnection) -> String {
    loop {
        tokio::time::sleep(PING_INTERVAL).await;
        let pings = async {
            () = redis::cmd("PING").query_async(&mut commands).await?;
            sink.ping::<redis::Value>().await
        };
        if let Err(reason) = within(pings).await {
            return reason;
        }
    }
}
