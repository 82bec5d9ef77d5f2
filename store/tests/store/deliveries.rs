use std::time::Duration;

use domain::{
    App, Timestamp,
    id::{DeliveryId, EscalationId, NoticeId, UserId},
    notify::{AckCode, CancelReason, Channel, DeliveryState, PushPlatform, PushTarget, Target},
};
use store::{Clock, CommitError, Delivery, DeliveryLane, NewDelivery, Permits, Purge, Store, Turns, testing};

use crate::{LEASE, START, commit, open, purge};

const HOUR: Duration = Duration::from_hours(1);
const PHONE: &str = "+491701234567";

fn text(user_id: UserId) -> NewDelivery {
    NewDelivery {
        id: DeliveryId::new(START),
        user_id,
        notice_id: Some(NoticeId::new(START)),
        escalation_id: None,
        channel: Channel::Sms,
        target: Target::Phone(PHONE.into()),
        hold_until: None,
        urgent: true,
        title: "The disk is full".into(),
        body: Some("On db-1.".into()),
        url: Some("/alarms/1".into()),
        created_at: START,
    }
}

fn push(user_id: UserId) -> NewDelivery {
    let device = PushTarget { device_id: "phone-1".into(), platform: PushPlatform::Ios, app: App::Cloud };
    NewDelivery { channel: Channel::Push, target: Target::Device(device), ..text(user_id) }
}

fn person() -> UserId {
    UserId::new(START)
}

async fn add(store: &Store, delivery: &NewDelivery) {
    commit(store, |change| change.delivery_add(delivery.clone())).await;
}

async fn read(store: &Store, id: DeliveryId) -> Delivery {
    store.delivery(id).await.expect("a read").expect("a delivery")
}

#[tokio::test]
async fn a_delivery_is_claimed_as_it_was_made_and_comes_back_after_its_lease_until_it_is_settled() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        for made in [text(person()), push(person())] {
            add(&store, &made).await;
        }
        store.deliveries_changed(DeliveryLane::Push).notified().await;
        let [claim] = &store
            .deliveries_claim(DeliveryLane::Push, &Turns::new(Permits::shared(10)), LEASE)
            .await
            .expect("claims")
            .taken()[..]
        else {
            panic!("one on its lane")
        };
        let delivery = &claim.delivery;
        assert_eq!((delivery.channel, delivery.state, delivery.attempts), (Channel::Push, DeliveryState::Queued, 1));
        assert_eq!(delivery.target, push(person()).target);
        assert_eq!((delivery.body.as_deref(), delivery.url.as_deref()), (Some("On db-1."), Some("/alarms/1")));
        assert!(
            store
                .deliveries_claim(DeliveryLane::Push, &Turns::new(Permits::shared(10)), LEASE)
                .await
                .expect("claims")
                .taken()
                .is_empty()
        );
        clock.advance(LEASE);
        let again = store
            .deliveries_claim(DeliveryLane::Push, &Turns::new(Permits::shared(10)), LEASE)
            .await
            .expect("claims")
            .taken()
            .remove(0);
        assert_eq!((again.delivery.id, again.delivery.attempts), (delivery.id, 2));
        let provider = Some("apns-7".to_owned());
        commit(&store, |it| it.delivery_sent(delivery.id, delivery.target.clone(), provider, clock.now())).await;
        clock.advance(LEASE);
        assert!(
            store
                .deliveries_claim(DeliveryLane::Push, &Turns::new(Permits::shared(10)), LEASE)
                .await
                .expect("claims")
                .taken()
                .is_empty()
        );
        let sent = read(&store, delivery.id).await;
        assert_eq!((sent.state, sent.provider_id.as_deref()), (DeliveryState::Sent, Some("apns-7")));
        assert_eq!((sent.next_attempt_at, sent.updated_at), (None, START.after(LEASE)));
    }
}

#[tokio::test]
async fn a_claim_that_is_renewed_lasts_longer_and_one_that_somebody_else_has_by_now_is_not_renewed() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        add(&store, &text(person())).await;
        let claimed = async || {
            store
                .deliveries_claim(DeliveryLane::Sms, &Turns::new(Permits::shared(10)), LEASE)
                .await
                .expect("claims")
                .taken()
        };
        let first = claimed().await.remove(0);
        commit(&store, |it| it.delivery_renew(&first, START.after(LEASE * 2))).await;
        clock.advance(LEASE);
        assert_eq!(claimed().await, []);
        clock.advance(LEASE);
        let second = claimed().await.remove(0);
        commit(&store, |it| it.delivery_renew(&first, START.after(LEASE * 9))).await;
        clock.advance(LEASE);
        assert_eq!(claimed().await.remove(0).delivery.id, second.delivery.id);
    }
}

