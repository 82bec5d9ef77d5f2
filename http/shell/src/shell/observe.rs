//! What operators see of requests.

use std::{
    sync::{LazyLock, OnceLock},
    time::{Duration, Instant},
};

use actix_web::http::{Method, StatusCode};
use actors::platform::SlowRequest;
use domain::RequestId;
use metrics::{Counter, Gauge, Histogram};
use parking_lot::RwLock;

use crate::{endpoint::Endpoint, state::State};

/// What the requests are called that no endpoint is for.
const NO_ROUTE: &str = "none";

static IN_FLIGHT: LazyLock<Gauge> = LazyLock::new(|| metrics::gauge!("troupe_http_in_flight"));
static NO_METERS: LazyLock<Meters> = LazyLock::new(Meters::default);

/// The meters of one endpoint, found once.
#[derive(Default)]
pub(crate) struct Meters {
    seconds: OnceLock<Histogram>,
    by_status: RwLock<Vec<(StatusCode, Counter)>>,
}

impl Meters {
    fn count(&self, method: &str, route: &'static str, status: StatusCode, seconds: f64) {
        let histogram = self.seconds.get_or_init(
            || metrics::histogram!("troupe_http_request_seconds", "method" => method.to_owned(), "route" => route),
        );
        histogram.record(seconds);
        let known =
            self.by_status.read().iter().find(|(known, _)| *known == status).map(|(_, counter)| counter.clone());
        let counter = known.unwrap_or_else(|| self.counter(method, route, status));
        counter.increment(1);
    }

    fn counter(&self, method: &str, route: &'static str, status: StatusCode) -> Counter {
        let counter = metrics::counter!(
            "troupe_http_requests_total",
            "method" => method.to_owned(),
            "route" => route,
            "status" => status.as_str().to_owned(),
        );
        self.by_status.write().push((status, counter.clone()));
        counter
    }
}

/// A request that is being answered. Its end is counted even when the client goes away before.
pub(super) struct Visit {
    started: Instant,
}

impl Visit {
    pub(super) fn begin() -> Self {
        IN_FLIGHT.increment(1.0);
        Self { started: Instant::now() }
    }

    /// Counts the answer; what it took.
    pub(super) fn end(self, endpoint: Option<&Endpoint>, method: &Method, status: StatusCode) -> Duration {
        let took = self.started.elapsed();
        let seconds = took.as_secs_f64();
        match endpoint {
            Some(endpoint) => endpoint.meters.count(endpoint.method.as_str(), endpoint.path, status, seconds),
            None => NO_METERS.count("any", NO_ROUTE, status, seconds),
        }
        tracing::debug!(target: "troupe::access", %method, status = status.as_u16(), seconds, "answered");
        took
    }
}

/// Notes a slow request for the operators.
pub(super) fn note_slow(state: &State, endpoint: &Endpoint, status: StatusCode, took: Duration, request_id: RequestId) {
    state.actors.platform.was_slow(SlowRequest {
        at: state.store.now(),
        method: endpoint.method.to_string(),
        route: endpoint.path,
        status: status.as_u16(),
        took_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        request_id,
    });
}

impl Drop for Visit {
    fn drop(&mut self) {
        IN_FLIGHT.decrement(1.0);
    }
}
