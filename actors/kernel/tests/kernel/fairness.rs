use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, mpsc},
};

use kernel::KernelOptions;

use crate::{
    probe::{Compute, Gate, Note, Wait},
    stage::{CALM, Stage, context, options},
};

async fn one_thread() -> Stage {
    Stage::with(KernelOptions { arbiters: NonZeroUsize::MIN, ..options() }).await
}

#[tokio::test]
async fn an_actor_with_a_long_queue_does_not_starve_the_others_of_its_thread() {
    const CHATTER: u32 = 20_000;
    let stage = one_thread().await;
    let (probes, world) = stage.probes(CALM);
    let (gate, quiet, chatty) = (Gate::new(), "quiet".to_owned(), "chatty".to_owned());
    // Both wait for the gate, the quiet one first, so that they go on at the same moment.
    for key in [&quiet, &chatty] {
        probes.tell(key, Wait(Arc::clone(&gate)), context()).expect("queued");
        gate.reached().await;
    }
    for note in 0..CHATTER {
        probes.tell(&chatty, Note(note), context()).expect("queued");
    }
    let heard = tokio::spawn({
        let (probes, quiet) = (probes.clone(), quiet.clone());
        async move { probes.ask(&quiet, Note(0), context()).await }
    });
    stage.probes_waiting(u64::from(CHATTER) + 3).await;
    gate.open();
    heard.await.expect("a task").expect("an answer");
    let notes = world.notes.lock().expect("notes");
    let handled = notes.iter().take_while(|(key, _)| *key == chatty).count();
    assert!(handled < CHATTER as usize / 2, "the quiet one waited for {handled} of the other's commands");
}

#[tokio::test]
async fn work_for_the_processor_leaves_the_arbiter_free() {
    let stage = one_thread().await;
    let (probes, _) = stage.probes(CALM);
    let (say, heard) = mpsc::channel();
    let computing = tokio::spawn({
        let probes = probes.clone();
        async move { probes.ask(&"computes".to_owned(), Compute(Mutex::new(Some(heard))), context()).await }
    });
    stage.probes_waiting(1).await;
    probes.ask(&"other".to_owned(), Note(1), context()).await.expect("an answer meanwhile");
    say.send(42).expect("somebody listens");
    assert_eq!(computing.await.expect("a task").expect("an answer"), 42);
}
