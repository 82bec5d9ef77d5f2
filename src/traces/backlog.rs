//! The spans that wait for the collector: so many and no more, and every one is counted.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use opentelemetry::Context;
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{Span, SpanData, SpanExporter, SpanProcessor},
};

/// Spans that wait at most; when the collector is slower than that, further ones are dropped.
pub(super) const WAITING_MAX: usize = 4096;

/// How many spans were handed to the processor and have not been through the exporter yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Backlog(Arc<AtomicUsize>);

impl Backlog {
    /// Takes a place; whether there was one.
    fn enter(&self) -> bool {
        let entered = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |waiting| {
            (waiting < WAITING_MAX).then_some(waiting + 1)
        });
        entered.is_ok()
    }

    fn leave(&self, spans: usize) {
        self.0.fetch_sub(spans, Ordering::AcqRel);
    }
}

fn count(outcome: &'static str, spans: usize) {
    metrics::counter!("troupe_trace_spans_total", "outcome" => outcome).increment(spans as u64);
}

/// Lets spans to a processor while there is room in the backlog. Never waits.
#[derive(Debug)]
pub(super) struct Bounded<P> {
    pub(super) processor: P,
    pub(super) backlog: Backlog,
}

impl<P: SpanProcessor> SpanProcessor for Bounded<P> {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.processor.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if self.backlog.enter() {
            self.processor.on_end(span);
        } else {
            count("dropped", 1);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.processor.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.processor.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.processor.set_resource(resource);
    }
}

/// Counts what becomes of the spans that leave the backlog, and says in the log when that changes.
#[derive(Debug)]
pub(super) struct Counted<E> {
    exporter: E,
    backlog: Backlog,
    is_failing: AtomicBool,
}

impl<E> Counted<E> {
    pub(super) fn new(exporter: E, backlog: Backlog) -> Self {
        Self { exporter, backlog, is_failing: AtomicBool::new(false) }
    }

    fn note(&self, spans: usize, outcome: &OTelSdkResult) {
        self.backlog.leave(spans);
        count(if outcome.is_ok() { "exported" } else { "failed" }, spans);
        match (outcome, self.is_failing.swap(outcome.is_err(), Ordering::AcqRel)) {
            (Err(error), false) => tracing::warn!(%error, "traces don't reach the collector, and are lost meanwhile"),
            (Ok(()), true) => tracing::info!("traces reach the collector again"),
            _ => {}
        }
    }
}

impl<E: SpanExporter> SpanExporter for Counted<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        let outcome = self.exporter.export(batch).await;
        self.note(spans, &outcome);
        outcome
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use metrics_exporter_prometheus::PrometheusBuilder;
    use opentelemetry::trace::{Tracer, TracerProvider};
    use opentelemetry_sdk::trace::SdkTracerProvider;

    use super::*;

    #[test]
    fn the_backlog_takes_so_many_and_more_once_some_left() {
        let backlog = Backlog::default();
        assert!((0..WAITING_MAX).all(|_| backlog.enter()));
        assert!(!backlog.enter());
        backlog.leave(2);
        assert!(backlog.enter() && backlog.enter() && !backlog.enter());
    }

    /// Takes spans, and never hands them over.
    #[derive(Debug, Default)]
    struct Stalled(Arc<AtomicUsize>);

    impl SpanProcessor for Stalled {
        fn on_start(&self, _: &mut Span, _: &Context) {}

        fn on_end(&self, _: SpanData) {
            self.0.fetch_add(1, Ordering::AcqRel);
        }

        fn force_flush(&self) -> OTelSdkResult {
            Ok(())
        }

        fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
            Ok(())
        }
    }

    #[test]
    fn what_a_stalled_collector_leaves_no_room_for_is_dropped_and_counted() {
        let taken = Arc::<AtomicUsize>::default();
        let processor = Bounded { processor: Stalled(Arc::clone(&taken)), backlog: Backlog::default() };
        let provider = SdkTracerProvider::builder().with_span_processor(processor).build();
        let tracer = provider.tracer("test");
        let recorder = PrometheusBuilder::new().build_recorder();
        metrics::with_local_recorder(&recorder, || (0..WAITING_MAX + 7).for_each(|_| drop(tracer.start("span"))));
        assert_eq!(taken.load(Ordering::Acquire), WAITING_MAX);
        let metrics = recorder.handle().render();
        assert!(metrics.contains("troupe_trace_spans_total{outcome=\"dropped\"} 7"), "{metrics}");
    }
}
