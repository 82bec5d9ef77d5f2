use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::future::join_all;
use kernel::Policy;

use crate::{
    probe::{Crash, Gate, Hold, Note, NoteLater, Wait},
    stage::{CALM, Stage, context, until},
};

#[tokio::test]
async fn an_idle_resource_leaves_memory_and_the_next_command_loads_it_again() {
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(CALM);
    let key = "one".to_owned();
    probes.ask(&key, Note(1), context()).await.expect("an answer");
    stage.clock.advance(CALM.idle_after.saturating_sub(Duration::from_millis(1)));
    assert_eq!((stage.kernel.sweep(), stage.probe_stats().resident), (0, 1));
    stage.clock.advance(Duration::from_millis(1));
    assert_eq!((stage.kernel.sweep(), stage.probe_stats().resident), (1, 0));
    assert_eq!(probes.ask(&key, Note(2), context()).await.expect("an answer"), 1);
    assert_eq!((world.loads(), stage.probe_stats().passivations), (2, 1));
}

#[tokio::test]
async fn a_resource_in_use_stays_until_it_is_left() {
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(CALM);
    let key = "one".to_owned();
    probes.ask(&key, Hold(true), context()).await.expect("an answer");
    stage.clock.advance(CALM.idle_after * 2);
    assert_eq!(stage.kernel.sweep(), 0);
    probes.ask(&key, Hold(false), context()).await.expect("an answer");
    stage.clock.advance(CALM.idle_after);
    assert_eq!((stage.kernel.sweep(), world.loads()), (1, 1));
}

#[tokio::test]
async fn what_a_crash_took_from_memory_is_not_in_use() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(CALM);
    let key = "one".to_owned();
    probes.ask(&key, Hold(true), context()).await.expect("an answer");
    probes.ask(&key, Crash, context()).await.expect_err("a crash");
    stage.clock.advance(CALM.idle_after + CALM.crash_window * 2);
    until("it is swept", || stage.kernel.sweep() == 1).await;
}

#[tokio::test]
async fn a_resource_asks_things_of_itself_behind_what_waits() {
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(CALM);
    let key = "one".to_owned();
    let me = probes.ask(&key, NoteLater(3), context()).await.expect("an answer");
    until("they are noted", || world.notes_of(&key) == [0, 1, 2]).await;
    me.tell(Note(3), context()).expect("queued");
    until("it is noted", || world.notes_of(&key) == [0, 1, 2, 3]).await;
}

#[tokio::test]
async fn a_resource_that_is_at_work_is_not_idle() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(Policy { idle_after: Duration::ZERO, ..CALM });
    let gate = Gate::new();
    probes.tell(&"one".to_owned(), Wait(Arc::clone(&gate)), context()).expect("queued");
    gate.reached().await;
    stage.clock.advance(Duration::from_hours(1));
    assert_eq!(stage.kernel.sweep(), 0);
    gate.open();
    until("it is swept", || stage.kernel.sweep() == 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_command_is_lost_to_passivation_under_a_stampede() {
    const TASKS: u32 = 16;
    const ASKS: u32 = 400;
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(Policy { idle_after: Duration::ZERO, ..CALM });
    let over = Arc::new(AtomicBool::new(false));
    let sweeper = std::thread::spawn({
        let (kernel, over) = (stage.kernel.clone(), Arc::clone(&over));
        move || {
            while !over.load(Ordering::SeqCst) {
                kernel.sweep();
            }
        }
    });
    let mut asked = 0;
    // Again where the sweeper had no turn meanwhile.
    while stage.probe_stats().passivations <= 5 {
        assert!(asked < 1_000 * TASKS * ASKS, "the sweeper is idle");
        let tasks = (0..TASKS).map(|task| {
            let (probes, first) = (probes.clone(), asked + task * ASKS);
            tokio::spawn(async move {
                for ask in 0..ASKS {
                    let key = format!("key-{}", (task + ask) % 5);
                    probes.ask(&key, Note(first + ask), context()).await.expect("every command is answered");
                }
            })
        });
        for task in join_all(tasks).await {
            task.expect("a task");
        }
        asked += TASKS * ASKS;
    }
    over.store(true, Ordering::SeqCst);
    sweeper.join().expect("the sweeper");

    let mut notes: Vec<_> = world.notes.lock().expect("notes").iter().map(|(_, note)| *note).collect();
    notes.sort_unstable();
    assert_eq!(notes, (0..asked).collect::<Vec<_>>());
    let stats = stage.probe_stats();
    assert_eq!((stats.waiting, stats.dead_letters), (0, 0));
    stage.kernel.sweep();
    assert_eq!(stage.probe_stats().resident, 0);
}
