use std::{
    num::NonZeroUsize,
    sync::{Arc, atomic::Ordering::SeqCst},
    time::Duration,
};

use domain::Timestamp;
use kernel::{Kernel, KernelOptions, Registry};
use store::Change;

use crate::{
    probe::{CancelTimer, Gate, Note, Probe, SetTimer, Wait, World},
    stage::{CALM, START, Stage, context, options, stats, until},
};

const WEEK: Duration = Duration::from_hours(7 * 24);
const MILLISECOND: Duration = Duration::from_millis(1);

fn at(span: Duration) -> Timestamp {
    START.after(span)
}

/// Probes whose timers are delivered.
fn with_timers(kernel: &Kernel) -> (Registry<Probe>, Arc<World>) {
    let world = Arc::new(World::default());
    let probes = kernel.registry_with(Arc::clone(&world), CALM);
    kernel.deliver_timers_to(&probes);
    kernel.start_timers();
    (probes, world)
}

async fn set(probes: &Registry<Probe>, name: &'static str, due: Timestamp) {
    probes.ask(&"one".to_owned(), SetTimer { name, due }, context()).await.expect("set");
}

async fn fired(world: &World, names: &[&str]) {
    until("timers fired", || world.fired_names() == names).await;
}

/// Returns once no timer is left in the store.
async fn none_left(stage: &Stage) {
    while stage.store.timers_next().await.expect("a read").is_some() {
        tokio::time::sleep(MILLISECOND).await;
    }
}

#[tokio::test]
async fn a_timer_comes_when_it_is_due_and_never_early() {
    let stage = Stage::new().await;
    let (probes, world) = with_timers(&stage.kernel);
    set(&probes, "a week on", at(WEEK)).await;
    set(&probes, "just before", at(WEEK.saturating_sub(MILLISECOND))).await;
    stage.clock.advance(WEEK.saturating_sub(MILLISECOND));
    fired(&world, &["just before"]).await;
    stage.clock.advance(MILLISECOND);
    fired(&world, &["just before", "a week on"]).await;
    let when = world.fired.lock().expect("fired").last().expect("one").2;
    assert_eq!(when, at(WEEK));
    none_left(&stage).await;
}

#[tokio::test]
async fn an_earlier_timer_wakes_the_clock_task_from_a_longer_sleep() {
    let stage = Stage::new().await;
    let (probes, world) = with_timers(&stage.kernel);
    set(&probes, "later", at(WEEK)).await;
    set(&probes, "sooner", at(Duration::from_mins(1))).await;
    stage.clock.advance(Duration::from_mins(1));
    fired(&world, &["sooner"]).await;
}

#[tokio::test]
async fn a_timer_survives_a_restart_and_comes_although_it_fell_due_meanwhile() {
    let stage = Stage::new().await;
    let (probes, before) = with_timers(&stage.kernel);
    set(&probes, "after the restart", at(WEEK)).await;
    stage.kernel.shutdown(WEEK).await;
    stage.clock.advance(WEEK + WEEK);

    let again = Kernel::start(stage.store.clone(), options()).expect("a kernel");
    let (_probes, after) = with_timers(&again);
    fired(&after, &["after the restart"]).await;
    none_left(&stage).await;
    assert_eq!(before.fired_names(), Vec::<String>::new());
}

#[tokio::test]
async fn a_cancelled_timer_never_comes() {
    let stage = Stage::new().await;
    let (probes, world) = with_timers(&stage.kernel);
    set(&probes, "cancelled", at(WEEK)).await;
    set(&probes, "kept", at(WEEK)).await;
    probes.ask(&"one".to_owned(), CancelTimer("cancelled"), context()).await.expect("cancelled");
    stage.clock.advance(WEEK);
    none_left(&stage).await;
    assert_eq!(world.fired_names(), ["kept"]);
}

#[tokio::test]
async fn a_timer_that_is_cancelled_or_moved_while_it_waits_for_its_turn_is_not_handed_over() {
    let stage = Stage::new().await;
    let (probes, world) = with_timers(&stage.kernel);
    set(&probes, "cancelled", at(WEEK)).await;
    set(&probes, "moved", at(WEEK)).await;
    let (gate, key) = (Gate::new(), "one".to_owned());
    probes.tell(&key, Wait(Arc::clone(&gate)), context()).expect("queued");
    gate.reached().await;
    probes.tell(&key, CancelTimer("cancelled"), context()).expect("queued");
    probes.tell(&key, SetTimer { name: "moved", due: at(WEEK + WEEK) }, context()).expect("queued");
    stage.clock.advance(WEEK);
    stage.probes_waiting(5).await;
    gate.open();
    stage.probes_waiting(0).await;
    assert_eq!(world.fired_names(), Vec::<String>::new());
    stage.clock.advance(WEEK);
    fired(&world, &["moved"]).await;
}

