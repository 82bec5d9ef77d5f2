use super::*;
use crate::notify::{QuietHours, TimeOfDay, Zone};

fn device(id: &str, app: App) -> PushTarget {
    PushTarget { device_id: id.into(), platform: PushPlatform::Ios, app }
}

fn ada() -> Recipient {
    Recipient {
        user_id: UserId::new(Timestamp(0)),
        name: "Ada".into(),
        email: Email::parse("email", "ada@example.com").unwrap(),
        phone: Some("+431234567".into()),
        prefs: NotifyPrefs::default(),
        devices: vec![device("phone", App::Assistant)],
    }
}

fn sleeper(allow_urgent: bool) -> Recipient {
    let quiet = QuietHours {
        start: TimeOfDay::new(22, 0).unwrap(),
        end: TimeOfDay::new(7, 0).unwrap(),
        days: None,
        allow_urgent,
    };
    Recipient { prefs: NotifyPrefs { quiet_hours: Some(quiet), zone: Zone::UTC, ..NotifyPrefs::default() }, ..ada() }
}

const EVERYTHING: Asked =
    Asked { app: App::Admin, channels: Channels::ALL, urgent: false, texts_off: false, overrides_quiet_hours: false };
/// 1970-01-01 12:00 and 23:00, UTC.
const NOON: Timestamp = Timestamp(12 * 3_600_000);
const NIGHT: Timestamp = Timestamp(23 * 3_600_000);
const MORNING: Timestamp = Timestamp(31 * 3_600_000);

fn outcome(found: &[Reach], channel: Channel) -> &Outcome {
    &found.iter().find(|reach| reach.channel == channel).unwrap().outcome
}

#[test]
fn by_day_everything_goes_at_once() {
    let found = reach(&sleeper(false), &EVERYTHING, true, NOON);
    let targets: Vec<_> = found.into_iter().map(|reach| (reach.channel, reach.outcome)).collect();
    let phone = || Target::Phone("+431234567".into());
    assert_eq!(
        targets,
        [
            (Channel::Email, Outcome::Now(Target::Email("ada@example.com".into()))),
            (Channel::Sms, Outcome::Now(phone())),
            (Channel::Push, Outcome::Now(Target::Device(device("phone", App::Assistant)))),
            (Channel::Voice, Outcome::Now(phone())),
            (Channel::Inapp, Outcome::Now(Target::Inbox)),
        ]
    );
}

#[test]
fn quiet_hours_hold_back_what_interrupts() {
    let found = reach(&sleeper(false), &EVERYTHING, true, NIGHT);
    for channel in [Channel::Sms, Channel::Push, Channel::Voice] {
        assert!(matches!(outcome(&found, channel), Outcome::Held { until: MORNING, .. }), "{channel}");
    }
    for channel in [Channel::Email, Channel::Inapp] {
        assert!(matches!(outcome(&found, channel), Outcome::Now(_)), "{channel}");
    }
}

#[test]
fn what_is_urgent_interrupts_where_it_is_allowed_to() {
    let urgent = Asked { urgent: true, ..EVERYTHING };
    let is_held = |recipient: &Recipient, asked: &Asked| {
        matches!(outcome(&reach(recipient, asked, true, NIGHT), Channel::Push), Outcome::Held { .. })
    };
    assert!(!is_held(&sleeper(true), &urgent));
    assert!(is_held(&sleeper(false), &urgent));
    assert!(is_held(&sleeper(true), &EVERYTHING));
    assert!(!is_held(&sleeper(false), &Asked { overrides_quiet_hours: true, ..EVERYTHING }));
}

#[test]
fn every_channel_says_why_it_is_not_used() {
    let nobody = Recipient { phone: None, devices: Vec::new(), ..ada() };
    let why = |recipient: &Recipient, asked: &Asked, calls: bool, channel| match outcome(
        &reach(recipient, asked, calls, NOON),
        channel,
    ) {
        Outcome::Not(why) => Some(*why),
        _ => None,
    };
    assert_eq!(why(&nobody, &EVERYTHING, true, Channel::Sms), Some(WhyNot::NoConfirmedPhone));
    assert_eq!(why(&nobody, &EVERYTHING, true, Channel::Voice), Some(WhyNot::NoConfirmedPhone));
    assert_eq!(why(&nobody, &EVERYTHING, true, Channel::Push), Some(WhyNot::NoDevice));
    assert_eq!(why(&ada(), &EVERYTHING, false, Channel::Sms), Some(WhyNot::CallsUnavailable));
    let spared = Asked { texts_off: true, ..EVERYTHING };
    assert_eq!(why(&ada(), &spared, true, Channel::Voice), Some(WhyNot::TextsOff));
    let unasked = Asked { channels: Channels::EMPTY, ..EVERYTHING };
    for channel in Channel::ALL {
        assert_eq!(why(&ada(), &unasked, true, *channel), Some(WhyNot::NotChosen));
    }
}

#[test]
fn a_phone_rings_once_in_the_app_that_it_is_about() {
    let pushed = |devices: &[PushTarget], app| -> Vec<PushTarget> {
        let recipient = Recipient { devices: devices.to_vec(), ..ada() };
        let asked = Asked { app, channels: Channels::of(&[Channel::Push]), ..EVERYTHING };
        let found = reach(&recipient, &asked, true, NOON).into_iter();
        found
            .filter_map(|reach| match reach.outcome {
                Outcome::Now(Target::Device(target)) => Some(target),
                _ => None,
            })
            .collect()
    };
    let devices = [
        device("phone", App::Maps),
        device("phone", App::Assistant),
        device("phone", App::Mail),
        device("tablet", App::Drive),
        device("tablet", App::Maps),
    ];
    assert_eq!(pushed(&devices, App::Mail), [device("phone", App::Mail), device("tablet", App::Maps)]);
    assert_eq!(pushed(&devices, App::Food), [device("phone", App::Assistant), device("tablet", App::Maps)]);
}
