//! The runners of an organization, and which of them is given which job.

use std::time::Duration;

use domain::{
    Error, Result, Scope, Timestamp,
    id::{JobId, OrgId, ResourceId, RunnerId},
    pipelines::{
        registration_unknown,
        runner::{
            QUEUE_WINDOW, REGISTRATION_LASTS, RESERVED_FOR, RUNNERS_MAX, RunnerDraft, label_missing, too_many_runners,
        },
        runner_not_found, runner_unknown,
    },
    token::{Token, TokenHash, TokenKind},
};
use gateways::hub::Hub;
use kernel::{Command, Decided, Handle, Resource, TimerFired, Turn};
use serde_json::json;
use store::{
    Change, Store,
    audit::{AuditEntry, AuditTarget},
    pipelines::{JobStage, QueuedLabels, RunnerRegistration, StoredJob, StoredRunner},
};

use crate::{
    PipelineServices,
    live::{PipelineChange, tell_changes},
};

/// What begins the name of the timer that takes a job back from a runner which doesn't ask for its plan.
const RESERVE_TIMER: &str = "reserve:";
/// Jobs that are read first for those who ask at the same time: mostly, each of them may take one of these.
const FIRST_LOOK: u64 = 16;
/// Sets of labels that are read at once.
const LABEL_SETS_AT_ONCE: u64 = 500;

/// The runners of an organization.
#[derive(Debug)]
pub struct RunnerPool {
    /// The queue as those see it who are given jobs in one turn; none before the first of them.
    queue: Option<Queue>,
}

/// The jobs of an organization that runners may take, as they are read once for all runners that ask at the same time.
#[derive(Debug)]
struct Queue {
    /// Those that wait longest, and were given to nobody in this turn.
    first: Vec<StoredJob>,
    /// How many were read.
    looked_at: u64,
    /// Whether there are no others.
    are_all: bool,
    /// Those that were given to somebody in this turn.
    given: Vec<JobId>,
}

impl Resource for RunnerPool {
    type Key = OrgId;
    type Services = PipelineServices;

    const KIND: &'static str = "runner_pool";

    async fn load(_: &OrgId, _: &PipelineServices) -> Result<Self> {
        Ok(Self { queue: None })
    }

    fn forget_decided(&mut self) {
        self.queue = None;
    }
}

/// Makes what registers one runner.
#[derive(Clone, Debug)]
pub struct MakeRegistration {
    /// Labels that the runner has beside those that it says.
    pub labels: Vec<String>,
    /// Whether it takes one job and is gone.
    pub is_ephemeral: bool,
}

/// A registration, shown once.
#[derive(Clone, Debug)]
pub struct MadeRegistration {
    /// The token.
    pub token: Token,
    /// Until when it works.
    pub expires_at: Timestamp,
}

/// Registers a runner.
#[derive(Clone, Debug)]
pub struct RegisterRunner {
    /// What the store keeps of the registration's token.
    pub token: TokenHash,
    /// What the runner says of itself.
    pub draft: RunnerDraft,
}

/// A runner that was registered, with its secret.
#[derive(Clone, Debug)]
pub struct RegisteredRunner {
    /// The runner.
    pub runner: StoredRunner,
    /// Its secret, shown once.
    pub secret: Token,
}

/// Changes a runner's labels, or whether it is given jobs.
#[derive(Clone, Debug)]
pub struct ChangeRunner {
    /// The runner.
    pub id: RunnerId,
    /// All labels from now on.
    pub labels: Option<Vec<String>>,
    /// Whether it is given no jobs from now on.
    pub is_paused: Option<bool>,
}

/// Deletes a runner. A job that it has goes on until the runner is missed.
#[derive(Clone, Copy, Debug)]
pub struct DeleteRunner(pub RunnerId);

/// Gives a runner the job that waits longest among those that it may take.
#[derive(Clone, Debug)]
pub struct TakeJob {
    /// The runner.
    pub runner_id: RunnerId,
    /// Which program it is.
    pub program: String,
}

/// A job that a runner was given.
#[derive(Clone, Debug)]
pub struct TakenJob {
    /// The job.
    pub job_id: JobId,
    /// What the runner shows in its name.
    pub token: Token,
    /// What whoever watches is told.
    changed: PipelineChange,
    repository_id: ResourceId,
    /// How long it was queued.
    waited: Duration,
}

impl TakenJob {
    /// Tells whoever watches that the job has a runner, once that is committed.
    pub fn tell(&self, hub: &Hub) {
        metrics::histogram!("troupe_pipeline_pick_up_seconds").record(self.waited);
        tell_changes(hub, self.repository_id, [self.changed]);
    }
}

impl Command for MakeRegistration {
    type Reply = MadeRegistration;

    const NAME: &'static str = "make_registration";
}

impl Command for RegisterRunner {
    type Reply = RegisteredRunner;

    const NAME: &'static str = "register_runner";
}

impl Command for ChangeRunner {
    type Reply = StoredRunner;

    const NAME: &'static str = "change_runner";
}

impl Command for DeleteRunner {
    type Reply = ();

    const NAME: &'static str = "delete_runner";
}

