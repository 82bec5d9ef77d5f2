//! How soon a push is a job of an idle runner, and how soon many runners get what waits.

use std::{
    collections::HashSet,
    sync::{Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

use super::{
    quantile_ms,
    stage::{Runner, Stage, matrix, until},
};
use crate::report::{Report, Result};

/// The most jobs that a matrix makes here.
const MATRIX: usize = 250;

/// From the answer to a push until an idle runner has the plan of the job that it starts.
pub fn pick_up(stage: &Stage, pushes: usize, report: &mut Report) -> Result<()> {
    let (sender, receiver) = mpsc::channel();
    let mut runner = stage.runner("pickup")?;
    let mut times = Vec::new();
    thread::scope(|scope| -> Result<()> {
        scope.spawn(move || {
            for _ in 0..pushes {
                let taken = picked(&mut runner);
                if taken.is_err() | sender.send(taken).is_err() {
                    return;
                }
            }
        });
        for number in 0..pushes {
            // Idle is a runner whose question waits.
            thread::sleep(Duration::from_millis(50));
            let file = ("pickup.yml".to_owned(), format!("{}# {number}\n", matrix("pickup", 1)));
            let answered = stage.push(&[file])?()?;
            let taken = receiver.recv()??;
            times.push(taken.saturating_duration_since(answered));
        }
        Ok(())
    })?;
    report.figure("pick_up_p50_ms", quantile_ms(&mut times, 50));
    report.figure("pick_up_p99_ms", quantile_ms(&mut times, 99));
    stage.push(&[(
        "pickup.yml".to_owned(),
        "on: workflow_dispatch\njobs: {a: {runs-on: x, steps: [{run: x}]}}\n".to_owned(),
    )])?()?;
    Ok(())
}

/// When the runner had its job's plan.
fn picked(runner: &mut Runner) -> Result<Instant> {
    loop {
        let Some(held) = runner.take(50)? else { continue };
        runner.start(&held)?;
        let at = Instant::now();
        runner.complete(&held)?;
        return Ok(at);
    }
}

/// Jobs that wait, and runners that ask for them at the same time until each was started once.
pub fn claims(stage: &Stage, jobs: usize, runners: usize, report: &mut Report) -> Result<()> {
    let mut asking = (0..runners).map(|_| stage.runner("claims")).collect::<Result<Vec<_>>>()?;
    // Whoever polls has asked before.
    for runner in &mut asking {
        runner.take(0)?;
    }
    let files: Vec<_> = (0..jobs.div_ceil(MATRIX))
        .map(|at| (format!("claims-{at}.yml"), matrix("claims", MATRIX.min(jobs - at * MATRIX))))
        .collect();
    stage.push(&files)?()?;
    until("jobs that wait", || {
        let waiting = files.iter().map(|(file, _)| stage.queued(file)).sum::<Result<usize>>()?;
        Ok(waiting == jobs)
    })?;
    thread::sleep(Duration::from_secs(2));
    let (started, times) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let began = Instant::now();
    thread::scope(|scope| -> Result<()> {
        let working: Vec<_> = asking
            .into_iter()
            .map(|mut runner| {
                let (started, times) = (&started, &times);
                scope.spawn(move || -> Result<()> {
                    loop {
                        let asked = Instant::now();
                        let Some(held) = runner.take(1)? else { return Ok(()) };
                        times.lock().map_err(|_| "a runner panicked")?.push(asked.elapsed());
                        runner.start(&held)?;
                        started.lock().map_err(|_| "a runner panicked")?.push(held.id.clone());
                        runner.complete(&held)?;
                    }
                })
            })
            .collect();
        working.into_iter().try_for_each(|it| it.join().map_err(|_| "a runner panicked")?)
    })?;
    let seconds = began.elapsed().as_secs_f64();
    let started = started.into_inner().map_err(|_| "a runner panicked")?;
    let distinct: HashSet<&String> = started.iter().collect();
    if started.len() != jobs || distinct.len() != jobs {
        return Err(format!("{} starts of {} jobs, not of {jobs}", started.len(), distinct.len()).into());
    }
    let mut times = times.into_inner().map_err(|_| "a runner panicked")?;
    report.figure("claim_p50_ms", quantile_ms(&mut times, 50));
    report.figure("claim_p99_ms", quantile_ms(&mut times, 99));
    report.figure("jobs_per_second", super::count(jobs) / seconds);
    Ok(())
}
