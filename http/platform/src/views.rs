//! What nodes answer, as it is written. Nodes answer in JSON, which is read as these types, so that what a node of an
//! older or newer version leaves out is noticed here.

use http_shell::cursor;
use kernel::ResidentPlace;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The actors of a node.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActorsAnswer {
    /// The node that answers.
    #[schema(example = "troupe-1-4711")]
    node: String,
    /// Every kind of actor, by name.
    kinds: Vec<ActorKind>,
    /// Commands that could not be delivered, since the start.
    dead_letters: u64,
    /// The last of them, oldest first.
    last_dead_letters: Vec<DeadLetterView>,
    /// The lanes of what takes the processor (passwords, archives, documents, compression), which is taken in turns by
    /// organization and person. A node of an older version says nothing of it.
    #[serde(default)]
    processor: Vec<ProcessorLane>,
}

/// A lane: what it does now, and did since the start of the node.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProcessorLane {
    /// `short`, or `long` for archives.
    #[schema(example = "short")]
    lane: String,
    /// Threads that it may take.
    threads: u64,
    /// Threads that it has taken now.
    running: u64,
    /// Pieces of work that wait now.
    waiting: u64,
    /// Organizations and people who have some waiting now.
    tenants_waiting: u64,
    /// Pieces of work that were done.
    done: u64,
    /// Pieces of work that were refused, because too much waited.
    refused: u64,
    /// Pieces of work that were not begun, because whoever asked was gone.
    abandoned: u64,
    /// The time that work took, over all threads, in milliseconds.
    busy_ms: u64,
}

/// A kind of actor: its counts since the start of the node.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActorKind {
    /// The kind's name.
    #[schema(example = "organization")]
    kind: String,
    /// Keys that have an actor now.
    resident: i64,
    /// Commands that wait or run now.
    waiting: u64,
    /// The most commands that ever waited for one key.
    depth_max: i64,
    /// Keys in quarantine now.
    quarantined: i64,
    /// Actors that came to life.
    activations: u64,
    /// Actors that left memory.
    passivations: u64,
    /// Loads that were tried.
    loads: u64,
    /// Loads that failed.
    load_failures: u64,
    /// Panics, and turns without end.
    crashes: u64,
    /// Restarts by the supervisor.
    restarts: u64,
    /// Keys that went into quarantine.
    quarantines: u64,
    /// Commands answered `busy` or `quarantined` at once.
    refused: u64,
    /// Callers that stopped waiting at their deadline.
    timed_out: u64,
    /// Commands that could not be delivered.
    dead_letters: u64,
    /// The kind's commands.
    commands: Vec<ActorCommand>,
    /// How much one key may take.
    policy: ActorPolicy,
}

/// A command of a kind: its counts since the start of the node.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActorCommand {
    /// The command's name.
    command: String,
    /// How many were answered.
    handled: u64,
    /// How many of them with an error.
    failed: u64,
    /// Dropped unread, because nobody waited any more.
    expired: u64,
    /// Decided again because the version was stale.
    stale: u64,
    /// The time in the queue.
    queued_time: ActorTimes,
    /// The time from the front of the queue to the answer.
    handled_time: ActorTimes,
}

/// Durations in microseconds; all but the mean are upper bounds, within a factor of two.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "a unit stands last in a name")]
pub(crate) struct ActorTimes {
    /// The mean.
    mean_us: f64,
    /// Half took no longer.
    p50_us: f64,
    /// 99 of 100 took no longer.
    p99_us: f64,
    /// The longest.
    max_us: f64,
}

/// How much one key of a kind may take; spans in milliseconds.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActorPolicy {
    /// Commands that may wait for one key.
    queue_len_max: u32,
    /// After how long without a command an actor leaves memory.
    idle_after_ms: u64,
    /// Crashes within the window that a key may have; one more is quarantine.
    crash_max: u32,
    /// Over what span crashes are counted.
    crash_window_ms: u64,
    /// The pause after a first crash.
    backoff_min_ms: u64,
    /// The longest such pause.
    backoff_max_ms: u64,
    /// How long a quarantine lasts.
    quarantine_ms: u64,
    /// From which time on a command counts as slow.
    slow_after_ms: u64,
    /// How long one command may run.
    turn_max_ms: u64,
}

/// A command that could not be delivered.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct DeadLetterView {
    /// The kind that it was for.
    kind: String,
    /// The key that it was for.
    key: String,
    /// The command.
    command: String,
    /// Why nobody read it.
    reason: String,
    /// When that was found out.
    at: i64,
}

/// Actors of one kind, as a node finds them.
#[derive(Debug, Deserialize)]
pub(crate) struct FoundActors {
    node: String,
    actors: Vec<ActorView>,
    total: u64,
    next: Option<ResidentPlace>,
}

