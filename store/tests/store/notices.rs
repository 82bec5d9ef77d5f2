use std::time::Duration;

use domain::{
    App, Email, Platform, Timestamp, TokenHash,
    id::{EscalationId, NoticeId, SignInId, UserId},
    notify::{Channel, Channels, PushPlatform, QuietHours, TimeOfDay, Zone},
};
use store::{
    Clock, CommitError, Purge, Store,
    accounts::{Person, SignIn},
    notify::{DeviceAttrs, NewNotice, NoticesQuery, PushDevice, PushKey, StoredPrefs},
    testing,
};

use crate::{START, commit, open, purge};

fn notice(user_id: UserId, source: &str) -> NewNotice {
    NewNotice {
        id: NoticeId::new(START),
        user_id,
        org_id: None,
        event: "ops.alarm".into(),
        app: App::Admin,
        title: source.into(),
        body: None,
        url: None,
        require_ack: false,
        escalation_id: None,
        is_read: false,
        created_at: START,
        source: source.into(),
    }
}

async fn titles(store: &Store, user_id: UserId, app: Option<App>) -> Vec<String> {
    let page = store.notices_page(NoticesQuery { user_id, app, before: None, limit: 10 }).await.expect("reads");
    page.notices.into_iter().map(|notice| notice.title).collect()
}

#[tokio::test]
async fn the_same_source_comes_to_one_person_once() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let (ada, bob) = (UserId::new(START), UserId::new(START));
        let first = notice(ada, "one");
        commit(&store, |change| change.notices_add([first.clone(), notice(bob, "one")])).await;
        let escalation = EscalationId::new(START);
        let again = NewNotice { escalation_id: Some(escalation), require_ack: true, ..notice(ada, "one") };
        let earlier = NewNotice { escalation_id: Some(EscalationId::new(START)), ..again.clone() };
        commit(&store, |change| {
            change.notices_add([earlier, again, NewNotice { app: App::Git, ..notice(ada, "two") }, notice(bob, "one")]);
        })
        .await;
        assert_eq!(titles(&store, ada, None).await, ["two", "one"]);
        assert_eq!(titles(&store, ada, Some(App::Git)).await, ["two"]);
        assert_eq!(titles(&store, bob, None).await, ["one"]);
        let found = store.notice(ada, first.id).await.expect("reads").expect("is there");
        assert_eq!((found.escalation_id, found.require_ack), (Some(escalation), true));
        assert_eq!(store.notice(bob, first.id).await.expect("reads"), None);

        commit(&store, |change| change.notices_ack_of_escalation(escalation, Some(ada), START)).await;
        let found = store.notice(ada, first.id).await.expect("reads").expect("is there");
        assert_eq!((found.acked_at, found.is_read), (Some(START), true));
        assert_eq!(store.notices_unread_by_app(ada).await.expect("reads"), [(App::Git, 1)]);
    }
}

#[tokio::test]
async fn pages_neither_repeat_nor_skip() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let ada = UserId::new(START);
        let sources: Vec<_> = (0..7).map(|number| format!("source {number}")).collect();
        commit(&store, |change| change.notices_add(sources.iter().map(|source| notice(ada, source)))).await;
        let (mut before, mut seen) = (None, Vec::new());
        loop {
            let query = NoticesQuery { user_id: ada, app: None, before, limit: 3 };
            let page = store.notices_page(query).await.expect("reads");
            seen.extend(page.notices.into_iter().map(|notice| notice.title));
            before = page.next_before;
            if before.is_none() {
                break;
            }
            let late = format!("late {}", seen.len());
            commit(&store, |change| change.notice_add(notice(ada, &late))).await;
        }
        assert!(seen.iter().eq(sources.iter().rev()), "{seen:?}");
    }
}

#[tokio::test]
async fn an_acknowledgement_counts_once() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let ada = UserId::new(START);
        let alarm = NewNotice { require_ack: true, ..notice(ada, "one") };
        commit(&store, |change| change.notice_add(alarm.clone())).await;
        commit(&store, |change| change.notice_ack(ada, alarm.id, START)).await;
        let mut again = store::Change::new();
        again.notice_ack(ada, alarm.id, START);
        assert!(matches!(store.commit(again).await, Err(CommitError::Stale)));
    }
}

fn person(name: &str) -> Person {
    Person {
        id: UserId::new(START),
        email: Email::parse("email", &format!("{name}@example.com")).expect("an address"),
        name: name.into(),
        password_hash: String::new(),
        password_change_due: false,
        locale: None,
        time_zone: Some("Europe/Vienna".into()),
        phone: Some("+431234567".into()),
        otp_secret: None,
        otp_pending: None,
        otp_last_step: 0,
        version: 1,
        created_at: START,
        updated_at: START,
    }
}