#[tokio::test]
async fn no_more_is_claimed_than_was_asked_for() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        commit(&store, |change| (0..10).for_each(|_| change.delivery_add(text(person())))).await;
        for count in [4, 4, 2] {
            let claims = store
                .deliveries_claim(DeliveryLane::Sms, &Turns::new(Permits::shared(4)), LEASE)
                .await
                .expect("claims")
                .taken();
            assert_eq!(claims.len(), count);
        }
    }
}

#[tokio::test]
async fn what_goes_to_the_inbox_is_there_with_its_commit() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let made = NewDelivery { channel: Channel::Inapp, target: Target::Inbox, ..text(person()) };
        add(&store, &made).await;
        assert_eq!(read(&store, made.id).await.state, DeliveryState::Sent);
        for lane in DeliveryLane::SENDING {
            assert_eq!(store.deliveries_next(lane).await.expect("a read"), None);
        }
    }
}

#[tokio::test]
async fn a_delivery_that_was_put_off_waits_for_its_time() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        add(&store, &text(person())).await;
        let claim = store
            .deliveries_claim(DeliveryLane::Sms, &Turns::new(Permits::shared(1)), LEASE)
            .await
            .expect("claims")
            .taken()
            .remove(0);
        let again = START.after(HOUR);
        commit(&store, |change| change.delivery_put_off(&claim, "busy", again, START)).await;
        let waits = read(&store, claim.delivery.id).await;
        assert_eq!((waits.state, waits.next_attempt_at), (DeliveryState::Queued, Some(again)));
        assert_eq!(waits.error.as_deref(), Some("busy"));
        clock.set(again.before(Duration::from_millis(1)));
        assert!(
            store
                .deliveries_claim(DeliveryLane::Sms, &Turns::new(Permits::shared(1)), LEASE)
                .await
                .expect("claims")
                .taken()
                .is_empty()
        );
        clock.set(again);
        assert_eq!(
            store
                .deliveries_claim(DeliveryLane::Sms, &Turns::new(Permits::shared(1)), LEASE)
                .await
                .expect("claims")
                .taken()
                .len(),
            1
        );
    }
}

#[tokio::test]
async fn what_was_cancelled_during_a_try_stays_so_unless_it_went_out() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let escalation_id = EscalationId::new(START);
        for _ in 0..2 {
            add(&store, &NewDelivery { escalation_id: Some(escalation_id), ..text(person()) }).await;
        }
        add(&store, &text(person())).await;
        let claims = store
            .deliveries_claim(DeliveryLane::Sms, &Turns::new(Permits::shared(3)), LEASE)
            .await
            .expect("claims")
            .taken();
        let (of_escalation, others): (Vec<_>, Vec<_>) =
            claims.into_iter().partition(|claim| claim.delivery.escalation_id.is_some());
        let ([one, two], [other]) = (&of_escalation[..], &others[..]) else { panic!("three") };
        let over = CancelReason::Acknowledged;
        commit(&store, |change| change.deliveries_cancel_of_escalation(escalation_id, over, START)).await;
        commit(&store, |change| {
            change.delivery_put_off(one, "busy", START, START);
            change.delivery_sent(two.delivery.id, two.delivery.target.clone(), None, START);
            change.delivery_failed(other, "refused", START);
        })
        .await;
        let states = store.deliveries_of_escalation(escalation_id).await.expect("a read");
        let states: Vec<_> = states.into_iter().map(|it| (it.state, it.error)).collect();
        let acknowledged = (DeliveryState::Cancelled, Some("acknowledged".to_owned()));
        assert_eq!(states, [acknowledged, (DeliveryState::Sent, None)]);
        assert_eq!(read(&store, other.delivery.id).await.error.as_deref(), Some("refused"));
        assert_eq!(store.deliveries_next(DeliveryLane::Sms).await.expect("a read"), None);
    }
}

