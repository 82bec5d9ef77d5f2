//! No line of a log is lost or comes twice, whoever dies meanwhile.
//!
//! The server, the database, the process of a job and the runner are killed in turn. What a killed pipe held is lost, and nothing else.
//! `TROUPE_PIPELINE_LINES` says how many lines each step writes, `TROUPE_PIPELINE_KILL_MS` how long the server lives, and
//! `TROUPE_PIPELINE_WRITES_SECONDS` for how long the step writes.

use std::{
    cell::Cell,
    convert::Infallible,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde_json::json;
use store::testing::{DATABASE_URL_VARIABLE, Scratch};
use tokio::time::{Instant, sleep};

use super::{Machine, Repository, Works, number, until, worker_of};
use crate::harness::Proxy;

/// How often a step pauses between its lines.
const PAUSES: u64 = 200;
/// How long the database is away.
const AWAY: Duration = Duration::from_millis(1_500);
/// Bytes that a runner which is killed may have left unread, or read and not kept yet: the pipe's, and those of one reading.
const PIPE_LEN_MAX: u64 = 2 * 64 * 1024;
/// How long a runner may be silent until its job is taken for lost.
const LEASE: Duration = Duration::from_mins(1);

/// A workflow whose step writes so many numbered lines, over some seconds, and after each part notes in a file how many they are.
fn writing(lines: u64, seconds: f64, noted: &Path) -> String {
    let (each, pause, noted) = (lines.div_ceil(PAUSES), seconds / 200.0, noted.display());
    format!(
        "on: push\njobs:\n  a:\n    runs-on: linux\n    steps:\n      - run: |\n          for part in $(seq 0 {}); do\n            \
         seq -f 'line %.0f' $((part * {each} + 1)) $(((part + 1) * {each}))\n            \
         echo $(((part + 1) * {each})) > {noted}\n            sleep {pause}\n          done\n",
        PAUSES - 1
    )
}

/// The lines that the step wrote, which have to be the first ones, each once and in order.
pub async fn numbered(repository: &Repository, run: &str, job: &str) -> u64 {
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
    match proxy {
        Some(proxy) => proxy.cut(),
        None => works.stage.rule("commit=away").await,
    }
    sleep(AWAY).await;
    restore(works, proxy).await;
}

/// Has the database back.
async fn restore(works: &Works, proxy: Option<&Proxy>) {
    match proxy {
        Some(proxy) => proxy.mend(),
        None => works.stage.rule("").await,
    }
}

/// Kills the server again and again, and takes the database away now and then. Never ends.
async fn disturb(works: &mut Works, proxy: Option<&Proxy>, life: Duration, kills: &Cell<u32>) -> Infallible {
    loop {
        sleep(life).await;
        if kills.get() % 4 == 1 {
            away(works, proxy).await;
        }
        works.stage.kill();
        kills.set(kills.get() + 1);
    }
}

/// What of the runner is killed while a job writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Nobody,
    /// The process that does the job. The runner reads what is left in the pipe.
    Worker,
    /// The runner itself. Started again, it sends what it had kept.
    Runner,
}

/// A job that writes.
struct Writing<'a> {
    repository: &'a Repository,
    run: String,
    job: String,
    noted: PathBuf,
}

impl Writing<'_> {
    /// Lines that the step had written when it last noted it.
    fn written(&self) -> u64 {
        fs::read_to_string(&self.noted).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    /// Lines that the server has.
    async fn came(&self) -> u64 {
        numbered(self.repository, &self.run, &self.job).await
    }

    async fn ended(&self) -> String {
        let detail = self.repository.ended(&self.run).await;
        detail["run"]["conclusion"].as_str().unwrap().to_owned()
    }

    /// Kills whom it is to be, and sees that every line came that whoever lived on had read.
    async fn suffer(&self, victim: Victim, machine: &mut Machine) {
        match victim {
            Victim::Nobody => assert_eq!(self.ended().await, "success"),
            Victim::Worker => {
                let worker = until("a worker", async || worker_of(&self.job)).await;
                let before = self.written();
                assert!(Command::new("kill").args(["-KILL", &worker]).status().unwrap().success());
                assert_eq!(self.ended().await, "failure");
                let told = self.repository.job(&self.run, &self.job).await;
                assert_eq!(told["error"], "The job's worker ended before the job did.");
                let came = self.came().await;
                assert!(came >= self.written() && came >= before, "{came} of {}", self.written());
            }
            Victim::Runner => {
                machine.kill();
                let (kept, written) = (machine.kept(&self.job), self.written());
                let lost = written.saturating_sub(kept) * "line 200000\n".len() as u64;
                assert!(lost <= PIPE_LEN_MAX, "{kept} lines were kept of {written}");
                machine.start();
                until("the lines that were kept", async || (self.came().await == kept).then_some(())).await;
                assert_eq!(self.ended().await, "failure");
                assert_eq!(self.came().await, kept);
            }
        }
    }
}

impl Machine {
    /// Numbered lines that the runner keeps of a job, which is dead.
    fn kept(&self, job: &str) -> u64 {
        let text = fs::read_to_string(self.home.path().join("spools").join(job).join("lines")).unwrap();
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        whole.filter(|line| line.contains("\"line ")).count() as u64
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
    let mut machine = works.machine("", &[]).await;
    let folder = tempfile::tempdir().unwrap();
    for victim in [Victim::Nobody, Victim::Worker, Victim::Runner] {
        let noted = folder.path().join(format!("{victim:?}"));
        #[expect(clippy::cast_precision_loss, reason = "it is a few minutes")]
        let run = repository.start(&writing(lines, seconds as f64, &noted)).await;
        let job = repository.job_id(&run, "a").await;
        repository.running(&run, &job, 0).await;
        let writing = Writing { repository: &repository, run, job, noted };
        let kills = Cell::new(0);
        let half = async {
            sleep(Duration::from_secs(seconds) / 2).await;
            writing.suffer(victim, &mut machine).await;
        };
        tokio::select! {
            never = disturb(&mut works, proxy.as_ref(), life, &kills) => match never {},
            () = half => {}
        }
        // The database may be away at this moment.
        restore(&works, proxy.as_ref()).await;
        let (came, wanted) = (writing.came().await, lines.div_ceil(PAUSES) * PAUSES);
        assert!(came > 0 && (victim != Victim::Nobody || came == wanted), "{victim:?}: {came} of {wanted}");
        assert!(kills.get() >= 2, "{kills:?}");
        eprintln!("{victim:?} killed: {came} lines came once and in order, over {kills:?} kills of the server");
    }
}

/// A run under way, some of whose lines came.
pub async fn written(repository: &Repository, seconds: f64) -> (String, String) {
    let run = repository.start(&writing(100_000, seconds, Path::new("/dev/null"))).await;
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
