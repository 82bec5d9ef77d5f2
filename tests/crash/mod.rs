//! Nothing acknowledged is lost: the real program is killed with SIGKILL while 32 people write, and started again.
//!
//! Whatever was answered is there afterwards. What was under way is there wholly or not at all. What follows from a
//! write (its live message, the one organization that a repeated request makes) is there exactly once.
//!
//! `TROUPE_CRASH_ROUNDS` sets how often it is killed, `TROUPE_CRASH_SEED` repeats a run's choices.

pub mod backup;
mod bulk;
mod databases;
mod escalations;
pub mod feed;
pub mod known;
mod orgs;
mod packs;
mod pushes;
mod repositories;
pub mod stage;
mod storage;
pub mod vault;
mod writer;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use futures::future::join_all;
use store::testing::Scratch;

use crate::harness::{Answer, Dice, Launch, Process, number};

use self::writer::Writer;

const CLIENTS: usize = 32;
const ROUNDS: u32 = 6;
/// Writes acknowledged in a life before the kill, at most.
const WRITES_MAX: u64 = 500;
/// A life on a slow machine ends after this long, however few writes there were.
const LIFE_MAX: Duration = Duration::from_millis(1_500);

#[tokio::test(flavor = "multi_thread")]
async fn nothing_acknowledged_is_lost() {
    let scratch = Scratch::new().await.unwrap();
    kill_again_and_again(Launch::in_folder(scratch.folder()).set(format!("database.url={}", scratch.url()))).await;
}

async fn kill_again_and_again(launch: Launch) {
    // So that the claims of requests that died run out while the test still runs.
    let launch = launch.set("server.request_timeout=20s");
    let mut dice = Dice::from_environment("TROUPE_CRASH_SEED");
    let mut process = launch.start();
    let mut writers = enrol(&process, &mut dice).await;
    for round in 1..=rounds() {
        let acknowledged = Arc::new(AtomicU64::new(0));
        let writing =
            writers.into_iter().map(|writer| tokio::spawn(writer.write(process.client(), acknowledged.clone())));
        let writing = join_all(writing.collect::<Vec<_>>());
        let enough = 1 + dice.below(WRITES_MAX);
        let (killed, ended) = tokio::join!(kill_after(process, acknowledged.clone(), enough, dice.fork()), writing);
        killed.unwrap();
        writers = ended.into_iter().map(|writer| writer.expect("a writer without complaints")).collect();

        let started = Instant::now();
        process = launch.start();
        let back = started.elapsed();
        let client = process.client();
        let outcomes = join_all(writers.iter_mut().map(|writer| writer.verify(&client))).await;
        let unsure = outcomes.iter().map(|outcome| outcome.unsure).sum::<u32>();
        let survived = outcomes.iter().map(|outcome| outcome.survived).sum::<u32>();
        let acknowledged = acknowledged.load(Ordering::Relaxed);
        eprintln!(
            "round {round}: killed after {acknowledged} acknowledged writes; of {unsure} under way {survived} were done; \
             back after {back:?}, verified after {:?}",
            started.elapsed()
        );
    }
    join_all(writers.iter_mut().map(Writer::verify_to_the_end)).await;
}

/// The answer, where it says what was done: one of a program that had no time leaves that as open as none does.
fn definite(answer: Option<Answer>) -> Option<Answer> {
    answer.filter(|answer| answer.status != 503)
}

fn rounds() -> u32 {
    number("TROUPE_CRASH_ROUNDS", ROUNDS)
}

async fn enrol(process: &Process, dice: &mut Dice) -> Vec<Writer> {
    let client = process.client();
    join_all((0..CLIENTS).map(|number| Writer::enrol(&client, number, dice.fork()))).await
}

/// Kills the program once so much was acknowledged, and then at any moment of the next few milliseconds.
fn kill_after(
    process: Process,
    acknowledged: Arc<AtomicU64>,
    enough: u64,
    mut dice: Dice,
) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        let started = Instant::now();
        while acknowledged.load(Ordering::Relaxed) < enough && started.elapsed() < LIFE_MAX {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(Duration::from_micros(dice.below(20_000))).await;
        process.kill();
    })
}
