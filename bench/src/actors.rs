//! What the kernel costs: messages per second beside a bare actix actor, memory per resident, a million residents.

use std::{
    fs, io, thread,
    time::{Duration, Instant},
};

use ::kernel::{Command, Handle, Kernel, KernelOptions, Policy, Registry, Resource, Turn};
use actix::{Actor, Addr, Arbiter};
use domain::{Context, Origin};
use store::{Clock, testing::Scratch};
use tokio::runtime::Runtime;

use crate::report::{Report, Result, median};

/// How many callers ask one actor at the same time.
const CALLERS: u64 = 64;
/// How many messages one round sends to each of the two.
const MESSAGES: u64 = 400_000;
/// How often the two take turns; the first round only warms up.
const ROUNDS: usize = 6;
/// How many actors are resident at once.
const RESIDENTS: u64 = 1_000_000;
/// How many of them are asked at the same time.
const ASKED_AT_ONCE: usize = 512;
/// How far away every deadline is.
const PATIENCE: Duration = Duration::from_secs(60);
/// The size of a page of memory on every platform that this runs on.
const PAGE_BYTES: f64 = 4_096.0;

/// The least that a resource can be.
struct Tally {
    count: u64,
}

impl Resource for Tally {
    type Key = u64;
    type Services = ();

    const KIND: &'static str = "tally";

    fn policy() -> Policy {
        Policy { idle_after: Duration::ZERO, ..Policy::default() }
    }

    async fn load(_: &u64, (): &()) -> domain::Result<Self> {
        Ok(Self { count: 0 })
    }
}

/// Counts; answers how often.
struct Count;

impl Command for Count {
    type Reply = u64;

    const NAME: &'static str = "count";
}

impl Handle<Count> for Tally {
    async fn handle(&mut self, _: &Count, _: &mut Turn<'_, Self>) -> domain::Result<u64> {
        self.count += 1;
        Ok(self.count)
    }
}

/// The same with nothing around it: not serial across awaits, no deadline, no bound, no numbers, no survivor of a panic.
struct Bare {
    count: u64,
}

impl Actor for Bare {
    type Context = actix::Context<Self>;
}

impl actix::Message for Count {
    type Result = u64;
}

impl actix::Handler<Count> for Bare {
    type Result = u64;

    fn handle(&mut self, _: Count, _: &mut Self::Context) -> u64 {
        self.count += 1;
        self.count
    }
}

/// Runs the scenario.
pub fn run() -> Result<Report> {
    let runtime = Runtime::new()?;
    let scratch = Scratch::sqlite()?;
    let store = runtime.block_on(scratch.store(Clock::system()))?;
    // The sweeper must not come in between: residents leave when this scenario says so.
    let options = KernelOptions { sweep_every: PATIENCE * 60, ..KernelOptions::new("bench") };
    let _entered = runtime.enter();
    let kernel = Kernel::start(store, options)?;
    let tallies = kernel.registry::<Tally>(());
    let mut report = Report::new("actors");
    throughput(&runtime, &tallies, &mut report)?;
    residents(&runtime, &kernel, &tallies, &mut report)?;
    runtime.block_on(kernel.shutdown(PATIENCE));
    Ok(report)
}

fn context() -> Context {
    Context::system(Origin::Http, Instant::now() + PATIENCE)
}

#[expect(clippy::cast_precision_loss, reason = "a rate")]
fn per_second(count: u64, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64()
}

fn throughput(runtime: &Runtime, tallies: &Registry<Tally>, report: &mut Report) -> Result<()> {
    let bare = start_bare()?;
    let (mut kernel_rates, mut bare_rates, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let bare_rate = per_second(MESSAGES, runtime.block_on(ask_bare(&bare)));
        let kernel_rate = per_second(MESSAGES, runtime.block_on(ask_kernel(tallies)));
        println!("round {round}: bare {bare_rate:.0}/s, kernel {kernel_rate:.0}/s");
        if round > 0 {
            bare_rates.push(bare_rate);
            kernel_rates.push(kernel_rate);
            ratios.push(kernel_rate / bare_rate);
        }
    }
    report.figure("bare_per_s", median(bare_rates));
    report.figure("kernel_per_s", median(kernel_rates));
    report.ratio("kernel_to_bare", median(ratios));
    Ok(())
}

