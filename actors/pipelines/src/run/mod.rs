//! A run: the graph of its jobs, and how far each is.
//!
//! What follows from what is decided by `domain`; [`deciding`] makes rows of it. The run keeps in memory what its file means. Which
//! runner has a job is decided by the pool of runners, by the version of the job's row; what is decided here names that version,
//! too.

mod approvals;
mod deciding;
mod lease;
mod nudge;
mod people;
mod runner;
mod timers;

use std::{collections::BTreeMap, sync::Arc};

use actors_base::tell_repository;
use domain::{
    Error, Result, Timestamp,
    id::RunId,
    pipelines::{
        environments::EnvironmentName,
        expressions::Value,
        run::{Gate, JobPlace, Phase, Plan, RunContexts},
        run_not_found,
        workflow::WorkflowFile,
    },
};
use kernel::{Cpu, CpuKind, Handle, Resource, TimerFired, Turn};
use store::{
    Change, Store,
    pipelines::{RunPlan, StoredEnvironment, StoredJob, StoredRun},
};

pub use self::{
    approvals::ReviewRun,
    lease::Lease,
    nudge::{Nudge, NudgeRun, PIPELINE_EVENTS, RunNudges},
    people::{CancelRun, DeleteRun, How, RerunJobs, RerunLogs, RerunRun},
    runner::{CompleteJob, JobEnd, ReportStatus, Speaker, StartJob, StartedJob},
    timers::{LEASE, QUEUED_MAX, TIMEOUT_GRACE},
};
pub(crate) use self::{
    deciding::{DecidedRun, Deciding},
    nudge::RunNudge,
    timers::SEEN_EVERY,
};
use crate::{
    PipelineServices,
    events::{Asked, approval_asked, run_ended},
    live::{PipelineChange, tell_changes},
    logs::log_ended,
    status::put_status,
};

/// A run.
#[derive(Debug)]
pub struct Run {
    loaded: Option<Loaded>,
}

/// The rows of a run's jobs, those of the newest attempt in which each ran.
pub(crate) type JobRows = BTreeMap<JobPlace, Arc<StoredJob>>;

/// What is known of a run that is there.
#[derive(Clone, Debug)]
struct Loaded {
    run: StoredRun,
    decides_on: Arc<RunPlan>,
    plan: Arc<Plan>,
    /// The jobs' rows as this run wrote or read them last; none of a run that was over. A job that somebody has reserved since has
    /// another row, so that whoever writes one of them reads it, or meets that the commit is stale.
    rows: Option<Arc<JobRows>>,
}

impl Resource for Run {
    type Key = RunId;
    type Services = PipelineServices;

    const KIND: &'static str = "run";

    async fn load(key: &RunId, services: &PipelineServices) -> Result<Self> {
        let store = &services.services.store;
        let Some(run) = store.run_of_any(*key).await? else { return Ok(Self { loaded: None }) };
        let Some(mut decides_on) = store.run_plan(*key).await? else { return Ok(Self { loaded: None }) };
        let mut rows = None;
        if run.conclusion.is_none() {
            let found = store.run_jobs(run.id, run.attempt).await?;
            decides_on.move_jobs(&run, &found);
            rows = Some(Arc::new(rows_of(&decides_on, &run, found)));
        }
        let plan = Arc::new(plan_of(&services.cpu, &run, &decides_on).await?);
        Ok(Self { loaded: Some(Loaded { run, decides_on: Arc::new(decides_on), plan, rows }) })
    }
}

fn rows_of(decides_on: &RunPlan, run: &StoredRun, rows: Vec<StoredJob>) -> JobRows {
    decides_on.rows_of(run, rows).into_iter().map(|(place, row)| (place, Arc::new(row))).collect()
}

/// The plan of a run: what its file means, with the contexts that stay. A file that means nothing has no jobs.
pub(crate) async fn plan_of(cpu: &Cpu, run: &StoredRun, decides_on: &RunPlan) -> Result<Plan> {
    seen_in_plan(cpu, (run, decides_on), |plan| plan).await
}

