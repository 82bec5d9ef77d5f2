//! Logs of many jobs at once: how soon lines are durable, and how soon whoever watches has them.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use mio::{Events, Interest, Poll, Token};
use rusqlite::{Connection, params};
use serde_json::{Value, json};

use super::{
    count, quantile_ms,
    stage::{Held, REPOSITORY, Stage, matrix, until},
    wire::Wire,
};
use crate::{
    load::Socket,
    report::{Report, Result, median},
};

/// How often a job sends what it wrote since.
const BETWEEN_SENDS: Duration = Duration::from_millis(100);
/// How often a runner says how its job stands.
const BETWEEN_REPORTS: Duration = Duration::from_secs(10);
/// What stands in front of a line's time, in microseconds.
const MARK: &str = "written ";
/// What a line has beside that.
const TEXT: &str = "the quick brown fox jumps over the lazy dog and goes on";
/// Lines that are sent at once where nothing limits how many come.
const BATCH: usize = 5_000;
const ROUNDS: usize = 3;
const ROUND: Duration = Duration::from_secs(4);
const BUFFER_BYTES: usize = 256 * 1024;

/// How much is written.
#[derive(Clone, Copy)]
pub struct Writing {
    pub jobs: usize,
    /// Lines a second of each.
    pub rate: usize,
    pub seconds: u64,
    /// Who watches a job, each.
    pub viewers: usize,
}

/// A job that was started, and the way to its server.
struct Job {
    held: Held,
    run: String,
    sent: usize,
}

/// Starts so many jobs.
fn started(stage: &Stage, count: usize, label: &str) -> Result<Vec<Job>> {
    let mut runner = stage.runner(label)?;
    stage.push(&[(format!("{label}.yml"), matrix(label, count))])?()?;
    let mut jobs = Vec::new();
    until("jobs", || {
        if let Some(held) = runner.take(1)? {
            runner.start(&held)?;
            jobs.push(Job { held, run: String::new(), sent: 0 });
        }
        Ok(jobs.len() == count)
    })?;
    for run in stage.runs()? {
        let id = run["runId"].as_str().ok_or("a run without an id")?;
        let detail = stage.ask("GET", &format!("repos/{REPOSITORY}/pipelines/runs/{id}"), None)?;
        let of = detail["jobs"].as_array().cloned().unwrap_or_default();
        for job in jobs.iter_mut().filter(|job| of.iter().any(|it| it["jobId"] == *job.held.id)) {
            id.clone_into(&mut job.run);
        }
    }
    Ok(jobs)
}

/// Lines at a steady rate, and viewers of each job.
pub fn steady(stage: &Stage, writing: Writing, report: &mut Report) -> Result<()> {
    let mut jobs = started(stage, writing.jobs, "steady")?;
    let epoch = Instant::now();
    let viewers = Viewers::open(stage, &jobs, writing.viewers, epoch)?;
    let is_over = AtomicBool::new(false);
    let (mut durable, mut seen) = thread::scope(|scope| -> Result<_> {
        let watching = scope.spawn(|| viewers.watch(&is_over));
        let sending: Vec<_> =
            jobs.iter_mut().map(|job| scope.spawn(move || job.write(stage, writing, epoch))).collect();
        let mut durable = Vec::new();
        for it in sending {
            durable.extend(it.join().map_err(|_| "a job panicked")??);
        }
        // What was written last is on its way to whoever watches.
        thread::sleep(Duration::from_secs(2));
        is_over.store(true, Ordering::Relaxed);
        Ok((durable, watching.join().map_err(|_| "a viewer panicked")??))
    })?;
    report.figure("lines_per_second", count(writing.jobs * writing.rate));
    report.figure("durable_p50_ms", quantile_ms(&mut durable, 50));
    report.figure("durable_p99_ms", quantile_ms(&mut durable, 99));
    report.figure("viewer_p50_ms", quantile_ms(&mut seen, 50));
    report.figure("viewer_p99_ms", quantile_ms(&mut seen, 99));
    finish(stage, &jobs)
}