#[tokio::test]
async fn a_timer_whose_handler_crashes_comes_again_when_its_lease_ends() {
    let stage = Stage::new().await;
    let (probes, world) = with_timers(&stage.kernel);
    world.timers_to_crash.store(1, SeqCst);
    set(&probes, "commits", at(WEEK)).await;
    stage.clock.advance(WEEK);
    until("it crashed", || stage.probe_stats().crashes == 1).await;
    stage.clock.advance(options().timer_lease);
    fired(&world, &["commits"]).await;
    none_left(&stage).await;
}

#[tokio::test]
async fn a_handler_may_set_its_timer_again_and_a_refused_timer_is_settled() {
    let stage = Stage::new().await;
    let (probes, world) = with_timers(&stage.kernel);
    set(&probes, "again", at(Duration::from_mins(1))).await;
    for round in 1..=3 {
        stage.clock.advance(Duration::from_mins(1));
        until("the next round", || world.fired_names().len() == round).await;
    }
    probes.ask(&"one".to_owned(), CancelTimer("again"), context()).await.expect("cancelled");
    set(&probes, "refused", at(Duration::from_secs(200))).await;
    stage.clock.advance(Duration::from_secs(20));
    fired(&world, &["again", "again", "again", "refused"]).await;
    none_left(&stage).await;
}

#[tokio::test]
async fn two_nodes_on_one_store_deliver_each_timer_once_between_them() {
    const TIMERS: usize = 150;
    let stage = Stage::new().await;
    let other_store = stage.scratch.store(stage.clock.clone()).await.expect("a second connection");
    let other = Kernel::start(other_store, KernelOptions { node: "other".into(), ..options() }).expect("a kernel");
    let (_here, world) = with_timers(&stage.kernel);
    let (_there, other_world) = with_timers(&other);
    let mut change = Change::new();
    for timer in 0..TIMERS {
        change.timer_set("probe", &format!("key-{timer}"), "tick", at(WEEK));
    }
    stage.store.commit(change).await.expect("a commit");
    stage.clock.advance(WEEK);
    none_left(&stage).await;
    stats_settle(&[&stage.kernel, &other]).await;
    let mut fired: Vec<_> = [&world, &other_world]
        .iter()
        .flat_map(|world| world.fired.lock().expect("fired").iter().map(|(key, ..)| key.clone()).collect::<Vec<_>>())
        .collect();
    fired.sort();
    let mut expected: Vec<_> = (0..TIMERS).map(|timer| format!("key-{timer}")).collect();
    expected.sort();
    assert_eq!(fired, expected);
}

async fn stats_settle(kernels: &[&Kernel]) {
    until("nothing waits", || kernels.iter().all(|kernel| stats(kernel, "probe").waiting == 0)).await;
}

#[tokio::test]
async fn a_timer_of_an_unknown_kind_is_a_dead_letter_and_holds_nobody_up() {
    let stage = Stage::with(KernelOptions { arbiters: NonZeroUsize::MIN, ..options() }).await;
    let (probes, world) = with_timers(&stage.kernel);
    let mut change = Change::new();
    change.timer_set("nothing", "one", "lost", at(WEEK));
    stage.store.commit(change).await.expect("a commit");
    set(&probes, "tick", at(WEEK)).await;
    stage.clock.advance(WEEK);
    fired(&world, &["tick"]).await;
    until("it is counted", || stage.kernel.snapshot().dead_letters == 1).await;
    assert_eq!(stage.kernel.snapshot().last_dead_letters[0].kind, "nothing");
}

#[tokio::test]
async fn timers_wait_their_turn_like_any_command() {
    let stage = Stage::new().await;
    let (probes, world) = with_timers(&stage.kernel);
    set(&probes, "tick", at(WEEK)).await;
    let (gate, key) = (Gate::new(), "one".to_owned());
    probes.tell(&key, Wait(Arc::clone(&gate)), context()).expect("queued");
    gate.reached().await;
    probes.tell(&key, Note(1), context()).expect("queued");
    stage.clock.advance(WEEK);
    stage.probes_waiting(3).await;
    assert_eq!(world.fired_names(), Vec::<String>::new());
    gate.open();
    fired(&world, &["tick"]).await;
    assert_eq!(world.notes_of(&key), [1]);
}
