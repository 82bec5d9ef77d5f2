//! What a handler sees of the world while it runs.

use domain::{Context, Result, Timestamp};
use store::{Change, Timer};

use super::{node::Kind, resource::Resource, seat::Seat};

/// One run of one command: who asks, for which key, with which services, and the way to make the outcome durable.
pub struct Turn<'a, R: Resource> {
    seat: &'a Seat<R>,
    context: &'a Context,
    firing: Option<&'a Timer>,
    settled: &'a mut bool,
}

impl<'a, R: Resource> Turn<'a, R> {
    /// `settled` says whether an earlier commit of the same command has settled its timer and its idempotency key.
    pub(super) fn new(
        seat: &'a Seat<R>,
        context: &'a Context,
        firing: Option<&'a Timer>,
        settled: &'a mut bool,
    ) -> Self {
        Self { seat, context, firing, settled }
    }

    fn kind(&self) -> &'a Kind<R> {
        &self.seat.kind
    }

    /// The key whose turn it is.
    pub fn key(&self) -> &'a R::Key {
        &self.seat.key
    }

    /// What resources of this kind work with.
    pub fn services(&self) -> &'a R::Services {
        &self.kind().services
    }

    /// Who asks, from where, and until when.
    pub fn context(&self) -> &'a Context {
        self.context
    }

    /// What the clock shows.
    pub fn now(&self) -> Timestamp {
        self.kind().node.clock().now()
    }

    /// Makes `change` durable: it is on disk when this returns `Ok`. The command's first commit also settles the timer
    /// that it came from and the idempotency key that it carries.
    ///
    /// [`Error::Stale`](domain::Error::Stale) goes straight out of the handler, which then runs again on a fresh load.
    pub async fn commit(&mut self, change: Change) -> Result<()> {
        let store = self.kind().node.store();
        if *self.settled {
            return Ok(store.commit(change).await?);
        }
        let mut whole = Change::new();
        if let Some(timer) = self.firing {
            whole.timer_done(timer);
        }
        if let Some(claim) = &self.context.idempotency {
            whole.idempotency_commit(claim);
        }
        whole.append(change);
        store.commit(whole).await?;
        *self.settled = true;
        Ok(())
    }

    /// Runs work that takes the processor (hashing, images, compression) where it holds up no actor; `Internal` when it
    /// panics.
    pub async fn cpu<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        self.kind().node.cpu(work).await
    }
}
