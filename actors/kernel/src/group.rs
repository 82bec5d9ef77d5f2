//! Commands that wait for one key, decided in one turn and committed together.
//!
//! Each is decided in its order, and sees what those before it decided ([`Handle::decide`]). One that is refused is answered so,
//! and hurts no other. When the commit is stale, or one of them needs a turn of its own (it panics, it meets a fault), nothing
//! has happened, and each has a turn of its own, in the same order.

use std::{
    collections::VecDeque,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

use domain::{Error, Result};
use futures::future::BoxFuture;
use store::{
    Change,
    faults::{Place, Stage},
};

use super::{
    attempt::fault,
    cell::ActorCell,
    envelope::{AnyEnvelope, Envelope, Message},
    execution::{After, Begun, Execution, Turned},
    resource::{Command, Decided, Handle, Resource},
    turn::Turn,
};

/// How many commands are decided in one turn.
pub(super) const GROUP_MAX: usize = 128;
/// Rows and statements of a commit behind which no further command is decided for it.
const STEPS_ENOUGH: usize = 512;
/// The same in bytes.
const BYTES_ENOUGH: usize = 8 * 1_024 * 1_024;

/// A command that waits for its turn, whatever it asks for.
pub(super) trait Letter<R: Resource>: Send {
    /// The key that it is for; nothing once it has had its turn.
    fn cell(&self) -> Option<&Arc<ActorCell<R>>>;

    /// Whether it may be decided together with others.
    fn is_gathered(&self) -> bool;

    /// Whether nobody has a use for the answer any more.
    fn is_unwanted(&self, now: Instant) -> bool;

    /// Decides, and puts the answer into the envelope. What has to be committed for it, if anything.
    fn decide<'a>(&'a mut self, resource: &'a mut R) -> BoxFuture<'a, Result<Option<Change>, Apart>>;

    /// Gives another answer than what was decided.
    fn refuse(&mut self, error: Error);

    /// Ends the turn, which began at `started`, with the answer that is there.
    fn conclude(self: Box<Self>, started: Instant) -> Turned<R>;

    /// Has a turn of its own.
    fn alone(self: Box<Self>, loaded: Option<Box<R>>) -> BoxFuture<'static, Turned<R>>;
}

/// Commands can't be decided together now.
pub(super) struct Apart;

/// A turn of several commands that is over.
pub(super) struct GroupTurned<R> {
    pub(super) after: After<R>,
    pub(super) envelopes: Vec<Box<dyn AnyEnvelope>>,
}

impl<R: Handle<C>, C: Command> Letter<R> for Envelope<R, C> {
    fn cell(&self) -> Option<&Arc<ActorCell<R>>> {
        self.permit.as_ref().map(|permit| &permit.cell)
    }

    fn is_gathered(&self) -> bool {
        R::IS_GATHERED && self.message.as_ref().is_some_and(|message| message.firing.is_none())
    }

    fn is_unwanted(&self, now: Instant) -> bool {
        Self::is_unwanted(self, now)
    }

    fn decide<'a>(&'a mut self, resource: &'a mut R) -> BoxFuture<'a, Result<Option<Change>, Apart>> {
        Box::pin(async move {
            let (Some(permit), Some(message)) = (&self.permit, &mut self.message) else { return Err(Apart) };
            if fault(&permit.cell, Stage::Handler, C::NAME).is_some() {
                return Err(Apart);
            }
            let Message { command, context, progress, .. } = &mut **message;
            let turn = Turn::new(&permit.cell, context, None, progress);
            let (answer, change) = match resource.decide(command, &turn).await {
                Ok(Decided { reply, change }) => (Ok(reply), change.map(|change| turn.whole(change))),
                Err(Error::Busy { .. } | Error::Stale | Error::Internal { .. }) => return Err(Apart),
                Err(refusal) => (Err(refusal), None),
            };
            self.answer = Some(answer);
            Ok(change)
        })
    }

    fn refuse(&mut self, error: Error) {
        self.answer = Some(Err(error));
    }

    fn conclude(self: Box<Self>, started: Instant) -> Turned<R> {
        Execution::concluded(self, started)
    }

    fn alone(mut self: Box<Self>, loaded: Option<Box<R>>) -> BoxFuture<'static, Turned<R>> {
        self.answer = None;
        Box::pin(async move {
            match Execution::begin(self, loaded, None) {
                Begun::Over(turned) => turned,
                Begun::UnderWay(execution) => execution.finish(false).await,
            }
        })
    }
}

