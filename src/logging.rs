//! What the log looks like.

use std::io::{self, IsTerminal};

use store::trace;
use tracing::Subscriber;
use tracing_subscriber::{
    EnvFilter, Layer, filter::Directive, fmt, layer::SubscriberExt, registry::LookupSpan, util::SubscriberInitExt,
};

use crate::{
    config::{Log, LogFormat},
    traces::Traces,
};

/// Starts logging to standard error, and `traces` where there are any; a second call in one process changes nothing.
///
/// # Errors
/// A `log.level` that is no filter.
pub fn start(log: &Log, traces: Option<&Traces>) -> Result<(), String> {
    let filter = EnvFilter::try_new(&log.level).map_err(|error| format!("`log.level` can't be used: {error}"))?;
    let filter = filter.add_directive(without_s3s()?);
    let started = match traces {
        None => tracing_subscriber::registry().with(filter).with(lines(log.format)).try_init(),
        Some(traces) => {
            let filter = filter.add_directive(without_traces()?);
            let lines = lines(log.format).with_filter(filter);
            tracing_subscriber::registry().with(lines).with(traces.layer()).try_init()
        }
    };
    // Only a subscriber that is there already makes this fail.
    drop(started);
    Ok(())
}

/// Keeps out what the library of S3's protocol says: each refusal of a client's is an error to it.
fn without_s3s() -> Result<Directive, String> {
    "s3s=off".parse().map_err(|error| format!("no filter: {error}"))
}

/// Keeps the spans of traces out of the log, whatever its level.
fn without_traces() -> Result<Directive, String> {
    format!("{}=off", trace::TARGET).parse().map_err(|error| format!("no filter: {error}"))
}

fn lines<S>(format: LogFormat) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let lines = fmt::layer().with_writer(io::stderr).with_ansi(io::stderr().is_terminal());
    match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    }
}
