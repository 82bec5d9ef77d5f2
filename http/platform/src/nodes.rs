//! The nodes, and how they are.

use actors::platform::AWAY_AFTER;
use domain::Timestamp;
use http_shell::{answer::Json, error::Result, permission::PlatformInfra, state::State};
use serde::Serialize;
use store::{Node, NodeHealth};
use utoipa::ToSchema;

use super::Operator;

/// The nodes.
#[derive(Serialize, ToSchema)]
pub(crate) struct NodesAnswer {
    /// The node that answers.
    node: String,
    /// The nodes that said that they are there, and not that they left, by name.
    nodes: Vec<NodeView>,
}

/// A process that serves.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "node": "troupe-1-4711", "version": "0.1.0", "status": "up", "startedAt": 1_767_225_600_000_i64,
    "seenAt": 1_767_225_990_000_i64, "database": {"tookUs": 85}, "clock": {"status": "ok", "behindMs": 0},
    "hub": {"mode": "redis", "status": "ok", "forSeconds": 390}, "residentBytes": 41_000_000
}))]
pub(crate) struct NodeView {
    /// The node's name.
    node: String,
    /// The version of the program.
    version: String,
    /// `up`, or `away`: it was not heard of for 35 seconds.
    status: &'static str,
    /// When it started.
    started_at: i64,
    /// When it last said that it is there; it does so every ten seconds.
    seen_at: i64,
    /// How the database was for it then.
    database: DatabaseView,
    /// How the hub was for it then.
    hub: HubView,
    /// What the process held in RAM then, in bytes; 0 where its system doesn't say.
    resident_bytes: u64,
    /// How its clock was then.
    clock: ClockView,
}

/// How the database is for a node.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DatabaseView {
    /// How long it took to answer, in microseconds.
    took_us: u64,
}

/// How the hub is for a node.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HubView {
    /// `in_process`, or `redis`.
    mode: String,
    /// `ok`, or `away`.
    status: &'static str,
    /// How long it has been so, in seconds.
    for_seconds: u64,
}

/// How a node's clock is, beside the database's.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClockView {
    /// `ok`, or `off`: by more than two seconds, so that the node takes on no work that is due.
    status: &'static str,
    /// How much more the database's clock showed, in milliseconds.
    behind_ms: i64,
}

impl NodeView {
    fn new(node: Node, now: Timestamp) -> Self {
        let NodeHealth {
            database_us,
            hub,
            hub_connected,
            hub_for_seconds,
            resident_bytes,
            clock_behind_ms,
            clock_is_off,
        } = node.health;
        Self {
            node: node.name,
            version: node.version,
            status: if node.seen_at.after(AWAY_AFTER) > now { "up" } else { "away" },
            started_at: node.started_at.as_millis(),
            seen_at: node.seen_at.as_millis(),
            database: DatabaseView { took_us: database_us },
            hub: HubView { mode: hub, status: if hub_connected { "ok" } else { "away" }, for_seconds: hub_for_seconds },
            resident_bytes,
            clock: ClockView { status: clock_status(clock_is_off), behind_ms: clock_behind_ms },
        }
    }
}

/// How a clock is called.
pub(crate) const fn clock_status(is_off: bool) -> &'static str {
    if is_off { "off" } else { "ok" }
}

/// List the nodes
///
/// Each node says every ten seconds that it is there, and how the database and the hub are for it.
#[utoipa::path(get, path = "/v1/platform/nodes")]
pub(crate) async fn nodes_list(_operator: Operator<PlatformInfra>, state: State) -> Result<Json<NodesAnswer>> {
    let now = state.store.now();
    let nodes = state.store.nodes().await?.into_iter().map(|node| NodeView::new(node, now)).collect();
    Ok(Json(NodesAnswer { node: state.actors.platform.node().to_owned(), nodes }))
}
