//! Jobs of the work queue: steps, crashes, cancelling, giving up.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use actors::work::{
    Dispatcher,
    job::{self, Halt, Handler, Job, Topic},
};
use domain::{Tenant, backoff::TRIES_MAX};
use store::{Change, KeptMessage, NewWork, Permits, Turns, Work};
use tokio::sync::Notify;

use crate::node::{Node, START, soon};

const COUNT: Topic = Topic::new("count");
const HOUR: Duration = Duration::from_hours(1);

/// Counts to the payload, a step each, and keeps a message of each step.
#[derive(Default)]
struct Count {
    /// The step at which the process dies: nothing after it is done or settled.
    hangs_at: Option<u32>,
    /// What each run fails with.
    failure: Option<fn() -> Halt>,
    reached: Arc<Notify>,
    runs: Arc<AtomicU32>,
}

fn message(body: String) -> Change {
    let mut change = Change::new();
    change.kept_add(KeptMessage {
        gateway: "test".into(),
        channel: "test".into(),
        recipient: "ada".into(),
        subject: None,
        body,
        created_at: START,
    });
    change
}

impl Handler for Count {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        if let Some(failure) = self.failure {
            return Err(failure());
        }
        let last: u32 = job.payload()?;
        let done: u32 = job.progress()?.unwrap_or_default();
        for step in done + 1..=last {
            if self.hangs_at == Some(step) {
                self.reached.notify_one();
                std::future::pending::<()>().await;
            }
            job.step(message(step.to_string()), &step).await?;
        }
        Ok(message("end".to_owned()))
    }

    async fn cancelled(&self, _: &Job) -> Result<Change, Halt> {
        Ok(message("cancelled".to_owned()))
    }
}

async fn add(node: &Node, to: u32) {
    let mut change = Change::new();
    change.work_add(START, NewWork::new(COUNT.name, Tenant::System, &to).with_key("one"));
    node.services.store.commit(change).await.expect("a commit");
}

fn dispatcher(node: &Node, handler: Count) -> Dispatcher {
    let store = node.services.store.clone();
    Dispatcher::new(store.clone(), vec![job::lane(store, COUNT, handler)])
}

async fn kept(node: &Node) -> Vec<String> {
    let kept = node.services.store.kept_list(None, 100).await.expect("a read");
    let mut bodies: Vec<_> = kept.into_iter().map(|kept| kept.body).collect();
    bodies.sort();
    bodies
}

async fn entry(node: &Node) -> Option<Work> {
    node.services.store.work_of_key(COUNT.name, "one").await.expect("a read")
}

/// A process that dies over the third of four steps.
async fn died_at_three(node: &Node) {
    add(node, 4).await;
    let reached = Arc::new(Notify::new());
    let dying = Count { hangs_at: Some(3), reached: Arc::clone(&reached), ..Count::default() };
    let dispatcher = dispatcher(node, dying);
    tokio::select! {
        done = dispatcher.work_due() => panic!("it ended: {done:?}"),
        () = soon(reached.notified()) => {}
    }
}

#[tokio::test]
async fn a_job_goes_on_behind_its_last_step_after_a_crash() {
    let node = Node::new().await;
    died_at_three(&node).await;
    assert_eq!(kept(&node).await, ["1", "2"]);
    let node = node.restarted().await;
    let alive = dispatcher(&node, Count::default());
    alive.work_due().await.expect("works");
    assert_eq!(kept(&node).await, ["1", "2"], "the lease of the dead process holds still");
    node.clock.advance(COUNT.lease);
    alive.work_due().await.expect("works");
    assert_eq!(kept(&node).await, ["1", "2", "3", "4", "end"], "each step once");
    assert_eq!(entry(&node).await, None);
}

