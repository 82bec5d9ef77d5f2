//! Object storage, killed at every step of what it does.
//!
//! What was acknowledged is there afterwards, what was under way is there wholly or not at all. References, the numbers of
//! lanes and the blobs on the disk are what a recount finds, once a sweep has been.
//!
//! `TROUPE_CRASH_STEPS` sets how many steps are played, of all that there are; `TROUPE_CRASH_SEED` repeats a run's choices.

mod acts;
mod moves;
mod world;

use std::time::Duration;

use store::testing::recount::{self, Depth};

use self::{
    acts::{ACTS, Act},
    world::World,
};
use super::stage::{Step, chosen};
use crate::harness::Dice;

/// Steps of a run that doesn't say how many.
const STEPS: usize = 4;

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_any_step_of_a_write_loses_nothing_and_leaves_nothing_over() {
    let mut dice = Dice::from_environment("TROUPE_CRASH_SEED");
    let steps = chosen(ACTS, Act::rules, STEPS, &mut dice);
    let mut world = World::new().await;
    for step in &steps {
        eprintln!("{:?} with {}", step.act, step.rule);
        play(&mut world, step).await;
        let wrong = recount::storage(&world.stage.store, Depth::Rows).await.unwrap();
        assert!(wrong.is_empty(), "{step:?}: {wrong:#?}");
    }
    world.sweep("").await;
    let wrong = recount::storage(&world.stage.store, Depth::Bytes).await.unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

async fn play(world: &mut World, step: &Step<Act>) {
    let (act, name) = (step.act, format!("{step:?}"));
    world.prepare(act).await;
    let before = world.seen().await;
    match act {
        Act::Sweep => world.stage.jump(Duration::from_hours(25), &step.rule).await,
        Act::EndUpload => world.stage.jump(Duration::from_hours(8 * 24), &step.rule).await,
        Act::Expire => world.stage.jump(Duration::from_hours(3 * 24), &step.rule).await,
        _ => world.stage.rule(&step.rule).await,
    }
    let answer = world.ask(act).await.filter(|answer| answer.status != 503);
    world.stage.killed(&name).await;
    world.settle(act).await;
    let mut after = before.clone();
    world.effect(act, &mut after);
    let found = world.seen().await;
    world.note(&found);
    let is_done = found == after;
    assert!(is_done || (found == before && answer.is_none()), "{name}: {before:#?} became {found:#?}, not {after:#?}");
}
