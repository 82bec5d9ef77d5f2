//! What every request is served with: one per process.

use std::sync::Arc;

use gateways::hub::Hub;
use store::Store;

use crate::{argument::Argument, call::Call, error::Result, facts::Facts, options::Options, router::Router, routes};

/// The server's parts.
pub struct AppState {
    /// Settings of this layer.
    pub options: Options,
    /// For reads.
    pub store: Store,
    /// For tickets, rate limits and what must reach every node.
    pub hub: Hub,
    /// The URL tree.
    pub router: Router,
}

/// A handle to the server's parts; an argument of handlers.
pub type State = Arc<AppState>;

impl AppState {
    /// The server's parts. Fails when two paths of the URL tree stand in each other's way.
    pub fn new(options: Options, store: Store, hub: Hub) -> Result<State, matchit::InsertError> {
        Ok(Arc::new(Self { options, store, hub, router: Router::new(routes::page())? }))
    }
}

impl Argument for State {
    fn describe(_: &mut Facts) {}

    async fn take(call: &mut Call) -> Result<Self> {
        Ok(Self::clone(&call.state))
    }
}
