//! What every request is served with: one per process.

use std::sync::Arc;

use actors::{Actors, Services, Settings, git::host::GitHost, pages::live::Rooms};
use gateways::{Places, Pusher, Texter, hub::Hub};
use metrics_exporter_prometheus::PrometheusHandle;
use store::Store;
use tokio::sync::watch;

use crate::{
    argument::Argument, body_room::BodyRoom, call::Call, credentials::Credentials, error::Result, facts::Facts,
    options::Options, router::Router, shell::Limits, spool::Spool,
};

/// The server's parts.
pub struct AppState {
    /// Settings of this layer.
    pub options: Options,
    /// For reads.
    pub store: Store,
    /// For writes: ask the owner.
    pub actors: Actors,
    /// For tickets, rate limits and what must reach every node.
    pub hub: Hub,
    /// For the callbacks of who sends texts and calls people.
    pub texter: Texter,
    /// For what browsers subscribe to push messages with.
    pub pusher: Pusher,
    /// For addresses that people look up.
    pub places: Places,
    /// Who looks at which organization's pages, on this node.
    pub page_rooms: Rooms,
    /// The objects of repositories, on this node.
    pub git: GitHost,
    /// What the configuration says of the areas.
    pub settings: Arc<Settings>,
    /// The URL tree.
    pub router: Router,
    /// The tokens that this node remembers.
    pub credentials: Credentials,
    /// Where uploads that are too large to hold are worked on.
    pub spool: Spool,
    /// Room for large bodies.
    pub body_room: BodyRoom,
    /// How often callers ask.
    pub limits: Limits,
    /// What the metrics are shown from; none where no recorder is installed.
    pub metrics: Option<PrometheusHandle>,
    /// Whether the server shuts down.
    pub shutdown: watch::Sender<bool>,
}

/// A handle to the server's parts; an argument of handlers.
pub type State = Arc<AppState>;

impl AppState {
    /// The server's parts, with the endpoints of `router`.
    pub fn new(
        router: Router,
        options: Options,
        services: Services,
        actors: Actors,
        metrics: Option<PrometheusHandle>,
    ) -> State {
        Arc::new(Self {
            spool: Spool::new(options.spool.clone()),
            options,
            store: services.store.clone(),
            hub: services.hub.clone(),
            texter: services.texter.clone(),
            pusher: services.pusher.clone(),
            places: services.places.clone(),
            page_rooms: Rooms::new(services.clone()),
            git: actors.git.clone(),
            settings: services.settings,
            actors,
            router,
            credentials: Credentials::default(),
            body_room: BodyRoom::default(),
            limits: Limits::default(),
            metrics,
            shutdown: watch::Sender::new(false),
        })
    }
}

impl Argument for State {
    fn describe(_: &mut Facts) {}

    async fn take(call: &mut Call) -> Result<Self> {
        Ok(Self::clone(&call.state))
    }
}
