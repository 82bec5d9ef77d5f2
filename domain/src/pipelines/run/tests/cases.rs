//! Each file of `run/cases` holds workflows and what they come to, for these tests and for one that asks the server and the runner:
//!
//! ```text
//! === what the case shows
//! on: push                          a whole workflow file, started by a push to `main`
//! jobs: ...
//! >>>
//! @ cancel a 0                      what somebody does, in order, each as soon as it can be done
//! run => cancelled                  how the run ends
//! a => cancelled | cancelled        how the job of this name ends, and each of its steps: conclusion, or outcome/conclusion,
//! b => skipped                      with `post:` in front of what actions do at the end. Without `|`, steps don't matter.
//! ```
//!
//! `cancel JOB STEP`, `force-cancel JOB STEP`, `lose JOB STEP` (the job's runner dies) and `time-out JOB STEP` happen once that
//! step runs, from 0. `approve JOB` and `reject JOB` happen once the job waits for its environment; `production` is the one that
//! has reviewers. `rerun all`, `rerun failed` and `rerun JOB` happen once the run is over; what is expected is the last attempt.

use std::{
    collections::{BTreeMap, VecDeque},
    fs,
    path::Path,
};

use super::{
    super::*,
    contexts, read,
    runner::{Advance, RunningJob},
};
use crate::pipelines::{
    concurrency::{Group, GroupEffect},
    expressions::Value,
    job::{JobLimits, StepConclusion, StepReport, Told},
};

/// The environment of the cases that has reviewers.
const PROTECTED: &str = "production";
/// Rounds after which a run that isn't over never will be.
const ROUNDS_MAX: usize = 2_000;

