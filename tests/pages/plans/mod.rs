//! Random plans: clients on several documents insert, delete, format, go offline, come back, and change nodes, while the
//! program is killed and started again. In the end everybody's document is the same, a fresh client's too, and no edit
//! that somebody holds, or that the server has answered for, is missing.
//!
//! `TROUPE_PLANS` sets how many are played, `TROUPE_PLAN_SEED` repeats a run's choices, and `TROUPE_PLAN` names the file
//! of a plan that is to be played instead; a plan that fails is saved as such a file.

mod nodes;
mod plan;
mod play;

use std::{
    panic::AssertUnwindSafe,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Instant,
};

use futures::{FutureExt, future::join_all};
use store::testing::{DATABASE_URL_VARIABLE, Scratch};

use self::{nodes::Nodes, plan::Plan, play::play};
use crate::harness::{Dice, number};

/// Names the Redis that tests share.
const REDIS_URL_VARIABLE: &str = "TROUPE_TEST_REDIS_URL";
const PLANS: usize = 40;
/// On PostgreSQL, where a plan takes four times as long.
const PLANS_ON_POSTGRESQL: usize = 12;
const PLANS_ON_TWO_NODES: usize = 12;
/// Programs that plans run on at the same time.
const STAGES: usize = 3;

#[tokio::test(flavor = "multi_thread")]
async fn random_plans_lose_nothing() {
    let scratch = async || Scratch::new().await.expect("an empty database");
    let is_postgresql = std::env::var(DATABASE_URL_VARIABLE).is_ok_and(|url| !url.is_empty());
    play_all(1, if is_postgresql { PLANS_ON_POSTGRESQL } else { PLANS }, "", scratch).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn random_plans_lose_nothing_on_two_nodes() {
    let variables = [DATABASE_URL_VARIABLE, REDIS_URL_VARIABLE].map(|name| std::env::var(name).unwrap_or_default());
    let [database, redis] = &variables;
    if database.is_empty() || redis.is_empty() {
        return eprintln!("skipped: two nodes need {DATABASE_URL_VARIABLE} and {REDIS_URL_VARIABLE}");
    }
    let scratch = async || Scratch::postgres(database).await.expect("an empty database");
    play_all(2, PLANS_ON_TWO_NODES, redis, scratch).await;
}

/// Plays the plan that the environment names, or so many random ones.
async fn play_all(nodes: usize, count: usize, redis: &str, scratch: impl AsyncFn() -> Scratch) {
    let plans = match std::env::var("TROUPE_PLAN") {
        Ok(file) => vec![read(&file)],
        Err(_) => random(nodes, count),
    };
    let plans: Vec<_> = plans.into_iter().filter(|plan| plan.nodes == nodes).collect();
    let (started, count) = (Instant::now(), plans.len());
    let plans = Arc::new(Mutex::new(plans));
    let stages = (0..STAGES.min(count)).map(|_| async {
        let mut nodes = Nodes::start(scratch().await, nodes, redis).await;
        let plans = plans.clone();
        let playing = tokio::spawn(async move {
            while let Some(plan) = next(&plans) {
                play_or_save(&plan, &mut nodes).await;
            }
        });
        playing.await
    });
    for ended in join_all(stages).await {
        ended.expect("plans that hold");
    }
    eprintln!("{count} plans took {:?}", started.elapsed());
}

fn next(plans: &Mutex<Vec<Plan>>) -> Option<Plan> {
    plans.lock().unwrap().pop()
}

fn random(nodes: usize, count: usize) -> Vec<Plan> {
    let count = number("TROUPE_PLANS", count);
    let mut dice = Dice::from_environment("TROUPE_PLAN_SEED");
    (0..count).map(|_| Plan::random(dice.next(), nodes)).collect()
}

fn read(file: &str) -> Plan {
    let text = std::fs::read_to_string(file).expect("the file of a plan");
    serde_json::from_str(&text).expect("a plan")
}

/// Plays; a plan that fails is saved before the test fails.
async fn play_or_save(plan: &Plan, nodes: &mut Nodes) {
    if let Err(panic) = AssertUnwindSafe(play(plan, nodes)).catch_unwind().await {
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("plan-{}.json", plan.seed));
        std::fs::write(&file, serde_json::to_string_pretty(plan).unwrap()).expect("the plan is saved");
        eprintln!("TROUPE_PLAN={} plays the plan that failed", file.display());
        std::panic::resume_unwind(panic);
    }
}