impl Command for TakeJob {
    type Reply = Option<TakenJob>;

    const NAME: &'static str = "take_job";
}

fn audit(change: &mut Change, turn: &Turn<'_, RunnerPool>, action: &'static str, runner: &StoredRunner) {
    let target = AuditTarget::new("runner", runner.id).labelled(&runner.name);
    let entry = AuditEntry::new(turn.context(), action, target).in_org(*turn.key());
    change.audit_add(turn.now(), entry.with_metadata(json!({ "labels": runner.labels })));
}

/// The organization's runner, for somebody who runs them.
async fn found(turn: &Turn<'_, RunnerPool>, id: RunnerId) -> Result<StoredRunner> {
    turn.authority(*turn.key()).await?.require(Scope::GitAdmin)?;
    turn.services().services.store.runner(*turn.key(), id).await?.ok_or_else(runner_not_found)
}

impl Handle<MakeRegistration> for RunnerPool {
    async fn handle(&mut self, command: &MakeRegistration, turn: &mut Turn<'_, Self>) -> Result<MadeRegistration> {
        let org_id = *turn.key();
        let authority = turn.authority(org_id).await?;
        authority.require(Scope::GitAdmin)?;
        let token = Token::generate(TokenKind::RunnerRegistration)?;
        let expires_at = turn.now().after(REGISTRATION_LASTS);
        let MakeRegistration { labels, is_ephemeral } = command.clone();
        let made_by = authority.on_behalf_of()?;
        let mut change = Change::new();
        let registration = RunnerRegistration { org_id, labels, is_ephemeral, made_by, expires_at };
        change.runner_registration_add(&token.hash(), &registration);
        let target = AuditTarget::new("organization", org_id);
        let entry = AuditEntry::new(turn.context(), "runner.registration_made", target).in_org(org_id);
        change.audit_add(turn.now(), entry);
        turn.commit(change).await?;
        Ok(MadeRegistration { token, expires_at })
    }
}

impl Handle<RegisterRunner> for RunnerPool {
    async fn handle(&mut self, command: &RegisterRunner, turn: &mut Turn<'_, Self>) -> Result<RegisteredRunner> {
        let (store, now, org_id) = (&turn.services().services.store, turn.now(), *turn.key());
        let registration = store.runner_registration(&command.token).await?;
        let registration = registration.filter(|it| it.org_id == org_id && it.expires_at > now);
        let registration = registration.ok_or_else(registration_unknown)?;
        if store.runner_versions(org_id, RUNNERS_MAX).await?.len() as u64 >= RUNNERS_MAX {
            return Err(too_many_runners());
        }
        let secret = Token::generate(TokenKind::Runner)?;
        let draft = command.draft.clone();
        let runner = StoredRunner {
            id: RunnerId::new(now),
            org_id,
            labels: draft.labels_with(&registration.labels),
            name: draft.name,
            os: draft.os,
            arch: draft.arch,
            program: String::new(),
            is_ephemeral: registration.is_ephemeral,
            is_paused: false,
            secret: secret.hash(),
            made_by: registration.made_by,
            version: 1,
            created_at: now,
            seen_at: None,
        };
        let mut change = Change::new();
        change.runner_registration_use(&command.token);
        change.runner_add(&runner);
        audit(&mut change, turn, "runner.registered", &runner);
        turn.commit(change).await?;
        Ok(RegisteredRunner { runner, secret })
    }
}

impl Handle<ChangeRunner> for RunnerPool {
    async fn handle(&mut self, command: &ChangeRunner, turn: &mut Turn<'_, Self>) -> Result<StoredRunner> {
        let mut runner = found(turn, command.id).await?;
        if let Some(labels) = &command.labels {
            runner.labels.clone_from(labels);
        }
        runner.is_paused = command.is_paused.unwrap_or(runner.is_paused);
        let mut change = Change::new();
        change.runner_set(&runner);
        audit(&mut change, turn, "runner.changed", &runner);
        turn.commit(change).await?;
        runner.version += 1;
        turn.services().waiting.leave(*turn.key(), runner.id);
        Ok(runner)
    }
}

impl Handle<DeleteRunner> for RunnerPool {
    async fn handle(&mut self, command: &DeleteRunner, turn: &mut Turn<'_, Self>) -> Result<()> {
        let runner = found(turn, command.0).await?;
        let mut change = Change::new();
        change.runner_remove(runner.id);
        audit(&mut change, turn, "runner.deleted", &runner);
        turn.commit(change).await?;
        turn.services().waiting.leave(*turn.key(), runner.id);
        Ok(())
    }
}

impl Queue {
    async fn read(store: &Store, org_id: OrgId) -> Result<Self> {
        let mut queue = Self { first: Vec::new(), looked_at: 0, are_all: false, given: Vec::new() };
        queue.look_at(FIRST_LOOK, store, org_id).await?;
        Ok(queue)
    }

    /// Reads so many of those that wait longest; those that were given to somebody aren't written yet.
    async fn look_at(&mut self, jobs: u64, store: &Store, org_id: OrgId) -> Result<()> {
        self.first = store.queued_jobs(org_id, jobs).await?;
        self.are_all = (self.first.len() as u64) < jobs;
        self.looked_at = jobs;
        self.first.retain(|job| !self.given.contains(&job.id));
        Ok(())
    }

