use std::{sync::Arc, time::Duration};

use domain::{Error, Outcome};
use kernel::{KernelOptions, Policy, QuarantineHook};

use crate::{
    probe::{Crash, Gate, KillHost, Note, Wait},
    stage::{CALM, Stage, context, options, until, within},
};

#[tokio::test]
async fn no_more_than_the_limit_may_wait_and_the_next_is_told_at_once() {
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(Policy { queue_len_max: 3, ..CALM });
    let (gate, key) = (Gate::new(), "one".to_owned());
    probes.tell(&key, Wait(Arc::clone(&gate)), context()).expect("queued");
    gate.reached().await;
    probes.tell(&key, Note(1), context()).expect("queued");
    probes.tell(&key, Note(2), context()).expect("queued");
    let refused = probes.ask(&key, Note(3), context()).await.expect_err("no place left");
    assert_eq!((refused.status(), refused.code()), (503, "busy"));
    assert!(matches!(refused, Error::Busy { outcome: Outcome::NotDone, .. }));
    assert!(refused.retry_after().is_some());
    probes.ask(&"other".to_owned(), Note(1), context()).await.expect("others have their own places");

    gate.open();
    stage.probes_waiting(0).await;
    assert_eq!(probes.ask(&key, Note(4), context()).await.expect("a place again"), 3);
    assert_eq!(world.notes_of(&key), [1, 2, 4]);
    assert_eq!((stage.probe_stats().refused, stage.probe_stats().depth_max), (1, 3));
}

#[tokio::test]
async fn nobody_waits_beyond_their_deadline_and_what_expired_in_the_queue_is_dropped_unread() {
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(CALM);
    let (gate, key) = (Gate::new(), "one".to_owned());
    probes.tell(&key, Wait(Arc::clone(&gate)), context()).expect("queued");
    gate.reached().await;
    while stage.probe_stats().timed_out == 0 {
        // Refused at once, where the deadline passes before it is queued.
        let late = probes.ask(&key, Note(1), within(Duration::from_millis(20))).await.expect_err("late");
        assert!(matches!(late, Error::Busy { code: "busy", outcome: Outcome::Unknown, .. }));
    }
    gate.open();
    probes.ask(&key, Note(2), context()).await.expect("an answer");
    assert_eq!(world.notes_of(&key), [2]);
    let stats = stage.probe_stats();
    assert_eq!(stats.timed_out, 1);
    let note = stats.commands.iter().find(|command| command.command == "note").expect("noted");
    assert_eq!((note.expired, note.handled), (1, 1));
}

#[tokio::test]
async fn a_deadline_that_has_passed_is_refused_before_the_mailbox() {
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(CALM);
    let late = probes.ask(&"one".to_owned(), Note(1), within(Duration::ZERO)).await;
    assert!(matches!(late, Err(Error::Busy { .. })));
    assert_eq!((world.loads(), stage.probe_stats().resident), (0, 0));
}

#[tokio::test]
async fn the_answer_to_a_command_that_ran_into_its_deadline_is_unknown_but_the_command_is_finished() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(CALM);
    let (gate, key) = (Gate::new(), "one".to_owned());
    let is_under_way = || {
        let residents = stage.kernel.residents("probe", 10).expect("a known kind");
        residents.iter().any(|resident| resident.command == Some("wait"))
    };
    let mut patience = Duration::from_millis(20);
    while !is_under_way() {
        // Dropped unread, where the deadline passes before its turn.
        let asked = probes.ask(&key, Wait(Arc::clone(&gate)), within(patience)).await;
        assert!(matches!(asked, Err(Error::Busy { .. })));
        patience *= 2;
    }
    gate.open();
    until("it is finished", || {
        stage.probe_stats().commands.iter().any(|command| command.command == "wait" && command.handled == 1)
    })
    .await;
}

#[tokio::test]
async fn a_command_whose_caller_went_away_is_dropped_unread() {
    let stage = Stage::new().await;
    let (probes, world) = stage.probes(CALM);
    let (gate, key) = (Gate::new(), "one".to_owned());
    probes.tell(&key, Wait(Arc::clone(&gate)), context()).expect("queued");
    gate.reached().await;
    let gone = tokio::spawn({
        let (probes, key) = (probes.clone(), key.clone());
        async move { probes.ask(&key, Note(1), context()).await }
    });
    stage.probes_waiting(2).await;
    gone.abort();
    assert!(gone.await.expect_err("aborted").is_cancelled());
    gate.open();
    probes.ask(&key, Note(2), context()).await.expect("an answer");
    assert_eq!(world.notes_of(&key), [2]);
}

#[tokio::test]
async fn commands_that_could_not_be_delivered_are_counted_and_kept_for_a_look() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(Policy { queue_len_max: 1, ..CALM });
    let (gate, key) = (Gate::new(), "one".to_owned());
    probes.tell(&key, Wait(Arc::clone(&gate)), context()).expect("queued");
    gate.reached().await;
    for note in 0..40 {
        probes.tell(&key, Note(note), context()).expect_err("no place left");
    }
    let snapshot = stage.kernel.snapshot();
    assert_eq!((snapshot.dead_letters, stage.probe_stats().dead_letters), (40, 40));
    assert_eq!(snapshot.last_dead_letters.len(), 32);
    let last = snapshot.last_dead_letters.last().expect("one");
    assert_eq!((last.kind.as_str(), last.key.as_str(), last.command), ("probe", "one", "note"));
    gate.open();
}

#[tokio::test]
async fn what_waited_for_a_host_that_died_is_a_dead_letter_and_its_caller_is_told() {
    // Nothing catches a panic of the hook, which is called after the turn.
    let on_quarantine: QuarantineHook = Arc::new(|_, _| panic!("a hook that panics"));
    let stage = Stage::with(KernelOptions { on_quarantine: Some(on_quarantine), ..options() }).await;
    let policy = Policy { crash_max: 0, ..CALM };
    let (probes, world) = stage.probes(policy);
    let (gate, key) = (Gate::new(), "one".to_owned());
    probes.tell(&key, Wait(Arc::clone(&gate)), context()).expect("queued");
    gate.reached().await;
    probes.tell(&key, Crash, context()).expect("queued");
    let behind = tokio::spawn({
        let (probes, key) = (probes.clone(), key.clone());
        async move { probes.ask(&key, Note(1), context()).await }
    });
    stage.probes_waiting(3).await;
    gate.open();
    assert!(matches!(behind.await.expect("a task"), Err(Error::Busy { code: "busy", .. })));
    assert_eq!(stage.probe_stats().dead_letters, 1);
    stage.clock.advance(policy.quarantine);
    assert_eq!(probes.ask(&key, Note(2), context()).await.expect("a new host"), 1);
    assert_eq!((world.notes_of(&key), stage.probe_stats().waiting), (vec![2], 0));
}

#[tokio::test]
async fn a_command_that_panics_when_it_is_dropped_hurts_nobody_who_is_answered_with_it() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(CALM);
    let (gate, key) = (Gate::new(), "one".to_owned());
    probes.tell(&key, Wait(Arc::clone(&gate)), context()).expect("queued");
    gate.reached().await;
    probes.tell(&key, KillHost, context()).expect("queued");
    let behind: Vec<_> = (0..3)
        .map(|_| {
            let (probes, key) = (probes.clone(), key.clone());
            tokio::spawn(async move { probes.ask(&key, Note(1), context()).await })
        })
        .collect();
    stage.probes_waiting(5).await;
    gate.open();
    for asked in behind {
        asked.await.expect("a task").expect("an answer");
    }
}