#[tokio::test]
async fn a_node_that_lost_its_lease_changes_nothing_more() {
    let node = Node::new().await;
    died_at_three(&node).await;
    node.clock.advance(COUNT.lease);
    let taken = node.services.store.work_claim(COUNT.name, &Turns::new(Permits::shared(1)), HOUR).await;
    let taken = taken.expect("claims").taken().remove(0);
    assert_eq!((taken.fence, taken.progress.as_deref()), (2, Some("2")));
    let mut late = Change::new();
    late.append(message("late".to_owned()));
    late.work_step(&Work { fence: 1, ..taken }, "3", START);
    node.services.store.commit(late).await.expect_err("stale");
    assert_eq!(kept(&node).await, ["1", "2"]);
}

#[tokio::test]
async fn a_job_that_is_cancelled_stops_at_its_next_step_and_cleans_up() {
    let node = Node::new().await;
    died_at_three(&node).await;
    let mut change = Change::new();
    change.work_cancel(COUNT.name, "one");
    node.services.store.commit(change).await.expect("a commit");
    node.clock.advance(COUNT.lease);
    dispatcher(&node, Count::default()).work_due().await.expect("works");
    assert_eq!(kept(&node).await, ["1", "2", "cancelled"]);
    assert_eq!(entry(&node).await, None);
}

#[tokio::test]
async fn a_job_that_fails_is_put_off_longer_each_time_and_becomes_a_dead_letter() {
    let node = Node::new().await;
    add(&node, 1).await;
    let runs = Arc::new(AtomicU32::new(0));
    let failing =
        Count { failure: Some(|| Halt::Later("no route".into())), runs: Arc::clone(&runs), ..Count::default() };
    let failing = dispatcher(&node, failing);
    for tries in 1..=TRIES_MAX {
        failing.work_due().await.expect("works");
        assert_eq!(runs.load(Ordering::SeqCst), tries);
        node.clock.advance(2 * HOUR);
    }
    failing.work_due().await.expect("works");
    assert_eq!(runs.load(Ordering::SeqCst), TRIES_MAX, "given up");
    let [dead] = &node.services.store.work_dead(10).await.expect("a read")[..] else { panic!("one dead letter") };
    assert_eq!(dead.last_error.as_deref(), Some("no route"));

    let mut change = Change::new();
    change.work_repeat(dead.seq);
    node.services.store.commit(change).await.expect("a commit");
    dispatcher(&node, Count::default()).work_due().await.expect("works");
    assert_eq!(kept(&node).await, ["1", "end"]);
}

#[tokio::test]
async fn a_job_that_can_never_go_well_is_given_up_at_once() {
    let node = Node::new().await;
    add(&node, 1).await;
    let refusing = Count { failure: Some(|| Halt::Refused("no such organization".into())), ..Count::default() };
    dispatcher(&node, refusing).work_due().await.expect("works");
    assert_eq!(node.services.store.work_dead_len().await.expect("a count"), 1);
}

#[tokio::test]
async fn a_job_that_kills_every_process_is_given_up_in_the_end() {
    let node = Node::new().await;
    add(&node, 1).await;
    for _ in 0..TRIES_MAX {
        // Claimed by a process that dies before it comes to a step.
        let claimed = node.services.store.work_claim(COUNT.name, &Turns::new(Permits::shared(1)), COUNT.lease).await;
        assert_eq!(claimed.expect("claims").taken().len(), 1);
        node.clock.advance(COUNT.lease);
    }
    dispatcher(&node, Count::default()).work_due().await.expect("works");
    assert_eq!(node.services.store.work_dead_len().await.expect("a count"), 1);
    assert!(kept(&node).await.is_empty());
}

#[tokio::test]
async fn a_node_that_stops_gives_its_jobs_back_at_their_next_step() {
    let node = Node::new().await;
    add(&node, 1_000_000).await;
    let running = dispatcher(&node, Count::default()).start();
    soon(async {
        while entry(&node).await.is_none_or(|work| work.progress.is_none()) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    running.stop(Duration::from_secs(60)).await;
    let given_back = entry(&node).await.expect("it is there");
    assert_eq!((given_back.wake_at, given_back.attempts), (Some(domain::Timestamp(0)), 0));
    assert!(given_back.progress.is_some());
}
