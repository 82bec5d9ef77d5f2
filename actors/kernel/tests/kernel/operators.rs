//! What operators see of one key: its last commands, its crashes, and those like it.

use kernel::{Policy, ResidentState, ResidentsQuery, ResidentsSort, SortOrder};

use crate::{
    probe::{Crash, Fail, Note},
    stage::{CALM, START, Stage, context},
};

const ALL: ResidentsQuery = ResidentsQuery {
    text: None,
    state: None,
    sort: ResidentsSort::Key,
    order: SortOrder::Asc,
    after: None,
    limit: 100,
};

fn keys(stage: &Stage, query: &ResidentsQuery) -> Vec<String> {
    let found = stage.kernel.find("probe", query).expect("a known kind");
    found.actors.into_iter().map(|resident| resident.key).collect()
}

#[tokio::test]
async fn the_last_eight_commands_of_a_key_are_remembered_newest_first() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(CALM);
    let key = "one".to_owned();
    for note in 0..7 {
        probes.ask(&key, Note(note), context()).await.expect("an answer");
    }
    probes.ask(&key, Fail(domain::Error::not_found("No.")), context()).await.expect_err("an error");
    probes.ask(&key, Crash, context()).await.expect_err("a panic");
    let (resident, recent) = stage.kernel.resident("probe", "one").expect("a resident");
    assert_eq!((resident.crashes, resident.waiting), (1, 0));
    let outcomes: Vec<_> = recent.iter().map(|command| (command.command, command.outcome)).collect();
    assert_eq!(outcomes[..3], [("crash", "crashed"), ("fail", "not_found"), ("note", "ok")]);
    assert_eq!(outcomes.len(), 8);
    assert!(recent.iter().all(|command| &*command.request_id == "-" && command.at <= START));
    assert_eq!(stage.kernel.resident("probe", "other"), None);
    assert_eq!(stage.kernel.resident("nothing", "one"), None);
}

#[tokio::test]
async fn crashes_are_remembered_with_what_followed() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(Policy { crash_max: 1, ..CALM });
    for key in ["one", "one", "two"] {
        probes.ask(&key.to_owned(), Crash, context()).await.expect_err("a panic");
    }
    let crashes: Vec<_> =
        stage.kernel.crashes().into_iter().map(|it| (it.key, it.crashes, it.quarantined_until)).collect();
    let until = Some(START.after(CALM.quarantine));
    assert_eq!(crashes, [("one".to_owned(), 1, None), ("one".to_owned(), 2, until), ("two".to_owned(), 1, None)]);
    let first = stage.kernel.crashes().remove(0);
    assert_eq!((first.kind, first.command, first.error.as_str(), first.at), ("probe", "crash", "boom", START));
    let quarantined = ResidentsQuery { state: Some(ResidentState::Quarantined), ..ALL };
    assert_eq!(keys(&stage, &quarantined), ["one"]);
    assert!(stage.kernel.release("probe", "one"));
    assert!(keys(&stage, &quarantined).is_empty());
}

#[tokio::test]
async fn keys_are_found_sorted_and_cut() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(CALM);
    for key in ["d", "a", "c", "b"] {
        probes.ask(&key.to_owned(), Note(1), context()).await.expect("an answer");
    }
    for _ in 0..2 {
        probes.ask(&"c".to_owned(), Crash, context()).await.expect_err("a panic");
    }
    probes.ask(&"b".to_owned(), Crash, context()).await.expect_err("a panic");
    assert_eq!(keys(&stage, &ALL), ["a", "b", "c", "d"]);
    assert_eq!(keys(&stage, &ResidentsQuery { order: SortOrder::Desc, ..ALL }), ["d", "c", "b", "a"]);
    let by_crashes = ResidentsQuery { sort: ResidentsSort::Crashes, order: SortOrder::Desc, ..ALL };
    assert_eq!(keys(&stage, &by_crashes), ["c", "b", "a", "d"]);
    assert_eq!(keys(&stage, &ResidentsQuery { text: Some("BOOM".into()), ..ALL }), ["b", "c"]);
    assert_eq!(keys(&stage, &ResidentsQuery { state: Some(ResidentState::Crashed), ..ALL }), ["b", "c"]);
    for limit in 1..=4 {
        assert_eq!(pages(&stage, &ResidentsQuery { limit, ..by_crashes.clone() }), ["c", "b", "a", "d"]);
        assert_eq!(pages(&stage, &ResidentsQuery { limit, order: SortOrder::Desc, ..ALL }), ["d", "c", "b", "a"]);
    }
    assert_eq!(stage.kernel.find("nothing", &ALL), None);
}

/// What stands on all pages, one behind the other.
fn pages(stage: &Stage, query: &ResidentsQuery) -> Vec<String> {
    let (mut keys, mut after) = (Vec::new(), None);
    loop {
        let query = ResidentsQuery { after, ..query.clone() };
        let found = stage.kernel.find("probe", &query).expect("a known kind");
        assert_eq!(found.total, 4);
        assert!(found.actors.len() <= query.limit);
        keys.extend(found.actors.into_iter().map(|resident| resident.key));
        let Some(next) = found.next else { return keys };
        after = Some(next.to_string().parse().expect("a place"));
    }
}

#[tokio::test]
async fn a_key_leaves_memory_after_its_quarantine_and_not_during_it() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(Policy { crash_max: 0, ..CALM });
    probes.ask(&"one".to_owned(), Crash, context()).await.expect_err("a panic");
    let quarantined = || stage.kernel.snapshot().kinds[0].quarantined;
    assert_eq!(quarantined(), 1);
    assert!(!stage.kernel.passivate("probe", "one"));
    assert_eq!(quarantined(), 1);
    assert!(stage.kernel.release("probe", "one"));
    assert!(stage.kernel.passivate("probe", "one"));
    assert_eq!((quarantined(), stage.kernel.resident("probe", "one")), (0, None));
}
