//! What a job's runner asks and says, and what follows where it says nothing.

use std::{borrow::Cow, collections::BTreeMap};

use domain::{
    Error, Result, Timestamp,
    id::JobId,
    pipelines::{
        job::{JobPlan, StepReport, StepStatus, Told},
        job_over, job_unknown,
        run::{Begun, JobConclusion, RunEvent},
        runner::{RESERVED_FOR, UNCLAIMED, runner_lost},
        values::variables_of_job,
    },
    token::TokenHash,
};
use kernel::{Command, Handle, Turn};
use serde_json::{json, value::RawValue};
use store::{
    Change, Store,
    pipelines::{GivenToJob, JobReport, JobStage, StoredJob},
};

use super::{Loaded, Run, timers};
use crate::secrets::{given_now, too_much};

/// Starts a job, whose runner gets its plan; a job that was started gets the same plan again.
#[derive(Clone, Copy, Debug)]
pub struct StartJob(pub Speaker);

/// A runner that speaks for a job.
#[derive(Clone, Copy, Debug)]
pub struct Speaker {
    /// The job.
    pub job_id: JobId,
    /// What the store keeps of the token that the runner shows. The job may have gone to another runner since.
    pub token: Option<TokenHash>,
}

/// What the runner of a started job is told.
#[derive(Clone, Debug)]
pub struct StartedJob {
    /// The plan.
    pub plan: JobPlan,
    /// What the job is given.
    pub given: GivenToJob,
}

/// Says how far a job's steps are.
#[derive(Clone, Debug)]
pub struct ReportStatus {
    /// Who says so.
    pub speaker: Speaker,
    /// All steps.
    pub steps: Vec<StepReport>,
}

/// Ends a job.
#[derive(Clone, Debug)]
pub struct CompleteJob {
    /// Who says so.
    pub speaker: Speaker,
    /// How it ended.
    pub end: JobEnd,
}

/// How a job ended, as its runner says.
#[derive(Clone, Debug)]
pub struct JobEnd {
    /// How it ended.
    pub conclusion: JobConclusion,
    /// What it hands to jobs that need it.
    pub outputs: BTreeMap<String, String>,
    /// Where to see what it deployed.
    pub environment_url: Option<String>,
    /// The rest of what the runner says.
    pub report: JobReport,
}

impl JobEnd {
    /// How the job ended, and what is said of it. One that nothing but its time had cancelled took too long.
    fn of(&self, job: &StoredJob, now: Timestamp) -> (JobConclusion, Cow<'_, JobReport>) {
        let is_cancelled = self.conclusion == JobConclusion::Cancelled;
        if !is_cancelled || job.stage == JobStage::Cancelling || !timers::is_time_over(job, now) {
            return (self.conclusion, Cow::Borrowed(&self.report));
        }
        let mut report = self.report.clone();
        if report.error.is_empty() {
            report.error = took_too_long(job);
        }
        (JobConclusion::TimedOut, Cow::Owned(report))
    }
}

impl Command for StartJob {
    type Reply = StartedJob;

    const NAME: &'static str = "start_job";
}

impl Command for ReportStatus {
    /// Whether the runner has to stop the job.
    type Reply = bool;

    const NAME: &'static str = "report_status";
}

impl Command for CompleteJob {
    type Reply = ();

    const NAME: &'static str = "complete_job";
}

/// 409: the runner hasn't asked for the plan yet.
fn not_started() -> Error {
    Error::conflict("job_not_started", "Ask for the job's plan first.")
}

/// The run's job as it is now, where its runner is still the one that speaks.
async fn job_of(store: &Store, loaded: &Loaded, speaker: &Speaker) -> Result<StoredJob> {
    let is_its = |job: &StoredJob| job.run_id == loaded.run.id && job.token.is_some() && job.token == speaker.token;
    store.job(loaded.run.no, speaker.job_id).await?.filter(is_its).ok_or_else(job_unknown)
}

/// The run's job that isn't over.
async fn open_job(store: &Store, loaded: &Loaded, speaker: &Speaker) -> Result<StoredJob> {
    let job = job_of(store, loaded, speaker).await?;
    match job.conclusion {
        Some(conclusion) => Err(job_over(conclusion)),
        None if job.stage == JobStage::Queued => Err(job_unknown()),
        None => Ok(job),
    }
}

