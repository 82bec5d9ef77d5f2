//! `pipelines`: how soon a push is a job, how soon jobs are handed out, how soon lines are kept and seen, and what questions that wait
//! cost.

mod claims;
mod lines;
mod pushes;
mod stage;
mod wire;

use std::{thread, time::Duration};

use self::{
    lines::Writing,
    stage::{Runner, Stage},
    wire::Wire,
};
use crate::{
    load::resident_bytes,
    report::{Report, Result},
    server::Program,
    sockets::raise_open_files,
};

/// How much is measured.
#[derive(Clone, Copy)]
struct Size {
    pushes: usize,
    jobs: usize,
    runners: usize,
    parked: usize,
    writing: Writing,
}

const FULL: Size = Size {
    pushes: 200,
    jobs: 1_000,
    runners: 100,
    parked: 10_000,
    writing: Writing { jobs: 20, rate: 5_000, seconds: 60, viewers: 5 },
};
/// What runs in a minute, to see that it runs.
const QUICK: Size = Size {
    pushes: 10,
    jobs: 60,
    runners: 10,
    parked: 500,
    writing: Writing { jobs: 4, rate: 1_000, seconds: 5, viewers: 2 },
};
/// How many runners ask them: a server registers few from one address in a minute.
const PARKED_RUNNERS: usize = 10;
/// How long questions wait before memory is looked at.
const REST: Duration = Duration::from_secs(3);
/// Seconds that a question waits, at most.
const WAIT: u64 = 50;

/// What is measured, in this order; one of them alone where its name comes first, behind `--quick`.
const PARTS: [&str; 4] = ["parked", "pushes", "claims", "lines"];

/// Measures, on the program with the arguments that remain.
pub fn run(arguments: &[String]) -> Result<Report> {
    let (size, arguments) = match arguments {
        [name, rest @ ..] if name == "--quick" => (QUICK, rest),
        rest => (FULL, rest),
    };
    let (parts, arguments) = match arguments {
        [name, rest @ ..] if PARTS.contains(&name.as_str()) => (std::slice::from_ref(name), rest),
        rest => (&PARTS.map(str::to_owned)[..], rest),
    };
    let program = Program::new(arguments)?;
    raise_open_files(size.parked)?;
    let mut report = Report::new("pipelines");
    let stage = Stage::new(&program)?;
    for part in parts {
        measure(part, size, &stage, &mut report)?;
    }
    Ok(report)
}

fn measure(part: &str, size: Size, stage: &Stage, report: &mut Report) -> Result<()> {
    match part {
        "parked" => {
            println!("{} questions that wait", size.parked);
            parked(stage, size.parked, report)
        }
        "pushes" => {
            println!("{} pushes to an idle runner", size.pushes);
            claims::pick_up(stage, size.pushes, report)
        }
        "claims" => {
            println!("{} jobs for {} runners", size.jobs, size.runners);
            claims::claims(stage, size.jobs, size.runners, report)
        }
        _ => {
            let Writing { jobs, rate, seconds, .. } = size.writing;
            println!("{jobs} jobs that write {rate} lines a second for {seconds} s");
            lines::steady(stage, size.writing, report)?;
            println!("{jobs} jobs that write as fast as they can");
            lines::flat_out(stage, jobs, tempfile::tempdir()?.path(), report)
        }
    }
}

/// Memory of the server while so many questions for jobs wait.
fn parked(stage: &Stage, questions: usize, report: &mut Report) -> Result<()> {
    let runners = (0..PARKED_RUNNERS).map(|_| stage.runner("parked")).collect::<Result<Vec<Runner>>>()?;
    let process = stage.server.process();
    let before = resident_bytes(process)?;
    let mut wires = Vec::with_capacity(questions);
    for number in 0..questions {
        let mut wire = Wire::open(stage.address())?;
        wire.send(&runners[number % runners.len()].poll(WAIT))?;
        wires.push(wire);
    }
    thread::sleep(REST);
    let during = resident_bytes(process)?;
    report.figure("parked_server_mb", bytes(during) / 1e6);
    report.figure("parked_bytes_each", bytes(during.saturating_sub(before)) / count(questions));
    drop(wires);
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "far less than 2^52")]
const fn bytes(number: u64) -> f64 {
    number as f64
}

/// A count as a figure.
#[expect(clippy::cast_precision_loss, reason = "far less than 2^52")]
const fn count(number: usize) -> f64 {
    number as f64
}

/// The time that this share of a hundred stayed within.
fn quantile_ms(times: &mut [Duration], share: usize) -> f64 {
    times.sort_unstable();
    let at = (times.len().saturating_sub(1) * share).div_ceil(100);
    times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_a_time_that_was_measured() {
        let mut times: Vec<Duration> = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(quantile_ms(&mut times, 99).to_bits(), 100.0_f64.to_bits());
        assert_eq!(quantile_ms(&mut times, 50).to_bits(), 51.0_f64.to_bits());
        assert_eq!(quantile_ms(&mut [], 50).to_bits(), 0.0_f64.to_bits());
    }
}