    /// Takes out the job that waits longest among those that the runner may take. Jobs that it may not take hide none, however
    /// many they are.
    async fn take(&mut self, store: &Store, org_id: OrgId, runner: &StoredRunner) -> Result<Option<StoredJob>> {
        let fits = |labels: &[String]| label_missing(labels, &runner.labels).is_none();
        loop {
            if let Some(at) = self.first.iter().position(|job| fits(&job.labels)) {
                let job = self.first.remove(at);
                self.given.push(job.id);
                return Ok(Some(job));
            }
            if self.are_all {
                return Ok(None);
            }
            if self.looked_at >= QUEUE_WINDOW {
                break;
            }
            self.look_at(QUEUE_WINDOW, store, org_id).await?;
        }
        // What is behind them is read without those that were given away.
        if self.given.is_empty() { longest_waiting(store, org_id, fits).await } else { Err(Error::Stale) }
    }
}

/// The job that waits longest among those whose labels fit.
async fn longest_waiting(store: &Store, org_id: OrgId, fits: impl Fn(&[String]) -> bool) -> Result<Option<StoredJob>> {
    let (mut behind, mut longest) = (None, None::<QueuedLabels>);
    loop {
        let found = store.queued_labels(org_id, behind.as_deref(), LABEL_SETS_AT_ONCE).await?;
        let is_last = (found.len() as u64) < LABEL_SETS_AT_ONCE;
        behind = found.last().map(|last| last.key.clone());
        let fitting = found.into_iter().filter(|it| fits(&it.labels));
        longest = longest.into_iter().chain(fitting).min_by_key(|it| it.since);
        if is_last {
            break;
        }
    }
    match longest {
        Some(labels) => Ok(store.queued_job_with(org_id, &labels).await?),
        None => Ok(None),
    }
}

/// What whoever watches is told of a job that was written.
const fn changed(job: &StoredJob) -> PipelineChange {
    PipelineChange::Job { run_id: job.run_id, job_id: job.id, version: job.version + 1 }
}

impl Handle<TakeJob> for RunnerPool {
    const IS_GATHERED: bool = true;

    async fn handle(&mut self, command: &TakeJob, turn: &mut Turn<'_, Self>) -> Result<Option<TakenJob>> {
        self.forget_decided();
        let decided = self.decide(command, turn).await;
        turn.settle(self, decided).await
    }

    async fn decide(&mut self, command: &TakeJob, turn: &Turn<'_, Self>) -> Result<Decided<Option<TakenJob>>> {
        let (store, now, org_id) = (&turn.services().services.store, turn.now(), *turn.key());
        let runner = store.runner(org_id, command.runner_id).await?.ok_or_else(runner_unknown)?;
        let mut change = Change::new();
        let is_known = runner.is_known(&command.program, now);
        if !is_known {
            change.runner_seen(runner.id, &command.program, now);
        }
        let seen = |change| Ok(Decided { reply: None, change: (!is_known).then_some(change) });
        if runner.is_paused {
            return seen(change);
        }
        let queue = match &mut self.queue {
            Some(queue) => queue,
            none => none.insert(Queue::read(store, org_id).await?),
        };
        let Some(job) = queue.take(store, org_id, &runner).await? else { return seen(change) };
        let token = Token::generate(TokenKind::Job)?;
        let until = now.after(RESERVED_FOR);
        let waited = now.since(job.queued_at.unwrap_or(now));
        let job = StoredJob {
            stage: JobStage::Reserved,
            token: Some(token.hash()),
            runner: Some((runner.id, runner.name)),
            reserved_until: Some(until),
            ..job
        };
        change.job_set(&job);
        change.timer_set(Self::KIND, &org_id.to_string(), &format!("{RESERVE_TIMER}{}", job.id), until);
        let (changed, repository_id) = (changed(&job), job.repository_id);
        let reply = TakenJob { job_id: job.id, token, changed, repository_id, waited };
        Ok(Decided { reply: Some(reply), change: Some(change) })
    }
}

impl Handle<TimerFired> for RunnerPool {
    async fn handle(&mut self, fired: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        let Some(id) = fired.name.strip_prefix(RESERVE_TIMER).and_then(|id| id.parse().ok()) else { return Ok(()) };
        let (store, now, org_id) = (&turn.services().services.store, turn.now(), *turn.key());
        let job = store.job_of_org(org_id, id).await?.filter(|job| job.stage == JobStage::Reserved);
        let Some(job) = job.filter(|job| job.reserved_until.is_some_and(|until| until <= now)) else { return Ok(()) };
        let mut change = Change::new();
        let job = StoredJob { stage: JobStage::Queued, token: None, runner: None, reserved_until: None, ..job };
        change.job_set(&job);
        turn.commit(change).await?;
        tell_changes(&turn.services().services.hub, job.repository_id, [changed(&job)]);
        turn.services().waiting.wake(org_id);
        Ok(())
    }
}