#[test]
fn each_case_ends_as_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/pipelines/run/cases");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let (mut count, mut faults) = (0, Vec::new());
    for file in files {
        let text = fs::read_to_string(file).unwrap();
        for case in text.strip_prefix("=== ").unwrap().split("\n=== ") {
            let (name, body) = case.split_once('\n').unwrap();
            let (workflow, rest) = body.split_once("\n>>>\n").unwrap_or_else(|| panic!("{name}"));
            let acts = rest.lines().filter_map(|line| line.strip_prefix("@ "));
            let expected: Vec<&str> = rest.lines().filter(|line| !line.starts_with("@ ") && !line.is_empty()).collect();
            let found = Played::new(workflow, acts).play(name);
            count += 1;
            let wanted = expected.join("\n");
            let found = shown(&found, &expected);
            if found != wanted {
                faults.push(format!("--- {name}\n{found}\n--- expected\n{wanted}\n"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count >= 150, "{count}");
}

/// What was found, as far as it is expected.
fn shown(found: &[(String, String, String)], expected: &[&str]) -> String {
    let line = |(name, conclusion, steps): &(String, String, String)| {
        let wants_steps = expected.iter().any(|line| line.starts_with(&format!("{name} => ")) && line.contains(" | "));
        if wants_steps { format!("{name} => {conclusion} | {steps}") } else { format!("{name} => {conclusion}") }
    };
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A run that is played to its end.
struct Played {
    plan: Plan,
    state: RunState,
    acts: VecDeque<String>,
    running: Vec<RunningJob>,
    groups: BTreeMap<String, Group<JobPlace>>,
    reports: BTreeMap<JobPlace, Vec<StepReport>>,
}

impl Played {
    fn new<'a>(workflow: &str, acts: impl Iterator<Item = &'a str>) -> Self {
        let plan = Plan::of(read(workflow), contexts());
        Self {
            state: RunState::new(&plan),
            plan,
            acts: acts.map(str::to_owned).collect(),
            running: Vec::new(),
            groups: BTreeMap::new(),
            reports: BTreeMap::new(),
        }
    }

    fn play(mut self, name: &str) -> Vec<(String, String, String)> {
        self.happen(RunEvent::Begun);
        for _ in 0..ROUNDS_MAX {
            let mut is_moving = false;
            while self.start_queued() {
                is_moving = true;
            }
            is_moving |= self.advance();
            is_moving |= self.act();
            if !is_moving {
                assert!(self.acts.is_empty(), "{name}: never comes to {:?}", self.acts);
                assert!(self.state.conclusion.is_some(), "{name}: never ends: {:?}", self.state);
                return self.found();
            }
        }
        panic!("{name}: goes on for ever");
    }

    fn found(&self) -> Vec<(String, String, String)> {
        let run = self.state.conclusion.unwrap().name().to_owned();
        let job = |(place, job): (JobPlace, &JobState)| {
            let reports = self.reports.get(&place).into_iter().flatten();
            let steps = reports.map(reported).collect::<Vec<_>>().join(" ");
            (job.name.clone(), job.conclusion().unwrap().name().to_owned(), steps)
        };
        std::iter::once(("run".to_owned(), run, String::new())).chain(self.state.jobs().map(job)).collect()
    }

    fn happen(&mut self, event: RunEvent) {
        // What is kept goes on like what stayed in memory.
        let mut kept: RunState = serde_json::from_str(&serde_json::to_string(&self.state).unwrap()).unwrap();
        assert_eq!(kept, self.state);
        let effects = self.state.decide(&self.plan, event.clone());
        assert_eq!(kept.decide(&self.plan, event), effects);
        for effect in effects {
            self.follow(&effect);
        }
    }

    fn follow(&mut self, effect: &Effect) {
        match effect {
            Effect::Ask { job, gate: Gate::Group } => {
                let wish = self.state.job(*job).unwrap().concurrency.clone().unwrap();
                let effects = self.groups.entry(wish.group.clone()).or_default().enter(*job, &wish);
                self.follow_group(&effects);
            }
            Effect::Ask { job, gate } => {
                if self.state.job(*job).unwrap().environment.as_deref() != Some(PROTECTED) {
                    self.happen(RunEvent::Passed { job: *job, gate: *gate });
                }
            }
            Effect::Cancel { job } => {
                self.running.iter_mut().filter(|it| it.place == *job).for_each(RunningJob::cancel);
            }
            Effect::Complete { job, .. } => {
                self.running.retain(|it| it.place != *job);
                let group = self.state.job(*job).unwrap().concurrency.clone().map(|wish| wish.group);
                if let Some(group) = group.and_then(|group| self.groups.get_mut(&group)) {
                    let effects = group.leave(job);
                    self.follow_group(&effects);
                }
            }
            Effect::Queue { .. } | Effect::End { .. } => {}
        }
    }

    fn follow_group(&mut self, effects: &[GroupEffect<JobPlace>]) {
        for effect in effects {
            self.happen(match effect {
                GroupEffect::Go(job) => RunEvent::Passed { job: *job, gate: Gate::Group },
                GroupEffect::Displace(job) => RunEvent::Displaced { job: *job },
                GroupEffect::Refuse(job) => RunEvent::Refused { job: *job, gate: Gate::Group },
            });
        }
    }

    fn start_queued(&mut self) -> bool {
        let queued = self.state.jobs().find(|(_, job)| job.phase == Phase::Queued).map(|(place, _)| place);
        let Some(job) = queued else { return false };
        let told = Told {
            job_id: "job_1".to_owned(),
            run_id: "run_1".to_owned(),
            run_number: 1,
            attempt: 1,
            workflow: "cases".to_owned(),
            repository: "cases".to_owned(),
            vars: Value::Null,
            marker: "0".repeat(32),
            limits: JobLimits::default(),
            server_url: "http://localhost".to_owned(),
            is_debug: false,
        };
        let plan = self.plan.told(&self.state, job, told).unwrap();
        self.running.push(RunningJob::new(job, &plan));
        self.happen(RunEvent::Started { job });
        true
    }

    fn advance(&mut self) -> bool {
        let mut is_moving = false;
        for place in self.running.iter().map(|job| job.place).collect::<Vec<_>>() {
            let Some(job) = self.running.iter_mut().find(|job| job.place == place) else { continue };
            let advance = job.advance();
            let reports = job.reports();
            self.reports.insert(place, reports);
            match advance {
                Advance::Nothing => {}
                Advance::Something => is_moving = true,
                Advance::Over(conclusion, outputs) => {
                    is_moving = true;
                    self.happen(RunEvent::Completed { job: place, conclusion, outputs });
                }
            }
        }
        is_moving
    }

    /// Does what is next to be done, if it can be done now.
    fn act(&mut self) -> bool {
        let Some(act) = self.acts.front().cloned() else { return false };
        let (verb, of) = act.split_once(' ').unwrap();
        let is_done = match verb {
            "rerun" => self.rerun(of),
            "approve" | "reject" => self.answer(verb, of),
            _ => self.strike(verb, of),
        };
        if is_done {
            self.acts.pop_front();
        }
        is_done
    }

    fn named(&self, name: &str) -> Option<JobPlace> {
        self.state.jobs().find(|(_, job)| job.name == name).map(|(place, _)| place)
    }

    fn rerun(&mut self, of: &str) -> bool {
        if self.state.conclusion.is_none() {
            return false;
        }
        let rerun = match of {
            "all" => Rerun::All,
            "failed" => Rerun::Failed,
            name => Rerun::Jobs(vec![self.named(name).unwrap()]),
        };
        self.state = self.state.again(&self.plan, &rerun).expect("something runs again");
        self.happen(RunEvent::Begun);
        true
    }

    fn answer(&mut self, verb: &str, of: &str) -> bool {
        let (gate, Some(job)) = (Gate::Environment, self.named(of)) else { return false };
        if self.state.job(job).unwrap().phase != Phase::Held(gate) {
            return false;
        }
        self.happen(if verb == "approve" { RunEvent::Passed { job, gate } } else { RunEvent::Refused { job, gate } });
        true
    }

    fn strike(&mut self, verb: &str, of: &str) -> bool {
        let (name, step) = of.rsplit_once(' ').unwrap();
        let step: usize = step.parse().unwrap();
        let place = self.named(name);
        let Some(job) = self.running.iter_mut().find(|job| Some(job.place) == place && job.runs(step)) else {
            return false;
        };
        match verb {
            "cancel" => self.happen(RunEvent::Cancelled),
            "force-cancel" => self.happen(RunEvent::ForceCancelled),
            "time-out" => job.time_out(),
            "lose" => {
                let begun = if job.has_begun() { Begun::Step } else { Begun::Nothing };
                let job = job.place;
                self.happen(RunEvent::Lost { job, begun });
            }
            _ => panic!("nobody can {verb}"),
        }
        true
    }
}

fn reported(report: &StepReport) -> String {
    let name = |conclusion: Option<StepConclusion>| conclusion.map_or("pending", StepConclusion::name);
    let (outcome, conclusion) = (name(report.outcome), name(report.conclusion));
    let post = if report.post == Some(true) { "post:" } else { "" };
    if outcome == conclusion { format!("{post}{conclusion}") } else { format!("{post}{outcome}/{conclusion}") }
}