impl Job {
    /// Writes lines at a rate; how long each of the sendings took from when its first line was written.
    fn write(&mut self, stage: &Stage, writing: Writing, epoch: Instant) -> Result<Vec<Duration>> {
        let mut wire = Wire::open(stage.address())?;
        let (began, mut times) = (Instant::now(), Vec::new());
        let mut reported = began;
        let total = writing.rate * usize::try_from(writing.seconds)?;
        while self.sent < total {
            thread::sleep(BETWEEN_SENDS);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "lines of a minute")]
            let due = ((began.elapsed().as_secs_f64() * count(writing.rate)) as usize).min(total);
            // The first of them was written when its turn came, not when it is sent.
            let first = began + Duration::from_secs_f64(count(self.sent) / count(writing.rate));
            let micros = first.saturating_duration_since(epoch).as_micros();
            self.send(&mut wire, due - self.sent, &format!("{MARK}{micros} {TEXT}"))?;
            times.push(first.elapsed());
            if reported.elapsed() >= BETWEEN_REPORTS {
                reported = Instant::now();
                wire.ask(&self.held.request("POST", "status", Some(&json!({ "steps": [] }))))?;
            }
        }
        Ok(times)
    }

    /// Sends so many lines, which are durable once that is answered.
    fn send(&mut self, wire: &mut Wire, lines: usize, text: &str) -> Result<()> {
        let body = json!({ "lines": vec![json!({ "t": 0, "m": text }); lines] });
        let request = self.held.request("POST", "logs", Some(&body));
        let answer = wire.ask(&request.header("x-service-log-first", &self.sent.to_string()))?.unwrap_or_default();
        self.sent += lines;
        if answer["next"] == self.sent { Ok(()) } else { Err(format!("a log goes on at {}", answer["next"]).into()) }
    }
}

/// Ends the jobs, whose logs must have every line.
fn finish(stage: &Stage, jobs: &[Job]) -> Result<()> {
    let mut wire = Wire::open(stage.address())?;
    for job in jobs {
        let from = job.sent.saturating_sub(1);
        let path = format!("repos/{REPOSITORY}/pipelines/runs/{}/jobs/{}/log?from={from}", job.run, job.held.id);
        let log = stage.ask("GET", &path, None)?;
        if log["next"] != job.sent {
            return Err(format!("a log of {} lines ends at {}", job.sent, log["next"]).into());
        }
        let body = json!({ "conclusion": "success", "steps": [] });
        wire.ask(&job.held.request("POST", "complete", Some(&body)))?;
    }
    Ok(())
}

/// Those who watch the jobs' logs.
struct Viewers {
    sockets: Vec<Socket>,
    epoch: Instant,
}

impl Viewers {
    fn open(stage: &Stage, jobs: &[Job], each: usize, epoch: Instant) -> Result<Self> {
        let mut sockets = Vec::new();
        for job in jobs {
            for _ in 0..each {
                let path = format!("repos/{REPOSITORY}/pipelines/runs/{}/jobs/{}/log/live", job.run, job.held.id);
                let answer = stage.ask("GET", &path, None)?;
                let text = |name: &str| answer["socket"][name].as_str().ok_or("a log without a socket");
                let target = text("url")?.splitn(4, '/').nth(3).ok_or("a socket without a path")?;
                let joint = if target.contains('?') { '&' } else { '?' };
                let target = format!("/{target}{joint}ticket={}", text("ticket")?);
                sockets.push(Socket::open(stage.address(), &target)?);
            }
        }
        Ok(Self { sockets, epoch })
    }

