//! What events lead to: whom they tell, which escalations they start, which take them in, and which they end.

use actors::{event::Event, notify::escalation::Acknowledge};
use domain::{
    OrgKind, Role, Timestamp,
    id::{EscalationId, OrgId, RotaId, UserId},
    notify::{
        Channel, Channels, Rota, RotaDraft, Rule, Step, StepChannels, TurnStart, Zone,
        escalation::{AckVia, EndReason, EscalationState},
    },
};
use serde_json::json;
use store::{
    OutboxEntry,
    accounts::Organization,
    notify::escalations::{Escalation as Row, Occasion},
};

use crate::world::{Member, World};

const START: Timestamp = Timestamp(1_800_000_000_000);
/// Events that two nodes share.
const EVENTS: i64 = 60;

fn step(after_minutes: u32, channels: &[Channel]) -> Step {
    Step { after_minutes, channels: StepChannels(Channels::of(channels)), rota: None }
}

/// Tells by push and mail at once and after ten minutes.
fn rule() -> Rule {
    let told = &[Channel::Email, Channel::Push];
    Rule { events: vec!["ops.alarm".into()], steps: vec![step(0, told), step(10, told)], ..Rule::default() }
}

fn alarm(title: &str) -> Event {
    Event { dedup_key: Some("disk".into()), ..Event::new("ops.alarm", ("disk", "1".into()), title.to_owned()) }
}

async fn world() -> (World, Member) {
    let world = World::new(START).await;
    let ada = world.member("ada", Role::Owner, None, true, true).await;
    (world, ada)
}

fn ack(by: &Member) -> Acknowledge {
    Acknowledge { by: by.user_id, via: AckVia::App }
}

#[tokio::test]
async fn the_same_alarm_is_taken_in_and_tells_nobody_again_until_it_must_be_heard() {
    let (world, ada) = world().await;
    world.protocol(vec![rule()]).await;
    world.emit(alarm("Full")).await;
    world.escalation_once("Full", |row| row.progress.done == 1).await;
    for _ in 0..3 {
        world.emit(alarm("Still full")).await;
    }
    let row = world.escalation_once("Full", |row| row.event_count == 4).await;
    assert_eq!((row.last_title.as_str(), row.state), ("Still full", EscalationState::Running));
    world.notices(ada.user_id, 1).await;
    world.pass(10);
    world.escalation_once("Full", |row| row.progress.done == 2).await;
    world.pass(59);
    world.emit(alarm("Still full")).await;
    world.escalation_once("Full", |row| row.event_count == 5).await;
    world.pass(1);
    world.emit(alarm("Full again")).await;
    world.escalation_once("Full again", |row| row.progress.done == 1).await;
    let old = world.escalation("Full").await.unwrap();
    assert_eq!(old.ended.map(|ended| ended.reason), Some(EndReason::Superseded));
    assert_eq!(world.notices(ada.user_id, 2).await[0].title, "Full again");
}

#[tokio::test]
async fn an_alarm_that_somebody_took_on_is_taken_in_for_a_day() {
    let (world, ada) = world().await;
    world.protocol(vec![rule()]).await;
    world.emit(alarm("Full")).await;
    let row = world.escalation_once("Full", |row| row.progress.done == 1).await;
    assert!(world.ask(row.id, ack(&ada)).await.unwrap());
    world.pass(24 * 60 - 1);
    world.emit(alarm("Still full")).await;
    let row = world.escalation_once("Full", |row| row.event_count == 2).await;
    assert_eq!((row.state, row.progress.done), (EscalationState::Acknowledged, 1));
    world.pass(1);
    world.emit(alarm("Full again")).await;
    world.escalation_once("Full again", |row| row.progress.done == 1).await;
    assert_eq!(world.escalation("Full").await.unwrap().state, EscalationState::Acknowledged);
}

#[tokio::test]
async fn a_resolved_alarm_ends_it_and_says_so_to_those_who_were_told_and_to_nobody_else() {
    let (world, ada) = world().await;
    let bob = world.member("bob", Role::Admin, None, true, true).await;
    let only_ada = Rule { user_ids: vec![ada.user_id], ..rule() };
    world.protocol(vec![only_ada]).await;
    world.emit(Event { user_ids: vec![ada.user_id], ..alarm("Full") }).await;
    world.escalation_once("Full", |row| row.progress.done == 1).await;
    world.emit(Event { resolved: true, user_ids: vec![ada.user_id], ..alarm("Full") }).await;
    let row = world.escalation_once("Full", |row| row.state == EscalationState::Resolved).await;
    assert!(!row.is_open);
    let notices = world.notices(ada.user_id, 2).await;
    assert_eq!((notices[0].title.as_str(), notices[0].require_ack), ("Resolved: Full", false));
    assert!(notices[1].require_ack && notices[1].acked_at.is_some(), "nobody is asked any more");
    world.notices(bob.user_id, 0).await;
    let tellings = world.store.escalation_tellings(row.id).await.unwrap();
    let over: Vec<_> =
        tellings.iter().filter(|it| it.occasion == Occasion::Resolved).filter_map(|it| it.channel).collect();
    assert_eq!(over, [Channel::Email, Channel::Push, Channel::Inapp]);
    world.pass(10);
    world.emit(alarm("Full once more")).await;
    world.escalation_once("Full once more", |row| row.progress.done == 1).await;
    assert_eq!(world.escalation("Full").await.unwrap().progress.done, 1);
}

