//! What operators see of a request beside its count: its trace, and that it was slow.

use actors::platform::{SLOW_AFTER, SlowRequest};
use hyper::{
    HeaderMap, Method, StatusCode,
    header::{HeaderName, HeaderValue},
};
use tracing::Span;

use crate::{meters::Answered, service::Door, visit::Visit};

/// Says where in which trace the caller stands.
const TRACE_PARENT: &str = "traceparent";
/// Says where in which trace the request stood.
const TRACE_RESPONSE: HeaderName = HeaderName::from_static("traceresponse");

/// Which requests are traced.
pub trait Traces: Send + Sync + 'static {
    /// Begins the span of a request that is to be traced: because a trusted proxy traces it, as `parent` says, or by lot.
    fn begin(&self, method: &str, parent: Option<&str>, request_id: &str) -> Option<Trace>;
}

/// The span of a request that is traced.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The span.
    pub span: Span,
    /// Where in which trace it stands, as a header says it.
    pub place: String,
}

impl Trace {
    /// Ends the span, and tells the client where to look for it.
    pub(crate) fn end(self, operation: &str, status: StatusCode, headers: &mut HeaderMap) {
        self.span.record("otel.name", format!("S3 {operation}"));
        self.span.record("http.response.status_code", status.as_u16());
        if status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED {
            self.span.record("otel.status_code", "ERROR");
        }
        if let Ok(place) = HeaderValue::try_from(self.place) {
            headers.insert(TRACE_RESPONSE, place);
        }
    }
}

impl Door {
    /// Begins the trace of a request, where it is to be traced.
    pub(crate) fn trace_begin(&self, visit: &Visit, method: &Method, headers: &HeaderMap) -> Option<Trace> {
        let parent = headers.get(TRACE_PARENT).filter(|_| visit.is_from_trusted_proxy);
        let parent = parent.and_then(|parent| parent.to_str().ok());
        self.traces.begin(method_name(method), parent, &visit.request_id)
    }

    /// Notes a slow request for the operators.
    pub(crate) fn note_slow(&self, visit: &Visit, method: &Method, answered: &Answered) {
        if answered.took < SLOW_AFTER {
            return;
        }
        self.actors.platform.was_slow(SlowRequest {
            at: self.store.now(),
            method: method_name(method).to_owned(),
            route: answered.operation,
            status: answered.status.as_u16(),
            took_us: u64::try_from(answered.took.as_micros()).unwrap_or(u64::MAX),
            request_id: visit.request_id.clone(),
        });
    }
}

/// The name of a method that S3 knows; a request's may be anything.
fn method_name(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS"];
    known.into_iter().find(|name| *name == method.as_str()).unwrap_or("_OTHER")
}