/// A bare actor on a thread of its own, which lives as long as the process.
fn start_bare() -> io::Result<Addr<Bare>> {
    let (sender, receiver) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let system = actix::System::new();
        let started = system.block_on(async {
            let arbiter = Arbiter::new();
            Bare::start_in_arbiter(&arbiter.handle(), |_| Bare { count: 0 })
        });
        // Whoever waits for the address is there; if not, nobody needs it.
        let _ = sender.send(started);
        system.run()
    });
    receiver.recv().map_err(io::Error::other)
}

async fn ask_bare(bare: &Addr<Bare>) -> Duration {
    let started = Instant::now();
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            let bare = bare.clone();
            tokio::spawn(async move {
                for _ in 0..MESSAGES / CALLERS {
                    bare.send(Count).await.ok();
                }
            })
        })
        .collect();
    join(callers).await;
    started.elapsed()
}

async fn ask_kernel(tallies: &Registry<Tally>) -> Duration {
    let started = Instant::now();
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            let tallies = tallies.clone();
            tokio::spawn(async move {
                for _ in 0..MESSAGES / CALLERS {
                    tallies.ask(&0, Count, context()).await.ok();
                }
            })
        })
        .collect();
    join(callers).await;
    started.elapsed()
}

async fn join(tasks: Vec<tokio::task::JoinHandle<()>>) {
    for task in tasks {
        task.await.ok();
    }
}

/// Brings a million actors to life, weighs them, and lets them go.
fn residents(runtime: &Runtime, kernel: &Kernel, tallies: &Registry<Tally>, report: &mut Report) -> Result<()> {
    kernel.sweep();
    let before = resident_bytes()?;
    let started = Instant::now();
    let failed = runtime.block_on(activate(tallies));
    let activation = started.elapsed();
    let resident = kernel.residents(Tally::KIND, usize::MAX).map_or(0, |residents| residents.len()) as u64;
    if failed > 0 || resident != RESIDENTS {
        return Err(format!("{failed} of {RESIDENTS} actors did not answer, {resident} are resident").into());
    }
    let bytes = weigh(before)?;
    println!("{resident} resident after {activation:.1?}, {bytes:.0} bytes each");
    let started = Instant::now();
    let left = kernel.sweep() as u64;
    let passivation = started.elapsed();
    if left != RESIDENTS {
        return Err(format!("{left} of {RESIDENTS} actors left memory").into());
    }
    println!("all left after {passivation:.1?}");
    report.figure("residents", per_second(resident, Duration::from_secs(1)));
    report.figure("activations_per_s", per_second(RESIDENTS, activation));
    report.figure("passivations_per_s", per_second(RESIDENTS, passivation));
    report.figure("idle_actor_bytes", bytes);
    Ok(())
}

/// What one resident takes beyond its own state.
#[expect(clippy::cast_precision_loss, reason = "bytes to look at")]
fn weigh(before: f64) -> io::Result<f64> {
    Ok((resident_bytes()? - before) / RESIDENTS as f64 - size_of::<Tally>() as f64)
}

/// Asks every actor once; how many did not answer.
async fn activate(tallies: &Registry<Tally>) -> u64 {
    let lanes: Vec<_> = (0..ASKED_AT_ONCE as u64)
        .map(|lane| {
            let tallies = tallies.clone();
            tokio::spawn(async move {
                let mut failed = 0;
                // Key 0 is the one that the throughput was measured on, and has left memory.
                for key in (lane..RESIDENTS).step_by(ASKED_AT_ONCE) {
                    failed += u64::from(tallies.ask(&key, Count, context()).await.is_err());
                }
                failed
            })
        })
        .collect();
    let mut failed = 0;
    for lane in lanes {
        failed += lane.await.unwrap_or(RESIDENTS);
    }
    failed
}

/// The process's resident memory, in bytes.
fn resident_bytes() -> io::Result<f64> {
    let statm = fs::read_to_string("/proc/self/statm")?;
    let pages = statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<f64>().ok());
    pages.map(|pages| pages * PAGE_BYTES).ok_or_else(|| io::Error::other("unreadable /proc/self/statm"))
}
