//! A task that works until it is told to stop.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::{sync::watch, task::JoinHandle};

/// Such a task; it ends where it stands when this is dropped.
#[derive(Debug)]
pub(crate) struct Worker {
    stopping: watch::Sender<bool>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Worker {
    /// Starts `work` on the current runtime. It ends by itself soon after the value that it is given turns true.
    pub fn start<F: Future<Output = ()> + Send + 'static>(work: impl FnOnce(watch::Receiver<bool>) -> F) -> Self {
        let (stopping, stop) = watch::channel(false);
        Self { stopping, task: Mutex::new(Some(tokio::spawn(work(stop)))) }
    }

    /// Tells the task to end, and returns once it has and `rest` is over, at the latest after `grace`; whether that was in
    /// time.
    pub async fn stop(&self, rest: impl Future<Output = ()>, grace: Duration) -> bool {
        self.stopping.send_replace(true);
        let task = self.task.lock().take();
        let finished = async {
            if let Some(task) = task {
                // An error would be a panic, which the log has.
                let _ = task.await;
            }
            rest.await;
        };
        tokio::time::timeout(grace, finished).await.is_ok()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(task) = self.task.lock().take() {
            task.abort();
        }
    }
}