impl Handle<StartJob> for Run {
    async fn handle(&mut self, command: &StartJob, turn: &mut Turn<'_, Self>) -> Result<StartedJob> {
        let mut loaded = self.loaded.clone().ok_or_else(job_unknown)?;
        let (store, now) = (turn.services().services.store.clone(), turn.now());
        let job = open_job(&store, &loaded, &command.0).await?;
        let before = store.given_to_job(job.id).await?;
        let mut given = before.clone().unwrap_or_default();
        let mut plan = None;
        if job.stage == JobStage::Reserved {
            let asked = loaded.told(&job, turn, &GivenToJob::default()).await?;
            given = given_now(&store, &job, &asked).await?;
            plan = Some(asked).filter(|_| given.variables.is_empty());
            let mut deciding = loaded.deciding_on(&store, now, &job).await?;
            deciding.take(RunEvent::Started { job: job.place }).await?;
            if let Some(why) = too_much(&given) {
                let (conclusion, outputs) = (JobConclusion::Failure, BTreeMap::new());
                deciding.take(RunEvent::Completed { job: job.place, conclusion, outputs }).await?;
                deciding.change.job_report_put(job.no, job.id, &failed_report(None, why)?);
                self.settle(deciding.finish()?, turn).await?;
                return Err(job_over(conclusion));
            }
            if before.is_some() || given != GivenToJob::default() {
                deciding.change.given_to_job_put(job.no, job.id, &given);
            }
            let taker = match &job.runner {
                Some((id, _)) => store.runner(job.org_id, *id).await?,
                None => None,
            };
            if let Some(runner) = taker.filter(|runner| runner.is_ephemeral) {
                deciding.change.runner_remove(runner.id);
            }
            self.settle(deciding.finish()?, turn).await?;
            loaded = self.loaded()?;
        }
        let plan = match plan {
            Some(plan) => plan,
            None => loaded.told(&job, turn, &given).await?,
        };
        Ok(StartedJob { plan, given })
    }
}

impl Loaded {
    /// The plan of a job that is given this.
    async fn told(&self, job: &StoredJob, turn: &Turn<'_, Run>, given: &GivenToJob) -> Result<JobPlan> {
        let services = &turn.services().services;
        let repository = services.store.repository(self.run.org_id, self.run.repository_id).await?;
        let told = Told {
            job_id: job.id.to_string(),
            run_id: self.run.id.to_string(),
            run_number: u64::try_from(self.run.number).unwrap_or_default(),
            attempt: self.run.attempt,
            workflow: self.run.workflow.clone(),
            repository: repository.map(|it| it.resource.name).unwrap_or_default(),
            vars: variables_of_job(&self.plan.contexts().vars, &given.variables),
            marker: job.marker.clone(),
            limits: services.settings.job_limits,
            server_url: services.settings.public_url.clone(),
            is_debug: self.decides_on.is_debug(),
        };
        let plan = self.plan.told(&self.decides_on.state, job.place, told);
        plan.ok_or_else(|| Error::internal(format_args!("{} has no plan", job.id)))
    }
}

impl Handle<ReportStatus> for Run {
    async fn handle(&mut self, command: &ReportStatus, turn: &mut Turn<'_, Self>) -> Result<bool> {
        let loaded = self.loaded.as_ref().ok_or_else(job_unknown)?;
        let job = open_job(&turn.services().services.store, loaded, &command.speaker).await?;
        if !job.stage.is_running() {
            return Err(not_started());
        }
        let mut change = Change::new();
        change.job_steps_put(job.id, job.token.as_ref(), &command.steps);
        change.job_seen(job.id, turn.now());
        turn.commit(change).await?;
        Ok(job.stage == JobStage::Cancelling || timers::is_time_over(&job, turn.now()))
    }
}

impl Handle<CompleteJob> for Run {
    async fn handle(&mut self, command: &CompleteJob, turn: &mut Turn<'_, Self>) -> Result<()> {
        let loaded = self.loaded.clone().ok_or_else(job_unknown)?;
        let (store, now) = (turn.services().services.store.clone(), turn.now());
        let CompleteJob { speaker, end } = command;
        let mut job = job_of(&store, &loaded, speaker).await?;
        if let Some(conclusion) = job.conclusion {
            let said = store.job_report(job.no, job.id).await?.and_then(|report| report.body);
            return if said.is_some() && said == end.report.body { Ok(()) } else { Err(job_over(conclusion)) };
        }
        if !job.stage.is_running() {
            return Err(not_started());
        }
        job.environment_url.clone_from(&end.environment_url);
        let ((conclusion, report), outputs) = (end.of(&job, now), end.outputs.clone());
        let mut deciding = loaded.deciding_on(&store, now, &job).await?;
        deciding.take(RunEvent::Completed { job: job.place, conclusion, outputs }).await?;
        deciding.change.job_report_put(job.no, job.id, &report);
        self.settle(deciding.finish()?, turn).await
    }
}

