//! What the log looks like.

use std::io::{self, IsTerminal};

use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt, util::SubscriberInitExt};

use crate::config::{Log, LogFormat};

/// Starts logging to standard error; a second call in one process changes nothing.
///
/// # Errors
/// A `log.level` that is no filter.
pub fn start(log: &Log) -> Result<(), String> {
    let filter = EnvFilter::try_new(&log.level).map_err(|error| format!("`log.level` can't be used: {error}"))?;
    let registry = tracing_subscriber::registry().with(filter);
    let lines = fmt::layer().with_writer(io::stderr).with_ansi(io::stderr().is_terminal());
    let started = match log.format {
        LogFormat::Text => registry.with(lines).try_init(),
        LogFormat::Json => registry.with(lines.json().flatten_event(true)).try_init(),
    };
    // Only a subscriber that is there already makes this fail.
    drop(started);
    Ok(())
}
