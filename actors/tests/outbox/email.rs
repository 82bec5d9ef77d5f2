use std::time::Duration;

use actors::outbox::{REVOKED_CHANNEL, TRIES_MAX};
use domain::{Email, Timestamp, id::UserId};
use gateways::Signal;
use serde_json::json;
use store::{Change, EmailTo, OutboxEntry, Permits, RevocationKind, Turns, accounts::Person, outbox};

use crate::{
    node::{Node, START, address, smtp, soon},
    smtp_server::{Script, SmtpServer},
};

/// The longest pause between two tries.
const HOUR: Duration = Duration::from_hours(1);

async fn node_with(server: &SmtpServer) -> Node {
    Node::with_mailer(smtp(server.port())).await
}

async fn deliver(node: &Node) {
    node.dispatcher().work_due().await.expect("delivered");
}

fn person(email: &str) -> Person {
    Person {
        id: UserId::new(START),
        email: email.parse::<Email>().expect("an address"),
        name: "Ada".into(),
        password_hash: String::new(),
        password_change_due: false,
        locale: None,
        time_zone: None,
        phone: None,
        otp_secret: None,
        otp_pending: None,
        otp_last_step: 0,
        version: 1,
        created_at: START,
        updated_at: START,
    }
}

#[tokio::test]
async fn an_email_goes_out_once_after_its_commit() {
    let server = SmtpServer::start(Script::default()).await;
    let node = node_with(&server).await;
    node.commit_email(address()).await;
    deliver(&node).await;
    deliver(&node).await;
    let [received] = &server.received()[..] else { panic!("one e-mail") };
    assert_eq!(received.header("Subject"), Some("Hello"));
    assert_eq!(received.body().trim_end(), "Hello Ada.");
    assert_eq!(node.next(outbox::EMAIL).await, None);
}

#[tokio::test]
async fn a_person_is_written_to_at_the_address_that_they_have_then() {
    let server = SmtpServer::start(Script::default()).await;
    let node = node_with(&server).await;
    let ada = person("ada@example.org");
    let mut change = Change::new();
    change.person_add(&ada);
    node.services.store.commit(change).await.expect("added");
    node.commit_email(EmailTo::Person(ada.id)).await;
    deliver(&node).await;
    assert_eq!(server.received()[0].to, ["RCPT TO:<ada@example.org>"]);
}

#[tokio::test]
async fn nobody_writes_to_a_person_who_is_gone() {
    let server = SmtpServer::start(Script::default()).await;
    let node = node_with(&server).await;
    node.commit_email(EmailTo::Person(UserId::new(START))).await;
    deliver(&node).await;
    assert!(server.received().is_empty());
    assert_eq!(node.next(outbox::EMAIL).await, None);
}

#[tokio::test]
async fn without_a_mail_server_an_email_is_kept() {
    let node = Node::new().await;
    node.commit_email(address()).await;
    deliver(&node).await;
    let kept = node.services.store.kept_list(Some("ada@example.org"), 10).await.expect("a read");
    let [message] = &kept[..] else { panic!("one message") };
    assert_eq!((message.channel.as_str(), message.subject.as_deref()), ("email", Some("Hello")));
    assert_eq!(message.body, "Hello Ada.");
    assert_eq!(node.next(outbox::EMAIL).await, None);
}

#[tokio::test]
async fn an_email_refused_for_now_waits_longer_each_time_and_goes_out_in_the_end() {
    let server = SmtpServer::start(Script { recipient: "451 4.3.0 Later", ..Script::default() }).await;
    let node = node_with(&server).await;
    node.commit_email(address()).await;
    let mut pauses = Vec::new();
    for _ in 1..TRIES_MAX {
        deliver(&node).await;
        let tried_at = node.clock.now();
        let next = node.next(outbox::EMAIL).await.expect("another try");
        pauses.push(next.since(tried_at));
        node.clock.set(next.before(Duration::from_millis(1)));
        deliver(&node).await;
        assert_eq!(node.next(outbox::EMAIL).await, Some(next), "not a millisecond early");
        node.clock.set(next);
    }
    assert!(pauses.is_sorted() && pauses[0] >= Duration::from_secs(5) && pauses[6] <= HOUR, "{pauses:?}");
    server.follow(Script::default());
    deliver(&node).await;
    assert_eq!(server.received().len(), 1);
    assert_eq!(node.next(outbox::EMAIL).await, None);
}

