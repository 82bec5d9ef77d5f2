use std::{
    num::NonZeroUsize,
    time::{Duration, Instant},
};

use actors::{Actors, Settings, housekeeping::HOUSEKEEPING};
use domain::{
    Context, Origin, Tenant, Timestamp,
    id::{OrgId, UserId},
};
use kernel::KernelOptions;
use serde_json::json;
use store::{
    AuditEntry, AuditQuery, AuditTarget, Change, FeedPosition, KeptMessage, NewWork, RevocationKind, Turns, Work,
};

use crate::node::{Node, START, soon};

const HOUR: Duration = Duration::from_hours(1);
const MONTH: Duration = Duration::from_hours(30 * 24);

fn start(node: &Node) -> Actors {
    let options = KernelOptions { arbiters: NonZeroUsize::MIN, ..KernelOptions::new("test") };
    Actors::start(&node.services, options).expect("actors")
}

/// Returns once the timer is set to `after` the start, and the job that it added before is done.
async fn armed(node: &Node, after: Duration) {
    soon(async {
        let due = Some(START.after(after));
        while node.services.store.timers_next().await.expect("a read") != due || job(node).await.is_some() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

/// The job, as long as it is there.
async fn job(node: &Node) -> Option<Work> {
    node.services.store.work_of_key(HOUSEKEEPING.name, "house").await.expect("a read")
}

fn message(created_at: Timestamp) -> KeptMessage {
    KeptMessage {
        gateway: "console".into(),
        channel: "email".into(),
        recipient: "ada@example.org".into(),
        subject: None,
        body: String::new(),
        created_at,
    }
}

async fn keep(node: &Node) {
    let mut change = Change::new();
    let created_at = node.clock.now();
    change.kept_add(message(created_at));
    change.revocation_add(created_at, RevocationKind::Key, "key_1");
    node.services.store.commit(change).await.expect("a commit");
}

async fn kept(node: &Node) -> (usize, usize) {
    let store = &node.services.store;
    let messages = store.kept_list(None, 10).await.expect("a read").len();
    (messages, store.revocations_from(FeedPosition::FIRST).await.expect("a read").revocations.len())
}

#[tokio::test]
async fn what_is_over_is_thrown_away_every_hour_and_nothing_before_its_time() {
    let node = Node::new().await;
    let ada = UserId::new(START);
    let actors = start(&node);
    armed(&node, HOUR).await;
    node.commit_live(ada, json!({"type": "early"})).await;
    keep(&node).await;
    soon(async {
        while node.services.store.live_seq(ada).await.expect("a read") == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;

    node.clock.advance(HOUR);
    armed(&node, 2 * HOUR).await;
    assert_eq!(node.services.store.live_after(ada, 0, 10).await.expect("a read").len(), 1, "an hour old, to the ms");
    node.clock.advance(HOUR);
    armed(&node, 3 * HOUR).await;
    assert!(node.services.store.live_after(ada, 0, 10).await.expect("a read").is_empty());
    assert_eq!(node.services.store.live_seq(ada).await.expect("a read"), 1, "numbers go on");
    assert_eq!(kept(&node).await, (1, 1));

    node.clock.set(START.after(26 * HOUR));
    armed(&node, 27 * HOUR).await;
    assert_eq!(kept(&node).await, (1, 0));
    node.clock.set(START.after(MONTH + HOUR));
    armed(&node, MONTH + 2 * HOUR).await;
    assert_eq!(kept(&node).await, (0, 0));
    actors.shutdown(Duration::from_secs(10)).await;
}

/// Notes that something was done in an organization.
async fn audit(node: &Node, org_id: OrgId) {
    let context = Context::system(Origin::Actor, Instant::now());
    let entry = AuditEntry::new(&context, "org.renamed", AuditTarget::new("organization", org_id)).in_org(org_id);
    let mut change = Change::new();
    change.audit_add(node.clock.now(), entry);
    node.services.store.commit(change).await.expect("a commit");
}

async fn audited(node: &Node, org_id: OrgId) -> usize {
    let query = AuditQuery { org_id, action: None, actor: None, target: None, before: None, limit: 10 };
    node.services.store.audit_list(&query).await.expect("a read").len()
}

#[tokio::test]
async fn the_audit_trail_is_kept_for_as_long_as_is_configured_or_for_ever() {
    const YEAR: Duration = Duration::from_hours(365 * 24);
    for (audit_kept, left) in [(Some(YEAR), 1), (None, 2)] {
        let mut node = Node::new().await;
        node.services.settings = Settings { audit_kept, ..Settings::default() }.into();
        let org_id = OrgId::new(START);
        audit(&node, org_id).await;
        node.clock.advance(HOUR);
        audit(&node, org_id).await;
        node.clock.set(START.after(YEAR + HOUR / 2));
        let actors = start(&node);
        armed(&node, YEAR + HOUR * 3 / 2).await;
        assert_eq!(audited(&node, org_id).await, left);
        actors.shutdown(Duration::from_secs(10)).await;
    }
}

#[tokio::test]
async fn what_is_much_goes_in_steps_of_a_thousand_rows_and_a_failure_keeps_only_its_own_kind() {
    let node = Node::new().await;
    let mut change = Change::new();
    change.revocation_add(START, RevocationKind::Key, "key_1");
    (0..5_500).for_each(|_| change.kept_add(message(START)));
    node.services.store.commit(change).await.expect("a commit");
    node.clock.set(START.after(MONTH + HOUR));
    // The actor commits twice: it sets the timer, and adds the job. The job's first step throws the revocation away, the next
    // three a thousand messages each.
    node.services.store.faults().set("commit:housekeeping=fail;after=6;times=1").expect("rules");
    let actors = start(&node);
    let put_off = soon(async {
        loop {
            match job(&node).await {
                Some(work) if work.last_error.is_some() => break work,
                _ => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        }
    })
    .await;
    let progress = r#"{"steps":4,"rows":{"kept messages":3000,"revocations":1}}"#;
    assert_eq!(put_off.progress.as_deref(), Some(progress));
    assert!(put_off.last_error.is_some_and(|error| error.starts_with("kept messages: ")));
    assert_eq!(kept(&node).await, (10, 0), "at most ten are listed");
    node.clock.advance(Duration::from_mins(1));
    armed(&node, MONTH + 2 * HOUR).await;
    assert_eq!(kept(&node).await, (0, 0));
    actors.shutdown(Duration::from_secs(10)).await;
}

#[tokio::test]
async fn a_job_that_was_given_up_is_tried_again_an_hour_later() {
    let node = Node::new().await;
    keep(&node).await;
    let mut change = Change::new();
    change.work_add(START, NewWork::new(HOUSEKEEPING.name, Tenant::System, &()).with_key("house"));
    node.services.store.commit(change).await.expect("a commit");
    let claimed = node.services.store.work_claim(HOUSEKEEPING.name, &Turns::new(HOUSEKEEPING.permits), HOUR).await;
    let mut change = Change::new();
    change.work_given_up(&claimed.expect("claims").taken()[0], "no room");
    node.services.store.commit(change).await.expect("a commit");
    node.clock.set(START.after(MONTH + HOUR));
    let actors = start(&node);
    armed(&node, MONTH + 2 * HOUR).await;
    assert_eq!(kept(&node).await, (0, 0));
    actors.shutdown(Duration::from_secs(10)).await;
}

#[tokio::test]
async fn a_restart_leaves_the_timer_where_it_is() {
    let node = Node::new().await;
    let actors = start(&node);
    armed(&node, HOUR).await;
    actors.shutdown(Duration::from_secs(10)).await;
    drop(actors);
    let node = node.restarted().await;
    node.clock.advance(HOUR / 2);
    let actors = start(&node);
    armed(&node, HOUR).await;
    node.clock.advance(HOUR / 2);
    armed(&node, 2 * HOUR).await;
    actors.shutdown(Duration::from_secs(10)).await;
}
