//! All areas at work while everything goes wrong that may: handlers panic, loads and commits fail, the disk is full, the
//! database and Redis go away or hang, the clock jumps. What was answered must hold in the end, and no more than that.
//!
//! A run plays a plan, which its seed makes: acts, each with something that goes wrong while everybody works. There are
//! backups and vaults ([`Worker`](crate::outages::worker::Worker)), a tree of pages ([`trees`]), a page that several write
//! together ([`editors`]), one that is written from outside meanwhile ([`outsiders`]), and alarms with escalations and somebody on call ([`alarms`]). Nothing here depends on how long
//! anything takes.
//!
//! `TROUPE_CHAOS_SEED` repeats a run's choices, `TROUPE_CHAOS_RUNS` sets how many plans are played, and `TROUPE_CHAOS_PLAN`
//! names the file of a plan that is to be played instead; a plan that fails is saved as such a file.

mod alarms;
mod editors;
mod outsiders;
mod plan;
mod play;
mod stage;
mod trees;

use std::{cell::RefCell, panic::AssertUnwindSafe, path::PathBuf, time::Instant};

use futures::{FutureExt, future::join_all};

use self::{plan::Plan, play::play};
use crate::harness::{Dice, number};

const PLANS: usize = 4;
/// Servers that plans are played on at the same time.
const STAGES: usize = 2;

#[tokio::test(flavor = "multi_thread")]
async fn whatever_goes_wrong_nothing_acknowledged_is_lost_or_done_twice() {
    let plans = match std::env::var("TROUPE_CHAOS_PLAN") {
        Ok(file) => vec![read(&file)],
        Err(_) => random(),
    };
    let (started, count) = (Instant::now(), plans.len());
    let plans = RefCell::new(plans);
    let stages = (0..STAGES.min(count)).map(async |_| {
        while let Some(plan) = next(&plans) {
            play_or_save(&plan).await;
        }
    });
    join_all(stages.collect::<Vec<_>>()).await;
    eprintln!("{count} plans took {:?}", started.elapsed());
}

fn next(plans: &RefCell<Vec<Plan>>) -> Option<Plan> {
    plans.borrow_mut().pop()
}

fn random() -> Vec<Plan> {
    let count = number("TROUPE_CHAOS_RUNS", PLANS);
    let mut dice = Dice::from_environment("TROUPE_CHAOS_SEED");
    (0..count).map(|_| Plan::random(dice.next())).collect()
}

fn read(file: &str) -> Plan {
    let text = std::fs::read_to_string(file).expect("the file of a plan");
    serde_json::from_str(&text).expect("a plan")
}

/// Plays; a plan that fails is saved before the test fails.
async fn play_or_save(plan: &Plan) {
    if let Err(panic) = AssertUnwindSafe(play(plan)).catch_unwind().await {
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("chaos-{}.json", plan.seed));
        std::fs::write(&file, serde_json::to_string_pretty(plan).unwrap()).expect("the plan is saved");
        eprintln!("TROUPE_CHAOS_PLAN={} plays the plan that failed", file.display());
        std::panic::resume_unwind(panic);
    }
}
