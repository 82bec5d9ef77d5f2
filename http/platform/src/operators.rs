//! What operators see, on a listener of their own: `/metrics`, `/healthz`, `/readyz`, `/kept`.
//!
//! Nothing here asks who calls. The listener is meant for the machine itself, or a network of operators.

use std::{net::IpAddr, time::Duration};

use actix_web::{
    HttpRequest, HttpResponse, Route, guard,
    http::header,
    web::{self, Data, ServiceConfig},
};
use gateways::hub::HubMode;
use http_shell::state::{AppState, State};
use metrics_exporter_prometheus::PrometheusHandle;
use serde::{Deserialize, Serialize};
use store::{KeptMessage, StoreError};

use crate::{job_queue, nodes::clock_status};

/// Kept messages that are shown at once.
const KEPT_SHOWN: u32 = 100;

/// How long the database may take to answer a ping. Who asks for readiness waits longer.
const PING_WITHIN: Duration = Duration::from_secs(2);

/// The operators' routes.
pub fn routes(state: &State) -> impl Fn(&mut ServiceConfig) + use<> {
    let state = Data::from(std::sync::Arc::clone(state));
    move |config| {
        config
            .app_data(state.clone())
            .route("/metrics", read().to(metrics))
            .route("/healthz", read().to(healthz))
            .route("/readyz", read().to(readyz))
            .route("/kept", read().to(kept));
    }
}

/// `HEAD` is answered like `GET`: monitors ask that way.
fn read() -> Route {
    web::route().guard(guard::Any(guard::Get()).or(guard::Head()))
}

async fn metrics(state: Data<AppState>) -> HttpResponse {
    let mut text = state.metrics.as_ref().map(PrometheusHandle::render).unwrap_or_default();
    state.actors.kernel.render_prometheus(&mut text);
    job_queue::render(&state.store, &mut text).await;
    HttpResponse::Ok().insert_header((header::CONTENT_TYPE, "text/plain; version=0.0.4")).body(text)
}

/// The process answers.
async fn healthz() -> HttpResponse {
    HttpResponse::Ok().json(serde_json::json!({"status": "ok"}))
}

#[derive(Serialize)]
struct Readiness {
    status: &'static str,
    database: Part,
    hub: HubPart,
    clock: ClockPart,
}

/// This node's clock beside the database's.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClockPart {
    status: &'static str,
    behind_ms: i64,
}

#[derive(Serialize)]
struct Part {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HubPart {
    mode: HubMode,
    status: &'static str,
    /// How long it has been so, in seconds.
    for_seconds: u64,
}

/// Whether this node can serve: 503 while the database is away or the server shuts down. Without Redis it serves on,
/// all but tickets, and with a clock that is off it claims no work; then it says `degraded`: a balancer that took every node out for that would turn a dent into an outage.
async fn readyz(state: Data<AppState>) -> HttpResponse {
    let ping = tokio::time::timeout(PING_WITHIN, state.store.ping()).await;
    let ping = ping.unwrap_or_else(|_| Err(StoreError::Unavailable("no answer in time".to_owned())));
    let health = state.hub.health();
    let database =
        Part { status: if ping.is_ok() { "ok" } else { "away" }, error: ping.as_ref().err().map(ToString::to_string) };
    let hub = HubPart {
        mode: health.mode,
        status: if health.connected { "ok" } else { "away" },
        for_seconds: health.since.elapsed().as_secs(),
    };
    let is_off = state.store.clock_is_off();
    let clock = ClockPart { status: clock_status(is_off), behind_ms: state.store.clock_behind_ms() };
    let stopping = *state.shutdown.borrow();
    let status = match (stopping, ping.is_ok(), health.connected && !is_off) {
        (true, _, _) => "stopping",
        (_, false, _) => "unavailable",
        (_, _, false) => "degraded",
        _ => "ok",
    };
    let mut response = if stopping || ping.is_err() { HttpResponse::ServiceUnavailable() } else { HttpResponse::Ok() };
    response.json(Readiness { status, database, hub, clock })
}

#[derive(Deserialize)]
struct KeptQuery {
    to: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KeptView {
    gateway: String,
    channel: String,
    to: String,
    subject: Option<String>,
    body: String,
    created_at: i64,
}

impl From<KeptMessage> for KeptView {
    fn from(kept: KeptMessage) -> Self {
        Self {
            gateway: kept.gateway,
            channel: kept.channel,
            to: kept.recipient,
            subject: kept.subject,
            body: kept.body,
            created_at: kept.created_at.as_millis(),
        }
    }
}

/// What was kept because no gateway is configured to send it, newest first; `?to=` narrows it to one recipient.
async fn kept(state: Data<AppState>, request: HttpRequest, query: web::Query<KeptQuery>) -> HttpResponse {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    if !host.is_some_and(is_plain) {
        return HttpResponse::Forbidden().json(serde_json::json!({"error": "Ask by address, or as localhost."}));
    }
    match state.store.kept_list(query.to.as_deref(), KEPT_SHOWN).await {
        Ok(kept) => {
            let messages: Vec<KeptView> = kept.into_iter().map(KeptView::from).collect();
            HttpResponse::Ok().json(serde_json::json!({"messages": messages}))
        }
        Err(error) => HttpResponse::ServiceUnavailable().json(serde_json::json!({"error": error.to_string()})),
    }
}

/// Whether a `Host` is an address or `localhost`. Kept e-mails hold invitations, and a web page whose own name was made
/// to resolve to this listener (DNS rebinding) could read them out of an operator's browser; it can't choose its `Host`.
fn is_plain(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name);
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    address.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
}
