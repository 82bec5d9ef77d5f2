//! Pipelines on two nodes: jobs that one queues are done by runners that ask the other, and logs that one writes are watched at the
//! other; with Redis, and while it is away.

use std::{collections::BTreeSet, time::Duration};

use futures::future::join_all;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::timeout;

use super::Pair;
use crate::{
    harness::{Client, Socket, Ticket},
    pipelines::{
        Held, Runner,
        outside::{Outside, until},
    },
};

/// Less than the time after which a socket of a log looks by itself.
const SOON: Duration = Duration::from_secs(4);
/// More than that, and than the time after which a node looks for jobs by itself.
const LATE: Duration = Duration::from_secs(30);
const JOBS: usize = 40;
const RUNNERS: usize = 8;

/// A workflow of so many jobs.
fn workflow(jobs: usize) -> String {
    let numbers: Vec<String> = (0..jobs).map(|number| number.to_string()).collect();
    format!(
        "on: push\njobs:\n  test:\n    strategy:\n      matrix:\n        n: [{}]\n    runs-on: linux\n    steps:\n      \
         - run: make test\n",
        numbers.join(", ")
    )
}

/// A folder of contents for both nodes, and the setting that says so.
fn shared() -> (TempDir, String) {
    let blobs = tempfile::tempdir().unwrap();
    let setting = format!("blobs.path={}", blobs.path().display());
    (blobs, setting)
}

/// The job that a runner is given that asks this node while the other one queues it.
async fn queued_elsewhere(works: &Outside, runner: Runner) -> Held {
    let polling = tokio::spawn(async move { runner.try_take(50).await });
    works.push(&workflow(1)).await;
    let held = timeout(LATE, polling).await.expect("in time").unwrap().expect("a job");
    held.plan().await.expect(200);
    held
}

/// A socket of the job's log at a node.
async fn watch(works: &Outside, held: &Held, node: &Client) -> Socket {
    let run = works.run("a run", |_| true).await;
    let path = works.path(&format!("runs/{}/jobs/{}/log/live", run["runId"].as_str().unwrap(), held.id));
    Ticket::issue_at(&works.at(node).ada, &path).await.at(node).open().await.expect("a socket")
}

/// Sends a line, and wants it to be heard in time.
async fn heard(held: &Held, socket: &mut Socket, number: u64, time: Duration) {
    let line = format!("line {number}");
    held.say("logs", &json!({ "lines": [{ "t": 7, "m": line }] })).await.expect(200);
    let frame = timeout(time, socket.raw_message()).await.expect("a line in time");
    assert_eq!(frame, json!({ "from": number, "lines": [{ "n": number, "t": 7, "m": line }] }));
}

async fn ended(held: &Held, socket: &mut Socket, time: Duration) {
    held.complete("success").await;
    let last = timeout(time, socket.raw_message()).await.expect("the end in time");
    assert_eq!(last, json!({ "complete": true, "conclusion": "success" }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_of_one_node_is_done_by_a_runner_of_the_other_and_its_log_is_watched_there() {
    let (_blobs, shared) = shared();
    let Some(pair) = Pair::start(&[&shared]).await else { return };
    let [left, right] = pair.clients();
    let works = Outside::new(&left).await;
    let held = queued_elsewhere(&works, works.runner("box").await.at(&right)).await;
    let mut socket = watch(&works, &held, &right).await;
    let there = held.at(&left);
    for number in 0..20 {
        heard(&there, &mut socket, number, SOON).await;
    }
    ended(&there, &mut socket, SOON).await;
    for node in [&left, &right] {
        let run = works.at(node).run("the end of the run", |run| run["status"] == "completed").await;
        assert_eq!(run["conclusion"], "success");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_redis_is_away_nodes_look_for_jobs_and_lines_by_themselves() {
    let (_blobs, shared) = shared();
    let Some((pair, redis)) = Pair::with_way_to_redis(&[&shared]).await else { return };
    let [left, right] = pair.clients();
    let works = Outside::new(&left).await;
    let runner = works.runner("box").await.at(&right);
    redis.cut();
    let held = queued_elsewhere(&works, runner).await;
    redis.mend();
    let mut socket = watch(&works, &held, &right).await;
    redis.cut();
    let there = held.at(&left);
    for number in 0..2 {
        heard(&there, &mut socket, number, LATE).await;
    }
    ended(&there, &mut socket, LATE).await;
    redis.mend();
    works.at(&right).run("the end of the run", |run| run["conclusion"] == "success").await;
}

/// Does jobs until there has been none for longer than a node takes to look; their ids. What one node hands over is started and
/// ended at the other.
async fn work(runner: Runner, other: Client) -> Vec<String> {
    let mut ids = Vec::new();
    loop {
        let answer = until("an answer", async || runner.asking(7).send().await, |answer| answer.status != 503).await;
        if answer.status == 204 {
            return ids;
        }
        let held = runner.held(&answer.expect(200)).at(&other);
        until("a plan", async || held.plan().await, |answer| answer.status != 503).await.expect(200);
        let end = json!({ "conclusion": "success" });
        until("an end", async || held.say("complete", &end).await, |answer| answer.status != 503).await.expect(200);
        ids.push(held.id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn claims_on_both_nodes_start_each_job_once() {
    let (_blobs, shared) = shared();
    let Some(pair) = Pair::start(&[&shared]).await else { return };
    let clients = pair.clients();
    let works = Outside::new(&clients[0]).await;
    let mut working = Vec::new();
    for number in 0..RUNNERS {
        let runner = works.runner(&format!("box-{number}")).await.at(&clients[number % 2]);
        working.push(work(runner, clients[(number + 1) % 2].clone()));
    }
    let workflow = workflow(JOBS);
    let (done, ()) = tokio::join!(join_all(working), works.push(&workflow));
    let done = done.concat();
    let distinct: BTreeSet<&String> = done.iter().collect();
    assert_eq!((done.len(), distinct.len()), (JOBS, JOBS));
    let is_over = |run: &Value| run["status"] == "completed";
    assert_eq!(works.run("the end of the run", is_over).await["conclusion"], "success");
}