/// Actors of one kind.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ActorListAnswer {
    /// The node that answers.
    node: String,
    /// The actors, sorted.
    actors: Vec<ActorView>,
    /// How many fit the query, on all pages.
    total: u64,
    /// Where the next page starts; null on the last one.
    cursor: Option<String>,
}

impl FoundActors {
    /// As a page of `list`.
    pub(super) fn listed(self, list: &str) -> ActorListAnswer {
        let Self { node, actors, total, next } = self;
        ActorListAnswer { node, actors, total, cursor: next.map(|next| cursor::write(list, next)) }
    }
}

/// A resident actor.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "kind": "organization", "key": "org_01jd7rt4m5e9fv2w8x3c6k0hqz", "loaded": true, "waiting": 1, "command": "patch",
    "runningMs": 3, "crashes": 0, "lastError": null, "quarantineMs": null, "inUse": false, "activeAt": 1_767_225_600_000_i64
}))]
pub(crate) struct ActorView {
    /// The actor's kind.
    kind: String,
    /// The actor's key.
    key: String,
    /// Whether the resource is in memory.
    loaded: bool,
    /// Commands that wait, the running one included.
    waiting: u32,
    /// The command that runs.
    command: Option<String>,
    /// Since when it runs, in milliseconds before now.
    running_ms: Option<u64>,
    /// How often it crashed since it came to life, or was released.
    crashes: u64,
    /// What it crashed of the last time.
    last_error: Option<String>,
    /// How long its quarantine still lasts, in milliseconds.
    quarantine_ms: Option<u64>,
    /// Whether it stays in memory although nobody asks anything of it: people have it open.
    in_use: bool,
    /// When its queue last became empty.
    active_at: i64,
}

/// One actor.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ActorAnswer {
    /// The node that answers.
    node: String,
    /// The actor.
    actor: ActorView,
    /// The actor's last eight commands, newest first.
    recent: Vec<RecentCommandView>,
}

/// A command that an actor did.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecentCommandView {
    /// When its turn began.
    at: i64,
    /// The command.
    command: String,
    /// The time in the queue, in microseconds.
    queued_us: u32,
    /// The time from the front of the queue to the answer, in microseconds.
    handled_us: u32,
    /// `ok`, `crashed`, or the code of the error that it was answered with.
    outcome: String,
    /// The request that it came from; `-` for the server's own.
    request_id: String,
}

/// The last crashes of a node.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct CrashesAnswer {
    /// The node that answers.
    node: String,
    /// At most 128, newest first.
    crashes: Vec<CrashView>,
}

/// A crash.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CrashView {
    /// The kind of the actor.
    kind: String,
    /// The actor's key.
    key: String,
    /// The command whose turn it was.
    command: String,
    /// The panic's text.
    error: String,
    /// When.
    at: i64,
    /// How often it had crashed then.
    crashes: u64,
    /// Until when it went into quarantine by it, if it did.
    quarantined_until: Option<i64>,
}

/// What was slow on a node.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct SlowAnswer {
    /// The node that answers.
    node: String,
    /// The last requests that took a second or more, newest first, at most 64.
    requests: Vec<SlowRequestView>,
    /// The last commands that took longer than their kind's policy expects, newest first, at most 64.
    commands: Vec<SlowCommandView>,
    /// The last turns that did not yield for a second or more and held up all actors of their thread, newest first, at most
    /// 64. A node of an older version says nothing of them.
    #[serde(default)]
    stalls: Vec<StallView>,
}

/// A turn that did not yield.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StallView {
    /// The kind of the actor.
    kind: String,
    /// The actor's key.
    key: String,
    /// The command.
    command: String,
    /// When it was found.
    at: i64,
    /// For how long it held its thread, in milliseconds; so far, while it goes on.
    held_ms: u64,
    /// Whether it goes on.
    goes_on: bool,
}

/// A slow request.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SlowRequestView {
    /// When it was answered.
    at: i64,
    /// The request's method.
    method: String,
    /// The request's path, with parameters in braces.
    route: String,
    /// The status of the answer.
    status: u16,
    /// How long it took, in microseconds.
    took_us: u64,
    /// The request's id.
    request_id: String,
}

/// A slow command, and where its time went, in microseconds.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SlowCommandView {
    /// The kind of the actor.
    kind: String,
    /// The actor's key.
    key: String,
    /// The command.
    command: String,
    /// When it was over.
    at: i64,
    /// The request that it came from; `-` for the server's own.
    request_id: String,
    /// Waiting in the queue.
    queued_us: u32,
    /// Loading the resource.
    loading_us: u32,
    /// Committing.
    committing_us: u32,
    /// The rest of its turn.
    deciding_us: u32,
}
