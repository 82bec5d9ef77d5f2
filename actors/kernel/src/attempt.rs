//! One run of a handler.

use std::{
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{Error, Result};
use store::faults::{Fault, Place, Stage};

use super::{
    cell::ActorCell,
    envelope::Message,
    resource::{Command, Handle, Resource},
    timers,
    turn::Turn,
};

/// A run under way, in a box of its own, so that it can be looked at from wherever it is.
pub(super) type Attempt<R, C> = Pin<Box<dyn Future<Output = Attempted<R, C>> + Send>>;

/// What a run came to.
pub(super) enum Attempted<R, C: Command> {
    /// It is over.
    Answered { answer: Result<C::Reply>, loaded: Option<Box<R>>, message: Box<Message<C>> },
    /// The version that it was decided on is gone, and nothing has happened: it may be decided again.
    Stale(Box<Message<C>>),
}

/// Runs the handler once after `pause`, on what is loaded already or else is loaded first, and settles the timer that the
/// command comes from.
pub(super) fn attempt<R: Handle<C>, C: Command>(
    cell: Arc<ActorCell<R>>,
    mut message: Box<Message<C>>,
    loaded: Option<Box<R>>,
    pause: Duration,
) -> Attempt<R, C> {
    Box::pin(async move {
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        let prepared = match loaded {
            Some(resource) if message.firing.is_none() => Ok(resource),
            // In a box of its own, because it is large and most turns do without.
            loaded => {
                let started = Instant::now();
                let prepared = Box::pin(prepare(&cell, &message, loaded)).await;
                message.progress.loading += started.elapsed();
                prepared
            }
        };
        let mut resource = match prepared {
            Ok(resource) => resource,
            Err(error) => return answered(&cell, message, Err(error), None).await,
        };
        if let Some(fault) = fault(&cell, Stage::Handler, C::NAME)
            && let Err(error) = fault.happen().await
        {
            return answered(&cell, message, Err(error.into()), None).await;
        }
        let Message { command, context, firing, progress, .. } = &mut *message;
        let mut turn = Turn::new(&cell, context, firing.as_deref(), progress);
        let answer = resource.handle(command, &mut turn).await;
        let keeps = !matches!(answer, Err(Error::Busy { .. } | Error::Stale | Error::Internal { .. }));
        answered(&cell, message, answer, keeps.then_some(resource)).await
    })
}

/// Makes sure that there is something to be done, and that the resource is there to do it.
async fn prepare<R: Resource, C: Command>(
    cell: &ActorCell<R>,
    message: &Message<C>,
    loaded: Option<Box<R>>,
) -> Result<Box<R>> {
    if let Some(timer) = &message.firing {
        timers::check_still_set(&cell.kind.node, timer).await?;
    }
    match loaded {
        Some(resource) => Ok(resource),
        None => load(cell, message).await,
    }
}

async fn load<R: Resource, C: Command>(cell: &ActorCell<R>, message: &Message<C>) -> Result<Box<R>> {
    if let Some(load_at) = cell.load_at() {
        let patience = message.context.deadline.saturating_duration_since(Instant::now());
        let clock = cell.kind.node.clock();
        tokio::time::timeout(patience, clock.sleep_until(load_at))
            .await
            .map_err(|_elapsed| Error::busy(load_at.since(clock.now()).max(Duration::from_secs(1))))?;
    }
    let stats = &cell.kind.stats;
    stats.loads.add_one();
    let loaded = match fault(cell, Stage::Load, "") {
        Some(fault) => fault.happen().await.map_err(Error::from),
        None => Ok(()),
    };
    let loaded = match loaded {
        Ok(()) => R::load(&cell.key, &cell.kind.services).await,
        Err(error) => Err(error),
    };
    match loaded {
        Ok(resource) => Ok(Box::new(resource)),
        Err(error) => {
            stats.load_failures.add_one();
            Err(error)
        }
    }
}

/// What a test has go wrong now.
pub(super) fn fault<R: Resource>(cell: &ActorCell<R>, stage: Stage, command: &'static str) -> Option<Fault> {
    cell.kind.node.store().faults().meet(Place { stage, kind: R::KIND, command, key: &cell.key })
}

/// What the run came to, once the timer that the command comes from is settled.
async fn answered<R: Resource, C: Command>(
    cell: &ActorCell<R>,
    message: Box<Message<C>>,
    mut answer: Result<C::Reply>,
    loaded: Option<Box<R>>,
) -> Attempted<R, C> {
    if matches!(answer, Err(Error::Stale)) {
        return Attempted::Stale(message);
    }
    if let (Some(timer), false) = (&message.firing, message.progress.is_settled)
        && answer.as_ref().err().is_none_or(|error| !timers::is_passing(error))
        && let Err(error) = timers::settle(&cell.kind.node, timer).await
    {
        answer = Err(error);
    }
    Attempted::Answered { answer, loaded, message }
}
