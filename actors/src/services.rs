//! What every actor works with.

use std::sync::Arc;

use gateways::{Hub, Mailer};
use store::Store;

use crate::settings::Settings;

/// The parts of the process that actors use. A cheap handle.
#[derive(Clone, Debug)]
pub struct Services {
    /// What Troupe remembers.
    pub store: Store,
    /// What must reach every node at once.
    pub hub: Hub,
    /// The way out for e-mail.
    pub mailer: Mailer,
    /// What the configuration says.
    pub settings: Arc<Settings>,
}