fn sign_in(user_id: UserId, expires_at: Timestamp) -> SignIn {
    SignIn {
        id: SignInId::new(START),
        user_id,
        app: App::Assistant,
        platform: Platform::Ios,
        install_id: None,
        ip: None,
        user_agent: None,
        created_at: START,
        last_seen_at: START,
        expires_at,
        confirmed_until: None,
    }
}

fn device(sign_in: &SignIn, device_id: &str, token: &str) -> PushDevice {
    PushDevice {
        key: PushKey { user_id: sign_in.user_id, device_id: device_id.into(), app: sign_in.app },
        sign_in_id: sign_in.id,
        platform: PushPlatform::Ios,
        token: token.into(),
        attrs: DeviceAttrs::default(),
        created_at: START,
        updated_at: START,
    }
}

#[tokio::test]
async fn a_recipient_has_what_counts_now() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        let (ada, bob) = (person("ada"), person("bob"));
        let hour = Duration::from_hours(1);
        let (lasting, short) = (sign_in(ada.id, START.after(hour * 2)), sign_in(ada.id, START.after(hour)));
        let mut stored = StoredPrefs::default();
        stored.prefs.quiet_hours = Some(QuietHours {
            start: TimeOfDay::MIDNIGHT,
            end: TimeOfDay::new(7, 0).expect("a time"),
            days: None,
            allow_urgent: true,
        });
        stored.prefs.choose("ops.alarm", Channels::of(&[Channel::Voice])).expect("chooses");
        commit(&store, |change| {
            change.person_add(&ada);
            change.person_add(&bob);
            change.sign_in_add(&lasting, TokenHash([1; 32]));
            change.sign_in_add(&short, TokenHash([2; 32]));
            change.push_device_put(&device(&lasting, "phone", "one"));
            change.push_device_put(&device(&short, "tablet", "two"));
            change.phone_confirm(ada.id, "+431234567", START);
            change.notify_prefs_set(ada.id, &stored, START);
        })
        .await;
        let unknown = UserId::new(START);
        let found = store.recipients(&[bob.id, unknown, ada.id]).await.expect("reads");
        assert_eq!(found.iter().map(|recipient| recipient.user_id).collect::<Vec<_>>(), [bob.id, ada.id]);
        assert_eq!((found[0].phone.as_deref(), found[0].devices.len()), (None, 0));
        assert_eq!(found[1].phone.as_deref(), Some("+431234567"));
        assert_eq!(
            found[1].devices.iter().map(|device| device.device_id.as_str()).collect::<Vec<_>>(),
            ["phone", "tablet"]
        );
        assert_eq!(found[1].prefs.zone, Zone::find("Europe/Vienna").expect("a zone"));
        assert_eq!(found[1].prefs.choices, stored.prefs.choices);

        clock.advance(hour);
        commit(&store, |change| change.person_set(&Person { phone: Some("+437654321".into()), ..ada.clone() })).await;
        let found = store.recipients(&[ada.id]).await.expect("reads");
        assert_eq!(found[0].phone, None);
        assert_eq!(found[0].devices.len(), 1);
        commit(&store, |change| change.sign_in_end(clock.now(), lasting.id)).await;
        assert!(store.recipients(&[ada.id]).await.expect("reads")[0].devices.is_empty());
        purge(&store, Purge::push_devices(clock.now())).await;
        assert!(store.push_devices(ada.id).await.expect("reads").is_empty());
    }
}

#[tokio::test]
async fn a_token_belongs_to_who_registered_it_last() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let (ada, bob) = (sign_in(UserId::new(START), START), sign_in(UserId::new(START), START));
        let first = device(&ada, "phone", "token");
        commit(&store, |change| change.push_device_put(&first)).await;
        commit(&store, |change| change.push_device_put(&device(&bob, "phone", "token"))).await;
        assert!(store.push_devices(ada.user_id).await.expect("reads").is_empty());
        let refreshed = device(&bob, "phone", "other");
        commit(&store, |change| change.push_device_put(&refreshed)).await;
        commit(&store, |change| change.push_device_dead(&refreshed.key, "token")).await;
        assert_eq!(store.push_device(&refreshed.key).await.expect("reads"), Some(refreshed.clone()));
        commit(&store, |change| change.push_device_dead(&refreshed.key, "other")).await;
        assert_eq!(store.push_device(&refreshed.key).await.expect("reads"), None);
    }
}
