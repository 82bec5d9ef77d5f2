//! The threads that actors live on.

use std::{
    io,
    num::NonZeroUsize,
    sync::{Arc, mpsc},
    thread,
};

use actix::{Arbiter, ArbiterHandle, System};
use parking_lot::Mutex;
use tokio::sync::watch;

use super::watchdog::PollNote;

/// One event loop per arbiter for the actors, and a thread that ends them together.
pub(super) struct Arbiters {
    handles: Vec<ArbiterHandle>,
    /// What each is at.
    notes: Vec<Arc<PollNote>>,
    system: Mutex<Option<System>>,
    ended: watch::Receiver<bool>,
}

impl Arbiters {
    /// Starts `count` event loops; fails when the operating system gives no threads.
    pub(super) fn start(count: NonZeroUsize) -> io::Result<Self> {
        let (started, outcome) = mpsc::channel();
        let (ended_sender, ended) = watch::channel(false);
        thread::Builder::new().name("troupe-kernel".into()).spawn(move || {
            let runner = System::new();
            let arbiters = runner.block_on(async { (0..count.get()).map(|_| Arbiter::try_new()).collect() });
            run(arbiters, runner, &started);
            ended_sender.send_replace(true);
        })?;
        let (handles, system) = outcome.recv().map_err(io::Error::other)??;
        let notes = handles.iter().map(|_| Arc::default()).collect();
        Ok(Self { handles, notes, system: Mutex::new(Some(system)), ended })
    }

    /// The event loop for a key with this hash, and where it notes what it is at.
    #[expect(clippy::cast_possible_truncation, reason = "only the remainder counts")]
    pub(super) fn for_hash(&self, hash: u64) -> (&ArbiterHandle, &Arc<PollNote>) {
        let place = hash as usize % self.handles.len();
        (&self.handles[place], &self.notes[place])
    }

    /// Where the event loops note what they are at.
    pub(super) fn notes(&self) -> Vec<Arc<PollNote>> {
        self.notes.clone()
    }

    /// Ends all event loops where they stand; what waits in their mailboxes is dropped.
    pub(super) fn stop(&self) {
        if let Some(system) = self.system.lock().take() {
            system.stop();
        }
    }

    /// Returns once all threads have ended.
    pub(super) async fn ended(&self) {
        // An error means that the thread is gone, which is what is waited for.
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
    }
}

impl Drop for Arbiters {
    fn drop(&mut self) {
        self.stop();
    }
}

type Started = io::Result<(Vec<ArbiterHandle>, System)>;

fn run(arbiters: io::Result<Vec<Arbiter>>, runner: actix::SystemRunner, started: &mpsc::Sender<Started>) {
    let arbiters = match arbiters {
        Ok(arbiters) => arbiters,
        Err(error) => {
            // Whoever started the kernel waits for this, or is gone.
            let _ = started.send(Err(error));
            return;
        }
    };
    let handles = arbiters.iter().map(Arbiter::handle).collect();
    if started.send(Ok((handles, System::current()))).is_ok()
        && let Err(error) = runner.run()
    {
        tracing::error!(%error, "the kernel's event loop ended with an error");
    }
    for arbiter in arbiters {
        if arbiter.join().is_err() {
            tracing::error!("an arbiter's thread panicked");
        }
    }
}
