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
    letter::{Letter, Read},
    node::Kind,
    resource::{Command, Handle, Resource},
    sitting::{After, Begun, Sitting, Turned},
};

/// How many letters are answered together.
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
    unanswered: Vec<Box<dyn Read>>,
}

impl<R: Resource> Host<R> {
    pub(super) fn new(kind: Arc<Kind<R>>) -> Self {
        Self { kind, loaded: None, turns: 0, ended: None, unanswered: Vec::new() }
    }

    /// Whether others of the thread go first now.
    fn yields(&mut self) -> bool {
        self.turns = self.turns.wrapping_add(1);
        self.turns.is_multiple_of(self.kind.policy.yield_every.max(1))
    }

    fn settle(&mut self, turned: Turned<R>, ctx: &mut actix::Context<Self>) {
        let Turned { after, letter, ended } = turned;
        self.ended = ended;
        let waiting = letter.waiting() as usize;
        self.unanswered.push(letter);
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

    fn answer_all(&mut self) {
        self.unanswered.iter_mut().for_each(|letter| letter.leave());
        if self.unanswered.len() <= 1 {
            self.unanswered.drain(..).for_each(Read::answer);
            return;
        }
        // Whoever wakes others on their own runtime puts them in line; from here a thread would be woken for each.
        let letters = mem::take(&mut self.unanswered);
        self.kind.node.runtime().spawn(async { letters.into_iter().for_each(answer_one) });
    }
}

/// Answers a letter so that those who are answered with it are answered too, even if its command panics when it is dropped.
fn answer_one(letter: Box<dyn Read>) {
    // The panic's text is in the log already.
    let _ = catch_unwind(AssertUnwindSafe(|| letter.answer()));
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

impl<R: Handle<C>, C: Command> actix::Handler<Box<Letter<R, C>>> for Host<R> {
    type Result = Taken<R>;

    fn handle(&mut self, letter: Box<Letter<R, C>>, ctx: &mut Self::Context) -> Self::Result {
        let yields = self.yields();
        let begun = match Sitting::begin(letter, self.loaded.take(), self.ended) {
            // Most turns end without waiting for anything, and need no more than this one look. One that does wait is
            // looked at once more right away, by the actor itself, and is woken from then on.
            Begun::UnderWay(sitting) if !yields => look(self.kind.node.runtime(), sitting),
            begun => begun,
        };
        match begun {
            Begun::Over(turned) => {
                self.settle(turned, ctx);
                Taken::Over
            }
            Begun::UnderWay(sitting) => {
                self.ended = None;
                self.answer_all();
                let finishing = finish(self.kind.node.runtime().clone(), sitting, yields);
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

impl<R: Handle<C>, C: Command> MessageResponse<Host<R>, Box<Letter<R, C>>> for Taken<R> {
    fn handle(self, ctx: &mut actix::Context<Host<R>>, tx: Option<OneshotSender<()>>) {
        match self {
            // Nobody waits for it: the answer goes by the letter.
            Self::Over => {}
            Self::Waits(response) => MessageResponse::<_, Box<Letter<R, C>>>::handle(response, ctx, tx),
        }
    }
}

/// Looks at a turn once; what it opens and sleeps on belongs to `runtime`.
fn look<R: Handle<C>, C: Command>(runtime: &runtime::Handle, sitting: Sitting<R, C>) -> Begun<R, C> {
    let _entered = runtime.enter();
    sitting.look(&mut Context::from_waker(Waker::noop()))
}

/// Brings a turn to its end; what it opens and sleeps on belongs to `runtime`.
async fn finish<R: Handle<C>, C: Command>(runtime: runtime::Handle, sitting: Sitting<R, C>, yields: bool) -> Turned<R> {
    let mut finishing = pin!(sitting.finish(yields));
    poll_fn(|cx| {
        let _entered = runtime.enter();
        finishing.as_mut().poll(cx)
    })
    .await
}