#[tokio::test]
async fn one_acknowledgement_ends_it_for_everybody_and_in_every_protocol_that_told_whoever_gave_it() {
    let (world, ada) = world().await;
    let bob = world.member("bob", Role::Admin, None, true, true).await;
    let both = Rule { roles: vec![Role::Owner, Role::Admin], ..rule() };
    let only_bob = Rule { user_ids: vec![bob.user_id], ..rule() };
    for rule in [both, rule(), only_bob] {
        world.protocol(vec![rule]).await;
    }
    world.emit(Event { user_ids: vec![ada.user_id], ..alarm("Full") }).await;
    let all = world
        .eventually("three escalations", async || {
            Some(world.escalations().await).filter(|all| all.len() == 3 && all.iter().all(|it| it.progress.done == 1))
        })
        .await;
    let told = async |row: &Row| -> Vec<UserId> {
        world.store.escalation_told(row.id).await.unwrap().iter().map(|told| told.user_id).collect()
    };
    let mut of_ada = Vec::new();
    for row in &all {
        if told(row).await.contains(&ada.user_id) {
            of_ada.push(row.id);
        }
    }
    assert_eq!(of_ada.len(), 2);
    assert!(world.ask(of_ada[0], ack(&ada)).await.unwrap());
    let is_over = async |id: EscalationId| {
        world.store.escalation(id).await.unwrap().filter(|row| row.state == EscalationState::Acknowledged)
    };
    world.eventually("the end of the other", async || is_over(of_ada[1]).await).await;
    world.pass(10);
    let left = all.iter().find(|row| !of_ada.contains(&row.id)).unwrap().id;
    let done = async || world.store.escalation(left).await.unwrap().filter(|row| row.progress.done == 2);
    world.eventually("the step of the one that goes on", done).await;
    for id in of_ada {
        assert_eq!(world.store.escalation(id).await.unwrap().unwrap().progress.done, 1);
    }
    let first = world.escalations().await.into_iter().find(|row| row.acked.is_some()).unwrap();
    assert!(!world.ask(first.id, ack(&bob)).await.unwrap(), "the second acknowledgement is none");
}

#[tokio::test]
async fn the_end_of_a_protocol_and_a_change_of_it() {
    let (world, ada) = world().await;
    let [changed, ended] = [world.protocol(vec![rule()]).await, world.protocol(vec![rule()]).await];
    world.emit(Event { user_ids: vec![ada.user_id], ..alarm("Full") }).await;
    let two = async || {
        let all = world.escalations().await;
        (all.len() == 2 && all.iter().all(|row| row.progress.done == 1)).then_some(all)
    };
    world.eventually("both escalations", two).await;
    let mut protocol = world.store.protocol(world.org_id, changed).await.unwrap().unwrap();
    protocol.draft.rules = vec![Rule { steps: vec![step(0, &[Channel::Email])], ..rule() }];
    world
        .commit(|change| {
            change.protocol_set(&protocol);
            change.escalations_end_of_protocol(ended, START, EndReason::ProtocolDisabled);
        })
        .await;
    world.pass(10);
    let of = async |protocol_id| world.escalations().await.into_iter().find(|row| row.protocol_id == protocol_id);
    world.eventually("the step", async || of(changed).await.filter(|row| row.progress.done == 2)).await;
    let row = of(ended).await.unwrap();
    assert_eq!((row.state, row.progress.done), (EscalationState::Ended, 1));
}

#[tokio::test]
async fn a_step_to_a_rota_goes_to_whoever_is_on_call_when_it_runs() {
    let (world, ada) = world().await;
    let bob = world.member("bob", Role::Developer, None, true, true).await;
    let id = RotaId::new(START);
    let noon = domain::notify::TimeOfDay::parse("at", "12:00").unwrap();
    let handover = domain::notify::Handover::Day { at: noon, interval: 1 };
    let draft = RotaDraft { name: "Nights".into(), people: vec![ada.user_id, bob.user_id], handover, zone: Zone::UTC };
    let rota = Rota {
        id,
        org_id: world.org_id,
        draft,
        start: TurnStart { at: START, place: 0 },
        overrides: Vec::new(),
        created_by: ada.user_id,
        created_at: START,
        updated_at: START,
    };
    world.commit(|change| change.rota_add(&rota)).await;
    let to_rota = |after| Step { rota: Some(id), ..step(after, &[Channel::Email]) };
    world.protocol(vec![Rule { steps: vec![to_rota(0), to_rota(24 * 60)], ..rule() }]).await;
    world.emit(Event { user_ids: vec![ada.user_id], ..alarm("Full") }).await;
    world.escalation_once("Full", |row| row.progress.done == 1).await;
    world.pass(24 * 60);
    let row = world.escalation_once("Full", |row| row.progress.done == 2).await;
    let tellings = world.store.escalation_tellings(row.id).await.unwrap();
    let people: Vec<_> = tellings.iter().filter_map(|telling| telling.user_id).collect();
    assert_eq!(people, [ada.user_id, bob.user_id]);
}

