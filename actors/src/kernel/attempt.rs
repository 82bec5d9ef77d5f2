//! One run of a handler.

use std::{
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{Error, Result};
use store::faults::{Fault, Place, Stage};

use super::{
    letter::Order,
    resource::{Command, Handle, Resource},
    seat::Seat,
    timers,
    turn::Turn,
};

/// A run under way, in a box of its own, so that it can be looked at from wherever it is.
pub(super) type Attempt<R, C> = Pin<Box<dyn Future<Output = Attempted<R, C>> + Send>>;

/// What a run came to.
pub(super) enum Attempted<R, C: Command> {
    /// It is over.
    Answered { answer: Result<C::Reply>, loaded: Option<Box<R>>, order: Box<Order<C>> },
    /// The version that it was decided on is gone, and nothing has happened: it may be decided again.
    Stale(Box<Order<C>>),
}

/// Runs the handler once after `pause`, on what is loaded already or else is loaded first, and settles the timer that the
/// command comes from.
pub(super) fn attempt<R: Handle<C>, C: Command>(
    seat: Arc<Seat<R>>,
    mut order: Box<Order<C>>,
    loaded: Option<Box<R>>,
    pause: Duration,
) -> Attempt<R, C> {
    Box::pin(async move {
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        let prepared = match loaded {
            Some(resource) if order.firing.is_none() => Ok(resource),
            // In a box of its own, because it is large and most turns do without.
            loaded => {
                let started = Instant::now();
                let prepared = Box::pin(prepare(&seat, &order, loaded)).await;
                order.progress.loading += started.elapsed();
                prepared
            }
        };
        let mut resource = match prepared {
            Ok(resource) => resource,
            Err(error) => return answered(&seat, order, Err(error), None).await,
        };
        if let Some(fault) = fault(&seat, Stage::Handler, C::NAME)
            && let Err(error) = fault.happen().await
        {
            return answered(&seat, order, Err(error.into()), None).await;
        }
        let Order { command, context, firing, progress, .. } = &mut *order;
        let mut turn = Turn::new(&seat, context, firing.as_deref(), progress);
        let answer = resource.handle(command, &mut turn).await;
        let keeps = !matches!(answer, Err(Error::Busy { .. } | Error::Stale | Error::Internal { .. }));
        answered(&seat, order, answer, keeps.then_some(resource)).await
    })
}

/// Makes sure that there is something to be done, and that the resource is there to do it.
async fn prepare<R: Resource, C: Command>(seat: &Seat<R>, order: &Order<C>, loaded: Option<Box<R>>) -> Result<Box<R>> {
    if let Some(timer) = &order.firing {
        timers::check_still_set(&seat.kind.node, timer).await?;
    }
    match loaded {
        Some(resource) => Ok(resource),
        None => load(seat, order).await,
    }
}

async fn load<R: Resource, C: Command>(seat: &Seat<R>, order: &Order<C>) -> Result<Box<R>> {
    if let Some(load_at) = seat.load_at() {
        let patience = order.context.deadline.saturating_duration_since(Instant::now());
        let clock = seat.kind.node.clock();
        tokio::time::timeout(patience, clock.sleep_until(load_at))
            .await
            .map_err(|_elapsed| Error::busy(load_at.since(clock.now()).max(Duration::from_secs(1))))?;
    }
    let stats = &seat.kind.stats;
    stats.loads.add_one();
    let loaded = match fault(seat, Stage::Load, "") {
        Some(fault) => fault.happen().await.map_err(Error::from),
        None => Ok(()),
    };
    let loaded = match loaded {
        Ok(()) => R::load(&seat.key, &seat.kind.services).await,
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
fn fault<R: Resource>(seat: &Seat<R>, stage: Stage, command: &'static str) -> Option<Fault> {
    seat.kind.node.store().faults().meet(Place { stage, kind: R::KIND, command, key: &seat.key })
}

/// What the run came to, once the timer that the command comes from is settled.
async fn answered<R: Resource, C: Command>(
    seat: &Seat<R>,
    order: Box<Order<C>>,
    mut answer: Result<C::Reply>,
    loaded: Option<Box<R>>,
) -> Attempted<R, C> {
    if matches!(answer, Err(Error::Stale)) {
        return Attempted::Stale(order);
    }
    if let (Some(timer), false) = (&order.firing, order.progress.is_settled)
        && answer.as_ref().err().is_none_or(|error| !timers::is_passing(error))
        && let Err(error) = timers::settle(&seat.kind.node, timer).await
    {
        answer = Err(error);
    }
    Attempted::Answered { answer, loaded, order }
}
