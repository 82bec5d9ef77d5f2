//! `footprint`: what the program takes before anybody uses it.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{
    load::resident_bytes,
    report::{Report, Result, median},
    server::{Program, Server, call, program::Person},
};

const STARTS: usize = 7;
/// How long the program idles before its memory is looked at.
const IDLE: Duration = Duration::from_secs(2);
const MEGABYTE: f64 = 1e6;

/// Measures, on the program with these arguments.
pub fn run(arguments: &[String]) -> Result<Report> {
    let program = Program::new(arguments)?;
    let mut report = Report::new("footprint");
    report.figure("binary_mb", megabytes(program.path().metadata()?.len()));

    let first = program.start()?;
    let person = Person::sign_in(&first, "person")?;
    first.stop()?;
    let mut starts = Vec::new();
    for number in 1..=STARTS {
        let start = Start::measure(&program, &person)?;
        println!("start {number} of {STARTS}: {:.0} ms, {:.1} MB", start.answer_ms, start.resident_mb);
        starts.push(start);
    }
    report.figure("first_answer_ms", median(starts.iter().map(|start| start.answer_ms)));
    report.figure("resident_mb", median(starts.iter().map(|start| start.resident_mb)));
    Ok(report)
}

struct Start {
    /// From the start of the process to the answer to a signed-in person's request.
    answer_ms: f64,
    resident_mb: f64,
}

impl Start {
    fn measure(program: &Program, person: &Person) -> Result<Self> {
        let started = Instant::now();
        let server = program.start()?;
        call(server.address(), person.get("/v1/me"))?.success()?;
        let answer_ms = started.elapsed().as_secs_f64() * 1_000.0;
        thread::sleep(IDLE);
        let resident_mb = resident(&server)?;
        server.stop()?;
        Ok(Self { answer_ms, resident_mb })
    }
}

fn resident(server: &Server) -> Result<f64> {
    Ok(megabytes(resident_bytes(server.process())?))
}

#[expect(clippy::cast_precision_loss, reason = "far fewer bytes than 2^52")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / MEGABYTE
}
