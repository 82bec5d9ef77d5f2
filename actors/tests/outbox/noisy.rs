//! One organization's flood, and another one's alarm.

use domain::{
    id::{DeliveryId, OrgId, UserId},
    notify::{Channel, Target},
};
use serde_json::json;
use store::{Change, NewDelivery, OutboxEntry, accounts::Person, outbox::EVENT};

use crate::{
    node::{Node, START, smtp, soon},
    smtp_server::{Script, SmtpServer},
};

const EVENTS: usize = 20_000;
const DELIVERIES: usize = 5_000;
/// Rows that one commit of the flood makes.
const COMMIT_LEN: usize = 1_000;
/// Events of the flood that may be decided on before the alarm is on its way: a few batches.
const EVENTS_BEFORE_MAX: u64 = 2_000;
/// E-mails of the flood that may go out before the alarm does: what goes out while those events are decided on.
const EMAILS_BEFORE_MAX: usize = 1_000;

async fn person(node: &Node, email: &str) -> UserId {
    let id = UserId::new(START);
    let person = Person {
        id,
        email: email.parse().expect("an address"),
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
    };
    let mut change = Change::new();
    change.person_add(&person);
    node.services.store.commit(change).await.expect("a commit");
    id
}

fn alarm(org_id: OrgId, user_id: UserId) -> OutboxEntry {
    let event = json!({
        "type": "ops.alarm", "title": "The disk is full", "resource": { "type": "disk", "id": "1" }, "at": START,
        "orgId": org_id, "userIds": [user_id],
    });
    OutboxEntry::Event { event }
}

fn email(user_id: UserId) -> NewDelivery {
    NewDelivery {
        id: DeliveryId::new(START),
        user_id,
        notice_id: None,
        escalation_id: None,
        channel: Channel::Email,
        target: Target::Email("loud@example.org".into()),
        hold_until: None,
        urgent: false,
        title: "Loud".into(),
        body: None,
        url: None,
        created_at: START,
    }
}

async fn in_commits(node: &Node, count: usize, add: impl Fn(&mut Change)) {
    for _ in 0..count / COMMIT_LEN {
        let mut change = Change::new();
        (0..COMMIT_LEN).for_each(|_| add(&mut change));
        node.services.store.commit(change).await.expect("a commit");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_organization_that_floods_a_node_delays_another_ones_alarm_by_a_few_turns_only() {
    let server = SmtpServer::start(Script::default()).await;
    let node = Node::with_mailer(smtp(server.port())).await;
    let (loud_org, quiet_org) = (OrgId::new(START), OrgId::new(START));
    let (loud, quiet) = (person(&node, "loud@example.org").await, person(&node, "quiet@example.org").await);
    in_commits(&node, EVENTS, |change| change.outbox_add(START, &alarm(loud_org, loud))).await;
    in_commits(&node, DELIVERIES, |change| change.delivery_add_for(loud_org, email(loud))).await;
    node.commit(&[alarm(quiet_org, quiet)]).await;

    let running = node.dispatcher().start();
    let is_quiet = |message: &crate::smtp_server::Received| message.to[0].contains("quiet");
    soon(async {
        while !server.received().iter().any(is_quiet) {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    })
    .await;
    let left = node.services.store.outbox_by_state().await.expect("counts");
    drop(running);
    let before = server.received().iter().position(is_quiet).expect("it arrived");
    let left: u64 = left.iter().filter(|count| count.topic == EVENT).map(|count| count.entries).sum();
    assert!(left + EVENTS_BEFORE_MAX >= EVENTS as u64, "{left} events left");
    assert!(before <= EMAILS_BEFORE_MAX, "after {before} e-mails");
}
