use std::time::Duration;

use domain::{
    Timestamp,
    notify::{CancelReason, Channel, DeliveryState, Target},
};
use store::NewDelivery;

use super::{HOUR, House, device};

/// Eight o'clock of the morning after the clocks of these tests start.
const MORNING: Timestamp = Timestamp(1_700_035_200_000);

/// A house that is quiet from 20 to 8 o'clock.
async fn quiet_house() -> House {
    let house = House::new().await;
    house.quiet(Some((20, 8))).await;
    house
}

fn held(house: &House, title: &str, channel: Channel) -> NewDelivery {
    NewDelivery { hold_until: Some(MORNING), ..house.about(title, channel) }
}

async fn until_morning(house: &House) {
    house.node.clock.set(MORNING.before(Duration::from_millis(1)));
    house.deliver().await;
    assert!(house.kept().await.is_empty(), "not a millisecond early");
    house.node.clock.set(MORNING);
    house.deliver().await;
}

#[tokio::test]
async fn what_was_held_back_is_pushed_once_as_one_summary_when_quiet_hours_end() {
    let house = quiet_house().await;
    house.register("phone-1").await;
    let mut made = Vec::new();
    for number in 1..=7 {
        let pushed = held(&house, &format!("Alarm {number}"), Channel::Push);
        // The same over another channel is no other thing.
        let texted = NewDelivery { notice_id: pushed.notice_id, ..held(&house, &pushed.title, Channel::Sms) };
        house.add(&pushed).await;
        house.add(&texted).await;
        made.extend([pushed, texted]);
    }
    until_morning(&house).await;
    let [kept] = &house.kept().await[..] else { panic!("one message") };
    assert_eq!((kept.channel.as_str(), kept.recipient.as_str()), ("push", "phone-1 (cloud on ios)"));
    assert_eq!(kept.subject.as_deref(), Some("7 things happened while you were away"));
    assert_eq!(kept.body, "Alarm 1; Alarm 2; Alarm 3; Alarm 4; Alarm 5; and 2 more");
    for made in &made {
        let row = house.read(made).await;
        assert_eq!((row.state, row.error.as_deref()), (DeliveryState::Cancelled, Some("summarized")));
    }
    house.node.clock.advance(24 * HOUR);
    house.deliver().await;
    assert_eq!(house.kept().await.len(), 1);
}

#[tokio::test]
async fn one_thing_is_told_as_itself() {
    let house = quiet_house().await;
    house.register("phone-1").await;
    let made = held(&house, "The disk is full", Channel::Push);
    house.add(&made).await;
    until_morning(&house).await;
    let [kept] = &house.kept().await[..] else { panic!("one message") };
    assert_eq!((kept.subject.as_deref(), kept.body.as_str()), (Some("The disk is full"), "On db-1."));
    let notice_id = made.notice_id.expect("a notice");
    let rows = house.node.services.store.deliveries_of_notice(notice_id).await.expect("a read");
    let states: Vec<_> = rows.iter().map(|row| row.state).collect();
    assert_eq!(states, [DeliveryState::Cancelled, DeliveryState::Sent]);
}

#[tokio::test]
async fn every_device_hears_the_summary_and_no_device_twice() {
    let house = quiet_house().await;
    for phone in ["phone-1", "phone-2"] {
        house.register(phone).await;
        for title in ["One", "Two"] {
            let target = Target::Device(device(phone));
            house.add(&NewDelivery { target, ..held(&house, title, Channel::Push) }).await;
        }
    }
    until_morning(&house).await;
    let mut to: Vec<_> = house.kept().await.into_iter().map(|kept| kept.recipient).collect();
    to.sort();
    assert_eq!(to, ["phone-1 (cloud on ios)", "phone-2 (cloud on ios)"]);
}

#[tokio::test]
async fn without_a_device_the_summary_is_a_text_where_a_text_was_held_back() {
    let house = quiet_house().await;
    house.add(&held(&house, "One", Channel::Sms)).await;
    house.add(&held(&house, "Two", Channel::Voice)).await;
    until_morning(&house).await;
    let [kept] = &house.kept().await[..] else { panic!("one message") };
    assert_eq!(kept.channel, "sms");
    assert_eq!(kept.body, "2 things happened while you were away: One; Two");
}

#[tokio::test]
async fn whoever_has_no_device_any_more_and_wanted_no_texts_hears_nothing() {
    let house = quiet_house().await;
    let made = held(&house, "One", Channel::Push);
    house.add(&made).await;
    until_morning(&house).await;
    assert!(house.kept().await.is_empty());
    assert_eq!(house.read(&made).await.error.as_deref(), Some("no_device"));
}

#[tokio::test]
async fn what_was_acknowledged_is_not_in_the_summary() {
    let house = quiet_house().await;
    house.register("phone-1").await;
    let made = ["One", "Two", "Three"].map(|title| held(&house, title, Channel::Push));
    for made in &made {
        house.add(made).await;
    }
    let (notice_id, now) = (made[1].notice_id.expect("a notice"), house.now());
    house.commit(|change| change.deliveries_cancel_of_notice(notice_id, CancelReason::Acknowledged, now)).await;
    until_morning(&house).await;
    assert_eq!(house.kept().await[0].body, "One; Three");
}

#[tokio::test]
async fn quiet_hours_that_were_made_longer_hold_on_and_shorter_ones_let_go() {
    let house = quiet_house().await;
    house.register("phone-1").await;
    house.add(&held(&house, "One", Channel::Push)).await;
    house.quiet(Some((20, 10))).await;
    house.node.clock.set(MORNING);
    house.deliver().await;
    assert!(house.kept().await.is_empty());
    let now = house.now();
    house.quiet(None).await;
    house.commit(|change| change.deliveries_review_held(house.ada, now)).await;
    house.deliver().await;
    assert_eq!(house.kept().await.len(), 1);
}

#[tokio::test]
async fn a_restart_at_the_end_of_quiet_hours_neither_loses_nor_doubles_the_summary() {
    let house = quiet_house().await;
    house.register("phone-1").await;
    for title in ["One", "Two"] {
        house.add(&held(&house, title, Channel::Push)).await;
    }
    house.node.clock.set(MORNING);
    // A process claims what was held back, and dies over it.
    let lease = Duration::from_secs(10);
    house.node.services.store.deliveries_claim_held(10, lease).await.expect("claimed");
    let house = house.restarted().await;
    house.deliver().await;
    assert!(house.kept().await.is_empty());
    house.node.clock.advance(lease);
    house.deliver().await;
    house.deliver().await;
    assert_eq!(house.kept().await.len(), 1);
}
