//! The process that does one job: it decides what runs, starts the steps, and says how they do.
//!
//! A job has a process of its own so that what goes wrong in it (a step that breaks its parent, memory that is out) ends one job
//! and leaves the runner and its other jobs alone. The worker never holds what a step prints; see [`words`](super::words).

mod actions;
mod attend;
mod environment;
mod folder;
mod glob;
mod job;
mod names;
mod orphans;
mod output;
mod shell;
mod view;

use std::{
    io::{self, BufRead, Write},
    process::ExitCode,
    thread,
};

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
};

use self::job::Job;
pub use self::view::hex;
use super::{
    error::{Result, RunnerError},
    words::{Order, Word},
};

/// Signals with which steps are stopped, by the worker or by each other.
const HANDLED: [SignalKind; 4] =
    [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()];

/// Does the job that standard input tells of.
pub fn work() -> Result<ExitCode> {
    orphans::adopt();
    // A session of its own, so that whoever started the worker finds all that is left of it, and Ctrl-C is its starter's to hear.
    let _ = rustix::process::setsid();
    let (sender, mut orders) = mpsc::unbounded_channel();
    thread::Builder::new().name("orders".to_owned()).spawn(move || read_orders(&sender))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let over = runtime.block_on(async {
        // What the worker handles is no longer ignored by what it starts, as it would be where the runner was started in the
        // background; and a step that signals its parent ends no job.
        let _handled = HANDLED.map(signal);
        let Some(Order::Work(assignment)) = orders.recv().await else { return Err(RunnerError::NoOrder) };
        let over = Job::new(*assignment, orders).run().await;
        Ok(over)
    })?;
    orphans::end();
    say(&Word::Over(over));
    Ok(ExitCode::SUCCESS)
}

fn read_orders(sender: &UnboundedSender<Order>) {
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let Ok(order) = serde_json::from_str(&line) else { continue };
        if sender.send(order).is_err() {
            return;
        }
    }
}

/// What the worker is told; nothing more comes once its starter is gone.
type Orders = UnboundedReceiver<Order>;

/// Says something to the worker's starter. Where that is gone there is nobody to work for.
fn say(word: &Word) {
    let Ok(mut line) = serde_json::to_vec(word) else { return };
    line.push(b'\n');
    let mut output = io::stdout().lock();
    drop(output.write_all(&line).and_then(|()| output.flush()));
}

/// Ends the worker and all that it started, because whoever started it is gone.
fn abandoned() -> ! {
    orphans::end();
    std::process::exit(1)
}
