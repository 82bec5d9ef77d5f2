//! A command on its way to its actor.

use std::time::Instant;

use domain::{Context, Result};
use store::Timer;
use tokio::sync::oneshot;

use super::{
    resource::{Command, Handle, Resource},
    seat::Permit,
};

/// One command, with everything that travels with it.
///
/// Fields drop in this order: the place in the queue is free, and a letter that nobody read is counted, before the caller
/// learns that no answer will come.
pub(super) struct Letter<R: Resource, C: Command> {
    /// There from the moment that the letter has a place in a queue.
    pub(super) permit: Option<Permit<R>>,
    pub(super) command: C,
    pub(super) context: Context,
    /// Who waits for the answer; nobody does for what was told.
    pub(super) reply: Option<oneshot::Sender<Result<C::Reply>>>,
    pub(super) queued_at: Instant,
    /// The timer that the command comes from.
    pub(super) firing: Option<Box<Timer>>,
}

impl<R: Handle<C>, C: Command> actix::Message for Letter<R, C> {
    type Result = ();
}

impl<R: Resource, C: Command> Letter<R, C> {
    /// A letter that has no place in a queue yet.
    pub(super) fn new(
        command: C,
        context: Context,
        reply: Option<oneshot::Sender<Result<C::Reply>>>,
        firing: Option<Box<Timer>>,
    ) -> Self {
        Self { permit: None, command, context, reply, queued_at: Instant::now(), firing }
    }

    /// Whether nobody has a use for the answer any more.
    pub(super) fn is_unwanted(&self, now: Instant) -> bool {
        now >= self.context.deadline || self.reply.as_ref().is_some_and(oneshot::Sender::is_closed)
    }

    /// Gives the place in the queue back, then the answer, so that whoever got it finds the queue shorter.
    pub(super) fn answer(self, result: Result<C::Reply>) {
        drop(self.permit);
        if let Some(reply) = self.reply {
            // An error means that the caller's deadline passed meanwhile; they know that the outcome is unknown.
            let _ = reply.send(result);
        } else if let Err(error) = result {
            tracing::warn!(kind = R::KIND, command = C::NAME, %error, "a command that nobody waits for failed");
        }
    }
}
