//! No line of a log is lost or comes twice, whoever dies meanwhile.
//!
//! `TROUPE_PIPELINE_LINES` says how many lines a step writes, `TROUPE_PIPELINE_KILL_MS` how long the server lives, and
//! `TROUPE_PIPELINE_WRITES_SECONDS` for how long the step writes.

use std::time::Duration;

use serde_json::json;
use store::testing::{DATABASE_URL_VARIABLE, Scratch};
use tokio::time::{Instant, sleep};

use super::{Machine, Repository, Works, number, until, worker_of};
use crate::harness::Proxy;

/// How often a step pauses between its lines.
const PAUSES: u64 = 200;
/// How long the database is away.
const AWAY: Duration = Duration::from_millis(1_500);
/// How long a runner may be silent until its job is taken for lost.
const LEASE: Duration = Duration::from_mins(1);

/// A workflow whose step writes so many numbered lines, over some seconds.
fn writing(lines: u64, seconds: f64) -> String {
    let (each, pause) = (lines.div_ceil(PAUSES), seconds / 200.0);
    format!(
        "on: push\njobs:\n  a:\n    runs-on: linux\n    steps:\n      - run: |\n          for part in $(seq 0 {}); do\n            \
         seq -f 'line %.0f' $((part * {each} + 1)) $(((part + 1) * {each}))\n            sleep {pause}\n          done\n",
        PAUSES - 1
    )
}

/// The lines that the step wrote, which have to be the first ones, each once and in order.
async fn numbered(repository: &Repository, run: &str, job: &str) -> u64 {
    let lines = repository.lines(run, job).await;
    let mut count = 0;
    for line in lines.iter().filter(|line| line.starts_with("line ")) {
        count += 1;
        assert_eq!(*line, format!("line {count}"));
    }
    count
}

/// Waits until the server has some of the lines.
async fn some(repository: &Repository, run: &str, job: &str) {
    let some = async || (numbered(repository, run, job).await > 0).then_some(());
    until("lines", some).await;
}

/// The way to the database, which is PostgreSQL's where the tests have one.
struct Database {
    scratch: Scratch,
    proxy: Option<Proxy>,
}

impl Database {
    async fn new() -> Self {
        let Ok(url) = std::env::var(DATABASE_URL_VARIABLE) else {
            return Self { scratch: Scratch::new().await.unwrap(), proxy: None };
        };
        let scratch = Scratch::postgres(&url).await.unwrap();
        let proxy = Proxy::start(scratch.url()).await;
        Self { scratch, proxy: Some(proxy) }
    }
}

/// Takes the database away for a while: the way to it is cut, or no commit reaches it.
async fn away(works: &Works, proxy: Option<&Proxy>) {
    if let Some(proxy) = proxy {
        proxy.cut();
        sleep(AWAY).await;
        proxy.mend();
    } else {
        works.stage.rule("commit=away").await;
        sleep(AWAY).await;
        works.stage.rule("").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_line_comes_once_and_in_order_whoever_dies() {
    let lines = number("TROUPE_PIPELINE_LINES", 4_000);
    let life = Duration::from_millis(number("TROUPE_PIPELINE_KILL_MS", 1_000));
    let seconds = number("TROUPE_PIPELINE_WRITES_SECONDS", 6);
    let Database { scratch, proxy } = Database::new().await;
    let settings: Vec<String> = proxy.iter().map(|proxy| format!("database.url={}", proxy.url())).collect();
    let mut works = Works::on(scratch, &settings).await;
    let repository = works.repository("web").await;
    let _machine = works.machine("", &[]).await;
    #[expect(clippy::cast_precision_loss, reason = "it is a few minutes")]
    let run = repository.start(&writing(lines, seconds as f64)).await;
    let job = repository.job_id(&run, "a").await;
    repository.running(&run, &job, 0).await;
    let (began, mut kills) = (Instant::now(), 0);
    while began.elapsed() < Duration::from_secs(seconds) {
        sleep(life).await;
        if kills % 4 == 1 {
            away(&works, proxy.as_ref()).await;
        }
        works.stage.kill();
        kills += 1;
    }
    let detail = repository.ended(&run).await;
    assert_eq!(detail["run"]["conclusion"], "success", "{detail}");
    let wanted = lines.div_ceil(PAUSES) * PAUSES;
    assert_eq!(numbered(&repository, &run, &job).await, wanted);
    assert!(kills >= 2, "{kills}");
    eprintln!("{wanted} lines came once and in order, over {kills} kills of the server");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_read_of_a_runner_that_dies_comes_in_order() {
    let works = Works::new().await;
    let repository = works.repository("web").await;
    let mut machine = works.machine("", &[]).await;
    // The worker is killed, and its supervisor reads what is left in the pipe.
    let (run, job) = written(&repository, 60.0).await;
    let worker = until("a worker", async || worker_of(&job)).await;
    assert!(std::process::Command::new("kill").args(["-KILL", &worker]).status().unwrap().success());
    let detail = repository.ended(&run).await;
    assert_eq!(detail["run"]["conclusion"], "failure");
    let told = repository.job(&run, &job).await;
    assert_eq!(told["error"], "The job's worker ended before the job did.");
    let came = numbered(&repository, &run, &job).await;
    assert!(came > 0);
    // The runner is killed, and started again.
    // Another file than before: what changes nothing starts nothing.
    let (run, job) = written(&repository, 61.0).await;
    machine.kill();
    machine.start();
    let detail = repository.ended(&run).await;
    assert_eq!(detail["run"]["conclusion"], "failure");
    assert_eq!(repository.job(&run, &job).await["error"], "The runner ended before the job did.");
    assert!(numbered(&repository, &run, &job).await > 0);
}

/// A run under way, some of whose lines came.
async fn written(repository: &Repository, seconds: f64) -> (String, String) {
    let run = repository.start(&writing(100_000, seconds)).await;
    let job = repository.job_id(&run, "a").await;
    some(repository, &run, &job).await;
    (run, job)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runner_that_is_lost_is_known_within_a_minute_and_its_lines_are_there() {
    let mut works = Works::new().await;
    let repository = works.repository("web").await;
    let mut machine: Machine = works.machine("", &[]).await;
    let (run, job) = written(&repository, 60.0).await;
    machine.kill();
    let came = numbered(&repository, &run, &job).await;
    assert!(came > 0, "what came can be read at once");
    let silent = repository.detail(&run).await;
    assert_eq!(silent["run"]["status"], "in_progress");
    works.stage.jump(LEASE, "").await;
    let began = Instant::now();
    let detail = repository.ended(&run).await;
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(detail["jobs"][0]["conclusion"], "failure");
    let told = repository.job(&run, &job).await;
    assert!(told["error"].as_str().unwrap().contains("box"), "{told}");
    assert_eq!(told["annotations"][0]["level"], json!("error"));
    assert!(numbered(&repository, &run, &job).await >= came);
}
