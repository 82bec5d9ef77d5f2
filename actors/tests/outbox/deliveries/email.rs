use std::time::Duration;

use domain::{
    backoff::TRIES_MAX,
    notify::{CancelReason, Channel, DeliveryState},
};
use store::{DeliveryLane, Permits, Turns};

use super::{HOUR, House};
use crate::{
    node::{smtp, soon},
    smtp_server::{Script, SmtpServer},
};

const MINUTE: Duration = Duration::from_mins(1);

async fn house_with(server: &SmtpServer) -> House {
    House::with_mailer(smtp(server.port())).await
}

#[tokio::test]
async fn an_email_says_what_happened_and_where_to_look_and_goes_out_once() {
    let server = SmtpServer::start(Script::default()).await;
    let house = house_with(&server).await;
    let made = house.about("The disk is full", Channel::Email);
    house.add(&made).await;
    house.deliver().await;
    house.deliver().await;
    let [received] = &server.received()[..] else { panic!("one e-mail") };
    assert_eq!(received.header("Subject"), Some("The disk is full"));
    assert_eq!(received.to, ["RCPT TO:<ada@example.org>"]);
    let link = format!("{}/alarms/1", house.node.services.settings.public_url);
    assert_eq!(received.body().trim_end(), format!("The disk is full\r\n\r\nOn db-1.\r\n\r\n{link}"));
    let sent = house.read(&made).await;
    assert_eq!((sent.state, sent.attempts, sent.next_attempt_at), (DeliveryState::Sent, 1, None));
    assert!(sent.provider_id.is_some_and(|id| id.contains("queued as 1")));
}

#[tokio::test]
async fn one_refused_for_now_waits_longer_each_time_is_the_same_message_and_is_given_up_after_eight_tries() {
    let server = SmtpServer::start(Script { message: "451 4.3.0 Later", ..Script::default() }).await;
    let house = house_with(&server).await;
    let made = house.about("The disk is full", Channel::Email);
    house.add(&made).await;
    let mut pauses = Vec::new();
    for attempts in 1..TRIES_MAX {
        house.deliver().await;
        let waits = house.read(&made).await;
        assert_eq!((waits.state, waits.attempts), (DeliveryState::Queued, attempts));
        assert!(waits.error.is_some_and(|error| error.contains("Later")));
        let next = waits.next_attempt_at.expect("another try");
        pauses.push(next.since(house.now()));
        house.node.clock.set(next.before(Duration::from_millis(1)));
        house.deliver().await;
        assert_eq!(house.read(&made).await.attempts, attempts, "not a millisecond early");
        house.node.clock.set(next);
    }
    assert!(pauses.is_sorted() && pauses[0] >= Duration::from_secs(5) && pauses[6] <= HOUR, "{pauses:?}");
    house.deliver().await;
    let failed = house.read(&made).await;
    assert_eq!((failed.state, failed.attempts), (DeliveryState::Failed, TRIES_MAX));
    house.node.clock.advance(HOUR);
    house.deliver().await;
    let received = server.received();
    assert_eq!(received.len(), TRIES_MAX as usize);
    let id = received[0].header("Message-ID").expect("an id").to_owned();
    assert!(received.iter().all(|one| one.header("Message-ID") == Some(&id)), "one message to mailboxes");
}

#[tokio::test]
async fn one_refused_for_good_is_given_up_at_once() {
    let server = SmtpServer::start(Script { recipient: "550 5.1.1 No such user", ..Script::default() }).await;
    let house = house_with(&server).await;
    let made = house.about("The disk is full", Channel::Email);
    house.add(&made).await;
    house.deliver().await;
    let failed = house.read(&made).await;
    assert_eq!((failed.state, failed.attempts), (DeliveryState::Failed, 1));
    assert!(failed.error.is_some_and(|error| error.contains("No such user")));
}

#[tokio::test]
async fn one_that_a_dead_process_had_claimed_comes_again_with_the_same_key_when_its_lease_ends() {
    let server = SmtpServer::start(Script::default()).await;
    let house = house_with(&server).await;
    let made = house.about("The disk is full", Channel::Email);
    house.add(&made).await;
    // It went out, and the process died before it could say so.
    let claim = house
        .node
        .services
        .store
        .deliveries_claim(DeliveryLane::Email, &Turns::new(Permits::shared(1)), MINUTE)
        .await
        .expect("claimed")
        .taken();
    let email = gateways::Email {
        to: "ada@example.org".into(),
        subject: "The disk is full".into(),
        text: "The disk is full".into(),
        calendar: None,
        idempotency_key: claim[0].delivery.id.to_string(),
    };
    house.node.services.mailer.send(&email).await.expect("sent");
    let house = house.restarted().await;
    house.node.clock.advance(MINUTE - Duration::from_millis(1));
    house.deliver().await;
    assert_eq!(server.received().len(), 1);
    house.node.clock.advance(Duration::from_millis(1));
    house.deliver().await;
    let received = server.received();
    assert_eq!(received.len(), 2);
    assert_eq!(received[0].header("Message-ID"), received[1].header("Message-ID"));
    assert_eq!((house.read(&made).await.state, house.read(&made).await.attempts), (DeliveryState::Sent, 2));
}

#[tokio::test]
async fn many_go_out_a_few_at_a_time_and_a_stop_finishes_those_under_way() {
    let server = SmtpServer::start(Script::default()).await;
    let house = house_with(&server).await;
    let running = house.worker().start();
    house
        .commit(|change| {
            for number in 0..50 {
                change.delivery_add(house.about(&format!("Alarm {number}"), Channel::Email));
            }
        })
        .await;
    soon(async {
        while server.received().len() < 50 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    running.stop(Duration::from_secs(60)).await;
    assert!(server.at_once_max() <= 8, "{}", server.at_once_max());
    assert_eq!(house.node.services.store.deliveries_next(DeliveryLane::Email).await.expect("a read"), None);
}

#[tokio::test]
async fn a_mail_server_that_hangs_holds_up_no_other_channel() {
    let server = SmtpServer::start(Script { silent_at: Some("DATA"), ..Script::default() }).await;
    let house = house_with(&server).await;
    house
        .commit(|change| {
            for number in 0..20 {
                change.delivery_add(house.about(&format!("Alarm {number}"), Channel::Email));
            }
        })
        .await;
    let _running = house.worker().start();
    soon(async {
        while server.at_once_max() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    house.add(&house.about("The disk is full", Channel::Sms)).await;
    soon(async {
        while house.kept().await.is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn one_that_was_acknowledged_in_the_meantime_does_not_go_out() {
    let server = SmtpServer::start(Script::default()).await;
    let house = house_with(&server).await;
    let made = house.about("The disk is full", Channel::Email);
    house.add(&made).await;
    let notice_id = made.notice_id.expect("a notice");
    let now = house.now();
    house.commit(|change| change.deliveries_cancel_of_notice(notice_id, CancelReason::Acknowledged, now)).await;
    house.deliver().await;
    assert!(server.received().is_empty());
    let cancelled = house.read(&made).await;
    assert_eq!((cancelled.state, cancelled.error.as_deref()), (DeliveryState::Cancelled, Some("acknowledged")));
}
