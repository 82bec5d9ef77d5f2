//! What is seen of a run on this machine: lines for people, or a line of JSON for each thing that happens.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use domain::pipelines::{
    job::{StepConclusion, StepReport},
    run::{JobConclusion, JobPlace, Plan, RunConclusion, RunState},
};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::is_bad;
use crate::runner::{
    supervisor::{Ended, Lines},
    words::mark_prefix,
};

/// How what happens is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Lines that people read.
    Text,
    /// A line of JSON for each thing that happens.
    Json,
}

/// Shows what happens.
#[derive(Clone)]
pub struct Shown {
    shows: Shows,
    steps: Arc<Mutex<BTreeMap<JobPlace, Vec<StepReport>>>>,
}

impl Shown {
    /// Shows nothing yet.
    pub fn new(shows: Shows) -> Self {
        Self { shows, steps: Arc::default() }
    }

    /// Shows that a job's worker was started.
    pub fn started(&self, job: &str, pid: Option<u32>) {
        match self.shows {
            Shows::Text => self.line(job, "starts"),
            Shows::Json => print(&json!({ "event": "job", "job": job, "pid": pid })),
        }
    }

    /// Shows a line of a job.
    pub fn line(&self, job: &str, line: &str) {
        match self.shows {
            Shows::Text => drop(writeln!(io::stdout(), "{job} | {line}")),
            Shows::Json => print(&json!({ "event": "line", "job": job, "line": line })),
        }
    }

    /// What shows the lines of a job.
    pub fn lines(&self, job: &str) -> JobLines {
        JobLines { shown: self.clone(), job: job.to_owned() }
    }

    /// Shows how the steps of a job do, as long as somebody tells.
    pub async fn steps(&self, job: &str, mut told: watch::Receiver<Vec<StepReport>>) -> io::Result<Ended> {
        while told.changed().await.is_ok() {
            if self.shows == Shows::Json {
                print(&json!({ "event": "steps", "job": job, "steps": *told.borrow_and_update() }));
            }
        }
        std::future::pending().await
    }

    /// Keeps what a job came to.
    pub fn ended(&self, place: JobPlace, ended: &Ended) {
        let steps = ended.over.as_ref().map_or(&ended.steps, |over| &over.steps).clone();
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).insert(place, steps);
    }

    /// Shows what the run came to.
    pub fn over(&self, plan: &Plan, state: &RunState, conclusion: RunConclusion) {
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |place: &JobPlace| steps.get(place).cloned().unwrap_or_default();
        if self.shows == Shows::Json {
            let jobs = state.jobs().map(|(place, job)| {
                let key = plan.workflow().jobs.get(place.node).map(|job| job.key.as_str());
                let conclusion = job.conclusion().map(JobConclusion::name);
                json!({
                    "key": key, "name": job.name, "conclusion": conclusion, "steps": of(&place),
                    "outputs": job.outputs, "fault": job.fault,
                })
            });
            let jobs: Vec<Value> = jobs.collect();
            return print(&json!({ "event": "over", "conclusion": conclusion.name(), "jobs": jobs }));
        }
        let mut out = io::stdout().lock();
        for (place, job) in state.jobs() {
            let conclusion = job.conclusion().map_or("", |conclusion| conclusion.name());
            drop(writeln!(out, "{}: {conclusion}", job.name));
            let failed = of(&place).into_iter().filter(|step| step.conclusion == Some(StepConclusion::Failure));
            for step in failed.filter(|_| is_bad(job)) {
                drop(writeln!(out, "  failed: {}", step.name));
            }
        }
        drop(writeln!(out, "The run: {}", conclusion.name()));
    }
}

fn print(value: &Value) {
    drop(writeln!(io::stdout(), "{value}"));
}

/// Shows the lines of a job.
pub struct JobLines {
    shown: Shown,
    job: String,
}

impl Lines for JobLines {
    fn line(&mut self, _: i64, text: &str) -> io::Result<()> {
        // The worker's own words mean nothing to people.
        if !is_mark(text) {
            self.shown.line(&self.job, text);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

/// Whether a line looks like `##[<32 hex>]step …`.
fn is_mark(text: &str) -> bool {
    const MARKER_LEN: usize = 32;
    let marker = text.strip_prefix("##[").and_then(|rest| rest.get(..MARKER_LEN)).unwrap_or_default();
    marker.len() == MARKER_LEN
        && marker.bytes().all(|byte| byte.is_ascii_hexdigit())
        && text.starts_with(&format!("{}step ", mark_prefix(marker)))
}
