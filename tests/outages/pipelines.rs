//! The database goes away while people push, and runners ask for jobs and report on those that they do: each is told to come back, no
//! push starts two runs, no job is handed over twice, and all go on.
//!
//! `TROUPE_OUTAGE_SECONDS` sets how long it is away.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use store::testing::{DATABASE_URL_VARIABLE, Scratch};

use crate::{
    harness::{Answer, Launch, Proxy, Request, number},
    pipelines::{
        Runner,
        outside::{Outside, until},
    },
};

const WORKFLOW: &str = "on: push
jobs:
  test:
    strategy:
      matrix:
        n: [1, 2]
    runs-on: linux
    steps:
      - run: make test
";
/// How long the database is away at least, where nobody says it.
const AWAY_SECONDS: u64 = 3;
/// How long a runner waits before it asks again.
const PAUSE: Duration = Duration::from_millis(100);

/// Whether somebody was told to come back.
fn is_turned_away(answer: &Answer) -> bool {
    let is_away = answer.status == 503;
    assert!(!is_away || answer.header("retry-after").is_some(), "{}", answer.text);
    is_away
}

/// The commit that is pushed while the database is away, on top of what is there.
async fn pushing(works: &Outside) -> impl Fn() -> Request {
    let (repository, client) = (works.path("").replace("/pipelines/", ""), works.ada.clone());
    let branches = client.get(&format!("{repository}/branches")).send().await.expect(200);
    let body = json!({
        "branch": "main", "parentCommitId": branches.str("/branches/0/commit/id"), "message": "More",
        "changes": [{ "op": "put", "path": "more", "content": "bW9yZQ==" }]
    });
    move || client.post(&format!("{repository}/contents")).json(&body)
}

/// Has the runner do whatever is left, until so many runs are over; their conclusions.
async fn done_by(runner: &Runner, works: &Outside, runs: usize) -> Vec<Value> {
    let looked = async || {
        let answer = runner.asking(0).send().await;
        if answer.status == 200 {
            let held = runner.held(&answer);
            until("a plan", async || held.plan().await, |answer| answer.status == 200).await;
            held.complete("success").await;
        }
        works.ada.get(&works.path("runs")).send().await
    };
    let are_over = |answer: &Answer| {
        let all = answer.json["runs"].as_array().filter(|all| answer.status == 200 && all.len() >= runs);
        all.is_some_and(|all| all.iter().all(|run| run["status"] == "completed"))
    };
    let answer = until("the end of the runs", looked, are_over).await;
    answer.list("/runs").iter().map(|run| run["conclusion"].clone()).collect()
}

async fn outage(goes_away: fn(&Proxy)) {
    let Ok(database) = std::env::var(DATABASE_URL_VARIABLE) else {
        return eprintln!("skipped: {DATABASE_URL_VARIABLE} names no PostgreSQL");
    };
    let scratch = Scratch::postgres(&database).await.unwrap();
    let proxy = Proxy::start(scratch.url()).await;
    let url = format!("database.url={}", proxy.url());
    let process = Launch::in_folder(scratch.folder()).set(url).set("server.request_timeout=2s").start();
    let works = Outside::new(&process.client()).await;
    let (busy, idle) = (works.runner("busy").await, works.runner("idle").await);
    works.push(WORKFLOW).await;
    let held = busy.take().await;
    held.plan().await.expect(200);
    held.status().await.expect(200);
    let push = pushing(&works).await;

    goes_away(&proxy);
    let (gone, away) = (Instant::now(), Duration::from_secs(number("TROUPE_OUTAGE_SECONDS", AWAY_SECONDS)));
    let lines = json!({ "lines": [{ "t": 7, "m": "one" }] });
    let mut refusals = 0;
    while gone.elapsed() < away || refusals < 6 {
        // Whoever asked when it went may still have been answered.
        let (poll, status, logs, pushed) =
            tokio::join!(idle.asking(0).send(), held.status(), held.say("logs", &lines), push().send());
        for answer in [&poll, &status, &logs, &pushed] {
            refusals += usize::from(is_turned_away(answer));
            assert!([200, 503].contains(&answer.status), "{} {}", answer.status, answer.text);
        }
        assert_ne!(poll.status, 200, "nobody can hand over a job: {}", poll.text);
        tokio::time::sleep(PAUSE).await;
    }
    // Somebody who asks for long hears of the job once there is a database again, and who has one says so as soon as it can: its lease
    // lasts a minute, of which the outage has taken its part.
    let reported = until("a report", async || held.status().await, |answer| !is_turned_away(answer));
    let parked = until("a job", async || idle.asking(20).send().await, |answer| answer.status == 200);
    let mending = async {
        tokio::time::sleep(PAUSE).await;
        proxy.mend();
    };
    let (answer, report, ()) = tokio::join!(parked, reported, mending);
    report.expect(200);

    let other = idle.held(&answer);
    assert_ne!(other.id, held.id);
    other.plan().await.expect(200);
    let sent = until("a line", async || held.say("logs", &lines).await, |answer| !is_turned_away(answer)).await;
    sent.expect(200);
    held.complete("success").await;
    other.complete("success").await;
    // Of a push that was told to come back nobody knows what became: it lands now, or it landed as the database came back.
    let landed = until("a push", async || push().send().await, |answer| !is_turned_away(answer)).await;
    assert!(landed.status == 201 || landed.json["code"] == "branch_moved", "{}", landed.text);
    assert_eq!(done_by(&idle, &works, 2).await, ["success", "success"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn runners_wait_for_a_database_that_is_away() {
    outage(Proxy::cut).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runners_wait_for_a_database_that_hangs() {
    outage(Proxy::hold_up).await;
}
