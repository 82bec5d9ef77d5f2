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
pub struct Leftover {
    /// Commands that had been taken and were not answered, by kind; kinds without any are left out.
    pub waiting: BTreeMap<&'static str, u64>,
}

impl Leftover {
    /// Whether everything that had been taken was answered.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

impl Kernel {
    /// Stops the kernel: new commands are answered `busy` from now on, those that were taken have `grace` to finish,
    /// then all resources leave memory and the threads end. Returns what could not be finished.
    pub async fn shutdown(&self, grace: Duration) -> Leftover {
        self.node.stop_accepting();
        let end = Instant::now() + grace;
        while !self.leftover().is_empty() && Instant::now() < end {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let leftover = self.leftover();
        for (kind, waiting) in &leftover.waiting {
            tracing::warn!(kind, waiting, "commands were left unfinished");
        }
        for kind in self.directory.all() {
            kind.passivate_all();
        }
        self.node.arbiters().stop();
        if tokio::time::timeout(THREADS_GRACE, self.node.arbiters().ended()).await.is_err() {
            tracing::warn!("the kernel's threads took too long to end");
        }
        leftover
    }

    fn leftover(&self) -> Leftover {
        let kinds = self.directory.all();
        let waiting = kinds.iter().filter_map(|kind| {
            let stats = kind.stats();
            Some(stats.waiting()).filter(|waiting| *waiting > 0).map(|waiting| (stats.kind, waiting))
        });
        Leftover { waiting: waiting.collect() }
    }
}