#[tokio::test]
async fn a_claim_whose_lease_ended_settles_nothing_but_that_it_went_out() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        add(&store, &text(person())).await;
        let late = store
            .deliveries_claim(DeliveryLane::Sms, &Turns::new(Permits::shared(1)), LEASE)
            .await
            .expect("claims")
            .taken()
            .remove(0);
        clock.advance(LEASE);
        store
            .deliveries_claim(DeliveryLane::Sms, &Turns::new(Permits::shared(1)), LEASE)
            .await
            .expect("claims")
            .taken();
        commit(&store, |change| change.delivery_failed(&late, "late", clock.now())).await;
        assert_eq!(read(&store, late.delivery.id).await.state, DeliveryState::Queued);
        let (id, target) = (late.delivery.id, late.delivery.target.clone());
        commit(&store, |change| change.delivery_sent(id, target, None, clock.now())).await;
        assert_eq!(read(&store, id).await.state, DeliveryState::Sent);
    }
}

#[tokio::test]
async fn what_was_held_is_claimed_person_by_person_when_its_time_has_come() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        let people = [person(), person()];
        let until = START.after(HOUR);
        for made in people.into_iter().flat_map(|user_id| [push(user_id), text(user_id)]) {
            add(&store, &NewDelivery { id: DeliveryId::new(START), hold_until: Some(until), ..made }).await;
        }
        assert!(store.deliveries_claim_held(10, LEASE).await.expect("claims").is_empty());
        clock.set(until);
        let claims = store.deliveries_claim_held(10, LEASE).await.expect("claims");
        assert_eq!(claims.iter().map(|claim| claim.deliveries.len()).collect::<Vec<_>>(), [2, 2]);
        let later = NewDelivery { hold_until: Some(until.after(HOUR)), ..push(claims[0].user_id) };
        add(&store, &later).await;
        assert!(store.deliveries_claim_held(10, LEASE).await.expect("claims").is_empty());
        commit(&store, |it| it.deliveries_held_cancelled(&claims[0], CancelReason::Summarized, clock.now())).await;
        let mut change = store::Change::new();
        change.deliveries_held_cancelled(&claims[0], CancelReason::Summarized, clock.now());
        assert_eq!(store.commit(change).await, Err(CommitError::Stale), "once only");
        commit(&store, |change| change.deliveries_hold_on(&claims[1], until.after(HOUR))).await;
        clock.advance(HOUR);
        let mut found: Vec<_> = store.deliveries_claim_held(10, LEASE).await.expect("claims");
        found.sort_by_key(|claim| claim.deliveries.len());
        assert_eq!(found.iter().map(|claim| claim.deliveries.len()).collect::<Vec<_>>(), [1, 2]);
    }
}

#[tokio::test]
async fn what_is_held_is_looked_at_at_once_when_quiet_hours_change() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let made = NewDelivery { hold_until: Some(START.after(HOUR)), ..push(person()) };
        add(&store, &made).await;
        commit(&store, |change| change.deliveries_review_held(made.user_id, START)).await;
        assert_eq!(store.deliveries_claim_held(10, LEASE).await.expect("claims").len(), 1);
    }
}

#[tokio::test]
async fn a_text_is_found_by_the_number_and_the_code_that_it_asked_to_reply_with() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let made = text(person());
        add(&store, &made).await;
        let code = AckCode::of(made.id);
        let found = store.delivery_of_code(PHONE, &code).await.expect("a read").map(|it| it.id);
        assert_eq!(found, Some(made.id));
        assert_eq!(store.delivery_of_code("+491701234568", &code).await.expect("a read"), None);
    }
}

#[tokio::test]
async fn what_the_provider_reports_later_is_noted_and_settled_deliveries_are_forgotten_in_the_end() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let (arrived, lost, waiting) = (text(person()), text(person()), text(person()));
        for made in [&arrived, &lost, &waiting] {
            add(&store, made).await;
        }
        let at = Timestamp(START.0 + 5);
        commit(&store, |change| {
            for made in [&arrived, &lost] {
                change.delivery_sent(made.id, made.target.clone(), None, START);
            }
            change.delivery_arrived(arrived.id, at);
            change.delivery_lost(lost.id, "30003: unreachable", at);
            change.delivery_lost(arrived.id, "too late", at);
            change.delivery_lost(waiting.id, "not yet sent", at);
        })
        .await;
        let reported = read(&store, arrived.id).await;
        assert_eq!((reported.state, reported.delivered_at), (DeliveryState::Sent, Some(at)));
        let reported = read(&store, lost.id).await;
        assert_eq!((reported.state, reported.error.as_deref()), (DeliveryState::Failed, Some("30003: unreachable")));
        purge(&store, Purge::deliveries(at)).await;
        assert_eq!(store.delivery(arrived.id).await.expect("a read"), None);
        assert_eq!(read(&store, waiting.id).await.state, DeliveryState::Queued);
    }
}