    /// How long lines took to come, until it is over.
    fn watch(mut self, is_over: &AtomicBool) -> Result<Vec<Duration>> {
        let (mut poll, mut events) = (Poll::new()?, Events::with_capacity(1_024));
        for (number, socket) in self.sockets.iter_mut().enumerate() {
            poll.registry().register(socket.stream(), Token(number), Interest::READABLE)?;
        }
        let (mut buffer, mut times) = (vec![0; BUFFER_BYTES], Vec::new());
        while !is_over.load(Ordering::Relaxed) {
            poll.poll(&mut events, Some(Duration::from_millis(100)))?;
            for event in &events {
                let (epoch, socket) = (self.epoch, &mut self.sockets[event.token().0]);
                socket.read(&mut buffer, |frame| {
                    times.extend(oldest(frame).and_then(|at| epoch.elapsed().checked_sub(at)));
                    Ok(())
                })?;
                socket.flush()?;
            }
        }
        if times.is_empty() { Err("no line came to a viewer".into()) } else { Ok(times) }
    }
}

/// When the first line of a frame was written.
fn oldest(frame: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(frame).ok()?;
    let digits = text.split_once(MARK)?.1.split(' ').next()?;
    digits.parse().ok().map(Duration::from_micros)
}

/// Lines as fast as they are taken, against bare SQLite that writes the same bytes.
pub fn flat_out(stage: &Stage, jobs: usize, folder: &Path, report: &mut Report) -> Result<()> {
    let mut all = started(stage, jobs, "flat-out")?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(sent(stage, &mut all)?);
        theirs.push(written(folder, jobs)?);
    }
    report.figure("flat_out_lines_per_second", median(ours.iter().copied()));
    report.figure("sqlite_lines_per_second", median(theirs.iter().copied()));
    report.ratio("flat_out_to_sqlite", median(ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs)));
    finish(stage, &all)
}

/// Lines a second.
fn sent(stage: &Stage, jobs: &mut [Job]) -> Result<f64> {
    let (began, before) = (Instant::now(), jobs.iter().map(|job| job.sent).sum::<usize>());
    thread::scope(|scope| -> Result<()> {
        let sending: Vec<_> = jobs
            .iter_mut()
            .map(|job| {
                scope.spawn(move || -> Result<()> {
                    let mut wire = Wire::open(stage.address())?;
                    while began.elapsed() < ROUND {
                        job.send(&mut wire, BATCH, TEXT)?;
                    }
                    Ok(())
                })
            })
            .collect();
        sending.into_iter().try_for_each(|it| it.join().map_err(|_| "a job panicked")?)
    })?;
    let lines = jobs.iter().map(|job| job.sent).sum::<usize>() - before;
    Ok(count(lines) / began.elapsed().as_secs_f64())
}

/// The same by SQLite alone: a row for what each job sent, and a transaction for a row of each.
fn written(folder: &Path, jobs: usize) -> Result<f64> {
    let mut connection = Connection::open(folder.join("lines.sqlite"))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.execute_batch("CREATE TABLE IF NOT EXISTS chunks (job INTEGER, first INTEGER, bytes BLOB)")?;
    let line: Value = json!({ "t": 0, "m": TEXT });
    let bytes = json!(vec![line; BATCH]).to_string().into_bytes();
    let (began, mut first) = (Instant::now(), 0_usize);
    while began.elapsed() < ROUND {
        let transaction = connection.transaction()?;
        let mut insert = transaction.prepare_cached("INSERT INTO chunks VALUES (?1, ?2, ?3)")?;
        for job in 0..jobs {
            insert.execute(params![i64::try_from(job)?, i64::try_from(first)?, bytes])?;
        }
        drop(insert);
        transaction.commit()?;
        first += BATCH;
    }
    Ok(count(first * jobs) / began.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_as_old_as_its_first_line() {
        let frame = br#"{"from":0,"lines":[{"n":0,"t":0,"m":"written 12 x"},{"n":1,"t":0,"m":"written 99 x"}]}"#;
        assert_eq!(oldest(frame), Some(Duration::from_micros(12)));
        assert_eq!(oldest(b"{\"complete\":true}"), None);
    }
}
