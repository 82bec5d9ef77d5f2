//! What a handler sees of the world while it runs.

use domain::{Context, Error, Result, Timestamp};
use store::Change;

use super::{node::Kind, resource::Resource, seat::Seat};

/// One run of one command: who asks, for which key, with which services, and the way to make the outcome durable.
pub struct Turn<'a, R: Resource> {
    seat: &'a Seat<R>,
    context: &'a Context,
}

impl<'a, R: Resource> Turn<'a, R> {
    pub(super) fn new(seat: &'a Seat<R>, context: &'a Context) -> Self {
        Self { seat, context }
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

    /// Makes `change` durable: it is on disk when this returns `Ok`.
    ///
    /// [`Error::Stale`] goes straight out of the handler, which then runs again on a fresh load.
    pub async fn commit(&mut self, change: Change) -> Result<()> {
        Ok(self.kind().node.store().commit(change).await?)
    }

    /// Runs work that takes the processor (hashing, images, compression) where it holds up no actor; `Internal` when it
    /// panics.
    pub async fn cpu<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
        self.kind().node.cpu(work).await
    }
}