/// The concurrency group that the newest attempt of a run wants to be in, as its file and its contexts say; none where they say
/// nothing that can be evaluated.
pub async fn group_of_run(cpu: &Cpu, run: &StoredRun, decides_on: &RunPlan) -> Result<Option<String>> {
    let group = |plan: Plan| plan.concurrency().ok().flatten().map(|wish| wish.group);
    seen_in_plan(cpu, (run, decides_on), group).await
}

/// What is seen in the plan of a run, which takes the processor.
async fn seen_in_plan<T: Send + 'static>(
    cpu: &Cpu,
    (run, decides_on): (&StoredRun, &RunPlan),
    look: impl FnOnce(Plan) -> T + Send + 'static,
) -> Result<T> {
    let (text, kept) = (decides_on.text.clone(), KeptContexts::of(run, decides_on));
    let reading = move || -> Result<T> {
        let contexts = kept.read()?;
        Ok(look(Plan::of(WorkflowFile::read(&text).workflow.unwrap_or_default(), contexts)))
    };
    cpu.run(run.org_id.into(), CpuKind::Document, reading).await?
}

/// What the contexts of an attempt of a run are made of.
struct KeptContexts {
    run_id: RunId,
    attempt: u32,
    text: String,
    /// Who had the run run again; none of a first attempt.
    rerun_label: Option<String>,
}

impl KeptContexts {
    fn of(run: &StoredRun, decides_on: &RunPlan) -> Self {
        let rerun_label = decides_on.attempts.last().and_then(|attempt| attempt.rerun_label.clone());
        Self { run_id: run.id, attempt: run.attempt, text: decides_on.contexts.clone(), rerun_label }
    }

    fn read(&self) -> Result<RunContexts> {
        let strange = || Error::internal(format_args!("contexts of {}", self.run_id));
        let mut contexts: serde_json::Value = serde_json::from_str(&self.text).map_err(|_| strange())?;
        contexts["github"]["run_attempt"] = self.attempt.to_string().into();
        if let Some(label) = self.rerun_label.as_deref() {
            contexts["github"]["triggering_actor"] = label.into();
        }
        let of = |name: &str| Value::read_json(&contexts[name].to_string()).map_err(|_| strange());
        Ok(RunContexts { github: of("github")?, inputs: of("inputs")?, vars: of("vars")? })
    }
}

/// The contexts that stay the same throughout an attempt of a run.
pub(crate) fn contexts_of(run: &StoredRun, decides_on: &RunPlan) -> Result<RunContexts> {
    KeptContexts::of(run, decides_on).read()
}

impl Loaded {
    /// The jobs' rows: those of this attempt, and those of earlier ones that don't run again.
    async fn rows(&self, store: &Store) -> Result<JobRows> {
        let rows = store.run_jobs(self.run.id, self.run.attempt).await?;
        Ok(rows_of(&self.decides_on, &self.run, rows))
    }

    async fn deciding<'a>(&'a self, store: &'a Store, now: Timestamp) -> Result<Deciding<'a>> {
        let rows = self.rows(store).await?;
        Ok(Deciding::new((store, now), (self.run.clone(), RunPlan::clone(&self.decides_on)), &self.plan, rows))
    }

    /// The same for what happened to one job, whose row was read just now: a run of a thousand jobs doesn't read them all for each.
    async fn deciding_on<'a>(&'a self, store: &'a Store, now: Timestamp, job: &StoredJob) -> Result<Deciding<'a>> {
        let mut rows = match &self.rows {
            Some(known) => JobRows::clone(known),
            None => self.rows(store).await?,
        };
        rows.insert(job.place, Arc::new(job.clone()));
        Ok(Deciding::new((store, now), (self.run.clone(), RunPlan::clone(&self.decides_on)), &self.plan, rows))
    }
}

impl Run {
    /// The run; 404 where it is gone.
    fn loaded(&self) -> Result<Loaded> {
        self.loaded.clone().ok_or_else(run_not_found)
    }