impl Run {
    /// Looks whether a runner was silent for too long.
    pub(super) async fn lease_over(&mut self, id: JobId, turn: &mut Turn<'_, Self>) -> Result<()> {
        let Some(loaded) = self.loaded.as_ref() else { return Ok(()) };
        let (store, now) = (turn.services().services.store.clone(), turn.now());
        let Some(job) = store.job(loaded.run.no, id).await?.filter(|job| job.stage.is_running()) else { return Ok(()) };
        // While no node ran, no runner could say anything.
        let seen = job.seen_at.or(job.started_at).unwrap_or(now).max(turn.services().started_at);
        if seen.after(timers::LEASE) > now {
            let mut change = Change::new();
            timers::renew(&mut change, &loaded.run, id, seen);
            return turn.commit(change).await;
        }
        let report = store.job_report(job.no, id).await?;
        // What was written to the log was seen by people, and the next runner would begin at line 0 again.
        let has_begun = report.iter().flat_map(|it| &it.steps).any(|step| step.status != StepStatus::Pending)
            || store.job_log(id).await?.is_some_and(|log| log.head.received > 0);
        let begun = if has_begun { Begun::Step } else { Begun::Nothing };
        let mut deciding = loaded.deciding(&store, now).await?;
        deciding.take(RunEvent::Lost { job: job.place, begun }).await?;
        let is_over = deciding.decides_on.state.job(job.place).is_some_and(|job| job.conclusion().is_some());
        if is_over {
            let name = job.runner.as_ref().map(|(_, name)| name.as_str()).unwrap_or_default();
            let report = failed_report(report, runner_lost(name, seen))?;
            deciding.change.job_report_put(job.no, id, &report);
        }
        let decided = deciding.finish()?;
        self.settle(decided, turn).await?;
        turn.services().lost_runners.add();
        Ok(())
    }

    /// Ends a job that no runner took.
    pub(super) async fn queue_over(&mut self, id: JobId, turn: &mut Turn<'_, Self>) -> Result<()> {
        let Some(loaded) = self.loaded.as_ref() else { return Ok(()) };
        let (store, now) = (turn.services().services.store.clone(), turn.now());
        let Some(job) = store.job(loaded.run.no, id).await? else { return Ok(()) };
        match job.stage {
            JobStage::Queued => {}
            // A runner was given it just now, which may not ask for the plan.
            JobStage::Reserved => {
                let mut change = Change::new();
                timers::look_at_queued(&mut change, &loaded.run, id, now.after(2 * RESERVED_FOR));
                return turn.commit(change).await;
            }
            _ => return Ok(()),
        }
        let mut deciding = loaded.deciding(&store, now).await?;
        deciding.take(RunEvent::Unclaimed { job: job.place }).await?;
        deciding.change.job_report_put(job.no, id, &failed_report(None, UNCLAIMED.to_owned())?);
        let decided = deciding.finish()?;
        self.settle(decided, turn).await
    }

    /// Ends a job that takes longer than it may, and whose runner doesn't say so.
    pub(super) async fn time_over(&mut self, id: JobId, turn: &mut Turn<'_, Self>) -> Result<()> {
        let Some(loaded) = self.loaded.clone() else { return Ok(()) };
        let store = turn.services().services.store.clone();
        let Some(job) = store.job(loaded.run.no, id).await?.filter(|job| job.stage.is_running()) else { return Ok(()) };
        let report = failed_report(store.job_report(job.no, id).await?, took_too_long(&job))?;
        let mut deciding = loaded.deciding(&store, turn.now()).await?;
        deciding.take(RunEvent::TimedOut { job: job.place }).await?;
        deciding.change.job_report_put(job.no, id, &report);
        self.settle(deciding.finish()?, turn).await
    }
}

/// What is said of a job that took longer than it may.
fn took_too_long(job: &StoredJob) -> String {
    format!("The job took longer than its {} minutes.", job.timeout_minutes)
}

/// What is said of a job that fails without its runner's doing, beside what its runner said before.
fn failed_report(before: Option<JobReport>, message: String) -> Result<JobReport> {
    let annotations = json!([{ "level": "error", "message": message }]).to_string();
    let annotations = RawValue::from_string(annotations).map_err(Error::internal)?;
    let steps = before.map(|it| it.steps).unwrap_or_default();
    Ok(JobReport { steps, annotations, summary: String::new(), error: message, body: None::<TokenHash> })
}
