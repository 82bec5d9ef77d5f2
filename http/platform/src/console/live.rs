//! What the console shows live: server-sent events.
//!
//! `pulse` comes every two seconds with what happened since the last one, the first time with the last five minutes.
//! `health` and `queues` come every ten seconds with how the node is and what waits; `silent` comes instead of what the
//! node that is watched, or the database, doesn't answer. The stream ends when the server stops or the sign-in no longer
//! counts; a browser then asks again, and reads 401 in the latter case.

use std::time::Duration;

use actix_web::{
    HttpResponse,
    http::header::{self, HeaderName},
};
use actors::platform::{PULSE_EVERY, Question};
use bytes::Bytes;
use domain::Error;
use futures::stream;
use http_shell::{
    error::ApiError,
    query::{Query, RequestQuery},
    state::State,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;
use utoipa::IntoParams;

use super::{Session, pipelines};

/// How many pulses lie between two looks at how the node is and at what waits.
const PULSES_PER_LOOK: u64 = 5;
/// How long the database has to tell whether the sign-in still counts, and what waits. While it is away the stream goes
/// on, because that is when operators look at it.
const DATABASE_PATIENCE: Duration = Duration::from_secs(2);
/// How soon a browser asks again after the stream ended.
const RETRY: Duration = Duration::from_secs(2);

/// What is watched.
#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct ConsoleLiveQuery {
    /// The name of a node; by default the one that answers.
    node: Option<String>,
    /// The number of the last pulse that the page has seen; without it, all that are kept come first.
    after: Option<u64>,
}

impl RequestQuery for ConsoleLiveQuery {}

/// Watch the platform, in the operators' console
#[utoipa::path(get, path = "/console/live", responses(
    (status = 200, description = "Events, as they come.", content_type = "text/event-stream")))]
pub(crate) async fn console_live(session: Session, query: Query<ConsoleLiveQuery>, state: State) -> HttpResponse {
    let ConsoleLiveQuery { node, after } = query.0;
    let shutdown = state.shutdown.subscribe();
    let watch = Watch { state, session, shutdown, node, after: after.unwrap_or(0), next: Next::First, pulses: 0 };
    let events = stream::unfold(watch, |mut watch| async move {
        let event = watch.next().await?;
        Some((Ok::<_, std::io::Error>(event), watch))
    });
    HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "text/event-stream"))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        // Proxies that hold answers back would hold back all of this one.
        .insert_header((HeaderName::from_static("x-accel-buffering"), "no"))
        .streaming(events)
}

/// One page that watches.
struct Watch {
    state: State,
    session: Session,
    shutdown: watch::Receiver<bool>,
    node: Option<String>,
    after: u64,
    next: Next,
    /// How many were looked for.
    pulses: u64,
}

/// What a page is sent next.
enum Next {
    /// What is there already.
    First,
    /// How the node is, and what waits.
    Look,
    /// What happens.
    Pulse,
}

impl Watch {
    /// What is sent next; nothing when the stream ends.
    async fn next(&mut self) -> Option<Bytes> {
        let text = match self.next {
            Next::First => format!("retry: {}\n\n{}", RETRY.as_millis(), self.pulse().await),
            Next::Look => self.look().await,
            Next::Pulse => {
                self.pause().await?;
                if !self.still_counts().await {
                    return None;
                }
                self.pulse().await
            }
        };
        Some(text.into())
    }

    /// Whether the node that is watched is this one.
    fn is_here(&self) -> bool {
        self.node.as_deref().is_none_or(|node| node == self.state.actors.platform.node())
    }

    /// Whether the sign-in still counts, as far as the database tells.
    async fn still_counts(&self) -> bool {
        match tokio::time::timeout(DATABASE_PATIENCE, self.session.still_counts(&self.state)).await {
            Ok(Err(ApiError::Domain(Error::Busy { .. } | Error::Internal { .. }))) | Err(_) => true,
            Ok(counts) => counts.is_ok(),
        }
    }

