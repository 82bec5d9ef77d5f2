//! Which requests are traced, and the span that such a request's trace begins with, or goes on with.

use std::sync::{
    LazyLock,
    atomic::{AtomicU64, Ordering},
};

use actix_web::{
    HttpRequest, HttpResponse,
    http::{
        StatusCode,
        header::{HeaderName, HeaderValue},
    },
};
use store::trace::TARGET;
use tracing::{Span, field::Empty};

use super::address::is_from_trusted_proxy;
use crate::{endpoint::Endpoint, options::Tracing, state::State, trace_parent::TraceParent};

/// Says where in which trace the caller stands.
const TRACE_PARENT: &str = "traceparent";
/// Says where in which trace the request stood.
const TRACE_RESPONSE: HeaderName = HeaderName::from_static("traceresponse");
/// What a request's method is called that no endpoint is for: it may be anything.
const OTHER_METHOD: &str = "_OTHER";

/// The span of a request that is traced.
pub(super) struct RequestTrace {
    pub(super) span: Span,
    place: TraceParent,
}

/// What a span says of its request at its beginning.
#[derive(Clone, Copy)]
struct Named<'n> {
    method: &'n str,
    route: Option<&'n str>,
    request_id: &'n str,
}

impl RequestTrace {
    /// Begins the span of a request that is to be traced: because a trusted proxy traces it, or by lot.
    pub(super) fn begin(
        state: &State,
        request: &HttpRequest,
        endpoint: Option<&Endpoint>,
        request_id: &str,
    ) -> Option<Self> {
        let tracing = state.options.tracing.as_ref()?;
        let parent = trusted_parent(state, request);
        if !is_chosen(tracing, parent) {
            return None;
        }
        let method = endpoint.map_or(OTHER_METHOD, |endpoint| endpoint.method.as_str());
        let route = endpoint.map(|endpoint| endpoint.path);
        Self::join(tracing, parent, &Named { method, route, request_id })
    }

    fn join(tracing: &Tracing, parent: Option<TraceParent>, named: &Named<'_>) -> Option<Self> {
        let Named { method, route, request_id } = *named;
        // Neither the path nor the query stands here: they may carry what opens something.
        let span = tracing::debug_span!(
            target: TARGET,
            parent: None,
            "request",
            otel.name = route.map_or_else(|| method.to_owned(), |route| format!("{method} {route}")),
            otel.kind = "server",
            otel.status_code = Empty,
            http.request.method = method,
            http.route = route,
            http.response.status_code = Empty,
            troupe.request_id = request_id,
        );
        let place = (tracing.join)(&span, parent)?;
        Some(Self { span, place })
    }

    /// The id of the trace, for the log.
    pub(super) fn id(&self) -> String {
        format!("{:032x}", self.place.trace_id)
    }

    /// Ends the span, and tells the client where to look for it.
    pub(super) fn end(self, response: &mut HttpResponse) {
        let status = response.status();
        self.span.record("http.response.status_code", status.as_u16());
        if status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED {
            self.span.record("otel.status_code", "ERROR");
        }
        if let Ok(place) = HeaderValue::try_from(self.place.to_string()) {
            response.headers_mut().insert(TRACE_RESPONSE, place);
        }
    }
}

/// Begins the span of a request to another listener than the API's, where it is to be traced; with where it then stands.
/// `parent` is what a trusted proxy said. Who ends it records `otel.name`, `otel.status_code` and `http.response.status_code`.
pub fn trace_elsewhere(
    tracing: &Tracing,
    parent: Option<&str>,
    method: &str,
    request_id: &str,
) -> Option<(Span, TraceParent)> {
    let parent = parent.and_then(TraceParent::parse);
    if !is_chosen(tracing, parent) {
        return None;
    }
    let trace = RequestTrace::join(tracing, parent, &Named { method, route: None, request_id })?;
    Some((trace.span, trace.place))
}

fn trusted_parent(state: &State, request: &HttpRequest) -> Option<TraceParent> {
    let header = request.headers().get(TRACE_PARENT)?;
    if !is_from_trusted_proxy(request, &state.options.trusted_proxies) {
        return None;
    }
    TraceParent::parse(header.to_str().ok()?)
}

/// Whether a request is traced whose caller is at `parent`.
fn is_chosen(tracing: &Tracing, parent: Option<TraceParent>) -> bool {
    parent.map_or_else(|| lot() < tracing.sample_ratio, |parent| parent.is_sampled)
}

/// A number from 0 to below 1, as good as random: which requests are traced is no secret, but must not follow a pattern
/// of theirs.
fn lot() -> f64 {
    static SEED: LazyLock<u64> = LazyLock::new(|| {
        domain::token::random_bytes().map_or_else(|_| u64::from(std::process::id()), u64::from_be_bytes)
    });
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    // SplitMix64.
    let mut bits = SEED.wrapping_add(DRAWN.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    f64::from(u32::try_from((bits ^ (bits >> 31)) >> 32).unwrap_or(0)) / 2_f64.powi(32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen_of_ten_thousand(sample_ratio: f64, parent: Option<bool>) -> usize {
        let tracing = Tracing { sample_ratio, join: |_, _| None };
        let parent = parent.map(|is_sampled| TraceParent { trace_id: 1, span_id: 1, is_sampled });
        (0..10_000).filter(|_| is_chosen(&tracing, parent)).count()
    }

    #[test]
    fn all_or_none_are_chosen_at_the_ends() {
        assert_eq!(chosen_of_ten_thousand(0.0, None), 0);
        assert_eq!(chosen_of_ten_thousand(1.0, None), 10_000);
    }

    #[test]
    fn about_as_many_are_chosen_as_the_ratio_says() {
        // Ten standard deviations to either side.
        let chosen = chosen_of_ten_thousand(0.1, None);
        assert!((700..1_300).contains(&chosen), "{chosen}");
    }

    #[test]
    fn a_trusted_caller_decides() {
        assert_eq!(chosen_of_ten_thousand(0.0, Some(true)), 10_000);
        assert_eq!(chosen_of_ten_thousand(1.0, Some(false)), 0);
    }
}
