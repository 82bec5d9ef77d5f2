//! How a run goes on: what its state machine decides, as rows.
//!
//! The state machine of `domain` says what follows from what; here its effects become jobs that are queued, groups that are
//! entered and left, and events of other runs, which are entries of the work queue. All of it is one change.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use domain::{
    Result, Timestamp,
    id::JobId,
    pipelines::{
        concurrency::GroupEffect,
        environments::{
            Admission, ApprovalDecision, ENVIRONMENT_DELETED, ENVIRONMENTS_MAX, EnvironmentName, Review,
            branch_not_admitted, too_many_environments,
        },
        run::{Effect, Gate, GroupWish, JobPlace, JobState, Phase, Plan, RunConclusion, RunEvent, RunStatus},
    },
    token::random_bytes,
};
use store::{
    Change, NewWork, Store,
    pipelines::{
        GroupMember, JobStage, RunPlan, RunProblem, StoredApproval, StoredEnvironment, StoredGroup, StoredJob,
        StoredRun,
    },
};

use super::{
    JobRows,
    nudge::{Nudge, PIPELINE_EVENTS, RunNudge},
    timers,
};
use crate::{
    events::{Asked, approval_asked},
    live::PipelineChange,
    logs::seal_log,
};

/// Bytes of what the runner's own lines of a log begin with; written as twice as many hexadecimal digits.
const MARKER_LEN: usize = 16;

/// A run that is being decided on.
pub(crate) struct Deciding<'a> {
    pub store: &'a Store,
    pub now: Timestamp,
    pub run: StoredRun,
    pub decides_on: RunPlan,
    pub plan: &'a Plan,
    /// The jobs' rows.
    pub rows: JobRows,
    pub change: Change,
    /// The groups that were read, as they are then; those that are taken out are written by whoever took them.
    pub groups: BTreeMap<String, StoredGroup>,
    /// Events of this run that follow.
    next: VecDeque<Nudge>,
    is_queued: bool,
    /// Jobs that came to their environments, and wait there.
    waiting: Vec<Waiting>,
    ended: Vec<JobId>,
    changes: Vec<PipelineChange>,
}

/// A job that waits for its environment.
struct Waiting {
    job: JobPlace,
    environment: StoredEnvironment,
    review: Review,
    until: Option<Timestamp>,
}

/// What was decided: the run as it is then, and whether runners have something to take.
pub(crate) struct DecidedRun {
    pub run: StoredRun,
    pub decides_on: RunPlan,
    pub change: Change,
    pub is_queued: bool,
    /// Jobs that ended, and whose logs are complete by that.
    pub ended: Vec<JobId>,
    /// The jobs that were made or changed.
    pub changes: Vec<PipelineChange>,
    /// The jobs' rows, as they are then.
    pub rows: JobRows,
}

