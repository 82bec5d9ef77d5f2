//! The database goes away while runners ask for jobs and report on those that they do: each is told to come back, no job is handed
//! over twice, and all go on.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use store::testing::{DATABASE_URL_VARIABLE, Scratch};

use crate::{
    harness::{Answer, Launch, Proxy},
    pipelines::outside::{Outside, until},
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
/// How long the database is away at least.
const AWAY: Duration = Duration::from_secs(3);
/// How long a runner waits before it asks again.
const PAUSE: Duration = Duration::from_millis(100);

/// Whether somebody was told to come back.
fn is_turned_away(answer: &Answer) -> bool {
    let is_away = answer.status == 503;
    assert!(!is_away || answer.header("retry-after").is_some(), "{}", answer.text);
    is_away
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

    goes_away(&proxy);
    let gone = Instant::now();
    let lines = json!({ "lines": [{ "t": 7, "m": "one" }] });
    let mut refusals = 0;
    while gone.elapsed() < AWAY || refusals < 6 {
        // Whoever asked when it went may still have been answered.
        let (poll, status, logs) = tokio::join!(idle.asking(0).send(), held.status(), held.say("logs", &lines));
        for answer in [&poll, &status, &logs] {
            refusals += usize::from(is_turned_away(answer));
            assert!([200, 503].contains(&answer.status), "{} {}", answer.status, answer.text);
        }
        assert_ne!(poll.status, 200, "nobody can hand over a job: {}", poll.text);
        tokio::time::sleep(PAUSE).await;
    }
    // Somebody who asks for long hears of the job once there is a database again.
    let parked = until("a job", async || idle.asking(20).send().await, |answer| answer.status == 200);
    let mending = async {
        tokio::time::sleep(PAUSE).await;
        proxy.mend();
    };
    let (answer, ()) = tokio::join!(parked, mending);

    let other = idle.held(&answer);
    assert_ne!(other.id, held.id);
    other.plan().await.expect(200);
    until("a report", async || held.status().await, |answer| !is_turned_away(answer)).await.expect(200);
    let sent = until("a line", async || held.say("logs", &lines).await, |answer| !is_turned_away(answer)).await;
    sent.expect(200);
    held.complete("success").await;
    other.complete("success").await;
    let is_over = |run: &Value| run["status"] == "completed";
    assert_eq!(works.run("the end of the run", is_over).await["conclusion"], "success");
}

#[tokio::test(flavor = "multi_thread")]
async fn runners_wait_for_a_database_that_is_away() {
    outage(Proxy::cut).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runners_wait_for_a_database_that_hangs() {
    outage(Proxy::hold_up).await;
}
