//! How a node is: what answers it, and what it holds.

use std::time::{Duration, Instant};

use domain::{Error, Result};
use gateways::{Git, hub::HubMode};
use serde_json::{Value, json};
use store::NodeHealth;

use super::Platform;

/// How long the database may take to answer before it counts as away.
const DATABASE_PATIENCE: Duration = Duration::from_secs(2);

impl Platform {
    /// How this node is, looked at now: as [`NodeHealth`], with null for a database that doesn't answer.
    pub(super) async fn health(&self) -> Result<Value> {
        let database_us = self.database_us().await.ok();
        let mut health =
            serde_json::to_value(self.health_with(database_us.unwrap_or_default())).map_err(Error::internal)?;
        health["node"] = json!(self.node());
        health["databaseUs"] = json!(database_us);
        let git = Git::runs();
        health["git"] = json!({"running": git.running, "waiting": git.waiting});
        Ok(health)
    }

    /// How long the database takes to answer now, in microseconds; an error when it doesn't.
    pub(super) async fn database_us(&self) -> Result<u64> {
        let started = Instant::now();
        let ping = self.shared.services.store.ping();
        let away = |_elapsed| Error::busy(DATABASE_PATIENCE);
        tokio::time::timeout(DATABASE_PATIENCE, ping).await.map_err(away)??;
        Ok(u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// How this node is with a database that takes so long.
    pub(super) fn health_with(&self, database_us: u64) -> NodeHealth {
        let hub = self.shared.services.hub.health();
        let mode = match hub.mode {
            HubMode::InProcess => "in_process",
            HubMode::Redis => "redis",
        };
        NodeHealth {
            database_us,
            hub: mode.to_owned(),
            hub_connected: hub.connected,
            hub_for_seconds: hub.since.elapsed().as_secs(),
            resident_bytes: resident_bytes(),
            clock_behind_ms: self.shared.services.store.clock_behind_ms(),
            clock_is_off: self.shared.services.store.clock_is_off(),
        }
    }
}

/// What the process holds in RAM, in bytes; 0 where the system doesn't say.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or_default() * 1_024
}
