use std::{
    sync::{Arc, Mutex, atomic::Ordering::SeqCst},
    time::Duration,
};

use domain::Error;
use kernel::{KernelOptions, Policy, Quarantine, QuarantineHook};
use serde_json::json;
use store::{OutboxEntry, Permits, Turns, outbox};

use crate::{
    probe::{Crash, Gate, Note, Wait},
    stage::{CALM, Stage, context, options, until, within},
};

/// Backs off and quarantines for real.
const STRICT: Policy = Policy {
    crash_max: 2,
    backoff_min: Duration::from_secs(1),
    backoff_max: Duration::from_secs(10),
    crash_window: Duration::from_mins(2),
    quarantine: Duration::from_mins(5),
    ..CALM
};

#[tokio::test]
async fn a_panic_is_answered_as_an_error_and_what_waits_behind_it_is_served_by_a_fresh_load() {
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(CALM);
    let (gate, key) = (Gate::new(), "one".to_owned());
    probes.ask(&key, Note(1), context()).await.expect("an answer");
    probes.tell(&key, Wait(Arc::clone(&gate)), context()).expect("queued");
    gate.reached().await;
    let crash = tokio::spawn({
        let (probes, key) = (probes.clone(), key.clone());
        async move { probes.ask(&key, Crash, context()).await }
    });
    stage.probes_waiting(2).await;
    let behind: Vec<_> = (2..5)
        .map(|note| {
            let (probes, key) = (probes.clone(), key.clone());
            tokio::spawn(async move { probes.ask(&key, Note(note), context()).await })
        })
        .collect();
    stage.probes_waiting(5).await;
    gate.open();

    let error = crash.await.expect("a task").expect_err("a panic");
    assert_eq!(error.to_string(), "Something went wrong on the server.");
    assert!(matches!(error, Error::Internal { log } if log.contains("boom")));
    let mut ages = Vec::new();
    for asked in behind {
        ages.push(asked.await.expect("a task").expect("served"));
    }
    ages.sort_unstable();
    assert_eq!(ages, [1, 2, 3]);
    assert_eq!(world.loads(), 2);
    assert_eq!((stage.probe_stats().crashes, stage.probe_stats().restarts), (1, 1));
}

#[tokio::test]
async fn a_load_that_panics_is_a_crash_too() {
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(CALM);
    world.loads_panic.store(true, SeqCst);
    let key = "one".to_owned();
    assert!(matches!(probes.ask(&key, Note(1), context()).await, Err(Error::Internal { .. })));
    world.loads_panic.store(false, SeqCst);
    assert_eq!(probes.ask(&key, Note(2), context()).await.expect("served"), 1);
    assert_eq!(stage.probe_stats().crashes, 1);
}

#[tokio::test]
async fn a_turn_without_end_is_cut_off_and_counts_as_a_crash() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(Policy { turn_max: Duration::from_millis(20), ..CALM });
    let key = "one".to_owned();
    let endless = probes.ask(&key, Wait(Gate::new()), context()).await;
    assert!(matches!(endless, Err(Error::Busy { .. })));
    assert_eq!(probes.ask(&key, Note(1), context()).await.expect("served"), 1);
    assert_eq!(stage.probe_stats().crashes, 1);
}

#[tokio::test]
async fn the_load_after_a_crash_waits_for_the_backoff() {
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(STRICT);
    let key = "one".to_owned();
    probes.ask(&key, Crash, context()).await.expect_err("a panic");
    let next = tokio::spawn({
        let (probes, key) = (probes.clone(), key.clone());
        async move { probes.ask(&key, Note(1), context()).await }
    });
    let is_at = || {
        let residents = stage.kernel.residents("probe", 10).expect("a known kind");
        residents.into_iter().find(|resident| resident.key == "one").and_then(|resident| resident.command)
    };
    until("the next command is at the front", || is_at() == Some("note")).await;
    stage.clock.advance(Duration::from_millis(749));
    // A command of another key makes a whole round meanwhile.
    probes.ask(&"other".to_owned(), Note(1), context()).await.expect("an answer");
    assert_eq!((is_at(), world.loads()), (Some("note"), 2));
    stage.clock.advance(Duration::from_millis(501));
    assert_eq!(next.await.expect("a task").expect("served"), 1);
}

#[tokio::test]
async fn a_deadline_that_ends_within_the_backoff_is_answered_busy() {
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(STRICT);
    let key = "one".to_owned();
    probes.ask(&key, Crash, context()).await.expect_err("a panic");
    let late = probes.ask(&key, Note(1), within(Duration::from_millis(20))).await;
    assert!(matches!(late, Err(Error::Busy { code: "busy", .. })));
    assert_eq!(world.loads(), 1);
}

