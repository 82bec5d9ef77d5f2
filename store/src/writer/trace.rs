//! A change's own span in its trace: from when it was queued to when its transaction had ended.

use std::time::Instant;

use sea_orm::DbBackend;
use tracing::{Span, field::Empty};

use super::group::Outcome;
use crate::{
    CommitError,
    trace::{self, TARGET},
};

/// The span of one change, where its request is traced.
pub(super) struct CommitTrace(Option<Box<Traced>>);

struct Traced {
    span: Span,
    queued_at: Instant,
}

impl CommitTrace {
    /// Begins the span of a change of `statements` that is queued now.
    pub fn begin(backend: DbBackend, statements: usize) -> Self {
        Self(trace::current().map(|parent| {
            let database = if backend == DbBackend::Sqlite { "sqlite" } else { "postgresql" };
            let span = tracing::debug_span!(
                target: TARGET,
                parent: &parent,
                "commit",
                otel.kind = "client",
                otel.status_code = Empty,
                db.system.name = database,
                troupe.commit.statements = statements,
                troupe.commit.queued_us = Empty,
                troupe.commit.group = Empty,
                troupe.commit.outcome = Empty,
            );
            Box::new(Traced { span, queued_at: Instant::now() })
        }))
    }

    /// Ends the span: the change was one of `group` that a lane took at `taken_at` and committed together.
    pub fn end(self, taken_at: Instant, group: usize, outcome: &Outcome) {
        let Some(traced) = self.0 else { return };
        let Traced { span, queued_at } = *traced;
        let queued = taken_at.saturating_duration_since(queued_at);
        span.record("troupe.commit.queued_us", u64::try_from(queued.as_micros()).unwrap_or(u64::MAX));
        span.record("troupe.commit.group", group);
        span.record("troupe.commit.outcome", word(outcome));
        if matches!(outcome, Err(CommitError::Unavailable(_) | CommitError::Failed(_))) {
            span.record("otel.status_code", "ERROR");
        }
    }
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Ok(()) => "committed",
        Err(CommitError::Stale) => "stale",
        Err(CommitError::Duplicate { .. }) => "duplicate",
        Err(CommitError::Unavailable(_)) => "unavailable",
        Err(CommitError::TooLong(_)) => "too_long",
        Err(CommitError::Failed(_)) => "failed",
    }
}
