use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use domain::Error;
use futures::future::join_all;
use kernel::KernelOptions;

use crate::{
    probe::{Fail, Gate, KillHost, Note, Wait},
    stage::{CALM, Stage, context, options, until},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_concurrent_first_callers_load_once() {
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(CALM);
    let asks = (0..1_000).map(|note| {
        let probes = probes.clone();
        tokio::spawn(async move { probes.ask(&"one".to_owned(), Note(note), context()).await })
    });
    let mut ages: Vec<_> =
        join_all(asks).await.into_iter().map(|asked| asked.expect("a task").expect("an answer")).collect();
    ages.sort_unstable();
    assert_eq!(ages, (1..=1_000).collect::<Vec<_>>());
    assert_eq!(world.loads(), 1);
    assert_eq!(stage.probe_stats().activations, 1);
}

#[tokio::test]
async fn commands_of_one_key_run_one_after_the_other_in_order_across_awaits() {
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(CALM);
    let key = "one".to_owned();
    for note in 0..500 {
        probes.tell(&key, Note(note), context()).expect("queued");
    }
    // `Note` checks that it is alone, and answers how many came before it.
    assert_eq!(probes.ask(&key, Note(500), context()).await.expect("an answer"), 501);
    assert_eq!(world.notes_of(&key), (0..=500).collect::<Vec<_>>());
}

#[tokio::test]
async fn keys_do_not_wait_for_each_other() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(CALM);
    let gate = Gate::new();
    let held = tokio::spawn({
        let (probes, gate) = (probes.clone(), Arc::clone(&gate));
        async move { probes.ask(&"held".to_owned(), Wait(gate), context()).await }
    });
    gate.reached().await;
    for key in ["a", "b", "c", "d"] {
        probes.ask(&key.to_owned(), Note(1), context()).await.expect("an answer");
    }
    gate.open();
    held.await.expect("a task").expect("an answer");
}

#[tokio::test]
async fn a_failed_load_hurts_only_the_command_that_needed_it() {
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(CALM);
    let gate = Gate::new();
    *world.load_gate.lock().expect("gate") = Some(Arc::clone(&gate));
    world.loads_to_fail.store(1, std::sync::atomic::Ordering::SeqCst);
    let key = "one".to_owned();
    let first = tokio::spawn({
        let (probes, key) = (probes.clone(), key.clone());
        async move { probes.ask(&key, Note(1), context()).await }
    });
    gate.reached().await;
    let second = tokio::spawn({
        let (probes, key) = (probes.clone(), key.clone());
        async move { probes.ask(&key, Note(2), context()).await }
    });
    stage.probes_waiting(2).await;
    gate.open();
    assert!(matches!(first.await.expect("a task"), Err(Error::Internal { .. })));
    assert_eq!(second.await.expect("a task").expect("an answer"), 1);
    assert_eq!(world.notes_of(&key), [2]);
    let stats = stage.probe_stats();
    assert_eq!((stats.loads, stats.load_failures, stats.crashes), (2, 1, 0));
}

#[tokio::test]
async fn a_domain_error_keeps_the_loaded_resource_and_an_unsure_one_drops_it() {
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(CALM);
    let key = "one".to_owned();
    probes.ask(&key, Note(1), context()).await.expect("an answer");
    let refused = probes.ask(&key, Fail(Error::not_found("No.")), context()).await;
    assert!(matches!(refused, Err(Error::NotFound { .. })));
    assert_eq!(probes.ask(&key, Note(2), context()).await.expect("an answer"), 3);
    assert_eq!(world.loads(), 1);

    for (loads, error) in [(2, Error::busy(Duration::from_secs(1))), (3, Error::internal("broken"))] {
        let status = error.status();
        let failed = probes.ask(&key, Fail(error), context()).await.expect_err("an error");
        assert_eq!(failed.status(), status);
        assert_eq!(probes.ask(&key, Note(3), context()).await.expect("an answer"), 1);
        assert_eq!(world.loads(), loads);
    }
}

#[tokio::test]
async fn an_operators_restart_loads_afresh_and_passivate_leaves_memory() {
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(CALM);
    let key = "one".to_owned();
    probes.ask(&key, Note(1), context()).await.expect("an answer");
    assert!(stage.kernel.restart("probe", "one"));
    assert_eq!(probes.ask(&key, Note(2), context()).await.expect("an answer"), 1);
    assert_eq!(world.loads(), 2);

    let resident = stage.kernel.residents("probe", 10).expect("a known kind");
    assert_eq!((resident.len(), resident[0].key.as_str(), resident[0].loaded), (1, "one", true));
    assert!(stage.kernel.passivate("probe", "one"));
    assert_eq!(stage.kernel.residents("probe", 10).expect("a known kind"), []);
    assert!(!stage.kernel.passivate("probe", "one"));
    assert!(!stage.kernel.restart("probe", "one"));
    assert_eq!(stage.kernel.residents("nothing", 10), None);
}

#[tokio::test]
async fn a_busy_key_cannot_be_passivated_and_shows_what_it_is_at() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(CALM);
    let gate = Gate::new();
    probes.tell(&"one".to_owned(), Wait(Arc::clone(&gate)), context()).expect("queued");
    gate.reached().await;
    assert!(!stage.kernel.passivate("probe", "one"));
    let resident = stage.kernel.residents("probe", 10).expect("a known kind").remove(0);
    assert_eq!((resident.command, resident.waiting), (Some("wait"), 1));
    assert!(resident.running_ms.is_some());
    gate.open();
    until("it may leave", || stage.kernel.passivate("probe", "one")).await;
}

#[tokio::test]
async fn a_host_that_died_is_started_again_invisibly() {
    let stage = Stage::with(KernelOptions { arbiters: NonZeroUsize::MIN, ..options() }).await;
    let (probes, world) = stage.probes(CALM);
    let key = "one".to_owned();
    probes.ask(&key, KillHost, context()).await.expect("answered before the host died");
    // On the only thread there is, this comes after the host's end.
    probes.ask(&"other".to_owned(), Note(1), context()).await.expect("an answer");
    assert_eq!(probes.ask(&key, Note(2), context()).await.expect("an answer"), 1);
    assert_eq!((world.loads(), stage.probe_stats().resident, stage.probe_stats().activations), (3, 2, 3));
}
