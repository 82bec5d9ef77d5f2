//! The actix actor that runs one resource.

use std::{
    future::poll_fn,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::{Context, Waker},
    time::Instant,
};

use actix::{
    Actor, ActorContext, ActorFutureExt, AtomicResponse, Supervised, WrapFuture,
    dev::{MessageResponse, OneshotSender},
};
use tokio::runtime;

use super::{
    envelope::{AnyEnvelope, Envelope},
    execution::{After, Begun, Execution, Turned},
    group::{self, GROUP_MAX, GroupTurned, Letter},
    node::Kind,
    resource::{Command, Handle, Resource},
};

/// How many envelopes are answered together.
const ANSWERS_AT_ONCE: usize = 32;

/// Hosts a resource: takes it out, lets the command's handler run on it, puts it back.
pub(super) struct Host<R: Resource> {
    kind: Arc<Kind<R>>,
    loaded: Option<Box<R>>,
    turns: u32,
    /// When the last turn ended, if nothing else happened since.
    ended: Option<Instant>,
    /// Letters whose turn is over. While others wait behind them, they are answered some at a time: to wake who asked
    /// costs more than a small turn, unless several are woken together.
    unanswered: Vec<Box<dyn AnyEnvelope>>,
    /// Letters that are to have a turn together, once all that wait are here.
    gathered: Vec<Box<dyn Letter<R>>>,
}

impl<R: Resource> Host<R> {
    pub(super) fn new(kind: Arc<Kind<R>>) -> Self {
        Self { kind, loaded: None, turns: 0, ended: None, unanswered: Vec::new(), gathered: Vec::new() }
    }

    /// Whether others of the thread go first now.
    fn yields(&mut self) -> bool {
        self.turns = self.turns.wrapping_add(1);
        self.turns.is_multiple_of(self.kind.policy.yield_every.max(1))
    }

    fn settle(&mut self, turned: Turned<R>, ctx: &mut actix::Context<Self>) {
        let Turned { after, envelope, ended } = turned;
        self.ended = ended;
        let waiting = envelope.waiting() as usize;
        self.unanswered.push(envelope);
        let has_crashed = match after {
            After::Keep(loaded) => {
                self.loaded = loaded;
                false
            }
            After::Crashed => true,
        };
        if has_crashed || self.unanswered.len() >= ANSWERS_AT_ONCE || waiting <= self.unanswered.len() {
            self.answer_all();
        }
        if has_crashed {
            ctx.stop();
        }
    }

    /// Whether more commands wait for the key than those that are here.
    fn is_more_coming(&self, waiting: u32) -> bool {
        waiting as usize > self.gathered.len() + self.unanswered.len()
    }

    /// Takes a letter that is to have its turn together with others; they have it once no more are to be taken.
    fn gather<C: Command>(&mut self, envelope: Box<Envelope<R, C>>) -> Taken<R>
    where
        R: Handle<C>,
    {
        let (waiting, is_gathered) = (envelope.waiting(), envelope.is_gathered());
        self.gathered.push(envelope);
        if is_gathered && self.gathered.len() < GROUP_MAX && self.is_more_coming(waiting) {
            return Taken::Over;
        }
        self.ended = None;
        self.answer_all();
        let group = group::run(mem::take(&mut self.gathered), self.loaded.take());
        let running = on_runtime(self.kind.node.runtime().clone(), group);
        let settled = running.into_actor(self).map(|turned, host, ctx| host.settle_group(turned, ctx));
        Taken::Waits(AtomicResponse::new(Box::pin(settled)))
    }

    fn settle_group(&mut self, turned: GroupTurned<R>, ctx: &mut actix::Context<Self>) {
        self.unanswered.extend(turned.envelopes);
        self.answer_all();
        match turned.after {
            After::Keep(loaded) => self.loaded = loaded,
            After::Crashed => ctx.stop(),
        }
    }

    fn answer_all(&mut self) {
        self.unanswered.iter_mut().for_each(|envelope| envelope.leave());
        if self.unanswered.len() <= 1 {
            self.unanswered.drain(..).for_each(AnyEnvelope::answer);
            return;
        }
        // Whoever wakes others on their own runtime puts them in line; from here a thread would be woken for each.
        let envelopes = mem::take(&mut self.unanswered);
        self.kind.node.runtime().spawn(async { envelopes.into_iter().for_each(answer_one) });
    }
}

/// Answers an envelope so that those who are answered with it are answered too, even if its command panics when it is dropped.
fn answer_one(envelope: Box<dyn AnyEnvelope>) {
    // The panic's text is in the log already.
    let _ = catch_unwind(AssertUnwindSafe(|| envelope.answer()));
}

impl<R: Resource> Actor for Host<R> {
    type Context = actix::Context<Self>;
}

impl<R: Resource> Supervised for Host<R> {
    fn restarting(&mut self, _: &mut Self::Context) {
        self.loaded = None;
        self.kind.stats.restarts.add_one();
    }
}

impl<R: Handle<C>, C: Command> actix::Handler<Box<Envelope<R, C>>> for Host<R> {
    type Result = Taken<R>;

    fn handle(&mut self, envelope: Box<Envelope<R, C>>, ctx: &mut Self::Context) -> Self::Result {
        if !self.gathered.is_empty()
            || envelope.is_gathered() && envelope.waiting() as usize > 1 + self.unanswered.len()
        {
            return self.gather(envelope);
        }
        let yields = self.yields();
        let begun = match Execution::begin(envelope, self.loaded.take(), self.ended) {
            // Most turns end without waiting for anything, and need no more than this one look. One that does wait is
            // looked at once more right away, by the actor itself, and is woken from then on.
            Begun::UnderWay(execution) if !yields => look(self.kind.node.runtime(), execution),
            begun => begun,
        };
        match begun {
            Begun::Over(turned) => {
                self.settle(turned, ctx);
                Taken::Over
            }
            Begun::UnderWay(execution) => {
                self.ended = None;
                self.answer_all();
                let finishing = on_runtime(self.kind.node.runtime().clone(), execution.finish(yields));
                let settled = finishing.into_actor(self).map(|turned, host, ctx| host.settle(turned, ctx));
                Taken::Waits(AtomicResponse::new(Box::pin(settled)))
            }
        }
    }
}

/// How far a turn came at once.
pub(super) enum Taken<R: Resource> {
    Over,
    Waits(AtomicResponse<Host<R>, ()>),
}

impl<R: Handle<C>, C: Command> MessageResponse<Host<R>, Box<Envelope<R, C>>> for Taken<R> {
    fn handle(self, ctx: &mut actix::Context<Host<R>>, tx: Option<OneshotSender<()>>) {
        match self {
            // Nobody waits for it: the answer goes by the envelope.
            Self::Over => {}
            Self::Waits(response) => MessageResponse::<_, Box<Envelope<R, C>>>::handle(response, ctx, tx),
        }
    }
}

/// Looks at a turn once; what it opens and sleeps on belongs to `runtime`.
fn look<R: Handle<C>, C: Command>(runtime: &runtime::Handle, execution: Execution<R, C>) -> Begun<R, C> {
    let _entered = runtime.enter();
    execution.look(&mut Context::from_waker(Waker::noop()))
}

/// Brings a turn to its end; what it opens and sleeps on belongs to `runtime`.
async fn on_runtime<T>(runtime: runtime::Handle, turn: impl Future<Output = T>) -> T {
    let mut turn = pin!(turn);
    poll_fn(|cx| {
        let _entered = runtime.enter();
        turn.as_mut().poll(cx)
    })
    .await
}