/// Crashes a probe with [`STRICT`]'s policy so often that the next crash is one too many.
async fn crash_to_the_limit(stage: &Stage, probes: &kernel::Registry<crate::probe::Probe>, key: &String) {
    for _ in 0..STRICT.crash_max {
        probes.ask(key, Crash, context()).await.expect_err("a panic");
        stage.clock.advance(Duration::from_secs(10));
    }
}

#[tokio::test]
async fn one_crash_too_many_is_quarantine_for_those_who_wait_and_those_who_come_until_it_ends() {
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(STRICT);
    let (gate, key) = (Gate::new(), "one".to_owned());
    crash_to_the_limit(&stage, &probes, &key).await;
    probes.tell(&key, Wait(Arc::clone(&gate)), context()).expect("queued");
    gate.reached().await;
    probes.tell(&key, Crash, context()).expect("queued");
    let waits = tokio::spawn({
        let (probes, key) = (probes.clone(), key.clone());
        async move { probes.ask(&key, Note(1), context()).await }
    });
    stage.probes_waiting(3).await;
    gate.open();
    assert!(matches!(waits.await.expect("a task"), Err(Error::Busy { code: "quarantined", .. })));
    let comes = probes.ask(&key, Note(2), context()).await.expect_err("quarantined");
    assert_eq!((comes.status(), comes.code(), comes.retry_after()), (503, "quarantined", Some(STRICT.quarantine)));
    assert!(world.notes_of(&key).is_empty());
    assert_eq!((stage.probe_stats().quarantined, stage.probe_stats().refused), (1, 1));
    probes.ask(&"other".to_owned(), Note(1), context()).await.expect("other keys are served");

    stage.clock.advance(STRICT.quarantine);
    assert_eq!(probes.ask(&key, Note(3), context()).await.expect("served again"), 1);
    assert_eq!((stage.probe_stats().quarantined, stage.probe_stats().quarantines), (0, 1));
}

#[tokio::test]
async fn a_quarantined_key_stays_remembered_by_the_sweeper_and_can_be_released() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(Policy { idle_after: Duration::ZERO, ..STRICT });
    let key = "one".to_owned();
    crash_to_the_limit(&stage, &probes, &key).await;
    probes.ask(&key, Crash, context()).await.expect_err("a panic");
    assert_eq!(stage.kernel.sweep(), 0);
    let resident = stage.kernel.residents("probe", 1).expect("a known kind").remove(0);
    assert_eq!((resident.crashes, resident.last_error.as_deref()), (3, Some("boom")));
    assert_eq!(resident.quarantine_ms, Some(300_000));
    assert!(stage.kernel.release("probe", "one"));
    assert_eq!(probes.ask(&key, Note(1), context()).await.expect("served"), 1);
    assert!(!stage.kernel.release("probe", "one"));
    assert_eq!(stage.kernel.sweep(), 1);
}

#[tokio::test]
async fn crashes_far_apart_never_add_up_to_a_quarantine() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(STRICT);
    for _ in 0..10 {
        let crash = probes.ask(&"one".to_owned(), Crash, context()).await;
        assert!(matches!(crash, Err(Error::Internal { .. })));
        stage.clock.advance(Duration::from_secs(61));
    }
    assert_eq!(stage.probe_stats().quarantines, 0);
}

#[tokio::test]
async fn what_follows_from_a_quarantine_is_committed() {
    let seen: Arc<Mutex<Vec<Quarantine>>> = Arc::default();
    let hook: QuarantineHook = Arc::new({
        let seen = Arc::clone(&seen);
        move |quarantine, change| {
            seen.lock().expect("seen").push(quarantine.clone());
            change.outbox_add(quarantine.began_at, &OutboxEntry::Event { event: json!({ "about": quarantine.key }) });
        }
    });
    let stage = Stage::with(KernelOptions { on_quarantine: Some(hook), ..options() }).await;
    let (probes, _) = stage.probes(STRICT);
    let key = "one".to_owned();
    crash_to_the_limit(&stage, &probes, &key).await;
    probes.ask(&key, Crash, context()).await.expect_err("a panic");
    let quarantine = seen.lock().expect("seen").pop().expect("the hook was called");
    assert_eq!((quarantine.kind, quarantine.key.as_str(), quarantine.crashes), ("probe", "one", 3));
    assert_eq!(quarantine.last_error, "boom");

    let mut entries = Vec::new();
    while entries.is_empty() {
        let turns = Turns::new(Permits::shared(10));
        let claimed = stage.store.outbox_claim(outbox::EVENT, &turns, Duration::from_mins(1)).await;
        entries = claimed.expect("the outbox").taken();
        tokio::task::yield_now().await;
    }
    let OutboxEntry::Event { event } = &entries[0].entry else { panic!("not an event: {entries:?}") };
    assert_eq!(event["about"], "one");
}
