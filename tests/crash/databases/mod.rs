//! Key-value databases, killed at every step of what they do.
//!
//! What was acknowledged is there afterwards, what was under way is there wholly or not at all. The rows of indexes are those of
//! a rebuild, and the counts of slots are what a recount finds.
//!
//! `TROUPE_CRASH_STEPS` sets how many steps are played, of all that there are; `TROUPE_CRASH_SEED` repeats a run's choices.

mod acts;
mod world;

use std::time::Duration;

use store::testing::recount;

use self::{
    acts::{ACTS, Act},
    world::World,
};
use super::stage::{Step, chosen};
use crate::harness::Dice;

/// Steps of a run that doesn't say how many.
const STEPS: usize = 4;

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_any_step_of_a_write_leaves_items_indexes_and_counts_as_one() {
    let mut dice = Dice::from_environment("TROUPE_CRASH_SEED");
    let steps = chosen(ACTS, Act::rules, STEPS, &mut dice);
    let mut world = World::new().await;
    for step in &steps {
        eprintln!("{:?} with {}", step.act, step.rule);
        play(&mut world, step).await;
        let wrong = recount::databases(&world.stage.store).await.unwrap();
        assert!(wrong.is_empty(), "{step:?}: {wrong:#?}");
    }
}

async fn play(world: &mut World, step: &Step<Act>) {
    let (act, name) = (step.act, format!("{step:?}"));
    world.prepare(act).await;
    let before = world.seen().await;
    match act {
        Act::Expire => world.stage.jump(Duration::from_hours(2), &step.rule).await,
        _ => world.stage.rule(&step.rule).await,
    }
    let answer = world.ask(act).await.filter(|answer| answer.status != 503);
    world.stage.killed(&name).await;
    world.settle(act).await;
    let mut after = before.clone();
    world.effect(act, &mut after);
    let found = world.seen().await;
    // What expires, and what a job does, is done once the program is back.
    let is_sure = answer.is_some() || act == Act::Expire;
    assert!(found == after || (found == before && !is_sure), "{name}: {before:#?} became {found:#?}, not {after:#?}");
}
