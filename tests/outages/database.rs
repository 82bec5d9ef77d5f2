//! The database goes away under load: everybody is told so and when to ask again, nothing that was acknowledged is lost,
//! and service returns by itself.
//!
//! `TROUPE_OUTAGE_SECONDS` sets how long it is away.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use futures::future::join_all;
use store::testing::{DATABASE_URL_VARIABLE, Scratch};

use super::worker::{Progress, Worker};
use crate::harness::{Client, Dice, Launch, Process, Proxy};

const WORKERS: usize = 16;
/// Writes that must be acknowledged before the database goes.
const BEFORE: u64 = 200;
/// Answers without service that must have come before it returns.
const TURNED_AWAY: u64 = 50;
const AWAY_SECONDS: u64 = 2;
/// How long something is waited for that must come.
const PATIENCE: Duration = Duration::from_mins(2);

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_away_is_waited_for_and_nothing_acknowledged_is_lost() {
    outage(Proxy::cut).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_hangs_is_waited_for_and_nothing_acknowledged_is_lost() {
    outage(Proxy::hold_up).await;
}

/// Has the database go away so, while everybody works.
async fn outage(goes_away: fn(&Proxy)) {
    let Ok(database) = std::env::var(DATABASE_URL_VARIABLE) else {
        return eprintln!("skipped: {DATABASE_URL_VARIABLE} names no PostgreSQL");
    };
    let scratch = Scratch::postgres(&database).await.unwrap();
    let proxy = Proxy::start(scratch.url()).await;
    // Before and after, requests may take their time.
    let calm =
        Launch::in_folder(scratch.folder()).set(format!("database.url={}", scratch.url())).set("log.level=error");
    let hasty = calm.clone().set(format!("database.url={}", proxy.url())).set("server.request_timeout=2s");
    let process = calm.start();
    let mut dice = Dice::from_environment("TROUPE_OUTAGE_SEED");
    let client = process.client();
    let workers = join_all((0..WORKERS).map(|number| Worker::enrol(&client, number, dice.fork()))).await;
    assert_eq!(process.terminate(), Some(0));
    let process = hasty.start();
    let client = process.client();
    let workers = workers.into_iter().map(|worker| worker.at(&client));
    let all: Vec<Arc<Progress>> = (0..WORKERS).map(|_| Arc::default()).collect();
    let working: Vec<_> =
        workers.zip(&all).map(|(worker, progress)| tokio::spawn(worker.work(progress.clone()))).collect();
    until("work", || sum(&all, Progress::acknowledged) >= BEFORE).await;

    goes_away(&proxy);
    let gone = Instant::now();
    readiness(&process, 503).await;
    tokio::time::sleep(away_for().saturating_sub(gone.elapsed())).await;
    until("answers without service", || sum(&all, Progress::turned_away) >= TURNED_AWAY).await;
    let (turned_away, acknowledged) = (sum(&all, Progress::turned_away), sum(&all, Progress::acknowledged));
    let before: Vec<_> = all.iter().map(|progress| progress.acknowledged()).collect();
    proxy.mend();
    let (back, away) = (Instant::now(), gone.elapsed());

    until("service", || sum(&all, Progress::acknowledged) > acknowledged).await;
    let first = back.elapsed();
    let served = || all.iter().zip(&before).all(|(progress, before)| progress.acknowledged() > *before);
    until("service to everybody", served).await;
    let everybody = back.elapsed();
    readiness(&process, 200).await;
    eprintln!(
        "away for {away:?}: {turned_away} answers of 503 with Retry-After; first write {first:?} after its return, \
         everybody served after {everybody:?}, ready after {:?}",
        back.elapsed()
    );
    for progress in &all {
        progress.enough.store(true, Ordering::Relaxed);
    }
    let ended = join_all(working).await;
    reads(&client, &all).await;
    assert_eq!(process.terminate(), Some(0));
    let process = calm.start();
    for worker in ended {
        worker.expect("a worker without complaints").at(&process.client()).verify().await;
    }
}

fn away_for() -> Duration {
    let seconds = std::env::var("TROUPE_OUTAGE_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(AWAY_SECONDS))
}

fn sum(all: &[Arc<Progress>], of: fn(&Progress) -> u64) -> u64 {
    all.iter().map(|progress| of(progress)).sum()
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until the node calls itself ready, or not.
async fn readiness(process: &Process, status: u16) {
    let operator = Client::new(&process.operators_url);
    let started = Instant::now();
    while operator.get("/readyz").send().await.status != status {
        assert!(started.elapsed() < PATIENCE, "waited in vain for {status} of /readyz");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Reads until no connection is left that broke: each is replaced once that shows.
async fn reads(client: &Client, all: &[Arc<Progress>]) {
    let mut in_a_row = 0;
    for _ in 0..10_000 {
        in_a_row = if client.get("/v1/me").send().await.status == 503 { 0 } else { in_a_row + 1 };
        if in_a_row > all.len() {
            return;
        }
    }
    panic!("reads are not served again");
}
