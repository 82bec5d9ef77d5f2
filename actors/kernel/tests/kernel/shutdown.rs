use std::{sync::Arc, time::Duration};

use domain::{Context, Error, Origin};

use crate::{
    probe::{Gate, Note, Wait},
    stage::{CALM, Stage, context, stats, until},
};

const GRACE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_shutdown_takes_nothing_new_finishes_what_was_taken_and_leaves_memory() {
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(CALM);
    let (gate, key) = (Gate::new(), "one".to_owned());
    let taken: Vec<_> = (0..3)
        .map(|note| {
            let (probes, gate, key) = (probes.clone(), Arc::clone(&gate), key.clone());
            tokio::spawn(async move {
                if note == 0 {
                    probes.ask(&key, Wait(gate), context()).await
                } else {
                    probes.ask(&key, Note(note), context()).await.map(|_| ())
                }
            })
        })
        .collect();
    stage.probes_waiting(3).await;
    let stopping = tokio::spawn({
        let kernel = stage.kernel.clone();
        async move { kernel.shutdown(GRACE).await }
    });
    let mut refused = Ok(0);
    while refused.is_ok() {
        refused = probes.ask(&"other".to_owned(), Note(9), context()).await;
    }
    assert!(matches!(refused, Err(Error::Busy { code: "busy", .. })));
    gate.open();
    for asked in taken {
        asked.await.expect("a task").expect("what was taken is answered");
    }
    assert!(stopping.await.expect("a task").is_empty());
    assert_eq!(world.notes_of(&key).len(), 2);
    assert_eq!(stats(&stage.kernel, "probe").resident, 0);
}

#[tokio::test]
async fn actors_may_still_ask_one_another_while_the_kernel_stops() {
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(CALM);
    let gate = Gate::new();
    probes.tell(&"one".to_owned(), Wait(Arc::clone(&gate)), context()).expect("queued");
    gate.reached().await;
    let stopping = tokio::spawn({
        let kernel = stage.kernel.clone();
        async move { kernel.shutdown(GRACE).await }
    });
    until("nothing new is taken", || probes.tell(&"two".to_owned(), Note(1), context()).is_err()).await;
    let inner = Context { origin: Origin::Actor, ..context() };
    probes.ask(&"three".to_owned(), Note(7), inner).await.expect("an answer");
    gate.open();
    assert!(stopping.await.expect("a task").is_empty());
    assert_eq!(world.notes_of("three"), [7]);
}

#[tokio::test]
async fn what_does_not_finish_within_the_grace_is_named_and_its_caller_told() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(CALM);
    let gate = Gate::new();
    let asked = tokio::spawn({
        let (probes, gate) = (probes.clone(), Arc::clone(&gate));
        async move { probes.ask(&"one".to_owned(), Wait(gate), context()).await }
    });
    gate.reached().await;
    let report = stage.kernel.shutdown(Duration::ZERO).await;
    assert_eq!(report.waiting.into_iter().collect::<Vec<_>>(), [("probe", 1)]);
    assert!(matches!(asked.await.expect("a task"), Err(Error::Busy { .. })));
}

#[tokio::test]
async fn a_kernel_that_is_dropped_answers_busy_instead_of_hanging() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(CALM);
    probes.ask(&"one".to_owned(), Note(1), context()).await.expect("an answer");
    drop(stage.kernel);
    let mut asked = Ok(0);
    while asked.is_ok() {
        asked = probes.ask(&"one".to_owned(), Note(2), context()).await;
    }
    assert!(matches!(asked, Err(Error::Busy { .. })));
}
