//! What operators ask of a node, and have it do.
//!
//! Every node answers for its own actors: what is resident, what crashed, what was slow, what happened lately. Whoever
//! asks may be on another node; then the question goes there over the hub and the answer comes back ([`ask`]). What is the
//! same for all nodes (timers, the outbox, deliveries, jobs) is read from the store instead.
//!
//! Answers are JSON, from this node as from another, so that there is one way for both.

mod act;
mod ask;
mod dead_letters;
mod health;
mod heartbeat;
mod jobs;
mod pulses;
mod question;
mod slow;

use std::{sync::Arc, time::Duration};

use actors_base::{Services, work::job::Topic};
use domain::Timestamp;
use kernel::Kernel;
use parking_lot::Mutex;
use tokio::task::JoinHandle;

pub use self::{
    act::Act,
    dead_letters::{DeadLetterAct, NO_DEAD_LETTER},
    heartbeat::{AWAY_AFTER, SEEN_EVERY},
    jobs::NO_JOB,
    pulses::PULSE_EVERY,
    question::Question,
    slow::{SLOW_AFTER, SlowRequest},
};
use self::{pulses::Pulses, slow::SlowRequests};

/// The version of the program.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// How long a node may take to say that it leaves, whatever else it was told to stop within.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(5);

/// Finds the topic of a job by its name.
pub type JobTopic = fn(&str) -> Option<Topic>;

/// What operators ask. A cheap handle.
#[derive(Clone)]
pub struct Platform {
    shared: Arc<Shared>,
}

struct Shared {
    services: Services,
    kernel: Kernel,
    node: String,
    job_topic: JobTopic,
    started_at: Timestamp,
    pulses: Pulses,
    slow_requests: SlowRequests,
}

/// The tasks of a node that serves; they end when this is dropped.
pub struct RunningPlatform {
    platform: Platform,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl Platform {
    /// What operators may ask of `kernel`, on the node of this name.
    ///
    /// `job_topic` knows the kinds of jobs that there are.
    pub fn new(services: Services, kernel: Kernel, node: String, job_topic: JobTopic) -> Self {
        let started_at = services.store.now();
        let (pulses, slow_requests) = (Pulses::default(), SlowRequests::default());
        Self { shared: Arc::new(Shared { services, kernel, node, job_topic, started_at, pulses, slow_requests }) }
    }

    /// The name of this node.
    pub fn node(&self) -> &str {
        &self.shared.node
    }

    /// Notes a request that was slow.
    pub fn was_slow(&self, request: SlowRequest) {
        self.shared.slow_requests.add(request);
    }

    /// Says that the node is there, measures, and listens to what other nodes ask, on the current runtime.
    pub fn start(self) -> RunningPlatform {
        let tasks = vec![
            tokio::spawn(heartbeat::keep_saying(self.clone())),
            tokio::spawn(pulses::keep_measuring(self.clone())),
            tokio::spawn(ask::keep_answering(self.clone())),
        ];
        RunningPlatform { platform: self, tasks: Mutex::new(tasks) }
    }
}

impl RunningPlatform {
    /// Ends the tasks, and says that the node leaves, within `grace` or a few seconds.
    pub async fn stop(&self, grace: Duration) {
        self.abort();
        if tokio::time::timeout(grace.max(LEAVE_TIMEOUT), heartbeat::leave(&self.platform)).await.is_err() {
            tracing::warn!("the store was too slow to note that this node leaves; it will look away for a while");
        }
    }

    fn abort(&self) {
        self.tasks.lock().drain(..).for_each(|task| task.abort());
    }
}

impl Drop for RunningPlatform {
    fn drop(&mut self) {
        self.abort();
    }
}
