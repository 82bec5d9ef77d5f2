//! S3's protocol on a listener of its own (contract C 4.4; decisions, "Object storage").
//!
//! It is a second door to what the REST API serves: the same actors, messages and rows. `s3s` reads and writes the
//! protocol (routes, XML, signatures, `aws-chunked`); what it leaves to its user is here, and stands in [`guard`] where
//! it comes before a request reaches it.
//!
//! A request goes from [`listener`] to [`service`], which gives it an id and a [`visit::Visit`], has [`guard`] look at it,
//! hands it to `s3s` and completes the answer. `s3s` asks [`access`] who signed; the operations are the functions of
//! [`buckets`], [`object`], [`list`] and [`uploads`], which [`protocol`] lists on one page.

mod access;
mod acl;
mod answer;
mod arriving;
mod body;
mod buckets;
mod checksums;
mod chunked;
mod cors;
mod error;
mod forms;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod guard;
mod list;
mod listener;
mod meters;
mod object;
mod observe;
mod place;
mod protocol;
mod public;
mod rules;
mod service;
mod settings;
mod text;
mod uploads;
mod visit;

use std::{net::IpAddr, time::Duration};

pub use http_listener::Listener;

pub use self::{
    access::{AccessKey, AccessKeys},
    listener::{Parts, serve},
    observe::{Trace, Traces},
};

/// How the listener serves.
#[derive(Clone, Debug)]
pub struct Options {
    /// The domain below which each bucket has a host of its own; none where buckets stand in paths only.
    pub domain: Option<String>,
    /// The region that buckets say they are in.
    pub region: String,
    /// When the answer to a request stops being of use; what brings or takes bytes has longer, as long as they flow.
    pub request_timeout: Duration,
    /// How long requests that are under way may take once the program stops.
    pub shutdown_grace: Duration,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpAddr>,
    /// The host of the console, from which strangers' files never come.
    pub console_host: Option<String>,
}