/// Brings the commands to their end, together as far as they let it.
pub(super) async fn run<R: Resource>(letters: Vec<Box<dyn Letter<R>>>, loaded: Option<Box<R>>) -> GroupTurned<R> {
    let mut turned = GroupTurned { after: After::Keep(loaded), envelopes: Vec::with_capacity(letters.len()) };
    let now = Instant::now();
    let (unwanted, wanted): (Vec<_>, Vec<_>) = letters.into_iter().partition(|letter| letter.is_unwanted(now));
    for letter in unwanted {
        turned.alone(letter).await;
    }
    let mut waiting = VecDeque::from(wanted);
    while let Some(letter) = waiting.pop_front() {
        // The first one loads what isn't loaded, and what can't be decided together has its turn.
        let (After::Keep(Some(loaded)), true) = (&mut turned.after, letter.is_gathered() && !waiting.is_empty()) else {
            turned.alone(letter).await;
            continue;
        };
        let mut group = vec![letter];
        while let Some(letter) = waiting.pop_front_if(|letter| letter.is_gathered()) {
            group.push(letter);
        }
        let started = Instant::now();
        let cell = group.first().and_then(|letter| letter.cell()).map(Arc::clone);
        if let (Some(cell), Ok(together)) = (cell, together(&mut group, loaded).await) {
            for letter in group.split_off(together.commands).into_iter().rev() {
                waiting.push_front(letter);
            }
            if !together.is_known {
                turned.after = After::Keep(None);
            }
            for letter in group {
                turned.envelopes.push(letter.conclude(started).envelope);
            }
            cell.left(turned.loaded());
        } else {
            turned.after = After::Keep(None);
            for letter in group {
                turned.alone(letter).await;
            }
        }
    }
    turned
}

impl<R: Resource> GroupTurned<R> {
    fn loaded(&self) -> Option<&R> {
        match &self.after {
            After::Keep(loaded) => loaded.as_deref(),
            After::Crashed => None,
        }
    }

    /// Lets a letter have its own turn.
    async fn alone(&mut self, letter: Box<dyn Letter<R>>) {
        let (loaded, has_crashed) = match std::mem::replace(&mut self.after, After::Crashed) {
            After::Keep(loaded) => (loaded, false),
            After::Crashed => (None, true),
        };
        let Turned { after, envelope, .. } = letter.alone(loaded).await;
        self.envelopes.push(envelope);
        self.after = if has_crashed { After::Crashed } else { after };
    }
}

/// Commands that were decided and committed together.
struct Together {
    /// How many of the first ones.
    commands: usize,
    /// Whether what is loaded is as the store has it then.
    is_known: bool,
}

/// Decides them, as many as make one commit, and commits once.
async fn together<R: Resource>(group: &mut [Box<dyn Letter<R>>], resource: &mut R) -> Result<Together, Apart> {
    let cell = group.first().and_then(|letter| letter.cell()).map(Arc::clone).ok_or(Apart)?;
    if cell.takes_reload() || cell.quarantine_left().is_some() {
        return Err(Apart);
    }
    let limit = cell.kind.policy.turn_max;
    let deciding = unwound(&cell, decide(&cell, group, resource));
    let (change, commands) = tokio::time::timeout(limit, deciding).await.map_err(|_elapsed| Apart)??;
    resource.forget_decided();
    if change.is_empty() {
        return Ok(Together { commands, is_known: true });
    }
    let place = Place { stage: Stage::Commit, kind: R::KIND, command: "", key: &cell.key };
    let committing = cell.kind.node.store().commit_at(change, place);
    let committed = match tokio::time::timeout(limit, committing).await {
        Ok(committed) => committed.map_err(Error::from),
        Err(_elapsed) => Err(Error::busy(Duration::from_secs(1))),
    };
    match committed {
        Ok(()) => Ok(Together { commands, is_known: true }),
        // Whether it has happened isn't known, and what was refused may rest on it.
        Err(error @ Error::Busy { .. }) => {
            group.iter_mut().take(commands).for_each(|letter| letter.refuse(error.clone()));
            Ok(Together { commands, is_known: false })
        }
        // Nothing has happened.
        Err(_) => Err(Apart),
    }
}

/// What has to be committed for the first ones, and how many these are.
async fn decide<R: Resource>(
    cell: &ActorCell<R>,
    group: &mut [Box<dyn Letter<R>>],
    resource: &mut R,
) -> Result<(Change, usize), Apart> {
    let (mut whole, mut rests_on_memory) = (Change::new(), false);
    let (mut commands, mut steps, mut bytes) = (0, 0, 0);
    resource.forget_decided();
    for letter in group {
        match letter.decide(resource).await? {
            Some(change) => {
                let extent = change.extent();
                (steps, bytes) = (steps + extent.0, bytes + extent.1);
                whole.append_behind(change);
            }
            None => rests_on_memory = true,
        }
        commands += 1;
        if steps >= STEPS_ENOUGH || bytes >= BYTES_ENOUGH {
            break;
        }
    }
    if rests_on_memory && !matches!(resource.is_current(&cell.kind.services).await, Ok(true)) {
        return Err(Apart);
    }
    Ok((whole, commands))
}

/// Does work of an actor's turn, of which the watchdog knows, and whose panic is an error.
async fn unwound<R: Resource, T>(
    cell: &ActorCell<R>,
    work: impl Future<Output = Result<T, Apart>>,
) -> Result<T, Apart> {
    let mut work = pin!(work);
    poll_fn(|cx| {
        cell.note.begin(cell.number);
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx)));
        cell.note.end();
        // Whoever panics does so again in a turn of its own, where that is noted.
        polled.unwrap_or(Poll::Ready(Err(Apart)))
    })
    .await
}
