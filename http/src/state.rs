//! What every request is served with: one per process.

use std::sync::Arc;

use gateways::hub::Hub;
use store::Store;

use crate::{
    argument::Argument, call::Call, credentials::Credentials, error::Result, facts::Facts, options::Options,
    router::Router, routes, shell::Limits,
};

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
    /// The tokens that this node remembers.
    pub credentials: Credentials,
    /// How often callers ask.
    pub limits: Limits,
}

/// A handle to the server's parts; an argument of handlers.
pub type State = Arc<AppState>;

impl AppState {
    /// The server's parts. Fails when two paths of the URL tree stand in each other's way.
    pub fn new(options: Options, store: Store, hub: Hub) -> Result<State, matchit::InsertError> {
        let router = Router::new(routes::page())?;
        let (credentials, limits) = (Credentials::default(), Limits::default());
        Ok(Arc::new(Self { options, store, hub, router, credentials, limits }))
    }
}

impl Argument for State {
    fn describe(_: &mut Facts) {}

    async fn take(call: &mut Call) -> Result<Self> {
        Ok(Self::clone(&call.state))
    }
}
