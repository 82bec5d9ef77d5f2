//! What every actor works with.

use std::sync::Arc;

use gateways::{Dns, Hub, Mailer, Places, Post, Pusher, Texter};
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
    /// The way out for texts and calls.
    pub texter: Texter,
    /// The ways out for push messages.
    pub pusher: Pusher,
    /// Where places are looked up.
    pub places: Places,
    /// Who looks names up.
    pub dns: Dns,
    /// Who brings the mail of mailboxes to other servers.
    pub post: Post,
    /// What the configuration says.
    pub settings: Arc<Settings>,
}

impl Services {
    /// Whether people can be texted and called. The console can, as far as it goes: it keeps what it would have sent.
    pub fn calls_available(&self) -> bool {
        self.settings.calls_available
    }

    /// Services of one node on its own, with the default settings: nothing leaves the process.
    pub fn in_process(store: Store) -> Self {
        Self {
            store,
            hub: Hub::in_process(),
            mailer: Mailer::console(),
            texter: Texter::console(),
            pusher: Pusher::console(),
            places: Places::none(),
            dns: Dns::nobody(),
            post: Post::nobody(),
            settings: Arc::default(),
        }
    }
}