impl<'a> Deciding<'a> {
    /// A run that was just made, or is in the store.
    pub(crate) fn new(
        (store, now): (&'a Store, Timestamp),
        (run, decides_on): (StoredRun, RunPlan),
        plan: &'a Plan,
        rows: JobRows,
    ) -> Self {
        Self {
            store,
            now,
            run,
            decides_on,
            plan,
            rows,
            change: Change::new(),
            groups: BTreeMap::new(),
            next: VecDeque::new(),
            is_queued: false,
            waiting: Vec::new(),
            ended: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// Has the run begin, once its group lets it.
    pub(crate) async fn begin(&mut self) -> Result<()> {
        match self.plan.concurrency() {
            Ok(None) => self.take(RunEvent::Begun).await,
            Ok(Some(wish)) => {
                self.run.waits_for_group = true;
                let member = GroupMember { run_id: self.run.id, job: None };
                self.enter(member, &wish).await?;
                self.follow().await
            }
            Err(fault) => {
                self.run.problems = Some(vec![RunProblem { message: fault, line: None, column: None }]);
                self.end(RunConclusion::StartupFailure);
                Ok(())
            }
        }
    }

    /// Takes an event in, and whatever follows from it.
    pub(crate) async fn take(&mut self, event: RunEvent) -> Result<()> {
        self.next.push_back(Nudge::Event(event));
        self.follow().await
    }

    /// Takes in what follows for this run from what happened to another, or to the run itself.
    pub(crate) async fn take_nudge(&mut self, nudge: Nudge) -> Result<()> {
        self.next.push_back(nudge);
        self.follow().await
    }

    async fn follow(&mut self) -> Result<()> {
        while let Some(nudge) = self.next.pop_front() {
            let event = match nudge {
                Nudge::Event(event) => event,
                Nudge::Begin if self.run.waits_for_group => {
                    self.run.waits_for_group = false;
                    RunEvent::Begun
                }
                Nudge::Begin => continue,
                Nudge::Cancel => {
                    self.run.is_cancel_requested = true;
                    RunEvent::Cancelled
                }
                Nudge::EnvironmentDeleted { environment } => {
                    self.environment_deleted(&environment);
                    continue;
                }
            };
            for effect in self.decides_on.state.decide(self.plan, event) {
                self.do_effect(effect).await?;
            }
        }
        Ok(())
    }

    async fn do_effect(&mut self, effect: Effect) -> Result<()> {
        match effect {
            Effect::Ask { job, gate } => self.ask(job, gate).await,
            Effect::Queue { .. } | Effect::Cancel { .. } => Ok(()),
            Effect::Complete { job, .. } => self.leave_of_job(job).await,
            Effect::End { conclusion } => {
                self.end(conclusion);
                self.leave_of_run().await
            }
        }
    }

    /// Lets a job pass a gate, or has it wait there.
    async fn ask(&mut self, job: JobPlace, gate: Gate) -> Result<()> {
        let wish = self.decides_on.state.job(job).and_then(|job| job.concurrency.clone());
        match (gate, wish) {
            (Gate::Group, Some(wish)) => self.enter(GroupMember { run_id: self.run.id, job: Some(job) }, &wish).await,
            (Gate::Environment, _) => self.come_to_environment(job).await,
            (gate, _) => {
                self.pass(job, gate);
                Ok(())
            }
        }
    }

    fn pass(&mut self, job: JobPlace, gate: Gate) {
        self.next.push_back(Nudge::Event(RunEvent::Passed { job, gate }));
    }

    /// Has a job fail at its environment, which says why.
    fn refuse(&mut self, job: JobPlace, why: String) {
        self.decides_on.state.fault_put(job, why);
        self.next.push_back(Nudge::Event(RunEvent::Refused { job, gate: Gate::Environment }));
    }

    /// The same, and whatever follows from it.
    pub(super) async fn fail_at_environment(&mut self, job: JobPlace, why: String) -> Result<()> {
        self.refuse(job, why);
        self.follow().await
    }

    /// The row of the job with this id, where the job waits for its environment.
    pub(super) fn job_row(&self, id: JobId) -> Option<StoredJob> {
        let row = self.rows.values().find(|row| row.id == id)?;
        let is_held = self.decides_on.state.job(row.place)?.phase == Phase::Held(Gate::Environment);
        is_held.then(|| StoredJob::clone(row))
    }

    /// Lets a job pass its environment, has it wait there, or has it fail. An environment that nobody named before is made.
    async fn come_to_environment(&mut self, job: JobPlace) -> Result<()> {
        let named = self.decides_on.state.job(job).and_then(|job| job.environment.clone()).unwrap_or_default();
        let Ok(name) = EnvironmentName::parse("environment", &named) else {
            self.refuse(job, format!("'{named}' is no name of an environment."));
            return Ok(());
        };
        let Some(environment) = self.store.environment(self.run.no, &name).await? else {
            if self.store.environments_count(self.run.no).await? >= ENVIRONMENTS_MAX {
                self.refuse(job, too_many_environments());
            } else {
                self.change.environment_add(self.run.no, &StoredEnvironment::new(name, self.now));
                self.pass(job, Gate::Environment);
            }
            return Ok(());
        };
        match environment.protection.admission(&self.run.full_ref, self.now) {
            Admission::Pass => self.pass(job, Gate::Environment),
            Admission::Refuse => self.refuse(job, branch_not_admitted(&self.run.full_ref, &named)),
            Admission::Wait { review, until } => {
                // The jobs of a matrix come together.
                let is_told = self.waiting.iter().any(|other| other.environment.name == environment.name);
                if review == Review::Needed && !is_told {
                    let about = (&self.run, &environment, Asked::Now);
                    approval_asked(&mut self.change, self.store, about, self.now).await?;
                }
                self.waiting.push(Waiting { job, environment, review, until });
            }
        }
        Ok(())
    }

    /// Has jobs fail that wait for an environment that is there no more.
    fn environment_deleted(&mut self, key: &str) {
        let is_of = |job: &JobState| job.environment.as_ref().is_some_and(|name| name.trim().to_lowercase() == key);
        let is_held = |job: &JobState| job.phase == Phase::Held(Gate::Environment) && is_of(job);
        let held = self.decides_on.state.jobs().filter(|(_, job)| is_held(job)).map(|(place, _)| place);
        for place in held.collect::<Vec<_>>() {
            self.refuse(place, ENVIRONMENT_DELETED.to_owned());
        }
    }

    /// Has the jobs that came to their environments wait there, unless something ended them since.
    fn wait_for_environments(&mut self) {
        for Waiting { job, environment, review, until } in std::mem::take(&mut self.waiting) {
            let is_held = self.decides_on.state.job(job).is_some_and(|it| it.phase == Phase::Held(Gate::Environment));
            let Some(row) = self.rows.get(&job).filter(|_| is_held) else { continue };
            let approval = StoredApproval {
                job_id: row.id,
                no: self.run.no,
                run_id: self.run.id,
                environment: environment.name.key(),
                asked_at: self.now,
                waits_until: until,
                decision: (review == Review::Unneeded).then_some(ApprovalDecision::Unneeded),
                decided_by: None,
                comment: None,
                decided_at: None,
            };
            self.change.approval_add(&approval);
            timers::wait(&mut self.change, &self.run, &approval);
        }
    }

    async fn leave_of_job(&mut self, place: JobPlace) -> Result<()> {
        let wish = self.decides_on.state.job(place).and_then(|job| job.concurrency.clone());
        let Some(wish) = wish else { return Ok(()) };
        self.leave(GroupMember { run_id: self.run.id, job: Some(place) }, &wish.group).await
    }

    async fn leave_of_run(&mut self) -> Result<()> {
        let Ok(Some(wish)) = self.plan.concurrency() else { return Ok(()) };
        self.leave(GroupMember { run_id: self.run.id, job: None }, &wish.group).await
    }

    async fn group(&mut self, name: &str) -> Result<&mut StoredGroup> {
        if !self.groups.contains_key(name) {
            let found = self.store.concurrency_group(self.run.no, name).await?;
            self.groups.insert(name.to_owned(), found);
        }
        Ok(self.groups.entry(name.to_owned()).or_default())
    }

    async fn enter(&mut self, member: GroupMember, wish: &GroupWish) -> Result<()> {
        let effects = self.group(&wish.group).await?.members.enter(member, wish);
        self.tell(effects);
        Ok(())
    }

    async fn leave(&mut self, member: GroupMember, group: &str) -> Result<()> {
        let effects = self.group(group).await?.members.leave(&member);
        self.tell(effects);
        Ok(())
    }

    /// Tells members of a group what follows for them: those of this run at once, others by the work queue.
    fn tell(&mut self, effects: Vec<GroupEffect<GroupMember>>) {
        for effect in effects {
            let (member, nudge) = Nudge::of_group(effect);
            if member.run_id == self.run.id {
                self.next.push_back(nudge);
            } else {
                let told = RunNudge { run_id: member.run_id, nudge };
                self.change.work_add(self.now, NewWork::new(PIPELINE_EVENTS.name, self.run.org_id, &told));
            }
        }
    }

    /// Notes that the run is over.
    pub(crate) fn end(&mut self, conclusion: RunConclusion) {
        self.run.status = RunStatus::Completed;
        self.run.conclusion = Some(conclusion);
        self.run.completed_at = Some(self.now);
        self.run.waits_for_group = false;
        self.decides_on.state.conclusion = Some(conclusion);
    }

    /// Writes all jobs that are no longer what their rows say, and the groups. The run itself is the caller's.
    pub(crate) fn finish(mut self) -> Result<DecidedRun> {
        let unwritten = self.decides_on.state.jobs().filter(|(place, job)| !self.is_written(*place, job));
        let unwritten: Vec<_> = unwritten.map(|(place, job)| (place, job.clone())).collect();
        for (place, job) in unwritten {
            self.write_job(place, &job)?;
        }
        self.wait_for_environments();
        for (name, group) in &self.groups {
            self.change.concurrency_group_put(self.run.no, name, group);
        }
        if self.run.conclusion.is_none() {
            let status = self.decides_on.state.status();
            self.run.status = if self.run.waits_for_group { RunStatus::Waiting } else { status };
        }
        if self.decides_on.state.has_started && self.run.started_at.is_none() {
            self.run.started_at = Some(self.now);
        }
        let Self { run, decides_on, change, is_queued, ended, changes, rows, .. } = self;
        Ok(DecidedRun { run, decides_on, change, is_queued, ended, changes, rows })
    }

    /// Whether a job is where its row says.
    fn is_written(&self, place: JobPlace, job: &JobState) -> bool {
        let stage = stage_of(job.phase);
        let is_so =
            |row: &Arc<StoredJob>| row.stage == stage || (row.stage == JobStage::Reserved && stage == JobStage::Queued);
        self.rows.get(&place).is_some_and(is_so)
    }

    fn write_job(&mut self, place: JobPlace, job: &JobState) -> Result<()> {
        let Some(row) = self.rows.get(&place) else {
            let made = self.made(place, job)?;
            if made.stage == JobStage::Queued {
                self.is_queued = true;
                timers::wait_for_runner(&mut self.change, &self.run, made.id, self.now);
            }
            self.change.job_add(&made);
            self.changes.push(PipelineChange::Job { run_id: made.run_id, job_id: made.id, version: made.version });
            self.rows.insert(place, Arc::new(made));
            return Ok(());
        };
        let mut row = StoredJob::clone(row);
        row.stage = stage_of(job.phase);
        match job.phase {
            Phase::Queued => {
                row = StoredJob {
                    token: None,
                    runner: None,
                    started_at: None,
                    seen_at: None,
                    reserved_until: None,
                    ..row
                };
                row.queued_at = Some(self.now);
                self.is_queued = true;
                timers::cancel_all(&mut self.change, &self.run, row.id);
                timers::wait_for_runner(&mut self.change, &self.run, row.id, self.now);
            }
            Phase::Running => {
                row.started_at = Some(self.now);
                row.seen_at = Some(self.now);
                row.reserved_until = None;
                timers::start(&mut self.change, &self.run, &row, self.now);
            }
            Phase::Completed(conclusion) => {
                row.conclusion = Some(conclusion);
                row.completed_at = Some(self.now);
                row.fault.clone_from(&job.fault);
                timers::cancel_all(&mut self.change, &self.run, row.id);
                self.ended.push(row.id);
                seal_log(&mut self.change, self.run.org_id, row.id, self.now);
            }
            Phase::Held(_) | Phase::Cancelling => {}
        }
        self.change.job_set(&row);
        row.version += 1;
        self.changes.push(PipelineChange::Job { run_id: row.run_id, job_id: row.id, version: row.version });
        self.rows.insert(place, Arc::new(row));
        Ok(())
    }

    /// The row of a job that has none in this attempt.
    fn made(&self, place: JobPlace, job: &JobState) -> Result<StoredJob> {
        let key = self.plan.workflow().jobs.get(place.node).map(|of| of.key.as_str().to_owned()).unwrap_or_default();
        let conclusion = job.conclusion();
        Ok(StoredJob {
            id: JobId::new(self.now),
            org_id: self.run.org_id,
            repository_id: self.run.repository_id,
            no: self.run.no,
            run_id: self.run.id,
            attempt: self.run.attempt,
            place,
            key,
            name: job.name.clone(),
            labels: job.labels.clone(),
            environment: job.environment.clone(),
            environment_url: None,
            timeout_minutes: job.timeout_minutes,
            stage: stage_of(job.phase),
            conclusion,
            fault: job.fault.clone(),
            token: None,
            marker: hex(&random_bytes::<MARKER_LEN>()?),
            runner: None,
            version: 1,
            created_at: self.now,
            queued_at: (job.phase == Phase::Queued).then_some(self.now),
            reserved_until: None,
            started_at: None,
            seen_at: None,
            completed_at: conclusion.map(|_| self.now),
        })
    }
}

/// Where a job is in its life, as its row says; whether somebody has reserved a queued one, only the row knows.
const fn stage_of(phase: Phase) -> JobStage {
    match phase {
        Phase::Held(_) => JobStage::Held,
        Phase::Queued => JobStage::Queued,
        Phase::Running => JobStage::Running,
        Phase::Cancelling => JobStage::Cancelling,
        Phase::Completed(_) => JobStage::Completed,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}
