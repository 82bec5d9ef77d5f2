//! No step is lost, none is early, none is done twice: 1,000 escalations have their steps in the coming seconds, while the
//! real program is killed with SIGKILL ten times.
//!
//! Time is real here, and the smallest unit of a protocol is a minute: so the events are dated back by about one, and wait in
//! the outbox when the program starts. That each becomes one escalation is part of what the kills must not harm.
//!
//! `TROUPE_CRASH_SEED` repeats a run's choices.

mod company;
mod provider;
mod record;

use std::time::{Duration, Instant};

use store::{
    Change, Clock, Store,
    testing::{SECRET_KEY_TEXT, Scratch},
};

use self::{company::Company, provider::Provider, record::Record};
use crate::harness::{Dice, Launch, Process, number};

/// `TROUPE_CRASH_ESCALATIONS` and `TROUPE_CRASH_KILLS` set others.
const ESCALATIONS: usize = 200;
/// Steps of each.
const STEPS: usize = 3;
const KILLS: usize = 4;
/// How long the program lives before it is killed: at least, and by so much more at most, in milliseconds.
const LIFE_MIN_MS: u64 = 700;
const LIFE_MORE_MS: u64 = 1_000;
/// How long the last one may take with everything: the leases of what was in hand end 10 and 15 seconds after a kill.
const PATIENCE: Duration = Duration::from_mins(5);

#[tokio::test(flavor = "multi_thread")]
async fn no_step_is_lost_early_or_done_twice() {
    let scratch = Scratch::new().await.unwrap();
    let mut dice = Dice::from_environment("TROUPE_CRASH_SEED");
    let provider = Provider::start().await;
    let launch = Launch::in_folder(scratch.folder())
        .set(format!("database.url={}", scratch.url()))
        .set(format!("secrets.keys={SECRET_KEY_TEXT}"))
        .set("notify.texts_per_day=10000")
        .set("notify.calls_per_day=10000");
    let launch = provider.settings().into_iter().fold(launch, Launch::set);
    let process = launch.start();
    let company = Company::found(&process.client(), &provider).await;
    process.kill();
    let store = scratch.store(Clock::system()).await.unwrap();
    emit(&store, &company, &mut dice).await;
    store.close().await;

    let started = Instant::now();
    let process = kill_again_and_again(&launch, &mut dice).await;
    eprintln!(
        "killed {} times within {:?}; {} messages had arrived by then",
        kills(),
        started.elapsed(),
        provider.arrived()
    );
    let record = settled(&company.at(&process.client()), &provider).await;
    eprintln!("everything has happened after {:?}", started.elapsed());
    record.verify();
    provider.verify(&record);
}

/// Emits the events, with steps at moments of their own in the next seconds.
async fn emit(store: &Store, company: &Company, dice: &mut Dice) {
    let now = store.now();
    let mut change = Change::new();
    for number in 0..escalations() {
        let first = now.after(Duration::from_millis(1_500 + dice.below(9_000)));
        let second = first.after(Duration::from_millis(dice.below(4_000)));
        company.emit(&mut change, number, first, second);
    }
    store.commit(change).await.expect("commits");
}

/// The program after it was killed so often.
async fn kill_again_and_again(launch: &Launch, dice: &mut Dice) -> Process {
    for _ in 0..kills() {
        let process = launch.start();
        tokio::time::sleep(Duration::from_millis(LIFE_MIN_MS + dice.below(LIFE_MORE_MS))).await;
        process.kill();
    }
    launch.start()
}

/// What is on record once every message has arrived and is known to have.
async fn settled(company: &Company, provider: &Provider) -> Record {
    let waiting = Instant::now();
    loop {
        tokio::time::sleep(Duration::from_millis(250)).await;
        let in_time = waiting.elapsed() < PATIENCE;
        if in_time && provider.arrived() < escalations() * STEPS {
            continue;
        }
        let record = Record::read(company).await;
        if record.is_settled() || !in_time {
            return record;
        }
    }
}

fn escalations() -> usize {
    number("TROUPE_CRASH_ESCALATIONS", ESCALATIONS)
}

fn kills() -> usize {
    number("TROUPE_CRASH_KILLS", KILLS)
}
