//! What operators see of the work that takes the processor.

use serde::Serialize;

/// The lanes of a node.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CpuSnapshot {
    /// What is short, and what is long.
    pub lanes: Vec<CpuLaneSnapshot>,
}

/// One lane: what it does now, and did since the start of the node.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CpuLaneSnapshot {
    /// The lane's name.
    pub lane: &'static str,
    /// How many threads it may take.
    pub threads: usize,
    /// How many it has taken now.
    pub running: usize,
    /// Pieces of work that wait now.
    pub waiting: usize,
    /// Tenants that have some waiting now.
    pub tenants_waiting: usize,
    /// Pieces of work that were done.
    pub done: u64,
    /// Pieces of work that were refused, because too much waited.
    pub refused: u64,
    /// Pieces of work that were not begun, because whoever asked was gone.
    pub abandoned: u64,
    /// The time that work took, over all threads, in milliseconds.
    pub busy_ms: u64,
}
