//! A command's own spans in its trace: one from when it was asked to the end of its turn, and in it one for its time in the
//! queue.

use std::time::Duration;

use store::trace::{self, TARGET};
use tracing::{Span, field::Empty};

use super::{
    envelope::Progress,
    recent::micros,
    resource::{Command, Resource, Shown},
};

/// The spans of one command, where the request is traced that it belongs to.
#[derive(Default)]
pub(super) struct CommandTrace(Option<Box<Traced>>);

struct Traced {
    /// Ends with the turn.
    command: Span,
    /// There while the command waits for its turn.
    mailbox: Option<Span>,
}

/// What the turn of a traced command came to.
pub(super) struct TracedTurn {
    pub(super) queued: Duration,
    pub(super) handled: Duration,
    pub(super) progress: Progress,
    /// How often it was decided again.
    pub(super) stale: u32,
    /// `ok`, `crashed`, or the code of the error.
    pub(super) outcome: &'static str,
    /// Whether an operator should look at it.
    pub(super) is_fault: bool,
}

impl CommandTrace {
    /// Begins the spans of a command that is asked of `key` now.
    pub(super) fn begin<R: Resource, C: Command>(key: &R::Key) -> Self {
        Self(trace::current().map(|parent| Box::new(Traced::begin::<R, C>(&parent, key))))
    }

    /// The command has its turn.
    pub(super) fn opened(&mut self) {
        if let Some(traced) = &mut self.0 {
            traced.mailbox = None;
        }
    }

    /// Does a part of the turn as part of the trace.
    pub(super) fn in_scope<T>(&self, part: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(traced) => traced.command.in_scope(part),
            None => part(),
        }
    }

    /// Ends the spans with what the turn came to, which is only worked out for a command that is traced.
    pub(super) fn end(&mut self, turn: impl FnOnce() -> TracedTurn) {
        if let Some(traced) = self.0.take() {
            traced.end(&turn());
        }
    }
}

impl Traced {
    fn begin<R: Resource, C: Command>(parent: &Span, key: &R::Key) -> Self {
        let command = tracing::debug_span!(
            target: TARGET,
            parent: parent,
            "command",
            otel.name = format!("{} {}", R::KIND, C::NAME),
            otel.status_code = Empty,
            troupe.actor.kind = R::KIND,
            troupe.actor.key = %Shown::<R>(key),
            troupe.actor.command = C::NAME,
            troupe.actor.queued_us = Empty,
            troupe.actor.loading_us = Empty,
            troupe.actor.deciding_us = Empty,
            troupe.actor.committing_us = Empty,
            troupe.actor.stale = Empty,
            troupe.actor.outcome = Empty,
        );
        let mailbox = Some(tracing::debug_span!(target: TARGET, parent: &command, "mailbox"));
        Self { command, mailbox }
    }

    fn end(&self, turn: &TracedTurn) {
        let Progress { loading, committing, .. } = turn.progress;
        let span = &self.command;
        span.record("troupe.actor.queued_us", micros(turn.queued));
        span.record("troupe.actor.loading_us", micros(loading));
        span.record("troupe.actor.deciding_us", micros(turn.handled.saturating_sub(loading + committing)));
        span.record("troupe.actor.committing_us", micros(committing));
        span.record("troupe.actor.stale", turn.stale);
        span.record("troupe.actor.outcome", turn.outcome);
        if turn.is_fault {
            span.record("otel.status_code", "ERROR");
        }
    }
}
