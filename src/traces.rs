//! Traces for an OpenTelemetry collector: one per chosen request, from its head over its commands' queues and turns to
//! their commits.
//!
//! Which requests are chosen is decided where they come in (`http`), and their spans are made only for them; here they
//! are gathered and sent. A collector that is slow or away costs spans, never time: what ends is put in a bounded
//! [`backlog`], a thread of its own hands it over, and what finds no room is dropped and counted.

mod backlog;
mod collector;

use std::time::Duration;

use http::trace_parent::TraceParent;
use opentelemetry::{
    Context, KeyValue,
    trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState, TracerProvider},
};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    trace::{BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider},
};
use store::trace::TARGET;
use tokio::runtime::Handle;
use tracing::{Level, Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::{Layer, filter::Targets, registry::LookupSpan};

use self::backlog::{Backlog, Bounded, Counted, WAITING_MAX};
pub use self::collector::Collector;
use crate::{config, program::node_name};

/// How long a span waits for others to be sent with.
const SEND_EVERY: Duration = Duration::from_secs(2);
/// Spans that are sent together.
const BATCH_LEN_MAX: usize = 512;

/// The export of traces, where one is configured.
pub struct Traces {
    provider: SdkTracerProvider,
    /// How long the last spans may take.
    patience: Duration,
}

impl Traces {
    /// Starts the export; what is sent, is sent on `runtime`.
    ///
    /// # Errors
    /// Settings that can't be used, in words that tell no secret.
    pub fn start(tracing: &config::Tracing, runtime: &Handle) -> Result<Option<Self>, String> {
        let Some(collector) = Collector::new(tracing, runtime)? else { return Ok(None) };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(collector.url())
            .with_timeout(collector.timeout())
            .with_http_client(collector)
            .build()
            .map_err(|error| format!("`tracing.otlp` can't be used: {error}"))?;
        let backlog = Backlog::default();
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(WAITING_MAX)
            .with_max_export_batch_size(BATCH_LEN_MAX)
            .with_scheduled_delay(SEND_EVERY)
            .build();
        let processor = BatchSpanProcessor::new(Counted::new(exporter, backlog.clone()), batches);
        let resource = Resource::builder().with_service_name(tracing.service_name.clone()).with_attributes([
            KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            KeyValue::new("service.instance.id", node_name()),
        ]);
        let provider = SdkTracerProvider::builder()
            // Whoever makes a span has decided that it is wanted.
            .with_sampler(Sampler::AlwaysOn)
            .with_span_processor(Bounded { processor, backlog })
            .with_resource(resource.build())
            .build();
        Ok(Some(Self { provider, patience: tracing.timeout }))
    }

    /// What sees the spans of traces, and nothing else.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("troupe"))
            // Every span names its parent.
            .with_context_activation(false)
            .with_tracked_inactivity(false)
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_filter(Targets::new().with_target(TARGET, Level::DEBUG))
    }

    /// Sends what is left, for as long as the collector may take to answer.
    pub async fn finish(self) {
        let Self { provider, patience } = self;
        let sent = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(patience)).await;
        if !matches!(sent, Ok(Ok(()))) {
            tracing::warn!("the last traces did not reach the collector");
        }
    }
}

/// Makes a request's span part of its caller's trace, or the first of its own; where it then stands, if it is exported.
pub fn join(span: &Span, caller: Option<TraceParent>) -> Option<TraceParent> {
    if let Some(caller) = caller {
        let (trace_id, span_id) = (TraceId::from(caller.trace_id), SpanId::from(caller.span_id));
        let place = SpanContext::new(trace_id, span_id, TraceFlags::SAMPLED, true, TraceState::default());
        span.set_parent(Context::new().with_remote_span_context(place)).ok()?;
    }
    let context = span.context();
    let place = context.span().span_context().clone();
    place.is_valid().then(|| TraceParent {
        trace_id: u128::from_be_bytes(place.trace_id().to_bytes()),
        span_id: u64::from_be_bytes(place.span_id().to_bytes()),
        is_sampled: place.is_sampled(),
    })
}
