//! Backups and vaults on two nodes: each has an actor of its own for one person, and one truth between them.
//!
//! The nodes share a database and a clock and nothing else, so that each learns of the other by its commits only.

mod backup;
mod phone;
mod stale;

use std::time::{Duration, Instant};

use actors::{Actors, Services, vault::Vault};
use domain::{Context, Origin, Result, Timestamp, id::UserId};
use kernel::{Command, Handle, KernelOptions};
use store::{Clock, Store, testing::Scratch};

use self::phone::Phone;

const START: Timestamp = Timestamp(1_700_000_000_000);

/// Two nodes on one database, and a person who is served by both.
struct Nodes {
    left: Node,
    right: Node,
    user_id: UserId,
    clock: Clock,
    /// Dropped last: it removes the database.
    _scratch: Scratch,
}

struct Node {
    actors: Actors,
    store: Store,
    user_id: UserId,
}

impl Nodes {
    async fn start() -> Self {
        let scratch = Scratch::new().await.expect("an empty database");
        let clock = Clock::manual(START);
        let user_id = UserId::new(START);
        let (left, right) =
            (Node::start(&scratch, &clock, user_id).await, Node::start(&scratch, &clock, user_id).await);
        Self { left, right, user_id, clock, _scratch: scratch }
    }

    /// With a vault on one device, that both nodes know.
    async fn with_vault() -> (Self, Phone) {
        let nodes = Self::start().await;
        let device = Phone::new(1);
        nodes.left.vault(device.create(&nodes.clock)).await.expect("a vault");
        for node in [&nodes.left, &nodes.right] {
            node.vault(device.put_device(&nodes.clock)).await.expect("a device");
        }
        (nodes, device)
    }
}

impl Node {
    async fn start(scratch: &Scratch, clock: &Clock, user_id: UserId) -> Self {
        let store = scratch.store(clock.clone()).await.expect("a store");
        let services = Services::in_process(store.clone());
        let actors = Actors::start(&services, KernelOptions::new("node")).expect("actors");
        Self { actors, store, user_id }
    }

    async fn vault<C: Command>(&self, command: C) -> Result<C::Reply>
    where
        Vault: Handle<C>,
    {
        self.actors.vault.ask(&self.user_id, command, context()).await
    }
}

fn context() -> Context {
    Context::system(Origin::Http, Instant::now() + Duration::from_secs(60))
}
