//! Finding, starting and leaving the one actor of a key.

use std::{sync::Arc, time::Duration};

use actix::{Addr, Supervisor, prelude::SendError};
use dashmap::DashMap;
use domain::{Context, Error, Result};
use store::Timer;
use tokio::sync::oneshot;

use super::{
    cell::ActorCell,
    dead_letters::DeadLetter,
    envelope::{Envelope, Message},
    host::Host,
    node::Kind,
    resource::{Command, Handle, Resource, Shown},
    trace::CommandTrace,
};

/// How often a command is offered to a key whose address turns out to be closed.
const OFFERS_MAX: u32 = 3;
/// What `Retry-After` says to a caller whose deadline passed.
const DEADLINE_RETRY: Duration = Duration::from_secs(1);

/// The actors of one kind of resource, by key. A cheap handle.
pub struct Registry<R: Resource> {
    pub(super) slots: Arc<Slots<R>>,
}

/// The keys that have an actor.
pub(super) struct Slots<R: Resource> {
    pub(super) kind: Arc<Kind<R>>,
    pub(super) by_key: DashMap<R::Key, Slot<R>, ahash::RandomState>,
}

/// One key's actor. Its address is never cloned, so that dropping the slot ends the host.
pub(super) struct Slot<R: Resource> {
    pub(super) cell: Arc<ActorCell<R>>,
    address: Addr<Host<R>>,
}

/// Whether an envelope is in a mailbox now.
enum Offered {
    Queued,
    Closed,
}

impl<R: Resource> Clone for Registry<R> {
    fn clone(&self) -> Self {
        Self { slots: Arc::clone(&self.slots) }
    }
}

impl<R: Resource> Registry<R> {
    pub(super) fn new(kind: Arc<Kind<R>>) -> Self {
        let slots = Arc::new(Slots { kind, by_key: DashMap::default() });
        // A kind has one registry, made right here.
        let _ = slots.kind.slots.set(Arc::downgrade(&slots));
        Self { slots }
    }

    /// Has the resource of `key` do `command`, and waits for the answer, at most until the context's deadline.
    ///
    /// Besides the handler's own errors: `busy` when the queue is full, the deadline passed or the kernel stops (the
    /// outcome of a command that was queued is unknown then), `quarantined` while the key is out of order, `Internal`
    /// when the handler panicked.
    pub async fn ask<C: Command>(&self, key: &R::Key, command: C, context: Context) -> Result<C::Reply>
    where
        R: Handle<C>,
    {
        self.slots.ask(key, command, context, None).await
    }

    /// The way to the resource of `key` that its own turns leave to tasks.
    pub fn self_ref(&self, key: &R::Key) -> super::SelfRef<R> {
        super::SelfRef { slots: Arc::downgrade(&self.slots), key: key.clone() }
    }

    /// Has the resource of `key` do `command`, and doesn't wait; a failure goes to the log.
    ///
    /// Fails as [`ask`](Self::ask) does when the command can't be queued.
    pub fn tell<C: Command>(&self, key: &R::Key, command: C, context: Context) -> Result<()>
    where
        R: Handle<C>,
    {
        let message = Message::boxed(command, context, None, CommandTrace::begin::<R, C>(key));
        self.slots.post(key, message, None).inspect_err(|error| self.slots.undeliverable::<C>(key, error))
    }
}

impl<R: Resource> Slots<R> {
    /// Queues `command` and waits for its answer; `firing` is the timer that it comes from.
    pub(super) async fn ask<C: Command>(
        &self,
        key: &R::Key,
        command: C,
        context: Context,
        firing: Option<Box<Timer>>,
    ) -> Result<C::Reply>
    where
        R: Handle<C>,
    {
        let (reply, answer) = oneshot::channel();
        let deadline = context.deadline;
        let message = Message::boxed(command, context, firing, CommandTrace::begin::<R, C>(key));
        self.post(key, message, Some(reply))?;
        match tokio::time::timeout_at(deadline.into(), answer).await {
            Ok(Ok(result)) => result,
            Ok(Err(_unread)) => Err(Error::busy(DEADLINE_RETRY)),
            Err(_elapsed) => {
                self.kind.stats.timed_out.add_one();
                Err(Error::busy(DEADLINE_RETRY))
            }
        }
    }

