//! An OpenTelemetry collector: takes exports over HTTP, and reads them.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    net::{SocketAddr, TcpListener},
    sync::{Arc, Mutex},
    thread,
};

use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Bytes, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{AnyValue, KeyValue, any_value},
    trace::v1::{self as otlp, status::StatusCode},
};
use prost::Message;
use tokio::sync::oneshot;

/// A collector on a thread of its own; it ends when this is dropped.
pub struct Collector {
    pub address: SocketAddr,
    heard: Arc<Mutex<Vec<Export>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

/// One request to the collector.
#[derive(Clone, Debug)]
pub struct Export {
    pub method: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub request: ExportTraceServiceRequest,
}

/// A span, with what is around it.
#[derive(Clone, Debug)]
pub struct Span {
    pub name: String,
    pub kind: otlp::span::SpanKind,
    pub trace_id: String,
    pub id: String,
    /// Empty for the first of a trace.
    pub parent_id: String,
    /// Numbers are there as text.
    pub attributes: BTreeMap<String, String>,
    pub is_error: bool,
    pub events: usize,
    /// The attributes of what it comes from.
    pub resource: BTreeMap<String, String>,
}

impl Collector {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let heard = Arc::<Mutex<Vec<Export>>>::default();
        let (stop, stopped) = oneshot::channel();
        let exports = Arc::clone(&heard);
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                tokio::select! {
                    () = accept(listener, exports) => {}
                    _ = stopped => {}
                }
            });
        });
        Self { address, heard, stop: Some(stop), thread: Some(thread) }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn exports(&self) -> Vec<Export> {
        self.heard.lock().expect("the lock").clone()
    }

    pub fn spans(&self) -> Vec<Span> {
        self.exports().iter().flat_map(|export| spans(&export.request)).collect()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

async fn accept(listener: TcpListener, heard: Arc<Mutex<Vec<Export>>>) {
    listener.set_nonblocking(true).expect("a listener that doesn't block");
    let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        let heard = Arc::clone(&heard);
        tokio::spawn(async move {
            let service = service_fn(move |request| take(request, Arc::clone(&heard)));
            // A client that goes away is no failure of the collector.
            let _ = auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn take(request: Request<Incoming>, heard: Arc<Mutex<Vec<Export>>>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.expect("a whole body").to_bytes();
    let text = |value: &hyper::header::HeaderValue| value.to_str().expect("text").to_owned();
    heard.lock().expect("the lock").push(Export {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        headers: parts.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect(),
        request: ExportTraceServiceRequest::decode(body).expect("an export"),
    });
    Ok(Response::new(Full::default()))
}

fn spans(request: &ExportTraceServiceRequest) -> Vec<Span> {
    let mut found = Vec::new();
    for group in &request.resource_spans {
        let resource = attributes(&group.resource.as_ref().expect("a resource").attributes);
        let spans = group.scope_spans.iter().flat_map(|scope| &scope.spans);
        found.extend(spans.map(|span| read(span, resource.clone())));
    }
    found
}

fn read(span: &otlp::Span, resource: BTreeMap<String, String>) -> Span {
    assert!(span.end_time_unix_nano > 0, "{span:?}");
    Span {
        name: span.name.clone(),
        kind: span.kind(),
        trace_id: hex(&span.trace_id),
        id: hex(&span.span_id),
        parent_id: hex(&span.parent_span_id),
        attributes: attributes(&span.attributes),
        is_error: span.status.as_ref().is_some_and(|status| status.code() == StatusCode::Error),
        events: span.events.len(),
        resource,
    }
}

fn attributes(pairs: &[KeyValue]) -> BTreeMap<String, String> {
    pairs.iter().map(|pair| (pair.key.clone(), text(pair.value.as_ref()))).collect()
}

fn text(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()).expect("a value") {
        any_value::Value::StringValue(text) => text.clone(),
        any_value::Value::IntValue(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a text grows");
        text
    })
}
