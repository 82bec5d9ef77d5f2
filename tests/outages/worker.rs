//! Somebody who works without pause, and asks again until they have an answer.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use store::Clock;

use crate::{
    crash::{backup::Backup, feed::Feed, vault::Vault},
    harness::{Answer, Client, Dice},
};

/// How soon somebody asks again who was told to wait.
const AGAIN_AFTER: Duration = Duration::from_millis(25);

/// A person with a vault and a backup.
#[derive(Debug)]
pub struct Worker {
    name: String,
    client: Client,
    dice: Dice,
    backup: Backup,
    vault: Vault,
    feed: Feed,
}

/// How the work of one of them goes, for others to see.
#[derive(Debug, Default)]
pub struct Progress {
    pub acknowledged: AtomicU64,
    /// Answers that said to ask again later.
    pub turned_away: AtomicU64,
    /// Whether they are to come to an end.
    pub enough: AtomicBool,
    /// Whether something is made to fail that is answered 500.
    pub may_fail: AtomicBool,
    /// Answers of 500.
    pub failed: AtomicU64,
}

impl Progress {
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::Relaxed)
    }

    pub fn turned_away(&self) -> u64 {
        self.turned_away.load(Ordering::Relaxed)
    }

    /// The answer, unless it leaves open what was done and says when to ask again.
    pub async fn judge(&self, answer: Option<Answer>) -> Option<Answer> {
        let answer = answer.expect("a program that goes on keeps its connections");
        if answer.status == 500 {
            assert!(self.may_fail.load(Ordering::Relaxed), "nothing was made to fail: {}", answer.text);
            self.failed.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(AGAIN_AFTER).await;
            return None;
        }
        if answer.status != 503 {
            return Some(answer);
        }
        let after = answer.header("retry-after").and_then(|after| after.parse::<u64>().ok());
        assert!(after.is_some_and(|seconds| seconds > 0), "a 503 says when to ask again: {}", answer.text);
        self.turned_away.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(AGAIN_AFTER).await;
        None
    }
}

impl Worker {
    pub async fn enrol(client: &Client, number: usize, dice: Dice) -> Self {
        Self::enrol_at(client, number, dice, Clock::system()).await
    }

    /// With a clock that shows what the server's does.
    pub async fn enrol_at(client: &Client, number: usize, mut dice: Dice, clock: Clock) -> Self {
        let name = format!("worker{number}");
        let client = client.with_authenticator(&name).await;
        let vault = Vault::create_at(client.clone(), &mut dice, clock).await;
        Self { name, client, dice, backup: Backup::new(), vault, feed: Feed::default() }
    }

    /// The same worker, at another server of the same database.
    pub fn at(self, server: &Client) -> Self {
        Self { client: self.client.at(server.base()), ..self }
    }

    /// Works until it is enough.
    pub async fn work(mut self, progress: Arc<Progress>) -> Self {
        while !progress.enough.load(Ordering::Relaxed) {
            self.work_once(&progress).await;
        }
        self
    }

    /// Writes once, as often as it takes to know that it is done.
    pub async fn work_once(&mut self, progress: &Progress) {
        if self.dice.percent(50) {
            self.save(progress).await;
        } else {
            self.change(progress).await;
        }
        progress.acknowledged.fetch_add(1, Ordering::Relaxed);
    }

    /// Saves the backup. Who repeats a request without an answer learns from a conflict that it was done.
    async fn save(&mut self, progress: &Progress) {
        self.backup.decide(&mut self.dice);
        let mut tries = 0;
        loop {
            tries += 1;
            match progress.judge(self.backup.send(&self.client).await).await {
                None => {}
                Some(answer) if answer.status == 409 && tries > 1 => return self.backup.was_done(),
                Some(answer) => return self.backup.acknowledge(&answer.expect(200)),
            }
        }
    }

    /// Changes items of the vault.
    async fn change(&mut self, progress: &Progress) {
        let changes = self.vault.decide(&mut self.dice);
        let mut tries = 0;
        loop {
            tries += 1;
            let Some(answer) = progress.judge(self.vault.send(&self.client, &changes).await).await else { continue };
            let answer = answer.expect(200);
            let is_conflict = answer.list("/results").iter().all(|result| result["status"] == "conflict");
            return if is_conflict && tries > 1 { self.vault.was_done() } else { self.vault.acknowledge(&answer) };
        }
    }

    /// What was answered is there, nothing else is, and each change was told once and in order.
    pub async fn verify(&mut self) {
        let saved = self.backup.verify(&self.client, &self.name).await;
        let changed = self.vault.verify(&self.client, &self.name).await;
        assert_eq!((saved.survived, changed.survived), (0, 0), "{}: nothing was left open", self.name);
        self.feed.hear(&self.client, self.vault.revision(), &self.name).await;
    }
}
