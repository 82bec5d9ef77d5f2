//! The live socket: tickets that open it, messages in order, and how it ends (decisions, "Sockets").

mod closing;
mod messages;
mod tickets;

use crate::harness::{Dice, Person, Server, VaultDevice, item_put};

/// A person whose device changes a vault, and so makes messages.
struct Sender {
    device: VaultDevice,
    item_id: String,
    changes: i64,
}

impl Sender {
    async fn new(server: &Server, person: &Person) -> Self {
        let mut dice = Dice::new(7);
        let device = VaultDevice::new(person.authenticator().await, server.clock.clone(), &mut dice);
        device.create().await;
        Self { device, item_id: dice.device_made_id(), changes: 0 }
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