#[tokio::test]
async fn who_has_left_is_told_nothing_and_the_record_says_why() {
    let (world, ada) = world().await;
    let bob = world.member("bob", Role::Developer, None, true, true).await;
    world.protocol(vec![Rule { user_ids: vec![ada.user_id, bob.user_id], ..rule() }]).await;
    world.commit(|change| change.member_remove(world.org_id, bob.user_id)).await;
    world.emit(Event { user_ids: vec![ada.user_id], ..alarm("Full") }).await;
    let row = world.escalation_once("Full", |row| row.progress.done == 1).await;
    let tellings = world.store.escalation_tellings(row.id).await.unwrap();
    let of_bob: Vec<_> = tellings.iter().filter(|telling| telling.user_id == Some(bob.user_id)).collect();
    assert_eq!((of_bob.len(), of_bob[0].why_not.as_deref()), (1, Some("not_a_member")));
    world.notices(bob.user_id, 0).await;
}

#[tokio::test]
async fn an_alarm_that_names_nobody_concerns_owners_and_admins() {
    let (world, ada) = world().await;
    let bob = world.member("bob", Role::Admin, None, true, true).await;
    let eve = world.member("eve", Role::Developer, None, true, true).await;
    world.emit(alarm("Full")).await;
    for user_id in [ada.user_id, bob.user_id] {
        assert_eq!(world.notices(user_id, 1).await[0].org_id, Some(world.org_id));
    }
    world.notices(eve.user_id, 0).await;
}

#[tokio::test]
async fn an_alarm_of_no_organization_goes_to_who_owns_the_platform() {
    let (world, ada) = world().await;
    let bob = world.member("bob", Role::Viewer, None, true, true).await;
    let platform = OrgId::new(START);
    world
        .commit(|change| {
            change.organization_add(&Organization {
                id: platform,
                name: "Platform".into(),
                slug: domain::Slug::parse("platform").unwrap(),
                kind: OrgKind::Platform,
                version: 1,
                created_at: START,
                updated_at: START,
            });
            change.member_add(START, platform, bob.user_id, Role::Owner);
            alarm("An actor is out of order").emit(change, START);
        })
        .await;
    assert_eq!(world.notices(bob.user_id, 1).await[0].org_id, Some(platform));
    world.notices(ada.user_id, 0).await;
}

#[tokio::test]
async fn a_new_sign_in_counts_in_every_organization_of_the_person() {
    let (world, ada) = world().await;
    world.protocol(vec![Rule { events: vec!["account.new_sign_in".into()], ..rule() }]).await;
    let event = Event::new("account.new_sign_in", ("sign_in", "1".into()), "New sign-in");
    world.commit(|change| Event { user_ids: vec![ada.user_id], ..event }.emit(change, START)).await;
    let row = world.escalation_once("New sign-in", |row| row.progress.done == 1).await;
    assert_eq!(row.concerned, [ada.user_id]);
}

#[tokio::test]
async fn what_cannot_be_read_is_put_aside_and_holds_up_nothing() {
    let (world, ada) = world().await;
    for event in [json!(null), json!({ "type": "ops.alarm" }), json!({ "type": "made.up", "title": "", "at": 0 })] {
        world.commit(|change| change.outbox_add(START, &OutboxEntry::Event { event })).await;
    }
    world.emit(Event { user_ids: vec![ada.user_id], ..alarm("Full") }).await;
    world.notices(ada.user_id, 1).await;
    world
        .eventually("three events put aside", async || (world.store.work_dead_len().await.unwrap() == 3).then_some(()))
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_make_one_of_each() {
    let (mut world, ada) = world().await;
    world.start_other().await;
    world.protocol(vec![rule()]).await;
    for number in 0..EVENTS {
        // Ten alarms, six times each.
        let dedup_key = Some(format!("disk {}", number % 10));
        let event = Event { user_ids: vec![ada.user_id], dedup_key, ..alarm(&format!("Alarm {number}")) };
        world.commit(|change| Event { org_id: Some(world.org_id), ..event }.emit(change, START)).await;
    }
    let all = world
        .eventually("all events", async || {
            let all = world.escalations().await;
            let events: i64 = all.iter().map(|row| row.event_count).sum();
            let are_done = all.iter().all(|row| row.progress.done == 1);
            (events == EVENTS && are_done).then_some(all)
        })
        .await;
    assert_eq!(all.len(), 10);
    world.notices(ada.user_id, 10).await;
    world.pass(10);
    let done = async || world.escalations().await.iter().all(|row| row.progress.done == 2).then_some(());
    world.eventually("the second steps", done).await;
    for row in all {
        let tellings = world.store.escalation_tellings(row.id).await.unwrap();
        assert_eq!(tellings.len(), 4, "two channels, twice: {tellings:#?}");
    }
}
