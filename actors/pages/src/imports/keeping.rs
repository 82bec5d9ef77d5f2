//! Tasks of imports that have their upload, and that no request can break off any more.

use std::time::Duration;

use domain::{Error, Result};
use tokio::{runtime::Handle, sync::watch, time::timeout};
use tracing::Instrument;

/// How long an archive that is broken off may take to say so.
const BREAKING_OFF_MAX: Duration = Duration::from_secs(2);

/// The tasks of a node on which archives are planned and kept. They belong to the runtime that this was made on, not to the
/// requests that wait for them.
pub(super) struct Keeping {
    runtime: Handle,
    /// Says whether the node can wait no longer; each task has a receiver.
    ends: watch::Sender<bool>,
}

/// Told when the node can wait no longer.
pub(super) struct Ends(watch::Receiver<bool>);

impl Keeping {
    /// None so far, on the current runtime.
    pub fn new() -> Self {
        Self { runtime: Handle::current(), ends: watch::Sender::new(false) }
    }

    /// Does `work` to its end, whether or not anybody waits for that here.
    pub async fn run<T, F>(&self, work: impl FnOnce(Ends) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let work = work(Ends(self.ends.subscribe()));
        self.runtime.spawn(work.in_current_span()).await.map_err(Error::internal)?
    }

    /// Returns once all tasks are over, at the latest after `grace`; those that are not by then break off, which they are
    /// given a moment to note.
    pub async fn stop(&self, grace: Duration) {
        if timeout(grace, self.ends.closed()).await.is_ok() {
            return;
        }
        self.ends.send_replace(true);
        if timeout(BREAKING_OFF_MAX, self.ends.closed()).await.is_err() {
            tracing::warn!("an import was left without its archive; it fails when its job looks for that");
        }
    }
}

impl Ends {
    /// Returns when the node can wait no longer.
    pub async fn told(&mut self) {
        // Whoever tells is gone with the node.
        let _ = self.0.wait_for(|ends| *ends).await;
    }
}
