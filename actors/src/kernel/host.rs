//! The actix actor that runs one resource.

use std::{
    any::Any,
    future::poll_fn,
    panic::AssertUnwindSafe,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use actix::{Actor, ActorContext, ActorFutureExt, AtomicResponse, Supervised, WrapFuture};
use domain::{Error, Result};
use futures::FutureExt;
use tokio::runtime;
use tracing::Instrument;

use super::{
    letter::Letter,
    node::Kind,
    resource::{Command, Handle, Resource},
    seat::{Running, Seat, quarantined},
    stats::CommandStats,
    timers,
    turn::Turn,
};

/// How often a command is decided again because the version that it was decided on was gone.
const STALE_ROUNDS_MAX: u32 = 8;
/// The longest pause before the second of those rounds; it doubles from round to round.
const STALE_PAUSE: Duration = Duration::from_millis(2);

/// Hosts a resource: takes it out, lets the command's handler run on it, puts it back.
pub(super) struct Host<R: Resource> {
    kind: Arc<Kind<R>>,
    loaded: Option<Box<R>>,
    turns: u32,
}

/// What is left of the resource after a turn.
enum After<R> {
    Keep(Option<Box<R>>),
    Crashed,
}

/// What a turn came to.
struct Outcome<R, T> {
    answer: Result<T>,
    loaded: Option<Box<R>>,
    /// The panic's text, when the turn ended in one.
    crash: Option<String>,
}

impl<R: Resource> Host<R> {
    pub(super) fn new(kind: Arc<Kind<R>>) -> Self {
        Self { kind, loaded: None, turns: 0 }
    }
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

impl<R: Handle<C>, C: Command> actix::Handler<Letter<R, C>> for Host<R> {
    type Result = AtomicResponse<Self, ()>;

    fn handle(&mut self, letter: Letter<R, C>, _: &mut Self::Context) -> Self::Result {
        self.turns = self.turns.wrapping_add(1);
        let yields = self.turns.is_multiple_of(self.kind.policy.yield_every.max(1));
        let turn = take_turn(letter, self.loaded.take(), yields);
        let turn = on_runtime(self.kind.node.runtime().clone(), turn);
        AtomicResponse::new(Box::pin(turn.into_actor(self).map(|after, host, ctx| match after {
            After::Keep(loaded) => host.loaded = loaded,
            After::Crashed => ctx.stop(),
        })))
    }
}

/// Polls `turn` here, while what it opens and sleeps on belongs to `runtime`.
async fn on_runtime<T>(runtime: runtime::Handle, turn: impl Future<Output = T>) -> T {
    let mut turn = pin!(turn);
    poll_fn(|cx| {
        let _entered = runtime.enter();
        turn.as_mut().poll(cx)
    })
    .await
}

async fn take_turn<R: Handle<C>, C: Command>(
    mut letter: Letter<R, C>,
    loaded: Option<Box<R>>,
    yields: bool,
) -> After<R> {
    if yields {
        tokio::task::yield_now().await;
    }
    let Some(permit) = &mut letter.permit else { return After::Keep(loaded) };
    permit.open();
    let seat = Arc::clone(&permit.seat);
    let stats = seat.kind.stats.command::<C>();
    let started = Instant::now();
    if letter.is_unwanted(started) {
        stats.expired.add_one();
        return After::Keep(loaded);
    }
    if let Some(left) = seat.quarantine_left() {
        letter.answer(Err(quarantined(left)));
        return After::Keep(None);
    }
    let loaded = loaded.filter(|_| !seat.takes_reload());
    seat.begin(Running { command: C::NAME, since: started });
    let outcome = guarded(&seat, &letter, loaded, stats).await;
    seat.end(outcome.loaded.is_some());
    record(&seat, &letter, started, &outcome.answer, stats);
    let after = if outcome.crash.is_some() { After::Crashed } else { After::Keep(outcome.loaded) };
    if let Some(text) = outcome.crash {
        seat.crashed(text);
    }
    letter.answer(outcome.answer);
    after
}

/// Runs the turn so that neither a panic nor a turn without end goes further than this.
async fn guarded<R: Handle<C>, C: Command>(
    seat: &Seat<R>,
    letter: &Letter<R, C>,
    loaded: Option<Box<R>>,
    stats: &CommandStats,
) -> Outcome<R, C::Reply> {
    let request_id = &*letter.context.request_id;
    let span = tracing::info_span!("command", kind = R::KIND, key = %seat.key, command = C::NAME, request_id);
    let work = work(seat, letter, loaded, stats).instrument(span.clone());
    let bounded = tokio::time::timeout(seat.kind.policy.turn_max, work);
    let crash = match AssertUnwindSafe(bounded).catch_unwind().await {
        Ok(Ok(outcome)) if outcome.crash.is_none() => return outcome,
        Ok(Ok(outcome)) => outcome.crash.unwrap_or_default(),
        Err(panic) => panic_text(&*panic),
        Ok(Err(_elapsed)) => {
            let text = format!("the turn took longer than {:?}", seat.kind.policy.turn_max);
            span.in_scope(|| tracing::error!("{text}"));
            let answer = Err(Error::busy(Duration::from_secs(1)));
            return Outcome { answer, loaded: None, crash: Some(text) };
        }
    };
    span.in_scope(|| tracing::error!(panic = crash, "an actor crashed"));
    let answer = Err(Error::internal(format_args!("{} {} crashed at {}: {crash}", R::KIND, seat.key, C::NAME)));
    Outcome { answer, loaded: None, crash: Some(crash) }
}

/// Runs the handler, again and again while its commit meets a stale version, and settles the timer that it came from.
async fn work<R: Handle<C>, C: Command>(
    seat: &Seat<R>,
    letter: &Letter<R, C>,
    mut loaded: Option<Box<R>>,
    stats: &CommandStats,
) -> Outcome<R, C::Reply> {
    let mut settled = false;
    for round in 0..=STALE_ROUNDS_MAX {
        if round > 0 {
            stats.stale.add_one();
            tokio::time::sleep(seat.kind.node.jitter().up_to(STALE_PAUSE * (1 << (round - 1)))).await;
        }
        let mut outcome = handle(seat, letter, loaded.take(), &mut settled).await;
        if matches!(outcome.answer, Err(Error::Stale)) && outcome.crash.is_none() {
            continue;
        }
        if let (Some(timer), false, None) = (&letter.firing, settled, &outcome.crash)
            && outcome.answer.as_ref().err().is_none_or(|error| !timers::is_passing(error))
            && let Err(error) = timers::settle(&seat.kind.node, timer).await
        {
            outcome.answer = Err(error);
        }
        return outcome;
    }
    Outcome { answer: Err(Error::Stale), loaded: None, crash: None }
}

/// Loads the resource where needed and runs the handler once.
async fn handle<R: Handle<C>, C: Command>(
    seat: &Seat<R>,
    letter: &Letter<R, C>,
    loaded: Option<Box<R>>,
    settled: &mut bool,
) -> Outcome<R, C::Reply> {
    let loading = async {
        if let Some(timer) = &letter.firing {
            timers::check_still_set(&seat.kind.node, timer).await?;
        }
        match loaded {
            Some(resource) => Ok(resource),
            None => load(seat, letter).await,
        }
    };
    let mut resource = match loading.await {
        Ok(resource) => resource,
        Err(error) => return Outcome { answer: Err(error), loaded: None, crash: None },
    };
    let mut turn = Turn::new(seat, &letter.context, letter.firing.as_deref(), settled);
    let handling = async { resource.handle(&letter.command, &mut turn).await };
    match AssertUnwindSafe(handling).catch_unwind().await {
        Err(panic) => Outcome { answer: Err(Error::Stale), loaded: None, crash: Some(panic_text(&*panic)) },
        Ok(answer) => {
            let keeps = !matches!(answer, Err(Error::Busy { .. } | Error::Stale | Error::Internal { .. }));
            Outcome { answer, loaded: keeps.then_some(resource), crash: None }
        }
    }
}

async fn load<R: Resource, C: Command>(seat: &Seat<R>, letter: &Letter<R, C>) -> Result<Box<R>> {
    if let Some(load_at) = seat.load_at() {
        let patience = letter.context.deadline.saturating_duration_since(Instant::now());
        let clock = seat.kind.node.clock();
        tokio::time::timeout(patience, clock.sleep_until(load_at))
            .await
            .map_err(|_elapsed| Error::busy(load_at.since(clock.now()).max(Duration::from_secs(1))))?;
    }
    let stats = &seat.kind.stats;
    stats.loads.add_one();
    match R::load(&seat.key, &seat.kind.services).await {
        Ok(resource) => Ok(Box::new(resource)),
        Err(error) => {
            stats.load_failures.add_one();
            Err(error)
        }
    }
}

fn record<R: Resource, C: Command>(
    seat: &Seat<R>,
    letter: &Letter<R, C>,
    started: Instant,
    answer: &Result<C::Reply>,
    stats: &CommandStats,
) {
    let (queued, handled) = (started.saturating_duration_since(letter.queued_at), started.elapsed());
    stats.record(queued, handled);
    if answer.is_err() {
        stats.failed.add_one();
    }
    if queued + handled >= seat.kind.policy.slow_after {
        let request_id = &*letter.context.request_id;
        tracing::warn!(kind = R::KIND, key = %seat.key, command = C::NAME, request_id, ?queued, ?handled, "slow command");
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".to_owned())
}
