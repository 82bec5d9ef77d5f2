//! One turn of one command: the handler is run, and neither a panic nor a turn without end goes further than this.

use std::{
    any::Any,
    future::{self, poll_fn},
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use domain::{Error, RequestId, Result};
use tracing::Span;

use super::{
    attempt::{Attempt, Attempted, attempt},
    cell::{Permit, quarantined},
    crashes::SlowCommand,
    envelope::{AnyEnvelope, Envelope, Message, Progress},
    recent::{Done, Running, micros},
    resource::{Command, Handle, Resource, Shown},
    trace::{CommandTrace, TracedTurn},
};

/// How often a command is decided again because the version that it was decided on was gone.
const STALE_ROUNDS_MAX: u32 = 8;
/// The longest pause before the second of those rounds; it doubles from round to round.
const STALE_PAUSE: Duration = Duration::from_millis(2);

/// A turn under way. Permit and envelope drop in the order of an envelope's own fields.
pub(super) struct Execution<R: Resource, C: Command> {
    attempt: Attempt<R, C>,
    /// Attempts that met a stale version.
    stale: u32,
    permit: Permit<R>,
    envelope: Box<Envelope<R, C>>,
    started: Instant,
    request_id: RequestId,
    /// For the log.
    span: Span,
    trace: CommandTrace,
}

/// A turn that is over.
pub(super) struct Turned<R> {
    pub(super) after: After<R>,
    pub(super) envelope: Box<dyn AnyEnvelope>,
    /// When that was, if it was looked at.
    pub(super) ended: Option<Instant>,
}

/// What is left of the resource after a turn.
pub(super) enum After<R> {
    Keep(Option<Box<R>>),
    Crashed,
}

/// How far a turn came.
pub(super) enum Begun<R: Resource, C: Command> {
    Over(Turned<R>),
    UnderWay(Execution<R, C>),
}

/// What a turn came to.
enum Outcome<R, C: Command> {
    Answered { answer: Result<C::Reply>, loaded: Option<Box<R>>, message: Option<Box<Message<C>>> },
    Crashed { answer: Error, text: String },
}

impl<R: Handle<C>, C: Command> Execution<R, C> {
    /// Opens the envelope. The turn is over at once when nobody wants it any more or the key is in quarantine.
    ///
    /// `ended` is when the turn before it ended; an envelope that was there then has its turn from that moment on.
    pub(super) fn begin(
        mut envelope: Box<Envelope<R, C>>,
        loaded: Option<Box<R>>,
        ended: Option<Instant>,
    ) -> Begun<R, C> {
        let (Some(mut permit), Some(message)) = (envelope.permit.take(), envelope.message.take()) else {
            return Begun::Over(Turned { after: After::Keep(loaded), envelope, ended: None });
        };
        permit.open();
        let started = ended.filter(|ended| *ended >= envelope.queued_at).unwrap_or_else(Instant::now);
        let loaded = if envelope.is_unwanted(started) {
            permit.cell.kind.stats.command::<C>().expired.add_one();
            loaded
        } else if let Some(left) = permit.cell.quarantine_left() {
            envelope.answer = Some(Err(quarantined(left)));
            None
        } else {
            return Begun::UnderWay(Self::sit(envelope, permit, message, loaded, started));
        };
        envelope.permit = Some(permit);
        Begun::Over(Turned { after: After::Keep(loaded), envelope, ended: None })
    }

    /// Ends a turn that was decided together with those of others, with the answer that is in the envelope.
    pub(super) fn concluded(mut envelope: Box<Envelope<R, C>>, started: Instant) -> Turned<R> {
        let answer = envelope.answer.take();
        let (Some(mut permit), Some(message), Some(answer)) = (envelope.permit.take(), envelope.message.take(), answer)
        else {
            return Turned { after: After::Keep(None), envelope, ended: None };
        };
        permit.open();
        let answered = |message| Box::pin(future::ready(Attempted::Answered { answer, loaded: None, message }));
        let execution = Self::seated(envelope, permit, message, started, |message| answered(message));
        match execution.look(&mut Context::from_waker(Waker::noop())) {
            Begun::Over(turned) => turned,
            Begun::UnderWay(Self { envelope, .. }) => Turned { after: After::Keep(None), envelope, ended: None },
        }
    }

    fn sit(
        envelope: Box<Envelope<R, C>>,
        permit: Permit<R>,
        message: Box<Message<C>>,
        loaded: Option<Box<R>>,
        started: Instant,
    ) -> Self {
        let cell = Arc::clone(&permit.cell);
        let loaded = loaded.filter(|_| !cell.takes_reload());
        Self::seated(envelope, permit, message, started, |message| attempt(cell, message, loaded, Duration::ZERO))
    }

    fn seated(
        envelope: Box<Envelope<R, C>>,
        permit: Permit<R>,
        mut message: Box<Message<C>>,
        started: Instant,
        attempt: impl FnOnce(Box<Message<C>>) -> Attempt<R, C>,
    ) -> Self {
        let cell = &permit.cell;
        cell.begin(Running { command: C::NAME, since: started });
        let request_id = message.context.request_id.clone();
        let span = tracing::info_span!("command", kind = R::KIND, key = %Shown::<R>(&cell.key), command = C::NAME, %request_id);
        let mut trace = mem::take(&mut message.trace);
        trace.opened();
        let attempt = attempt(message);
        Self { attempt, stale: 0, permit, envelope, started, request_id, span, trace }
    }

    /// Looks at the turn once.
    pub(super) fn look(mut self, cx: &mut Context<'_>) -> Begun<R, C> {
        match self.poll(cx) {
            Poll::Ready(outcome) => Begun::Over(self.end(outcome)),
            Poll::Pending => Begun::UnderWay(self),
        }
    }

    /// Brings the turn to its end.
    pub(super) async fn finish(mut self, yields: bool) -> Turned<R> {
        if yields {
            tokio::task::yield_now().await;
        }
        let limit = self.permit.cell.kind.policy.turn_max;
        let outcome = match tokio::time::timeout(limit, poll_fn(|cx| self.poll(cx))).await {
            Ok(outcome) => outcome,
            Err(_elapsed) => {
                let text = format!("the turn took longer than {limit:?}");
                Outcome::Crashed { answer: Error::busy(Duration::from_secs(1)), text }
            }
        };
        self.end(outcome)
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Outcome<R, C>> {
        loop {
            let running = self.attempt.as_mut();
            let poll = || catch_unwind(AssertUnwindSafe(|| running.poll(cx)));
            let cell = &self.permit.cell;
            cell.note.begin(cell.number);
            let polled = self.span.in_scope(|| self.trace.in_scope(poll));
            cell.note.end();
            let message = match polled {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(Attempted::Answered { answer, loaded, message })) => {
                    return Poll::Ready(Outcome::Answered { answer, loaded, message: Some(message) });
                }
                Ok(Poll::Ready(Attempted::Stale(message))) => message,
                Err(panic) => return Poll::Ready(self.panicked(&*panic)),
            };
            if self.stale == STALE_ROUNDS_MAX {
                return Poll::Ready(Outcome::Answered {
                    answer: Err(Error::Stale),
                    loaded: None,
                    message: Some(message),
                });
            }
            let cell = &self.permit.cell;
            cell.kind.stats.command::<C>().stale.add_one();
            let pause = cell.kind.node.jitter().up_to(STALE_PAUSE * (1 << self.stale));
            self.stale += 1;
            self.attempt = attempt(Arc::clone(cell), message, None, pause);
        }
    }

    fn panicked(&self, panic: &(dyn Any + Send)) -> Outcome<R, C> {
        let text = panic_text(panic);
        let key = Shown::<R>(&self.permit.cell.key);
        Outcome::Crashed {
            answer: Error::internal(format_args!("{} {key} crashed at {}: {text}", R::KIND, C::NAME)),
            text,
        }
    }

    /// Notes what the turn came to, and puts the answer into the envelope.
    fn end(mut self, outcome: Outcome<R, C>) -> Turned<R> {
        let ended = Instant::now();
        let (answer, loaded, crash) = match outcome {
            Outcome::Answered { answer, loaded, message } => {
                self.envelope.message = message;
                (answer, loaded, None)
            }
            Outcome::Crashed { answer, text } => {
                self.span.in_scope(|| tracing::error!(panic = text, "an actor crashed"));
                (Err(answer), None, Some(text))
            }
        };
        let word = match (&crash, &answer) {
            (Some(_), _) => "crashed",
            (None, Err(error)) => error.code(),
            (None, Ok(_)) => "ok",
        };
        self.record(&answer, ended);
        mem::take(&mut self.trace).end(|| self.traced(&answer, ended, word));
        let done = self.done(ended, word);
        let cell = &self.permit.cell;
        cell.end(done, loaded.as_deref());
        let after = match &crash {
            Some(text) => {
                cell.crashed(C::NAME, text);
                After::Crashed
            }
            None => After::Keep(loaded),
        };
        self.envelope.answer = Some(answer);
        self.envelope.permit = Some(self.permit);
        Turned { after, envelope: self.envelope, ended: Some(ended) }
    }

    fn queued(&self) -> Duration {
        self.started.saturating_duration_since(self.envelope.queued_at)
    }

    fn handled(&self, ended: Instant) -> Duration {
        ended.saturating_duration_since(self.started)
    }

    /// The turn's entry among those that its key remembers. The last use of the request's id.
    fn done(&mut self, ended: Instant, outcome: &'static str) -> Done {
        Done {
            command: C::NAME,
            started: self.started,
            queued_us: micros(self.queued()),
            handled_us: micros(self.handled(ended)),
            outcome,
            request_id: mem::take(&mut self.request_id),
        }
    }

    fn record(&self, answer: &Result<C::Reply>, ended: Instant) {
        let kind = &self.permit.cell.kind;
        let (queued, handled) = (self.queued(), self.handled(ended));
        let stats = kind.stats.command::<C>();
        stats.record(queued, handled);
        if answer.is_err() {
            stats.failed.add_one();
        }
        if queued + handled >= kind.policy.slow_after {
            self.was_slow(queued, handled);
        }
    }

    /// Where the time went, as far as a crash has not taken that with it.
    fn progress(&self) -> Progress {
        self.envelope.message.as_ref().map(|message| message.progress).unwrap_or_default()
    }

    fn traced(&self, answer: &Result<C::Reply>, ended: Instant, outcome: &'static str) -> TracedTurn {
        TracedTurn {
            queued: self.queued(),
            handled: self.handled(ended),
            progress: self.progress(),
            stale: self.stale,
            outcome,
            is_fault: matches!(answer, Err(Error::Busy { .. } | Error::Stale | Error::Internal { .. })),
        }
    }

    fn was_slow(&self, queued: Duration, handled: Duration) {
        let (node, key) = (&self.permit.cell.kind.node, &self.permit.cell.key);
        let Progress { loading, committing, .. } = self.progress();
        let deciding = handled.saturating_sub(loading + committing);
        let request_id = &*self.request_id;
        tracing::warn!(
            kind = R::KIND, key = %Shown::<R>(key), command = C::NAME, request_id, ?queued, ?loading, ?deciding, ?committing,
            "slow command"
        );
        node.slow().add(SlowCommand {
            kind: R::KIND,
            key: key.to_string(),
            command: C::NAME,
            at: node.clock().now(),
            request_id: self.request_id.clone(),
            queued_us: micros(queued),
            loading_us: micros(loading),
            committing_us: micros(committing),
            deciding_us: micros(deciding),
        });
    }
}

pub(super) fn panic_text(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".to_owned())
}
