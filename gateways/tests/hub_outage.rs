//! The hub while Redis goes away and comes back. Starts a Redis of its own; without `redis-server` on this machine only
//! the outage is tested.
#![expect(clippy::unwrap_used, reason = "what a test can't do without stops it")]

use std::{
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use bytes::Bytes;
use domain::{Error, Timestamp, id::UserId};
use gateways::{Hub, HubOptions, Limit, Signal, Subscription, Ticket};
use serde_json::Value;

const NOW: Timestamp = Timestamp(1_700_000_000_000);
const PATIENCE: Duration = Duration::from_secs(60);
/// Ports that the system gives to nobody who asks for any.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// A Redis that keeps nothing, and dies with the test.
struct RedisServer {
    process: Child,
}

impl RedisServer {
    /// On a port that is free; which one.
    async fn start() -> Option<(Self, u16)> {
        loop {
            let port = free_port();
            let mut server = Self::spawn(port)?;
            if server.listens(port).await {
                return Some((server, port));
            }
        }
    }

    /// On this port once more.
    async fn start_again(port: u16) -> Self {
        let begun = Instant::now();
        loop {
            let mut server = Self::spawn(port).expect("it started before");
            if server.listens(port).await {
                return server;
            }
            assert!(begun.elapsed() < PATIENCE, "the port {port} stays taken");
        }
    }

    /// Waits until it takes connections; false when it ended instead, as it does where somebody else has the port.
    async fn listens(&mut self, port: u16) -> bool {
        let begun = Instant::now();
        while self.process.try_wait().expect("a process").is_none() {
            if tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                return true;
            }
            assert!(begun.elapsed() < PATIENCE, "redis-server does not listen");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        false
    }

    fn spawn(port: u16) -> Option<Self> {
        let mut command = Command::new("redis-server");
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
        match command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() {
            Ok(process) => Some(Self { process }),
            Err(error) => {
                eprintln!("redis-server can't be started here ({error}): not tested");
                None
            }
        }
    }
}

impl RedisServer {
    /// Has the process stop where it stands (`STOP`), or go on (`CONT`).
    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.process.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// None of those from which connections are made: whoever connects to such a port while nobody listens may reach themselves.
fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let first = std::process::id().wrapping_mul(31);
    loop {
        let place = first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % u32::from(PORTS.end - PORTS.start);
        let port = PORTS.start + u16::try_from(place).unwrap();
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

fn hub(port: u16) -> Hub {
    let options = HubOptions::Redis { url: format!("redis://127.0.0.1:{port}"), prefix: "troupe".into() };
    Hub::new(&options).unwrap()
}

fn ticket() -> Ticket {
    Ticket { user_id: UserId::new(NOW), sign_in_id: None, resource: "live".into(), rights: Value::Null }
}

fn message(text: &'static str) -> Signal {
    Signal::Message(Bytes::from_static(text.as_bytes()))
}

async fn next(subscription: &mut Subscription) -> Signal {
    tokio::time::timeout(PATIENCE, subscription.next()).await.expect("a signal in time")
}

async fn disconnected(hub: &Hub) {
    let gone = async {
        while hub.health().connected {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("the hub sees that redis is gone");
}

async fn assert_serves_without_redis(hub: &Hub) {
    assert!(!hub.health().connected);
    let mut here = hub.subscribe("outage").await;
    hub.publish("outage", "local");
    assert_eq!(next(&mut here).await, message("local"));
    let once = Limit::new(1, Duration::from_secs(1));
    let key = UserId::new(NOW).to_string();
    assert!(hub.limit_check(&key, once, NOW).await.is_ok());
    assert!(hub.limit_check(&key, once, NOW).await.is_err());
    assert!(matches!(hub.ticket_issue(ticket(), NOW).await, Err(Error::Busy { .. })));
    assert!(matches!(hub.ticket_spend(&"A".repeat(43), "live", NOW).await, Err(Error::Busy { .. })));
}

#[tokio::test]
async fn without_redis_at_start_the_hub_serves_this_node_and_says_so() {
    let hub = hub(free_port());
    assert_serves_without_redis(&hub).await;
}

#[tokio::test]
async fn redis_may_die_and_come_back() {
    let Some((redis, port)) = RedisServer::start().await else { return };
    let (one, other) = (hub(port), hub(port));
    assert!(one.connected_within(PATIENCE).await && other.connected_within(PATIENCE).await);
    let mut here = one.subscribe("live:a").await;
    let mut there = other.subscribe("live:a").await;
    one.publish("live:a", "before");
    assert_eq!(next(&mut here).await, message("before"));
    assert_eq!(next(&mut there).await, message("before"));

    drop(redis);
    disconnected(&one).await;
    disconnected(&other).await;
    assert_serves_without_redis(&one).await;
    one.publish("live:a", "meanwhile");
    assert_eq!(next(&mut here).await, message("meanwhile"));
    let mut late = other.subscribe("live:b").await;

    let _redis = RedisServer::start_again(port).await;
    assert!(one.connected_within(PATIENCE).await && other.connected_within(PATIENCE).await);
    assert_eq!(next(&mut there).await, Signal::Gap, "whoever missed a message reads the store again");
    assert_eq!(next(&mut late).await, Signal::Gap);
    let token = one.ticket_issue(ticket(), NOW).await.unwrap();
    assert!(other.ticket_spend(&token, "live", NOW).await.unwrap().is_some());
    one.publish("live:a", "after");
    one.publish("live:b", "new");
    assert_eq!(after_gaps(&mut there).await, message("after"));
    assert_eq!(after_gaps(&mut late).await, message("new"));
}

/// The next message; a gap too many is only a reading too many.
async fn after_gaps(subscription: &mut Subscription) -> Signal {
    loop {
        match next(subscription).await {
            Signal::Gap => {}
            message @ Signal::Message(_) => return message,
        }
    }
}

#[tokio::test]
async fn a_node_that_lost_messages_tells_the_others() {
    let Some((_redis, port)) = RedisServer::start().await else { return };
    let (one, other) = (hub(port), hub(port));
    assert!(one.connected_within(PATIENCE).await && other.connected_within(PATIENCE).await);
    let mut there = other.subscribe("live:a").await;
    while there.try_next().is_some() {}

    // Cuts the connections of the node that listens to nothing of its own, by closing all that don't listen to `live:a`.
    let mut operator = redis::Client::open(format!("redis://127.0.0.1:{port}"))
        .unwrap()
        .get_multiplexed_async_connection()
        .await
        .unwrap();
    let clients: String = redis::cmd("CLIENT").arg("LIST").query_async(&mut operator).await.unwrap();
    let listens_to_nothing_else = clients.lines().find(|client| client.contains(" sub=1 ")).expect("node one's");
    let id = listens_to_nothing_else.strip_prefix("id=").and_then(|rest| rest.split(' ').next()).unwrap();
    // While clients are paused, nobody can connect: what is published until then is lost.
    () = redis::cmd("CLIENT").arg("KILL").arg("ID").arg(id).query_async::<u64>(&mut operator).await.map(drop).unwrap();
    disconnected(&one).await;
    one.publish("live:a", "lost");
    assert_eq!(next(&mut there).await, Signal::Gap);
    one.publish("live:a", "carried");
    assert_eq!(after_gaps(&mut there).await, message("carried"));
    assert!(other.health().connected, "the other node's link was never cut");
}

#[tokio::test]
async fn a_redis_that_hangs_is_given_up_and_taken_back() {
    let Some((redis, port)) = RedisServer::start().await else { return };
    let hub = hub(port);
    assert!(hub.connected_within(PATIENCE).await);
    redis.signal("STOP");
    let once = Limit::new(1, Duration::from_secs(1));
    let key = UserId::new(NOW).to_string();
    let begun = Instant::now();
    assert!(hub.limit_check(&key, once, NOW).await.is_ok(), "counted in process");
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    disconnected(&hub).await;
    assert_serves_without_redis(&hub).await;
    redis.signal("CONT");
    assert!(hub.connected_within(PATIENCE).await);
    assert!(hub.ticket_issue(ticket(), NOW).await.is_ok());
}
