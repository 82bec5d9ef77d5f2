//! Commands that wait for one key are decided in one turn and committed together.

use domain::{Error, Result, Tenant, Timestamp};
use futures::future::join_all;
use kernel::{Command, Decided, Handle, Registry, Resource, Turn};
use store::{Change, Store, Timer};

use crate::stage::{CALM, Stage, context, stats};

const ZERO: i64 = 9_000_000_000_000;
const NAME: &str = "balance";
const ASKED: i64 = 200;

/// A sum that never falls below zero, kept as the due time of a timer (see `counter.rs`).
struct Account {
    balance: i64,
    /// What the balance is as soon as what this turn decided is committed.
    decided: Option<i64>,
}

fn timer(key: &str, balance: i64) -> Timer {
    let (kind, key, name) = (Account::KIND.to_owned(), key.to_owned(), NAME.to_owned());
    Timer { kind, key, name, due: Timestamp(ZERO + balance), tenant: Tenant::System }
}

impl Resource for Account {
    type Key = String;
    type Services = Store;

    const KIND: &'static str = "account";

    async fn load(key: &String, store: &Store) -> Result<Self> {
        let timer = store.timer_get(Self::KIND, key, NAME).await?;
        let balance = timer.map(|timer| timer.due.as_millis() - ZERO).ok_or(Error::not_found("No such account."))?;
        Ok(Self { balance, decided: None })
    }

    fn forget_decided(&mut self) {
        self.decided = None;
    }
}

/// Adds to the balance; answers it.
struct Add(i64);

impl Command for Add {
    type Reply = i64;

    const NAME: &'static str = "add";
}

/// What panics when it is added.
const PANICS: i64 = i64::MAX;

impl Handle<Add> for Account {
    const IS_GATHERED: bool = true;

    async fn handle(&mut self, command: &Add, turn: &mut Turn<'_, Self>) -> Result<i64> {
        self.forget_decided();
        let decided = self.decide(command, turn).await;
        turn.settle(self, decided).await
    }

    async fn decide(&mut self, Add(sum): &Add, turn: &Turn<'_, Self>) -> Result<Decided<i64>> {
        assert_ne!(*sum, PANICS, "crashed on purpose");
        let key = turn.key();
        let before = match self.decided {
            Some(balance) => balance,
            None => Self::load(key, turn.services()).await?.balance,
        };
        let after = before + sum;
        if after < 0 {
            return Err(Error::conflict("overdrawn", "Not that much."));
        }
        let mut change = Change::new();
        change.timer_done(&timer(key, before));
        change.timer_set(Self::KIND, key, NAME, Timestamp(ZERO + after));
        self.decided = Some(after);
        Ok(Decided { reply: after, change: Some(change) })
    }
}

async fn opened(stage: &Stage) -> (Registry<Account>, String) {
    let (accounts, key) = (stage.kernel.registry_with::<Account>(stage.store.clone(), CALM), "one".to_owned());
    let mut change = Change::new();
    change.timer_set(Account::KIND, &key, NAME, Timestamp(ZERO));
    stage.store.commit(change).await.expect("a commit");
    // It is in memory from now on.
    accounts.ask(&key, Add(0), context()).await.expect("an answer");
    (accounts, key)
}

#[tokio::test]
async fn what_waits_is_committed_in_few_groups_and_each_is_answered_in_its_order() {
    let stage = Stage::new().await;
    let (accounts, key) = opened(&stage).await;
    let before = stage.store.writer_stats();
    let adds = (0..ASKED).map(|number| {
        // One in the middle is refused.
        let sum = if number == ASKED / 2 { -ASKED } else { 1 };
        accounts.ask(&key, Add(sum), context())
    });
    let mut balance = 0;
    for (number, answer) in (0..ASKED).zip(join_all(adds).await) {
        if number == ASKED / 2 {
            assert_eq!(answer.expect_err("is refused").code(), "overdrawn");
        } else {
            balance += 1;
            assert_eq!(answer.expect("an answer"), balance);
        }
    }
    let after = stage.store.writer_stats();
    assert!(after.committed - before.committed < 50, "{} commits", after.committed - before.committed);
    assert_eq!(Account::load(&key, &stage.store).await.expect("an account").balance, ASKED - 1);
    let stats = stats(&stage.kernel, "account");
    assert_eq!((stats.waiting, stats.crashes, stats.loads), (0, 0, 1));
}

#[tokio::test]
async fn one_that_panics_hurts_no_other_that_was_decided_with_it() {
    let stage = Stage::new().await;
    let (accounts, key) = opened(&stage).await;
    let sums = (0..20).map(|number| if number == 10 { PANICS } else { 1 });
    let answers = join_all(sums.map(|sum| accounts.ask(&key, Add(sum), context()))).await;
    let refused: Vec<_> = answers.iter().map(Result::is_err).collect();
    assert_eq!(refused.iter().filter(|is_refused| **is_refused).count(), 1);
    assert!(refused[10]);
    assert_eq!(Account::load(&key, &stage.store).await.expect("an account").balance, 19);
    assert_eq!(stats(&stage.kernel, "account").crashes, 1);
}
