//! What becomes of deliveries when who carries them refuses, asks for patience, or goes silent.

use std::time::Duration;

use domain::notify::{Channel, DeliveryState};
use gateways::{PushOptions, Pusher, Texter, TexterOptions, push::ApnsOptions, texts::TwilioOptions};
use store::DeliveryLane;

use super::{HOUR, House};
use crate::{
    keys,
    node::soon,
    service::{Reply, Service},
};

const TAKEN: &str = r#"{"sid": "SM0123", "status": "queued"}"#;
const LEASE: Duration = Duration::from_secs(15);
/// Longer than the worker waits for anybody.
const PATIENCE: Duration = Duration::from_secs(60);

fn texter(service: &Service) -> Texter {
    let options = TwilioOptions {
        base_url: service.url(),
        account_sid: "AC1".into(),
        auth_token: "secret".into(),
        from: "+15005550006".into(),
        call_from: None,
        timeout: PATIENCE,
    };
    Texter::new(&TexterOptions::Twilio(options)).expect("a texter")
}

fn pusher(service: &Service) -> Pusher {
    let apns = ApnsOptions {
        base_url: service.url(),
        team_id: "TEAM123456".into(),
        key_id: "KEY1234567".into(),
        key: keys::p256().0,
        topic: "org.example.{app}".into(),
        timeout: PATIENCE,
    };
    Pusher::new(&PushOptions { apns: Some(apns), ..PushOptions::default() }).expect("a pusher")
}

async fn texting(replies: impl IntoIterator<Item = Reply>) -> (House, Service) {
    let service = Service::replying(replies).await;
    let mut house = House::new().await;
    house.node.services.texter = texter(&service);
    (house, service)
}

async fn heard(service: &Service, count: usize) {
    soon(async {
        while service.heard().len() < count {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn who_asks_to_be_left_alone_is_for_as_long_and_for_an_hour_at_most() {
    for (asked, waits) in [("120", Duration::from_secs(120)), ("86400", HOUR)] {
        let busy = Reply::new(429, "{}").with("retry-after", asked);
        let (house, service) = texting([busy, Reply::new(201, TAKEN)]).await;
        let made = house.about("The disk is full", Channel::Sms);
        house.add(&made).await;
        house.deliver().await;
        assert_eq!(house.read(&made).await.next_attempt_at, Some(house.now().after(waits)));
        house.node.clock.advance(waits - Duration::from_millis(1));
        house.deliver().await;
        assert_eq!(service.heard().len(), 1, "not a millisecond early");
        house.node.clock.advance(Duration::from_millis(1));
        house.deliver().await;
        assert_eq!(house.read(&made).await.provider_id.as_deref(), Some("SM0123"));
    }
}

#[tokio::test]
async fn a_number_that_is_refused_is_not_tried_again() {
    let refusal = r#"{"code": 21211, "message": "The 'To' number is not a valid phone number."}"#;
    let (house, service) = texting([Reply::new(400, refusal)]).await;
    let made = house.about("The disk is full", Channel::Sms);
    house.add(&made).await;
    house.deliver().await;
    house.node.clock.advance(HOUR);
    house.deliver().await;
    let failed = house.read(&made).await;
    assert_eq!((failed.state, failed.attempts, service.heard().len()), (DeliveryState::Failed, 1, 1));
    assert!(failed.error.is_some_and(|error| error.contains("not a valid phone number")));
}

#[tokio::test]
async fn a_dead_push_token_takes_its_registration_along() {
    let gone = Service::replying([Reply::new(410, r#"{"reason": "Unregistered"}"#)]).await;
    let mut house = House::new().await;
    house.node.services.pusher = pusher(&gone);
    let (dead, other) = (house.register("phone-1").await, house.register("phone-2").await);
    let made = house.about("The disk is full", Channel::Push);
    house.add(&made).await;
    house.deliver().await;
    let failed = house.read(&made).await;
    assert_eq!((failed.state, failed.attempts), (DeliveryState::Failed, 1));
    assert!(failed.error.is_some_and(|error| error.contains("Unregistered")));
    let store = &house.node.services.store;
    assert_eq!(store.push_device(&dead).await.expect("a read"), None);
    assert!(store.push_device(&other).await.expect("a read").is_some());
}

#[tokio::test]
async fn a_restart_between_the_try_and_its_settlement_repeats_it_with_the_same_key() {
    let (house, service) = texting([Reply::never(), Reply::new(201, TAKEN)]).await;
    let texter = house.node.services.texter.clone();
    let made = house.about("The disk is full", Channel::Sms);
    house.add(&made).await;
    let running = house.worker().start();
    heard(&service, 1).await;
    // The provider has the text and stays silent; the server is stopped and has no time to wait.
    running.stop(Duration::ZERO).await;
    drop(running);
    let mut house = house.restarted().await;
    house.node.services.texter = texter;
    let running = house.worker().start();
    house.node.clock.advance(LEASE);
    heard(&service, 2).await;
    running.stop(Duration::from_secs(60)).await;
    let heard = service.heard();
    let keys: Vec<_> = heard.iter().map(|heard| heard.header("i-twilio-idempotency-token")).collect();
    assert_eq!(keys, [made.id.to_string(), made.id.to_string()]);
    assert_eq!((house.read(&made).await.state, house.read(&made).await.attempts), (DeliveryState::Sent, 2));
}

#[tokio::test]
async fn four_texts_are_under_way_at_once_and_calls_do_not_wait_for_them() {
    let (house, service) = texting([Reply::never()]).await;
    house
        .commit(|change| {
            for number in 0..10 {
                change.delivery_add(house.about(&format!("Alarm {number}"), Channel::Sms));
            }
        })
        .await;
    let _running = house.worker().start();
    heard(&service, 4).await;
    house.add(&house.about("The disk is full", Channel::Voice)).await;
    heard(&service, 5).await;
    let of = |kind: &str| service.heard().iter().filter(|heard| heard.path.ends_with(kind)).count();
    assert_eq!((of("/Messages.json"), of("/Calls.json")), (4, 1));
    let waiting = house.node.services.store.deliveries_next(DeliveryLane::Sms).await.expect("a read");
    assert!(waiting.is_some_and(|next| next <= house.now()), "the others wait for a hand");
}
