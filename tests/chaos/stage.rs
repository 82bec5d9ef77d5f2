//! The server that a plan is played on, and what goes wrong around it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use domain::id::OrgId;
use serde_json::json;
use store::{
    Change, Clock, OutboxEntry,
    testing::{DATABASE_URL_VARIABLE, Scratch},
};
use tokio::task::JoinHandle;

use super::plan::Trouble;
use crate::harness::{Client, Proxy, Server};

const REDIS_URL_VARIABLE: &str = "TROUPE_TEST_REDIS_URL";
/// The server's clock runs faster than that on the wall: by so much each time.
const TICK: Duration = Duration::from_millis(100);
const TICK_EVERY: Duration = Duration::from_millis(10);
/// How often something that must come is looked for, and how long between.
const LOOKS: u32 = 3_000;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// A server behind ways to its database and its Redis that can be cut.
pub struct Stage {
    pub server: Server,
    database: Option<Proxy>,
    redis: Option<Proxy>,
    ticking: Ticking,
}

/// A clock that goes on as long as this is held.
struct Ticking {
    stops: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Ticking {
    fn start(clock: Clock) -> Self {
        let stops = Arc::<AtomicBool>::default();
        let stopped = stops.clone();
        let task = tokio::spawn(async move {
            while !stopped.load(Ordering::Relaxed) {
                clock.advance(TICK);
                tokio::time::sleep(TICK_EVERY).await;
            }
        });
        Self { stops, task }
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Relaxed);
        self.task.abort();
    }
}

impl Stage {
    pub async fn open() -> Self {
        let scratch = Scratch::new().await.expect("an empty database");
        let database =
            if scratch.url().starts_with("postgres") { Some(Proxy::start(scratch.url()).await) } else { None };
        let redis = match std::env::var(REDIS_URL_VARIABLE) {
            Ok(url) if !url.is_empty() => Some(Proxy::start(&url).await),
            _ => None,
        };
        let settings = [("database.url", &database), ("redis.url", &redis)].into_iter().filter_map(|(key, way)| {
            let way = way.as_ref()?;
            Some(format!("{key}={}", way.url()))
        });
        let settings: Vec<_> = settings.collect();
        let settings: Vec<_> = settings.iter().map(String::as_str).collect();
        let server = Server::on(scratch, &settings).await;
        let ticking = Ticking::start(server.clock.clone());
        let stage = Self { server, database, redis, ticking };
        if std::env::var(DATABASE_URL_VARIABLE).is_ok_and(|url| !url.is_empty()) {
            assert!(stage.database.is_some(), "the way to PostgreSQL can be cut");
        }
        stage
    }

    /// Has it go wrong, and ends what doesn't end by itself.
    pub async fn suffer(&self, trouble: &Trouble) {
        let faults = &self.server.faults;
        match trouble {
            // Who floods is one of those who work.
            Trouble::None | Trouble::SyncFlood { .. } => {}
            Trouble::FoldsFail { rules } => faults.set(rules).expect("rules"),
            Trouble::Faults { rules, ms } => {
                faults.set(rules).expect("rules");
                if let Some(ms) = ms {
                    tokio::time::sleep(Duration::from_millis(*ms)).await;
                    faults.clear();
                }
            }
            Trouble::DatabaseAway { ms } => without(self.database.as_ref(), Proxy::cut, *ms).await,
            Trouble::DatabaseHangs { ms } => without(self.database.as_ref(), Proxy::hold_up, *ms).await,
            Trouble::RedisAway { ms } => without(self.redis.as_ref(), Proxy::cut, *ms).await,
            Trouble::RedisHangs { ms } => without(self.redis.as_ref(), Proxy::hold_up, *ms).await,
            Trouble::ClockJumps { ms } => {
                let clock = &self.server.clock;
                let span = Duration::from_millis(ms.unsigned_abs());
                if *ms < 0 { clock.set(clock.now().before(span)) } else { clock.advance(span) }
            }
            Trouble::NoisyOrganization { events } => self.flood(*events).await,
        }
    }

    /// An organization that nobody else has a part in emits events, which concern nobody.
    async fn flood(&self, events: u64) {
        let store = self.server.store().await;
        let org_id = OrgId::new(store.now());
        let mut change = Change::new();
        for number in 0..events {
            let event = json!({
                "type": "ops.alarm", "title": "Noise", "resource": { "type": "disk", "id": number.to_string() },
                "orgId": org_id, "at": store.now(),
            });
            change.outbox_add(store.now(), &OutboxEntry::Event { event });
        }
        store.commit(change).await.expect("a commit");
    }

    /// Nothing goes wrong any more, the node is ready, and reads are served: each connection that broke is replaced once that
    /// shows.
    pub async fn recover(&self, client: &Client) {
        self.server.faults.clear();
        let ready = async || self.server.operator().get("/readyz").send().await.json["status"] == "ok";
        eventually("readiness", ready).await;
        let mut in_a_row = 0;
        let served = async || {
            in_a_row = if client.get("/v1/me").send().await.status == 503 { 0 } else { in_a_row + 1 };
            in_a_row > 10
        };
        eventually("reads", served).await;
    }

    /// Every actor that was put in quarantine was told of, to whom runs the platform.
    pub async fn assert_alarms(&self) {
        let owner = self.server.owner();
        let crashes = owner.get("/v1/platform/crashes").send().await.expect(200);
        for crash in crashes.list("/crashes").iter().filter(|crash| crash["quarantinedUntil"].is_number()) {
            let title =
                format!("{} {} is out of order", crash["kind"].as_str().unwrap(), crash["key"].as_str().unwrap());
            eventually(&format!("an alarm: {title}"), async || told(&owner, &title).await).await;
        }
    }

    /// Stops in order.
    pub async fn close(self) {
        drop(self.ticking);
        self.server.stop().await;
    }
}

async fn without(way: Option<&Proxy>, goes_away: fn(&Proxy), ms: u64) {
    if let Some(way) = way {
        goes_away(way);
        tokio::time::sleep(Duration::from_millis(ms)).await;
        way.mend();
    }
}

/// Whether somebody has a notice with this title.
async fn told(person: &Client, title: &str) -> bool {
    let mut page = "/v1/me/notifications?limit=100".to_owned();
    loop {
        let answer = person.get(&page).send().await.expect(200);
        if answer.list("/notices").iter().any(|notice| notice["title"] == title) {
            return true;
        }
        let Some(cursor) = answer.json["cursor"].as_str() else { return false };
        page = format!("/v1/me/notifications?limit=100&cursor={cursor}");
    }
}

/// Waits for something that must come.
pub async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..LOOKS {
        if holds().await {
            return;
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
    panic!("waited in vain for {what}");
}
