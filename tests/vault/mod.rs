//! The passwords vault (contract A 2.2, 3, 4.2; decisions, "Passwords vault").

mod creation;
mod devices;
mod items;
mod keyset;
mod limits;
mod log;
mod overview;
mod removal;
mod signature;

use serde_json::Value;

use crate::harness::{Dice, Person, Server, VaultDevice};

const NO_VAULT: &str = "There's no vault for this account.";
const NOT_SIGNED: &str = "This request isn't signed by your vault.";
const REMOVED: &str = "This device was removed from your vault.";

/// A person who has a vault on one device.
struct Owner {
    server: Server,
    person: Person,
    device: VaultDevice,
    dice: Dice,
}

impl Owner {
    async fn with_vault() -> Self {
        Self::with_vault_on(&[]).await
    }

    /// With a vault on a server with these settings.
    async fn with_vault_on(settings: &[&str]) -> Self {
        let owner = Self::without_vault_on(settings).await;
        owner.device.create().await;
        owner
    }

    async fn without_vault() -> Self {
        Self::without_vault_on(&[]).await
    }

    async fn without_vault_on(settings: &[&str]) -> Self {
        let server = Server::with(settings).await;
        let person = server.person("ada").await;
        let mut dice = Dice::new(1);
        let device = VaultDevice::new(person.authenticator().await, server.clock.clone(), &mut dice);
        Self { server, person, device, dice }
    }

    /// Another device of the vault, registered.
    async fn second_device(&mut self) -> VaultDevice {
        let device = self.unregistered_device().await;
        device.register().await;
        device
    }

    /// Another device that holds the vault's key.
    async fn unregistered_device(&mut self) -> VaultDevice {
        self.device.another(self.person.authenticator().await, &mut self.dice)
    }

    /// A new vault's first device, of the same person.
    fn first_device_of_another_vault(&mut self) -> VaultDevice {
        VaultDevice::new(self.device.client.clone(), self.server.clock.clone(), &mut self.dice)
    }

    fn new_id(&mut self) -> String {
        self.dice.device_made_id()
    }

    /// The vault as a whole.
    async fn overview(&self) -> Value {
        self.device.client.get("/v1/me/vault").send().await.expect(200).json
    }

    /// The events of the log, newest first.
    async fn logged(&self) -> Vec<String> {
        let answer = self.device.client.get("/v1/me/vault/log").send().await.expect(200);
        answer.list("/entries").iter().map(|entry| entry["event"].as_str().expect("an event").to_owned()).collect()
    }

    /// The subjects of the e-mails that the person got about the vault, once there are so many.
    async fn emails(&self, count: usize) -> Vec<String> {
        let path = format!("/kept?to={}", self.person.email);
        let ask = async || {
            let kept = self.server.operator().get(&path).send().await.expect(200);
            let about_vaults = |subject: &&str| subject.contains("vault");
            let subjects: Vec<_> = kept
                .list("/messages")
                .iter()
                .filter_map(|message| message["subject"].as_str())
                .filter(about_vaults)
                .map(str::to_owned)
                .collect();
            (subjects.len() >= count).then_some(subjects)
        };
        self.server.eventually(&format!("{count} e-mails"), ask).await
    }
}
