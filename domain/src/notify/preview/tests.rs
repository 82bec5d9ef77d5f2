use super::*;
use crate::{
    Email,
    id::{OrgId, RotaId},
    notify::{
        Channel, Channels, Handover, NotifyPrefs, QuietHours, RotaDraft, StepChannels, Target, TimeOfDay, TurnStart,
        WhyNot, Zone,
    },
};

const HOUR: i64 = 3_600_000;

fn user(number: i64) -> UserId {
    format!("usr_{number:026}").parse().unwrap()
}

fn recipient(number: i64) -> (UserId, Recipient) {
    let user_id = user(number);
    let recipient = Recipient {
        user_id,
        name: format!("Person {number}"),
        email: Email::parse("email", "ada@example.org").unwrap(),
        phone: None,
        prefs: NotifyPrefs::default(),
        devices: Vec::new(),
    };
    (user_id, recipient)
}

/// An owner, a developer, and somebody who left.
fn cast() -> Cast {
    Cast {
        members: [(user(1), Role::Owner), (user(2), Role::Developer)].into(),
        recipients: (1..=3).map(recipient).collect(),
        rotas: Vec::new(),
        calls_available: true,
    }
}

fn rule(channels: &[Channel]) -> Rule {
    let step = Step { after_minutes: 5, channels: StepChannels(Channels::of(channels)), rota: None };
    Rule { events: vec!["ops.alarm".to_owned()], steps: vec![step], ..Rule::default() }
}

fn alarm(data: &Value) -> HypotheticalEvent {
    HypotheticalEvent {
        event: EventType::find("ops.alarm").unwrap(),
        at: Timestamp(0),
        starts_at: None,
        data: data.as_object().cloned().unwrap_or_default(),
        concerned: vec![user(2), user(3)],
    }
}

fn one_step(rule: Rule, cast: &Cast) -> StepPreview {
    let mut previews = preview(&[rule], &alarm(&Value::Null), cast);
    previews.remove(0).steps.remove(0)
}

fn rota(people: Vec<UserId>) -> Rota {
    Rota {
        id: RotaId::new(Timestamp(0)),
        org_id: OrgId::new(Timestamp(0)),
        draft: RotaDraft {
            name: "Ops".to_owned(),
            people,
            handover: Handover::Day { at: TimeOfDay::MIDNIGHT, interval: 1 },
            zone: Zone::UTC,
        },
        start: TurnStart { at: Timestamp(0), place: 0 },
        overrides: Vec::new(),
        created_by: user(1),
        created_at: Timestamp(0),
        updated_at: Timestamp(0),
    }
}

#[test]
fn a_rule_says_why_it_does_nothing() {
    let mut other = rule(&[Channel::Email]);
    other.events = vec!["mail.vip".to_owned()];
    let mut matching = rule(&[Channel::Email]);
    matching.matches.insert("severity".to_owned(), vec!["critical".to_owned()]);
    let before = Rule { before_event: true, ..rule(&[Channel::Email]) };
    let event = alarm(&serde_json::json!({ "severity": "low" }));
    let previews = preview(&[other, matching, before, rule(&[Channel::Email])], &event, &cast());
    let idle: Vec<_> = previews.iter().map(|preview| preview.idle).collect();
    assert_eq!(idle, [Some(Idle::OtherEvents), Some(Idle::NoMatch), Some(Idle::NoStart), None]);
}

#[test]
fn a_step_tells_whom_it_means_and_says_who_is_passed_over() {
    let step = one_step(rule(&[Channel::Email]), &cast());
    assert_eq!(step.at, Timestamp(5 * 60_000));
    assert_eq!(
        step.told.iter().map(|told| (told.user_id, told.because)).collect::<Vec<_>>(),
        [(user(2), Because::Concerned)]
    );
    assert_eq!(step.passed, [(Some(user(3)), Passed::NotAMember)]);

    let named = Rule { roles: vec![Role::Owner], user_ids: vec![user(2)], ..rule(&[Channel::Email]) };
    let told: Vec<_> = one_step(named, &cast()).told.iter().map(|told| (told.user_id, told.because)).collect();
    assert_eq!(told, [(user(2), Because::UserId), (user(1), Because::Role)]);
}

