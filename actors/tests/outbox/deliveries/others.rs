use domain::{
    id::UserId,
    notify::{AckCode, Channel, DeliveryState, Target},
};
use store::NewDelivery;

use super::{House, PHONE};

#[tokio::test]
async fn without_gateways_every_channel_keeps_what_it_would_have_sent_and_counts_as_sent() {
    let house = House::new().await;
    house.register("phone-1").await;
    let channels = [Channel::Email, Channel::Sms, Channel::Push, Channel::Voice];
    let made = channels.map(|channel| house.about("The disk is full", channel));
    for made in &made {
        house.add(made).await;
    }
    house.deliver().await;
    let mut kept: Vec<_> = house.kept().await.into_iter().map(|kept| (kept.channel, kept.recipient)).collect();
    kept.sort();
    let wanted = [("email", "ada@example.org"), ("push", "phone-1 (cloud on ios)"), ("sms", PHONE), ("voice", PHONE)];
    assert_eq!(kept, wanted.map(|(channel, to)| (channel.to_owned(), to.to_owned())));
    for made in &made {
        assert_eq!(house.read(made).await.state, DeliveryState::Sent);
    }
}

#[tokio::test]
async fn what_shall_be_acknowledged_says_how_over_the_phone() {
    let house = House::new().await;
    for channel in [Channel::Sms, Channel::Voice] {
        let made = house.about("The disk is full", channel);
        house.notice(&made).await;
        house.add(&made).await;
        house.deliver().await;
        let text = house.kept().await.pop().expect("a message").body;
        let ask = match channel {
            Channel::Voice => "The disk is full. Press 1 to acknowledge.".to_owned(),
            _ => format!("Reply ACK {}", AckCode::of(made.id)),
        };
        assert!(text.ends_with(&ask), "{text}");
    }
}

#[tokio::test]
async fn a_notice_that_asks_for_nothing_says_nothing_of_acknowledging() {
    let house = House::new().await;
    house.add(&house.about("The disk is full", Channel::Sms)).await;
    house.deliver().await;
    assert_eq!(house.kept().await[0].body, "The disk is full: On db-1. http://127.0.0.1:8080/alarms/1");
}

#[tokio::test]
async fn whoever_cannot_be_reached_any_more_is_not_told_and_the_row_says_why() {
    let house = House::new().await;
    let pushed = house.about("The disk is full", Channel::Push);
    let texted = house.about("The disk is full", Channel::Sms);
    let stranger = UserId::new(house.now());
    let gone = NewDelivery { user_id: stranger, ..house.about("The disk is full", Channel::Email) };
    for made in [&pushed, &texted, &gone] {
        house.add(made).await;
    }
    house.commit(|change| change.phone_unconfirm(house.ada)).await;
    house.deliver().await;
    assert!(house.kept().await.is_empty());
    for (made, reason) in [(&pushed, "no_device"), (&texted, "no_confirmed_phone"), (&gone, "person_gone")] {
        let row = house.read(made).await;
        assert_eq!((row.state, row.error.as_deref()), (DeliveryState::Cancelled, Some(reason)));
    }
}

#[tokio::test]
async fn a_code_goes_to_the_number_that_it_shall_confirm() {
    let house = House::new().await;
    let to = "+491709999999";
    let code = house.about("Your code is 123456", Channel::Sms);
    house.add(&NewDelivery { notice_id: None, target: Target::Phone(to.into()), ..code }).await;
    house.deliver().await;
    assert_eq!(house.kept().await[0].recipient, to);
}
