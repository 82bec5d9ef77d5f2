//! The link to Redis: one connection for commands, one for what other nodes publish.
//!
//! Both make one session. When either fails, or a command takes too long, the session ends as a whole and a new one is
//! tried with growing pauses. A session starts by subscribing to every channel that has listeners and then telling all
//! of them that they may have missed something, because they may have.
//!
//! The session's work is a handful of loops that end with it. They must never wait for a subscriber: delivering is
//! pushing into queues.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use domain::Timestamp;
use futures::FutureExt;
use parking_lot::RwLock;
use redis::{
    AsyncConnectionConfig, Client, RedisError, RedisResult, Script,
    aio::{MultiplexedConnection, PubSubSink, PubSubStream},
};
use tokio::{
    sync::{Notify, mpsc, watch},
    task::JoinHandle,
    time::timeout,
};

use super::{
    channels::{Channels, Interest},
    limit::{self, Limit, RetryAfter},
    ticket::TICKET_LIFETIME,
    wire::Node,
};

mod outgoing;
mod session;

use outgoing::{Outgoing, Publisher};
use session::{follow_interest, keep_trying, receive};

/// The longest that anything waits for Redis.
pub const OPERATION_TIMEOUT: Duration = Duration::from_secs(2);
/// The pause after the first failed connection; doubled after each further one.
const PAUSE_MIN: Duration = Duration::from_millis(100);
/// The longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Channels in one SUBSCRIBE.
const SUBSCRIBE_CHANNELS_MAX: usize = 500;

/// Redis did not answer; what it would have done is unknown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Away;

/// The link, as the hub holds it. It ends when dropped.
pub(super) struct Link {
    shared: Arc<Shared>,
    outgoing: Outgoing,
    limit_script: Script,
    task: JoinHandle<()>,
}

struct Shared {
    prefix: String,
    node: Node,
    /// The command connection of the running session.
    commands: RwLock<Option<MultiplexedConnection>>,
    state: watch::Sender<State>,
    /// Asks the running session to end.
    failed: Notify,
}

#[derive(Clone, Copy)]
struct State {
    connected: bool,
    since: Instant,
}

impl Link {
    pub(super) fn open(
        url: &str,
        prefix: &str,
        channels: Arc<Channels>,
        interests: mpsc::UnboundedReceiver<Interest>,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let client = Client::open(url)?;
        let shared = Arc::new(Shared {
            prefix: prefix.to_owned(),
            node: Node::random()?,
            commands: RwLock::new(None),
            state: watch::Sender::new(State { connected: false, since: Instant::now() }),
            failed: Notify::new(),
        });
        let (outgoing, publisher) = outgoing::pair();
        let keeper = Keeper { client, shared: Arc::clone(&shared), channels, interests, publisher };
        metrics::gauge!("troupe_hub_connected").set(0.0);
        let task = tokio::spawn(keeper.keep());
        Ok(Self { shared, outgoing, limit_script: Script::new(limit::SCRIPT), task })
    }

    pub(super) fn state(&self) -> (bool, Instant) {
        let state = *self.shared.state.borrow();
        (state.connected, state.since)
    }

    pub(super) fn is_connected(&self) -> bool {
        self.shared.state.borrow().connected
    }

    pub(super) async fn connected(&self) {
        // The sender lives as long as `self`.
        let _ = self.shared.state.subscribe().wait_for(|state| state.connected).await;
    }

    pub(super) fn publish(&self, channel: &str, message: &Bytes) {
        self.outgoing.send(channel, self.shared.node.message(message));
    }

    pub(super) async fn ticket_put(&self, token: &str, text: String) -> Result<(), Away> {
        let mut command = redis::cmd("SET");
        command.arg(self.shared.key("ticket", token)).arg(text);
        command.arg("PX").arg(u64::try_from(TICKET_LIFETIME.as_millis()).unwrap_or(u64::MAX));
        self.shared.run(async |mut redis| command.query_async(&mut redis).await).await
    }

    pub(super) async fn ticket_take(&self, token: &str) -> Result<Option<String>, Away> {
        let mut command = redis::cmd("GETDEL");
        command.arg(self.shared.key("ticket", token));
        self.shared.run(async |mut redis| command.query_async(&mut redis).await).await
    }

