//! Stopping in order: nothing new, what was taken is finished, memory is left, the threads end.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::node::Kernel;

/// How often it is looked whether all mailboxes are empty.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// How long the threads may take to end once they were told to.
const THREADS_GRACE: Duration = Duration::from_secs(2);

/// What a shutdown didn't get to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShutdownReport {
    /// Commands that had been taken and were not answered, by kind; kinds without any are left out.
    pub waiting: BTreeMap<&'static str, u64>,
}

impl ShutdownReport {
    /// Whether everything that had been taken was answered.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

impl Kernel {
    /// Stops the kernel: new commands are answered `busy` from now on, those that were taken have `grace` to finish,
    /// then all resources leave memory and the threads end. Returns what could not be finished.
    pub async fn shutdown(&self, grace: Duration) -> ShutdownReport {
        self.node.stop_accepting();
        let end = Instant::now() + grace;
        while !self.report().is_empty() && Instant::now() < end {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let report = self.report();
        for (kind, waiting) in &report.waiting {
            tracing::warn!(kind, waiting, "commands were left unfinished");
        }
        for kind in self.directory.all() {
            kind.passivate_all();
        }
        self.node.arbiters().stop();
        if tokio::time::timeout(THREADS_GRACE, self.node.arbiters().ended()).await.is_err() {
            tracing::warn!("the kernel's threads took too long to end");
        }
        report
    }

    fn report(&self) -> ShutdownReport {
        let kinds = self.directory.all();
        let waiting = kinds.iter().filter_map(|kind| {
            let stats = kind.stats();
            Some(stats.waiting()).filter(|waiting| *waiting > 0).map(|waiting| (stats.kind, waiting))
        });
        ShutdownReport { waiting: waiting.collect() }
    }
}
