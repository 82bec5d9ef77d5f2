//! Settings of this layer, as the program's configuration gives them.

use std::{net::IpAddr, path::PathBuf, time::Duration};

use tracing::Span;

use crate::trace_parent::TraceParent;

/// How requests are served.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address that clients see, without a slash at its end, such as `https://troupe.example.com`. Empty: what the
    /// request's `Host` says.
    pub public_url: String,
    /// Origins that browsers may call from, such as `https://app.example.com`.
    pub cors_origins: Vec<String>,
    /// When the answer to a request stops being of use.
    pub request_timeout: Duration,
    /// Requests a minute of one signed-in caller.
    pub requests_per_minute: u32,
    /// Requests a minute of one address on endpoints that anyone may call.
    pub anonymous_requests_per_minute: u32,
    /// Reverse proxies whose `X-Forwarded-For`, `X-Forwarded-Proto` and `traceparent` are believed.
    pub trusted_proxies: Vec<IpAddr>,
    /// The folder of uploads that are too large to hold, while they are worked on.
    pub spool: PathBuf,
    /// HTTP worker threads; 0 for one per core.
    pub workers: usize,
    /// How long what is in hand may take once the server shuts down.
    pub shutdown_grace: Duration,
    /// How requests are traced, where traces are exported.
    pub tracing: Option<Tracing>,
}

/// How requests are traced.
#[derive(Clone, Copy, Debug)]
pub struct Tracing {
    /// The share of requests that are traced, from 0 to 1, unless a trusted proxy has decided.
    pub sample_ratio: f64,
    /// Makes a request's span part of the trace that its caller is in, or the first of its own; where in which trace it
    /// then stands, if it is exported.
    pub join: fn(&Span, Option<TraceParent>) -> Option<TraceParent>,
}

impl Default for Options {
    /// What `config/default.toml` says.
    fn default() -> Self {
        Self {
            public_url: String::new(),
            cors_origins: Vec::new(),
            request_timeout: Duration::from_secs(30),
            requests_per_minute: 6_000,
            anonymous_requests_per_minute: 600,
            trusted_proxies: Vec::new(),
            spool: std::env::temp_dir(),
            workers: 0,
            shutdown_grace: Duration::from_secs(10),
            tracing: None,
        }
    }
}