#[test]
fn a_step_to_a_rota_tells_whoever_is_on_call_then() {
    let rota = rota(vec![user(2), user(1)]);
    let mut rule = rule(&[Channel::Email]);
    rule.steps[0].rota = Some(rota.id);
    rule.steps.push(Step { after_minutes: 1_440, ..rule.steps[0].clone() });
    let cast = Cast { rotas: vec![rota], ..cast() };
    let steps = preview(&[rule.clone()], &alarm(&Value::Null), &cast).remove(0).steps;
    assert_eq!(steps.iter().map(|step| step.told[0].user_id).collect::<Vec<_>>(), [user(2), user(1)]);
    assert_eq!(steps[0].told[0].because, Because::Rota);
    let removed = Cast { rotas: Vec::new(), ..cast };
    assert_eq!(one_step(rule.clone(), &removed).passed, [(None, Passed::NobodyOnCall)]);
    assert!(!reaches_somebody(&rule, Timestamp(0), &removed));
}

#[test]
fn every_channel_is_explained() {
    let mut cast = cast();
    let quiet =
        QuietHours { start: TimeOfDay::MIDNIGHT, end: TimeOfDay::new(7, 0).unwrap(), days: None, allow_urgent: false };
    let owner = cast.recipients.get_mut(&user(1)).unwrap();
    owner.prefs.quiet_hours = Some(quiet);
    owner.phone = Some("+43123456".to_owned());
    let all = Rule { roles: vec![Role::Owner], ..rule(&[Channel::Email, Channel::Sms, Channel::Push]) };
    let told = one_step(all.clone(), &cast).told.remove(0);
    let outcome = |channel| told.ways.iter().find(|way| way.channel == channel).unwrap().outcome.clone();
    assert!(matches!(outcome(Channel::Email), Outcome::Now(Target::Email(_))));
    let held = Outcome::Held { until: Timestamp(7 * HOUR), target: Target::Phone("+43123456".to_owned()) };
    assert_eq!(outcome(Channel::Sms), held);
    assert_eq!(outcome(Channel::Push), Outcome::Not(WhyNot::NoDevice));
    assert_eq!(outcome(Channel::Voice), Outcome::Not(WhyNot::NotChosen));
    let now = one_step(Rule { override_quiet_hours: true, ..all }, &cast).told.remove(0);
    assert!(now.ways.iter().any(|way| way.outcome == Outcome::Now(Target::Phone("+43123456".to_owned()))));
}

#[test]
fn a_rule_reaches_nobody_without_people_telephones_or_devices() {
    let reaches = |rule: &Rule, cast: &Cast| reaches_somebody(rule, Timestamp(0), cast);
    let to = |roles: &[Role], channels: &[Channel]| Rule { roles: roles.to_vec(), ..rule(channels) };
    assert!(reaches(&to(&[Role::Owner], &[Channel::Inapp]), &cast()));
    assert!(!reaches(&to(&[Role::Admin], &[Channel::Inapp]), &cast()));
    assert!(!reaches(&to(&[Role::Owner], &[Channel::Sms, Channel::Voice, Channel::Push]), &cast()));
    assert!(!reaches(&Rule { user_ids: vec![user(3)], ..rule(&[Channel::Email]) }, &cast()));
    // Whom an event concerns is not known before.
    assert!(reaches(&rule(&[Channel::Push]), &cast()));
    assert!(reaches(&rule(&[Channel::Sms]), &cast()));
    assert!(!reaches(&rule(&[Channel::Sms]), &Cast { calls_available: false, ..cast() }));
    let silent = Rule { events: vec!["food.use_soon".to_owned()], ..rule(&[Channel::Sms]) };
    assert!(!reaches(&silent, &cast()));
}