    /// Commits what was decided, and applies it.
    async fn settle(&mut self, decided: DecidedRun, turn: &mut Turn<'_, Self>) -> Result<()> {
        let DecidedRun { mut run, decides_on, mut change, is_queued, ended, mut changes, rows } = decided;
        let before = self.loaded()?;
        let has_ended = run.conclusion.is_some() && before.run.conclusion.is_none();
        let mut status = None;
        if has_ended || run.attempt != before.run.attempt {
            status = put_status(&mut change, turn.services(), &run, turn.now()).await?;
        }
        if has_ended {
            let store = &turn.services().services.store;
            run_ended(&mut change, store, (&run, &decides_on), turn.now()).await?;
        }
        reviews_over(&mut change, turn, (&before, &run, &decides_on)).await?;
        let is_same_attempt = run.attempt == before.run.attempt;
        change.run_set(&run);
        // What jobs' rows say needn't be written of a thousand jobs for each that starts or ends.
        if !is_same_attempt || !decides_on.state.has_just_moved(&before.decides_on.state) {
            change.run_plan_set(&run, &decides_on);
        }
        turn.commit(change).await?;
        run.version += 1;
        let plan = if is_same_attempt {
            before.plan
        } else {
            Arc::new(plan_of(&turn.services().cpu, &run, &decides_on).await?)
        };
        if is_queued {
            turn.services().waiting.wake(run.org_id);
        }
        changes.push(PipelineChange::Run { run_id: run.id, version: run.version });
        tell_changes(&turn.services().services.hub, run.repository_id, changes);
        tell_repository(&turn.services().services.hub, run.repository_id, status);
        for job_id in ended {
            log_ended(&turn.services().services.hub, job_id);
        }
        let rows = is_same_attempt.then(|| Arc::new(rows));
        self.loaded = Some(Loaded { run, decides_on: Arc::new(decides_on), plan, rows });
        Ok(())
    }
}

/// Tells reviewers of environments for which no job waits any more.
async fn reviews_over(
    change: &mut Change,
    turn: &Turn<'_, Run>,
    (before, run, after): (&Loaded, &StoredRun, &RunPlan),
) -> Result<()> {
    let (store, now) = (&turn.services().services.store, turn.now());
    let mut over = held_at(&before.decides_on);
    for key in held_at(after).keys() {
        over.remove(key);
    }
    for name in over.into_values() {
        let found = store.environment(run.no, &name).await?;
        if found.as_ref().is_some_and(|it| it.protection.reviewers.is_empty()) {
            continue;
        }
        let environment = found.unwrap_or_else(|| StoredEnvironment::new(name, now));
        approval_asked(change, store, (&before.run, &environment, Asked::NoMore), now).await?;
    }
    Ok(())
}

/// The environments for which jobs wait.
fn held_at(decides_on: &RunPlan) -> BTreeMap<String, EnvironmentName> {
    let held = decides_on.state.jobs().filter(|(_, job)| job.phase == Phase::Held(Gate::Environment));
    let named = held.filter_map(|(_, job)| EnvironmentName::parse("environment", job.environment.as_deref()?).ok());
    named.map(|name| (name.key(), name)).collect()
}

impl Handle<NudgeRun> for Run {
    async fn handle(&mut self, command: &NudgeRun, turn: &mut Turn<'_, Self>) -> Result<()> {
        let Some(loaded) = self.loaded.clone() else { return Ok(()) };
        if loaded.run.conclusion.is_some() {
            return Ok(());
        }
        let store = turn.services().services.store.clone();
        let mut deciding = loaded.deciding(&store, turn.now()).await?;
        deciding.take_nudge(command.0.clone()).await?;
        self.settle(deciding.finish()?, turn).await
    }
}

impl Handle<TimerFired> for Run {
    async fn handle(&mut self, fired: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        match timers::JobTimer::read(&fired.name) {
            Some(timers::JobTimer::Lease(id)) => self.lease_over(id, turn).await,
            Some(timers::JobTimer::Timeout(id)) => self.time_over(id, turn).await,
            Some(timers::JobTimer::Wait(id)) => self.wait_over(id, turn).await,
            Some(timers::JobTimer::Approval(id)) => self.approval_over(id, turn).await,
            Some(timers::JobTimer::Queue(id)) => self.queue_over(id, turn).await,
            None => Ok(()),
        }
    }
}