    pub(super) async fn limit_check(
        &self,
        key: &str,
        limit: Limit,
        now: Timestamp,
    ) -> Result<Result<(), RetryAfter>, Away> {
        let mut invocation = self.limit_script.key(self.shared.key("limit", key));
        invocation.arg(limit::micros(now)).arg(limit.interval_us()).arg(limit.per_us());
        let wait_us: i64 = self.shared.run(async |mut redis| invocation.invoke_async(&mut redis).await).await?;
        Ok(limit::verdict(wait_us))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    fn key(&self, kind: &str, name: &str) -> String {
        format!("{}:{kind}:{name}", self.prefix)
    }

    fn channel_key(&self, channel: &str) -> String {
        self.key("channel", channel)
    }

    /// Runs one command on the running session; without one, answers at once. A session that does not answer is ended.
    async fn run<T>(&self, command: impl AsyncFnOnce(MultiplexedConnection) -> RedisResult<T>) -> Result<T, Away> {
        let commands = self.commands.read().clone().ok_or(Away)?;
        match timeout(OPERATION_TIMEOUT, command(commands)).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => {
                tracing::warn!(%error, "redis refused a command");
                if error.is_unrecoverable_error() {
                    self.failed.notify_one();
                }
            }
            Err(_) => {
                tracing::warn!("redis did not answer in time");
                self.failed.notify_one();
            }
        }
        Err(Away)
    }

    fn set_connected(&self, commands: Option<MultiplexedConnection>) {
        let connected = commands.is_some();
        *self.commands.write() = commands;
        metrics::gauge!("troupe_hub_connected").set(f64::from(u8::from(connected)));
        self.state.send_if_modified(|state| {
            let changes = state.connected != connected;
            if changes {
                *state = State { connected, since: Instant::now() };
            }
            changes
        });
    }
}

/// Keeps the link: connects, works, connects again.
struct Keeper {
    client: Client,
    shared: Arc<Shared>,
    channels: Arc<Channels>,
    interests: mpsc::UnboundedReceiver<Interest>,
    publisher: Publisher,
}

/// The connections of one session.
struct Session {
    commands: MultiplexedConnection,
    sink: PubSubSink,
    stream: PubSubStream,
}

impl Keeper {
    async fn keep(mut self) {
        let mut pause = PAUSE_MIN;
        loop {
            // The next session starts from who listens then; what changed before it need not be told.
            while self.interests.try_recv().is_ok() {}
            match within(self.connect()).await {
                Ok(session) => {
                    pause = PAUSE_MIN;
                    let reason = self.work(session).await;
                    self.shared.set_connected(None);
                    self.publisher.lose_all();
                    tracing::warn!(reason, "the link to redis was cut; rate limits count in process until it is back");
                }
                Err(error) => tracing::warn!(error, pause = ?pause, "redis can't be reached"),
            }
            metrics::counter!("troupe_hub_reconnects_total").increment(1);
            tokio::time::sleep(jitter(pause)).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    async fn connect(&self) -> RedisResult<Session> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(OPERATION_TIMEOUT))
            .set_response_timeout(Some(OPERATION_TIMEOUT));
        let mut commands = self.client.get_multiplexed_async_connection_with_config(&config).await?;
        let (mut sink, stream) = self.client.get_async_pubsub().await?.split();
        sink.subscribe(self.shared.channel_key(outgoing::EVERY_CHANNEL)).await?;
        () = redis::cmd("PING").query_async(&mut commands).await?;
        Ok(Session { commands, sink, stream })
    }

    /// Works until the session fails; answers why.
    async fn work(&mut self, session: Session) -> String {
        let Session { commands, mut sink, stream } = session;
        // An old failure says nothing about this session.
        let _ = self.shared.failed.notified().now_or_never();
        if let Err(reason) = self.start(&mut sink).await {
            return reason;
        }
        self.shared.set_connected(Some(commands.clone()));
        self.publisher.session_started();
        self.channels.gap_everywhere();
        tracing::info!("the link to redis is up");
        let Self { shared, channels, interests, publisher, .. } = self;
        tokio::select! {
            reason = receive(stream, shared, channels) => reason,
            reason = follow_interest(sink.clone(), shared, channels, interests) => reason,
            reason = publisher.work(commands.clone(), shared) => reason,
            reason = keep_trying(sink, commands) => reason,
            () = shared.failed.notified() => "a command failed".into(),
        }
    }

    /// Subscribes to all that is listened to. Whoever joins meanwhile is told to [`follow_interest`].
    async fn start(&mut self, sink: &mut PubSubSink) -> Result<(), String> {
        let wanted: Vec<_> = self.channels.names().iter().map(|channel| self.shared.channel_key(channel)).collect();
        for channels in wanted.chunks(SUBSCRIBE_CHANNELS_MAX) {
            within(sink.subscribe(channels)).await?;
        }
        Ok(())
    }
}

/// Waits for an operation, but not longer than [`OPERATION_TIMEOUT`].
async fn within<T>(operation: impl Future<Output = Result<T, RedisError>>) -> Result<T, String> {
    match timeout(OPERATION_TIMEOUT, operation).await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_) => Err("redis did not answer in time".into()),
    }
}

/// Between half of `pause` and all of it, so that nodes that lost Redis together do not come back together.
fn jitter(pause: Duration) -> Duration {
    let share = getrandom::u32().map_or(1.0, |random| f64::from(random) / f64::from(u32::MAX));
    pause.mul_f64(0.5 + share / 2.0)
}