    fn post<C: Command>(
        &self,
        key: &R::Key,
        message: Box<Message<C>>,
        reply: Option<oneshot::Sender<Result<C::Reply>>>,
    ) -> Result<()>
    where
        R: Handle<C>,
    {
        let kind = &self.kind;
        kind.node.admit(message.context.origin)?;
        let envelope = Envelope::new(message, reply);
        if envelope.queued_at >= envelope.deadline {
            kind.stats.refused.add_one();
            return Err(Error::busy(DEADLINE_RETRY));
        }
        let mut envelope = Some(Box::new(envelope));
        for _ in 0..OFFERS_MAX {
            match self.offer(key, &mut envelope)? {
                Offered::Queued => return Ok(()),
                Offered::Closed => self.forget_closed(key),
            }
        }
        kind.stats.refused.add_one();
        Err(Error::busy(DEADLINE_RETRY))
    }

    /// Notes a command that nobody waits for and nobody will read.
    fn undeliverable<C: Command>(&self, key: &R::Key, error: &Error) {
        self.kind.stats.dead_letters.add_one();
        self.kind.node.dead_letters().add(DeadLetter {
            kind: R::KIND.to_owned(),
            key: Shown::<R>(key).to_string(),
            command: C::NAME,
            reason: error.code(),
            at: self.kind.node.clock().now(),
        });
    }

    /// Takes a place in the queue and sends, both under the lock of the key's slot: a slot that is removed has nobody
    /// waiting, and nobody comes to wait at a slot that is being removed.
    fn offer<C: Command>(&self, key: &R::Key, envelope: &mut Option<Box<Envelope<R, C>>>) -> Result<Offered>
    where
        R: Handle<C>,
    {
        if let Some(slot) = self.by_key.get(key) {
            return slot.offer(envelope);
        }
        let slot = self.by_key.entry(key.clone()).or_insert_with(|| self.open(key)).downgrade();
        slot.offer(envelope)
    }

    /// Brings the key's actor to life; the first command will load the resource.
    fn open(&self, key: &R::Key) -> Slot<R> {
        let kind = &self.kind;
        kind.stats.activations.add_one();
        kind.stats.resident.add(1);
        let (arbiter, note) = kind.node.arbiters().for_hash(self.by_key.hasher().hash_one(key));
        let host = Host::new(Arc::clone(kind));
        let address = Supervisor::start_in_arbiter(arbiter, move |ctx| {
            // The bound is the permits; zero turns off actix's own, which would only park senders.
            ctx.set_mailbox_capacity(0);
            host
        });
        Slot { cell: Arc::new(ActorCell::new(Arc::clone(kind), key.clone(), Arc::clone(note))), address }
    }

    /// Removes a slot whose host is gone, so that the next offer starts another.
    fn forget_closed(&self, key: &R::Key) {
        if self.by_key.remove_if(key, |_, slot| !slot.address.connected()).is_some() {
            self.kind.stats.resident.add(-1);
        }
    }
}

impl<R: Resource> Slot<R> {
    fn offer<C: Command>(&self, envelope: &mut Option<Box<Envelope<R, C>>>) -> Result<Offered>
    where
        R: Handle<C>,
    {
        let permit = self.cell.permit(C::NAME)?;
        let Some(mut sent) = envelope.take() else { return Ok(Offered::Queued) };
        sent.permit = Some(permit);
        match self.address.try_send(sent) {
            Ok(()) => Ok(Offered::Queued),
            Err(SendError::Full(sent)) => {
                // Only before the host's first breath: actix's own bound still stands then. `do_send` ignores it.
                self.address.do_send(sent);
                Ok(Offered::Queued)
            }
            Err(SendError::Closed(mut back)) => {
                if let Some(mut permit) = back.permit.take() {
                    permit.open();
                }
                *envelope = Some(back);
                Ok(Offered::Closed)
            }
        }
    }
}
