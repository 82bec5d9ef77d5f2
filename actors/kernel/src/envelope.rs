//! A command on its way to its actor.

use std::time::{Duration, Instant};

use domain::{Context, Result};
use store::Timer;
use tokio::sync::oneshot;

use super::{
    cell::Permit,
    resource::{Command, Handle, Resource},
    trace::CommandTrace,
};

/// From when on it is looked whether whoever asked still waits. Before that, doing what is asked costs less than looking.
const ABANDONED_AFTER: Duration = Duration::from_millis(1);

/// What is asked for, and what travels with it.
///
/// It stays where the caller put it, and goes back there to be dropped: every cache line of it that an actor's thread
/// doesn't touch is one that need not come over from the caller's processor.
pub(super) struct Message<C: Command> {
    pub(super) command: C,
    pub(super) context: Context,
    /// The timer that the command comes from.
    pub(super) firing: Option<Box<Timer>>,
    pub(super) progress: Progress,
    /// There until its turn.
    pub(super) trace: CommandTrace,
}

/// How far a command came, over all runs of its handler.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    /// Whether a commit has settled the timer and the idempotency key that the command comes with.
    pub(super) is_settled: bool,
    /// Time that went into loading the resource.
    pub(super) loading: Duration,
    /// Time that went into commits.
    pub(super) committing: Duration,
}

/// One command with its place in the queue and its way back.
///
/// Fields drop in this order: the place in the queue is free, and an envelope that nobody read is counted, before the caller
/// learns that no answer will come.
pub(super) struct Envelope<R: Resource, C: Command> {
    /// There while the envelope has a place in a queue.
    pub(super) permit: Option<Permit<R>>,
    /// Who waits for the answer; nobody does for what was told.
    pub(super) reply: Option<oneshot::Sender<Result<C::Reply>>>,
    pub(super) queued_at: Instant,
    pub(super) deadline: Instant,
    /// What the command came to, once that is known.
    pub(super) answer: Option<Result<C::Reply>>,
    /// There but for its turn.
    pub(super) message: Option<Box<Message<C>>>,
}

/// An envelope whose turn is over, whatever it asked for.
pub(super) trait AnyEnvelope: Send {
    /// Commands that wait for the same key, those that are not answered yet included.
    fn waiting(&self) -> u32;

    /// Gives the place in the queue back. Before the answer, so that whoever has that finds the queue shorter.
    fn leave(&mut self);

    /// Gives the answer, if the envelope was worth one.
    fn answer(self: Box<Self>);
}

impl<R: Handle<C>, C: Command> actix::Message for Envelope<R, C> {
    type Result = ();
}

impl<C: Command> Message<C> {
    pub(super) fn boxed(command: C, context: Context, firing: Option<Box<Timer>>, trace: CommandTrace) -> Box<Self> {
        Box::new(Self { command, context, firing, progress: Progress::default(), trace })
    }
}

impl<R: Resource, C: Command> Envelope<R, C> {
    /// An envelope that has no place in a queue yet.
    pub(super) fn new(message: Box<Message<C>>, reply: Option<oneshot::Sender<Result<C::Reply>>>) -> Self {
        let deadline = message.context.deadline;
        Self { permit: None, reply, queued_at: Instant::now(), deadline, answer: None, message: Some(message) }
    }

    /// Whether nobody has a use for the answer any more.
    pub(super) fn is_unwanted(&self, now: Instant) -> bool {
        now >= self.deadline
            || now.saturating_duration_since(self.queued_at) >= ABANDONED_AFTER
                && self.reply.as_ref().is_some_and(oneshot::Sender::is_closed)
    }
}

impl<R: Resource, C: Command> AnyEnvelope for Envelope<R, C> {
    fn waiting(&self) -> u32 {
        self.permit.as_ref().map_or(0, |permit| permit.cell.waiting())
    }

    fn leave(&mut self) {
        self.permit = None;
    }

    fn answer(self: Box<Self>) {
        let Self { reply, answer, message, .. } = *self;
        // The command goes last, whatever that does.
        let _order = message;
        let Some(answer) = answer else { return };
        if let Some(reply) = reply {
            // An error means that the caller's deadline passed meanwhile; they know that the outcome is unknown.
            let _ = reply.send(answer);
        } else if let Err(error) = answer {
            tracing::warn!(kind = R::KIND, command = C::NAME, %error, "a command that nobody waits for failed");
        }
    }
}
