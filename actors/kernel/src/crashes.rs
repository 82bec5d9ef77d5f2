//! What crashed on this node, and what was slow.

use domain::{RequestId, Timestamp};
use serde::Serialize;

use super::ring::Ring;

/// Crashes that are kept for the operators.
const CRASHES_MAX: usize = 128;
/// Slow commands that are kept for the operators.
const SLOW_MAX: usize = 64;
/// Characters of a panic's text that are kept.
const ERROR_LEN_MAX: usize = 1_000;

/// The last crashes of a node.
pub(super) type Crashes = Ring<Crash, CRASHES_MAX>;
/// The last slow commands of a node.
pub(super) type SlowCommands = Ring<SlowCommand, SLOW_MAX>;

/// One crash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Crash {
    /// The kind of resource.
    pub kind: &'static str,
    /// The key.
    pub key: String,
    /// The command whose turn it was.
    pub command: &'static str,
    /// The panic's text.
    pub error: String,
    /// When.
    pub at: Timestamp,
    /// How often the key had crashed then, since it had its actor.
    pub crashes: u64,
    /// Until when the key went into quarantine by it, if it did.
    pub quarantined_until: Option<Timestamp>,
}

/// A command that took longer than its kind's policy expects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SlowCommand {
    /// The kind of resource.
    pub kind: &'static str,
    /// The key.
    pub key: String,
    /// The command.
    pub command: &'static str,
    /// When it was over.
    pub at: Timestamp,
    /// The request that it came from, `-` for Troupe's own.
    pub request_id: RequestId,
    /// The time in the queue, in microseconds.
    pub queued_us: u32,
    /// The time that loading the resource took.
    pub loading_us: u32,
    /// The time that its commits took.
    pub committing_us: u32,
    /// The rest of its turn.
    pub deciding_us: u32,
}

/// As much of a panic's text as is kept.
pub(super) fn shortened(error: &str) -> String {
    error.chars().take(ERROR_LEN_MAX).collect()
}
