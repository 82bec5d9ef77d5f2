//! Which trace the current code belongs to.
//!
//! A trace's spans stand beside the log's: they are made for requests that were chosen for tracing, and below them, and
//! nothing but an exporter sees them. So a request that isn't traced costs no span, and what a trace tells is what stands in
//! the few places that make its spans, never what somebody logs.

use tracing::{Level, Span};

/// The target of every span that is part of a trace; they have the level of [`Level::DEBUG`].
pub const TARGET: &str = "troupe::trace";

/// The innermost span of the trace that the current code belongs to, if it belongs to one.
pub fn current() -> Option<Span> {
    // Without an exporter this is all that happens: the look-up of a level.
    if !tracing::span_enabled!(target: TARGET, Level::DEBUG) {
        return None;
    }
    let span = Span::current();
    let is_traced = span.metadata().is_some_and(|metadata| metadata.target() == TARGET);
    is_traced.then_some(span)
}
