//! A program that is killed at named points, and what it is asked between them.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use store::{
    Clock, Store,
    testing::{SECRET_KEY_TEXT, Scratch},
};

use crate::harness::{Client, Launch, Process, number};

/// How long something that follows is waited for.
const PATIENCE: Duration = Duration::from_secs(90);
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
/// How far the clock jumps with each kill, so that the leases of the dead program are over.
const JUMP: Duration = Duration::from_secs(90);

/// The program with a person who owns an organization.
pub struct Stage {
    pub client: Client,
    /// `/v1/orgs/:orgId`
    pub org: String,
    pub store: Store,
    launch: Launch,
    faults: PathBuf,
    process: Option<Process>,
    jumped: Duration,
    // Goes last.
    _scratch: Scratch,
}

impl Stage {
    pub async fn new() -> Self {
        Self::on(Scratch::new().await.unwrap(), &[]).await
    }

    /// On this database, with these settings beside the usual ones.
    pub async fn on(scratch: Scratch, settings: &[String]) -> Self {
        let faults = scratch.folder().join("faults");
        let launch = Launch::in_folder(scratch.folder())
            .set(format!("database.url={}", scratch.url()))
            .set(format!("secrets.keys={SECRET_KEY_TEXT}"))
            .faults(&faults);
        let launch = settings.iter().fold(launch, Launch::set);
        let process = launch.start();
        let client = process.client().with_authenticator("ada").await;
        let org = format!("/v1/orgs/{}", client.org("Acme").await);
        let store = scratch.store(Clock::system()).await.unwrap();
        let jumped = Duration::ZERO;
        Self { client, org, store, launch, faults, process: Some(process), jumped, _scratch: scratch }
    }

    /// Has this rule hold from now on, and no other; none for all being well.
    pub async fn rule(&self, rule: &str) {
        let written = self.write_rule(rule);
        let said = self.faults.with_extension("read");
        let holds = async || (fs::read_to_string(&said).is_ok_and(|said| said == written)).then_some(());
        self.eventually("the rule's being read", holds).await;
    }

    /// Writes the rules, and answers them.
    fn write_rule(&self, rule: &str) -> String {
        let rules = format!("clock=+{}s\n{rule}\n", self.jumped.as_secs());
        // As a whole: the program may look at any moment.
        let new = self.faults.with_extension("new");
        fs::write(&new, &rules).unwrap();
        fs::rename(&new, &self.faults).unwrap();
        rules
    }

    /// Moves the program's clock on.
    pub async fn jump(&mut self, span: Duration, rule: &str) {
        self.jumped += span;
        self.rule(rule).await;
    }

    /// The program's time, in milliseconds.
    pub fn now_ms(&self) -> i64 {
        Clock::system().now().as_millis() + i64::try_from(self.jumped.as_millis()).unwrap()
    }

    /// Waits until the program has been killed at the point that its rule names, and starts it again, without any rule.
    pub async fn killed(&mut self, step: &str) {
        let mut process = self.process.take().expect("a running program");
        let started = Instant::now();
        while !process.was_killed() {
            assert!(started.elapsed() < PATIENCE, "{step}: the program has never come there");
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        self.start_again();
    }

    /// Kills the program at this moment, and starts it again.
    pub fn kill(&mut self) {
        self.process.take().expect("a running program").kill();
        self.start_again();
    }

    fn start_again(&mut self) {
        self.jumped += JUMP;
        self.write_rule("");
        let process = self.launch.start();
        self.client = self.client.at(&process.url);
        self.process = Some(process);
    }

    /// Waits until `found` answers something.
    pub async fn eventually<T>(&self, what: &str, mut found: impl AsyncFnMut() -> Option<T>) -> T {
        let started = Instant::now();
        loop {
            if let Some(it) = found().await {
                return it;
            }
            assert!(started.elapsed() < PATIENCE, "{what} did not happen");
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    }
}

/// Something that the program is killed in, and the point at which it is.
#[derive(Clone, Debug)]
pub struct Step<A> {
    pub act: A,
    pub rule: String,
}

/// Each act with each of its rules; of them all as many as the environment says, or `few`, chosen by chance. Those that aren't
/// chosen have no rule, so that the acts behind them find what they need.
pub fn chosen<A: Copy>(
    acts: &[A],
    rules: impl Fn(A) -> Vec<String>,
    few: usize,
    dice: &mut crate::harness::Dice,
) -> Vec<Step<A>> {
    let all: Vec<_> =
        acts.iter().flat_map(|act| rules(*act).into_iter().map(|rule| Step { act: *act, rule })).collect();
    let wanted = number("TROUPE_CRASH_STEPS", few);
    let places: Vec<_> = (0..all.len()).collect();
    let mut picked = dice.pick_some(&places, wanted);
    picked.sort_unstable();
    picked.into_iter().map(|place| all[place].clone()).collect()
}
