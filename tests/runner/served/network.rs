//! The way between a runner and its server is cut and held up while a step writes: no line is lost or comes twice.
//!
//! `TROUPE_PIPELINE_HOLD_SECONDS` says for how long each time (past 15 s the reports of steps are given up and come again), and `TROUPE_PIPELINE_LINES` how many lines the step writes.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::{Machine, Works, lines::numbered, number};
use crate::{harness::Proxy, runner::registered};

/// How often the step pauses between its lines.
const PAUSES: u64 = 100;
/// Seconds for which the way is open between its troubles.
const OPEN_SECONDS: u64 = 1;
/// What becomes of the way, one after the other.
const TROUBLES: [fn(&Proxy); 3] = [Proxy::hold_up, Proxy::cut, Proxy::hold_up];

/// A workflow whose step writes so many numbered lines, over some seconds.
fn writing(lines: u64, seconds: u64) -> String {
    let (each, pause_ms) = (lines.div_ceil(PAUSES), seconds * 1_000 / PAUSES);
    format!(
        "on: push\njobs:\n  a:\n    runs-on: linux\n    steps:\n      - run: |\n          for part in $(seq 0 {}); do\n            \
         seq -f 'line %.0f' $((part * {each} + 1)) $(((part + 1) * {each}))\n            sleep {}.{:03}\n          done\n",
        PAUSES - 1,
        pause_ms / 1_000,
        pause_ms % 1_000
    )
}

/// A machine that reaches the server by this way.
async fn machine(works: &Works, way: &Proxy) -> Machine {
    let path = format!("{}/pipelines/runners/token", works.stage.org);
    let token = works.stage.client.post(&path).json(&json!({})).send().await.expect(201);
    let mut machine =
        Machine { home: registered(way.url(), token.str("/token"), ""), arguments: Vec::new(), runner: None };
    machine.start();
    machine
}

#[tokio::test(flavor = "multi_thread")]
async fn every_line_comes_once_and_in_order_over_a_way_that_is_cut_and_held_up() {
    let lines = number("TROUPE_PIPELINE_LINES", 2_000);
    let hold = number("TROUPE_PIPELINE_HOLD_SECONDS", 3);
    let works = Works::new().await;
    let repository = works.repository("web").await;
    let way = Proxy::start(works.stage.client.base()).await;
    let _machine = machine(&works, &way).await;
    let seconds = TROUBLES.len() as u64 * (hold + OPEN_SECONDS);
    let run = repository.start(&writing(lines, seconds)).await;
    let job = repository.job_id(&run, "a").await;
    repository.running(&run, &job, 0).await;
    let mut came = Vec::new();
    for trouble in TROUBLES {
        trouble(&way);
        sleep(Duration::from_secs(hold)).await;
        way.mend();
        sleep(Duration::from_secs(OPEN_SECONDS)).await;
        came.push(numbered(&repository, &run, &job).await);
    }
    let detail = repository.ended(&run).await;
    assert_eq!(detail["run"]["conclusion"], "success", "{detail}");
    let wanted = lines.div_ceil(PAUSES) * PAUSES;
    assert_eq!(numbered(&repository, &run, &job).await, wanted);
    eprintln!("{wanted} lines came once and in order; after each trouble there were {came:?}");
}
