//! `troupe runner exec FILE`: a workflow on this machine, without a server. The jobs are planned by the code with which the
//! server plans them, and done by the worker that does a server's jobs.

mod contexts;
mod groups;
mod shown;

use std::{
    collections::{BTreeMap, VecDeque},
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use domain::pipelines::{
    expressions::Value,
    job::{JobLimits, JobStatus, Told},
    run::{Begun, Effect, Gate, JobConclusion, JobPlace, JobState, Phase, Plan, RunConclusion, RunEvent, RunState},
    workflow::Workflow,
};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::{mpsc, watch},
    task::JoinSet,
};

pub use self::shown::Shows;
use self::{contexts::Source, groups::Groups, shown::Shown};
use super::{
    check,
    error::{Result, RunnerError},
    random,
    supervisor::{Ended, Supervised},
    words::{Assignment, Files},
};

/// What somebody asked for.
pub struct Exec {
    /// The workflow's file.
    pub file: PathBuf,
    /// The job that is to run, with all that it needs; all jobs where nothing is said.
    pub job: Option<String>,
    /// Jobs that run at the same time.
    pub jobs: usize,
    /// The event that the run is said to be started by.
    pub event: String,
    /// Inputs, variables and secrets by their names.
    pub inputs: BTreeMap<String, String>,
    /// Variables by their names.
    pub vars: BTreeMap<String, String>,
    /// Secrets by their names.
    pub secrets: BTreeMap<String, String>,
    /// How what happens is shown.
    pub shows: Shows,
    /// How long a minute is, in milliseconds.
    pub minute_ms: u64,
    /// A command before each step.
    pub wrapper: Vec<String>,
    /// Whether lines for whoever looks for mistakes are shown.
    pub is_debug: bool,
}

/// How a job ended.
struct JobOver {
    place: JobPlace,
    ended: io::Result<Ended>,
}

/// A run that is done here.
struct LocalRun {
    exec: Exec,
    plan: Plan,
    state: RunState,
    source: Source,
    folder: PathBuf,
    groups: Groups,
    waiting: VecDeque<JobPlace>,
    running: BTreeMap<JobPlace, watch::Sender<bool>>,
    over: mpsc::UnboundedSender<JobOver>,
    tasks: JoinSet<()>,
    shown: Shown,
}

impl Exec {
    /// Does the run, and says how it ended: 0 for success, 1 for everything else.
    pub async fn run(self) -> Result<ExitCode> {
        let mut workflow = check::workflow(&self.file)?;
        if let Some(job) = &self.job {
            keep(&mut workflow, job)?;
        }
        let source = Source::of(&self.file).await;
        let folder = std::env::temp_dir().join(format!("troupe-exec-{}", random()?));
        fs::create_dir_all(&folder).map_err(RunnerError::file(&folder))?;
        let plan = Plan::of(workflow, source.contexts(&self));
        let (over, ended) = mpsc::unbounded_channel();
        let run = LocalRun {
            state: RunState::new(&plan),
            plan,
            source,
            folder: folder.clone(),
            groups: Groups::default(),
            waiting: VecDeque::new(),
            running: BTreeMap::new(),
            over,
            tasks: JoinSet::new(),
            shown: Shown::new(self.shows),
            exec: self,
        };
        let conclusion = run.run(ended).await;
        drop(fs::remove_dir_all(&folder));
        match conclusion? {
            RunConclusion::Success | RunConclusion::Skipped => Ok(ExitCode::SUCCESS),
            _ => Ok(ExitCode::FAILURE),
        }
    }
}

/// Leaves a job and all that it needs.
fn keep(workflow: &mut Workflow, job: &str) -> Result<()> {
    let known: Vec<&str> = workflow.jobs.iter().map(|job| job.key.as_str()).collect();
    if !known.contains(&job) {
        return Err(RunnerError::NoJob { job: job.to_owned(), known: known.join(", ") });
    }
    let mut wanted = vec![job.to_owned()];
    let mut at = 0;
    while let Some(key) = wanted.get(at).cloned() {
        let of = workflow.jobs.iter().find(|job| job.key.as_str() == key);
        let needs: Vec<String> = of.into_iter().flat_map(|of| &of.needs).map(|key| key.as_str().to_owned()).collect();
        wanted.extend(needs.into_iter().filter(|key| !wanted.contains(key)).collect::<Vec<_>>());
        at += 1;
    }
    workflow.jobs.retain(|job| wanted.iter().any(|key| key == job.key.as_str()));
    Ok(())
}