#[tokio::test]
async fn an_email_is_tried_eight_times_and_then_given_up() {
    let server = SmtpServer::start(Script { message: "451 4.3.0 Later", ..Script::default() }).await;
    let node = node_with(&server).await;
    node.commit_email(address()).await;
    for _ in 0..TRIES_MAX + 4 {
        deliver(&node).await;
        node.clock.advance(HOUR);
    }
    assert_eq!(server.received().len(), TRIES_MAX as usize);
    assert_eq!(node.services.store.work_dead_len().await.expect("a read"), 1);
    assert_eq!(node.next(outbox::EMAIL).await, Some(Timestamp(i64::MAX)));
}

#[tokio::test]
async fn an_email_refused_for_good_is_given_up_at_once() {
    let server = SmtpServer::start(Script { recipient: "550 5.1.1 No such user", ..Script::default() }).await;
    let node = node_with(&server).await;
    node.commit_email(address()).await;
    node.commit_email(EmailTo::Address("no address".into())).await;
    deliver(&node).await;
    assert_eq!(node.services.store.work_dead_len().await.expect("a read"), 2);
}

#[tokio::test]
async fn an_email_whose_process_died_is_taken_over_when_its_lease_ends() {
    let server = SmtpServer::start(Script::default()).await;
    let node = node_with(&server).await;
    node.commit_email(address()).await;
    let lease = Duration::from_mins(1);
    node.services
        .store
        .outbox_claim(outbox::EMAIL, &Turns::new(Permits::shared(1)), lease)
        .await
        .expect("claimed, and dead");
    let node = node.restarted().await;
    node.clock.set(START.after(lease).before(Duration::from_millis(1)));
    deliver(&node).await;
    assert!(server.received().is_empty());
    node.clock.advance(Duration::from_millis(1));
    deliver(&node).await;
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn many_emails_go_out_a_few_at_a_time() {
    let server = SmtpServer::start(Script::default()).await;
    let node = node_with(&server).await;
    for _ in 0..50 {
        node.commit_email(address()).await;
    }
    let running = node.dispatcher().start();
    soon(async {
        while server.received().len() < 50 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    running.stop(Duration::from_secs(60)).await;
    assert!(server.at_once_max() <= 8, "{}", server.at_once_max());
    assert_eq!((server.received().len(), node.next(outbox::EMAIL).await), (50, None));
}

#[tokio::test]
async fn a_mail_server_that_hangs_holds_up_nothing_else() {
    let server = SmtpServer::start(Script { silent_at: Some("DATA"), ..Script::default() }).await;
    let node = node_with(&server).await;
    let mut revoked = node.services.hub.subscribe(REVOKED_CHANNEL).await;
    for _ in 0..20 {
        node.commit_email(address()).await;
    }
    let _running = node.dispatcher().start();
    soon(async {
        while server.at_once_max() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    let (kind, target_id) = (RevocationKind::SignIn, "sgn_1".to_owned());
    node.commit(&[OutboxEntry::Revoked { kind, target_id }]).await;
    assert_eq!(soon(revoked.next()).await, Signal::Message("sgn_1".into()));
}

#[tokio::test]
async fn a_stop_delivers_what_was_committed_before_it() {
    let server = SmtpServer::start(Script::default()).await;
    let node = node_with(&server).await;
    let running = node.dispatcher().start();
    node.commit_email(address()).await;
    let event = json!({
        "type": "ops.alarm", "title": "The disk is full", "resource": { "type": "disk", "id": "1" }, "at": 0
    });
    node.commit(&[OutboxEntry::Event { event }]).await;
    running.stop(Duration::from_secs(60)).await;
    assert_eq!(server.received().len(), 1);
    assert_eq!((node.next(outbox::EMAIL).await, node.next(outbox::EVENT).await), (None, None));
}