    /// Waits for the next pulse; nothing when the server stops.
    async fn pause(&mut self) -> Option<()> {
        let platform = self.state.actors.platform.clone();
        let is_here = self.is_here();
        let due = async {
            if is_here {
                platform.next_pulse().await;
            } else {
                tokio::time::sleep(PULSE_EVERY).await;
            }
        };
        tokio::select! {
            () = due => Some(()),
            _ = self.shutdown.wait_for(|stops| *stops) => None,
        }
    }

    /// What happened since the last pulse.
    async fn pulse(&mut self) -> String {
        let is_look_due = self.pulses.is_multiple_of(PULSES_PER_LOOK);
        self.next = if is_look_due { Next::Look } else { Next::Pulse };
        self.pulses += 1;
        let answer = self.ask(Question::Pulses { after: self.after }).await;
        if let Ok(answer) = &answer {
            let newest = answer["pulses"].as_array().and_then(|pulses| pulses.last());
            self.after = newest.and_then(|pulse| pulse["seq"].as_u64()).unwrap_or(self.after);
        }
        event("pulse", answer)
    }

    /// How the node is, and what waits.
    async fn look(&mut self) -> String {
        self.next = Next::Pulse;
        let health = self.ask(Question::Health).await;
        let (queues, pipelines) = tokio::join!(
            tokio::time::timeout(DATABASE_PATIENCE, self.queues()),
            tokio::time::timeout(DATABASE_PATIENCE, self.pipelines()),
        );
        let mut queues = queues.unwrap_or_else(|_elapsed| Err(Error::busy(DATABASE_PATIENCE)));
        if let Ok(queues) = &mut queues {
            // What isn't known in time of pipelines takes none of the rest with it.
            queues["pipelines"] = pipelines.ok().and_then(Result::ok).unwrap_or_default();
        }
        event("health", health) + &event("queues", queues)
    }

    async fn ask(&self, question: Question) -> domain::Result<Value> {
        self.state.actors.platform.ask(self.node.as_deref(), question).await
    }

    /// What waits, counted.
    async fn queues(&self) -> domain::Result<Value> {
        let store = &self.state.store;
        let timers = store.timers_by_kind().await?;
        let outbox = store.outbox_by_state().await?;
        let deliveries = store.deliveries_by_state().await?;
        let jobs = store.waiting_jobs().await?;
        let of_outbox = |state: &str| -> u64 {
            outbox.iter().filter(|count| count.state == state).map(|count| count.entries).sum()
        };
        let of_deliveries = |state: &str| -> u64 {
            deliveries.iter().filter(|count| count.state == state).map(|count| count.deliveries).sum()
        };
        Ok(json!({
            "timers": {
                "set": timers.iter().map(|timers| timers.set).sum::<u64>(),
                "late": timers.iter().map(|timers| timers.late).sum::<u64>(),
            },
            "outbox": {
                "waiting": of_outbox("waiting") + of_outbox("claimed"),
                "delayed": of_outbox("delayed"),
                "parked": of_outbox("parked"),
            },
            "deliveries": {
                "queued": of_deliveries("queued"),
                "held": of_deliveries("held"),
                "failed": of_deliveries("failed"),
            },
            "jobs": {
                "queued": jobs.map_or(0, |jobs| jobs.count),
                "oldestMs": jobs.map(|jobs| store.now().as_millis() - jobs.since.as_millis()),
            },
        }))
    }

    /// What waits for runners, and how they are.
    async fn pipelines(&self) -> domain::Result<Value> {
        // Another node's lost runners are in its own metrics.
        let lost = self.is_here().then(|| self.state.actors.lost_runners.count());
        Ok(pipelines::shown(&self.state.store, lost).await?)
    }
}

/// One event, or that there is none. JSON has no line breaks.
fn event(name: &str, data: domain::Result<Value>) -> String {
    match data {
        Ok(data) => format!("event: {name}\ndata: {data}\n\n"),
        Err(error) => format!("event: silent\ndata: {}\n\n", json!({"of": name, "error": error.to_string()})),
    }
}
