//! A person who writes without pause until the program dies, and then looks what is there.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use super::{backup::Backup, feed::Feed, known::Outcome, orgs::Orgs, vault::Vault};
use crate::harness::{Answer, Client, Dice};

#[derive(Debug)]
pub struct Writer {
    name: String,
    client: Client,
    dice: Dice,
    backup: Backup,
    vault: Vault,
    orgs: Orgs,
    feed: Feed,
}

impl Writer {
    pub async fn enrol(client: &Client, number: usize, mut dice: Dice) -> Self {
        let name = format!("writer{number}");
        let client = client.with_authenticator(&name).await;
        let vault = Vault::create(client.clone(), &mut dice).await;
        let (backup, orgs, feed) = (Backup::new(), Orgs::default(), Feed::default());
        Self { name, client, dice, backup, vault, orgs, feed }
    }

    /// Writes until an answer stays away.
    pub async fn write(mut self, server: Client, acknowledged: Arc<AtomicU64>) -> Self {
        self.client = self.client.at(server.base());
        while self.write_once().await.is_some() {
            acknowledged.fetch_add(1, Ordering::Relaxed);
        }
        self
    }

    async fn write_once(&mut self) -> Option<Answer> {
        match self.dice.below(100) {
            0..40 => self.backup.write(&self.client, &mut self.dice).await,
            40..45 if self.orgs.may_write() => self.orgs.write(&self.client, &mut self.dice).await,
            _ => self.vault.write(&self.client, &mut self.dice).await,
        }
    }

    /// Compares what is there with what was acknowledged.
    pub async fn verify(&mut self, server: &Client) -> Outcome {
        self.client = self.client.at(server.base());
        let outcomes =
            [self.backup.verify(&self.client, &self.name).await, self.vault.verify(&self.client, &self.name).await];
        self.orgs.verify(&self.client, &self.name).await;
        self.feed.hear(&self.client, self.vault.revision(), &self.name).await;
        outcomes.into_iter().sum()
    }

    /// Waits for what was still held back, and hears everything from the first message on.
    pub async fn verify_to_the_end(&mut self) {
        self.orgs.verify_all_fulfilled(&self.client, &self.name).await;
        Feed::default().hear(&self.client, self.vault.revision(), &self.name).await;
    }
}
