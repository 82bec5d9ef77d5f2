//! Turns that don't let go of their thread are told of while they don't.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use kernel::{STALL_AFTER, Stall};

use crate::{
    probe::{Note, Spin, Wait},
    stage::{CALM, Stage, context, until},
};

fn stall(stage: &Stage) -> Option<Stall> {
    let stalls = stage.kernel.stalls();
    assert!(stalls.len() <= 1, "{stalls:?}");
    stalls.into_iter().next()
}

#[tokio::test]
async fn a_turn_that_does_not_yield_is_told_of_while_it_goes_on_and_once_it_is_over() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(CALM);
    probes.ask(&"spins".to_owned(), Note(1), context()).await.expect("an answer");
    let enough = Arc::new(AtomicBool::new(false));
    probes.tell(&"spins".to_owned(), Spin(Arc::clone(&enough)), context()).expect("a place in the queue");
    until("it is found", || stall(&stage).is_some()).await;
    let found = stall(&stage).expect("found");
    assert_eq!((found.kind, found.key.as_str(), found.command, found.goes_on), ("probe", "spins", "spin", true));
    assert!(u128::from(found.held_ms) >= STALL_AFTER.as_millis(), "{found:?}");
    enough.store(true, SeqCst);
    until("it is over", || stall(&stage).is_some_and(|stall| !stall.goes_on)).await;
    probes.ask(&"spins".to_owned(), Note(2), context()).await.expect("an answer");
}

#[tokio::test]
async fn a_turn_that_waits_holds_nobody_up_and_is_no_stall() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(CALM);
    let gate = crate::probe::Gate::new();
    let waiting = tokio::spawn({
        let (probes, gate) = (probes.clone(), Arc::clone(&gate));
        async move { probes.ask(&"waits".to_owned(), Wait(gate), context()).await }
    });
    gate.reached().await;
    // Another key's turn that does not yield is found meanwhile, which is when the one that waits would have been.
    let enough = Arc::new(AtomicBool::new(false));
    probes.tell(&"spins".to_owned(), Spin(Arc::clone(&enough)), context()).expect("a place in the queue");
    until("the other one is found", || stall(&stage).is_some_and(|stall| stall.key == "spins")).await;
    enough.store(true, SeqCst);
    gate.open();
    waiting.await.expect("a task").expect("an answer");
}
