//! The live socket: tickets that open it, messages in order, and how it ends (decisions, "Sockets").

mod closing;
mod frames;
mod messages;
mod tickets;

use crate::harness::{Dice, Person, Server, Socket, VaultDevice, item_put};

/// A person whose device changes a vault, and so makes messages.
struct Sender {
    device: VaultDevice,
    item_id: String,
    changes: i64,
    /// The number of the last message before any of them: signing in makes some too.
    before: i64,
}

impl Sender {
    async fn new(server: &Server, person: &Person) -> Self {
        let mut dice = Dice::new(7);
        let device = VaultDevice::new(person.authenticator().await, server.clock.clone(), &mut dice);
        device.create().await;
        let mut socket = Socket::live(&device.client, 0).await;
        let mut before = 0;
        for _ in ["the person's own sign-in", "the authenticator's", "the vault"] {
            let message = socket.message().await;
            let is_of_the_vault = message["type"] == "vault.changed" && message["revision"] == 0;
            assert!(message["type"] == "notice.created" || is_of_the_vault, "{message}");
            before = message["seq"].as_i64().expect("a number");
        }
        Self { device, item_id: dice.device_made_id(), changes: 0, before }
    }

    /// A live socket of the device, after all that came before the changes.
    async fn socket(&self) -> Socket {
        Socket::live(&self.device.client, self.before).await
    }

    /// Changes the vault so often; each time makes one message.
    async fn change(&mut self, times: i64) {
        for _ in 0..times {
            let change = item_put(&self.item_id, self.changes, "content");
            self.device.change(&[change]).send().await.expect(200);
            self.changes += 1;
        }
    }
}