impl LocalRun {
    async fn run(mut self, mut ended: mpsc::UnboundedReceiver<JobOver>) -> Result<RunConclusion> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        self.happen(RunEvent::Begun);
        loop {
            self.start_waiting()?;
            if let Some(conclusion) = self.state.conclusion
                && self.running.is_empty()
            {
                self.shown.over(&self.plan, &self.state, conclusion);
                return Ok(conclusion);
            }
            tokio::select! {
                over = ended.recv() => if let Some(over) = over {
                    self.job_over(over)?;
                },
                _ = interrupt.recv() => self.cancel(),
                _ = terminate.recv() => self.force_cancel(),
            }
        }
    }

    /// The first time jobs end as their conditions say; the second time all end.
    fn cancel(&mut self) {
        if self.state.is_cancelled {
            return self.force_cancel();
        }
        self.happen(RunEvent::Cancelled);
    }

    fn force_cancel(&mut self) {
        self.happen(RunEvent::ForceCancelled);
        self.tasks.abort_all();
        self.running.clear();
        self.waiting.clear();
    }

    fn happen(&mut self, event: RunEvent) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            for effect in self.state.decide(&self.plan, event) {
                events.extend(self.follow(&effect));
            }
        }
    }

    /// Does what follows, and says what that means for the run.
    fn follow(&mut self, effect: &Effect) -> Vec<RunEvent> {
        match effect {
            Effect::Ask { job, gate: Gate::Group } => {
                let wish = self.state.job(*job).and_then(|job| job.concurrency.clone());
                wish.map(|wish| self.groups.enter(*job, &wish)).unwrap_or_default()
            }
            // There is nobody to review what happens on one's own machine.
            Effect::Ask { job, gate } => vec![RunEvent::Passed { job: *job, gate: *gate }],
            Effect::Queue { job } => {
                self.waiting.push_back(*job);
                Vec::new()
            }
            Effect::Cancel { job } => {
                if let Some(cancel) = self.running.get(job) {
                    cancel.send_replace(true);
                }
                Vec::new()
            }
            Effect::Complete { job, .. } => {
                self.waiting.retain(|waiting| waiting != job);
                if let Some(fault) = self.state.job(*job).and_then(|job| job.fault.clone()) {
                    self.shown.line(&self.name(*job), &format!("##[error]{fault}"));
                }
                let wish = self.state.job(*job).and_then(|job| job.concurrency.clone());
                wish.map(|wish| self.groups.leave(*job, &wish.group)).unwrap_or_default()
            }
            Effect::End { .. } => Vec::new(),
        }
    }

    fn name(&self, place: JobPlace) -> String {
        self.state.job(place).map(|job| job.name.clone()).unwrap_or_default()
    }

    fn start_waiting(&mut self) -> Result<()> {
        while self.running.len() < self.exec.jobs.max(1)
            && let Some(place) = self.waiting.pop_front()
        {
            if self.state.job(place).is_some_and(|job| job.phase == Phase::Queued) {
                self.start(place)?;
            }
        }
        Ok(())
    }

    fn start(&mut self, place: JobPlace) -> Result<()> {
        let name = self.name(place);
        let assignment = self.assignment(place)?;
        let (cancel, is_cancelled) = watch::channel(false);
        self.running.insert(place, cancel);
        self.happen(RunEvent::Started { job: place });
        let (steps, told) = watch::channel(Vec::new());
        let (over, shown) = (self.over.clone(), self.shown.clone());
        self.tasks.spawn(async move {
            let lines = shown.lines(&name);
            let follow = async {
                let supervised = Supervised::start(assignment, lines, steps).await?;
                shown.started(&name, supervised.pid());
                supervised.follow(is_cancelled).await
            };
            let ended = tokio::select! {
                ended = follow => ended,
                never = shown.steps(&name, told) => never,
            };
            drop(over.send(JobOver { place, ended }));
        });
        Ok(())
    }

    fn assignment(&self, place: JobPlace) -> Result<Assignment> {
        let told = Told {
            job_id: format!("job_{}_{}", place.node, place.index),
            run_id: "1".to_owned(),
            run_number: 1,
            attempt: 1,
            workflow: self.source.workflow(self.plan.workflow()),
            repository: self.source.repository.clone(),
            vars: Value::object(
                self.exec.vars.iter().map(|(name, value)| (name.as_str(), Value::text(value.as_str()))),
            ),
            marker: random()?,
            limits: JobLimits::default(),
            server_url: contexts::SERVER_URL.to_owned(),
            is_debug: self.exec.is_debug,
        };
        let missing = || RunnerError::System(io::Error::other("the job's contexts take more than they may"));
        let plan = self.plan.told(&self.state, place, told).ok_or_else(missing)?;
        let folder = self.folder.join(format!("{}-{}", place.node, place.index));
        Ok(Assignment {
            plan,
            secrets: self.exec.secrets.clone(),
            runner: "exec".to_owned(),
            folder,
            wrapper: self.exec.wrapper.clone(),
            is_debug: self.exec.is_debug,
            minute_ms: self.exec.minute_ms,
            closed: None,
            files: Files::Here { repository: self.source.repository_folder(), kept: self.folder.join("artifacts") },
        })
    }

    fn job_over(&mut self, over: JobOver) -> Result<()> {
        let JobOver { place, ended } = over;
        self.running.remove(&place);
        let ended = ended?;
        self.shown.ended(place, &ended);
        let event = if let Some(over) = ended.over {
            RunEvent::Completed { job: place, conclusion: conclusion(&over), outputs: over.outputs }
        } else {
            let has_begun = ended.steps.iter().any(|step| step.started_at.is_some());
            RunEvent::Lost { job: place, begun: if has_begun { Begun::Step } else { Begun::Nothing } }
        };
        self.happen(event);
        drop(remove(&self.folder.join(format!("{}-{}", place.node, place.index))));
        Ok(())
    }
}

/// What a worker's last word means for the run.
fn conclusion(over: &super::words::Over) -> JobConclusion {
    match over.status {
        JobStatus::Cancelled if over.has_timed_out => JobConclusion::TimedOut,
        JobStatus::Success => JobConclusion::Success,
        JobStatus::Failure => JobConclusion::Failure,
        JobStatus::Cancelled => JobConclusion::Cancelled,
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    fs::remove_dir_all(folder)
}

/// Whether a job is one that people see as failed.
fn is_bad(job: &JobState) -> bool {
    !matches!(job.conclusion(), Some(JobConclusion::Success | JobConclusion::Skipped))
}
