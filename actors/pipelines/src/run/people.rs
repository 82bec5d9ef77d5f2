//! What people do with runs: they cancel, re-run and delete them.

use std::time::Duration;

use domain::{
    Error, Result, Scope,
    git::AccessLevel,
    id::JobId,
    pipelines::{
        job_not_found,
        run::{Rerun, RunEvent, RunStatus},
        run_completed, run_not_completed,
    },
};
use kernel::{Command, Handle, Turn};
use serde_json::{Value, json};
use store::{
    Change,
    audit::{AuditEntry, AuditTarget},
    pipelines::{EndedAttempt, RunPlan, StoredRun},
};

use super::{Deciding, Loaded, Run, plan_of};
use crate::{
    access::reaches,
    live::{PipelineChange, tell_changes},
};

/// How long after it was made a run can be run again.
pub const RERUN_FOR: Duration = Duration::from_hours(24 * 30);
/// Attempts of a run, at most.
pub const ATTEMPTS_MAX: u32 = 50;

/// How a run is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Jobs whose condition still holds go on.
    Orderly,
    /// No job goes on.
    ByForce,
}

/// Cancels a run.
#[derive(Clone, Copy, Debug)]
pub struct CancelRun(pub How);

/// Which jobs run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RerunJobs {
    /// All of them.
    All,
    /// Those that failed, were cancelled or took too long.
    Failed,
    /// These.
    These(Vec<JobId>),
}

/// Runs a run that is over again, or some of its jobs.
#[derive(Clone, Debug)]
pub struct RerunRun {
    /// Which jobs.
    pub jobs: RerunJobs,
    /// How much they say.
    pub logs: RerunLogs,
}

/// How much jobs say that run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RerunLogs {
    /// As before.
    Usual,
    /// What is for whoever looks for mistakes, too.
    Debug,
}

/// Deletes a run that is over.
#[derive(Clone, Copy, Debug)]
pub struct DeleteRun;

impl Command for CancelRun {
    type Reply = StoredRun;

    const NAME: &'static str = "cancel_run";
}

impl Command for RerunRun {
    type Reply = StoredRun;

    const NAME: &'static str = "rerun_run";
}

impl Command for DeleteRun {
    type Reply = ();

    const NAME: &'static str = "delete_run";
}

/// The run, where the caller may write to its repository.
pub(super) async fn written(run: &Run, turn: &Turn<'_, Run>) -> Result<Loaded> {
    let loaded = run.loaded()?;
    let authority = turn.authority(loaded.run.org_id).await?;
    authority.require(Scope::GitWrite)?;
    let store = &turn.services().services.store;
    reaches(store, &authority, loaded.run.repository_id, AccessLevel::Write).await?;
    Ok(loaded)
}

fn audit(change: &mut Change, turn: &Turn<'_, Run>, run: &StoredRun, action: &'static str) {
    audit_with(change, turn, run, (action, json!({})));
}

/// The same, with more about it.
pub(super) fn audit_with(
    change: &mut Change,
    turn: &Turn<'_, Run>,
    run: &StoredRun,
    (action, more): (&'static str, Value),
) {
    let target = AuditTarget::new("run", run.id).labelled(&run.title);
    let entry = AuditEntry::new(turn.context(), action, target).in_org(run.org_id);
    let mut about = json!({ "repository": run.repository_id.to_string(), "file": run.file, "number": run.number,
                            "attempt": run.attempt });
    if let (Some(about), Value::Object(more)) = (about.as_object_mut(), more) {
        about.extend(more);
    }
    change.audit_add(turn.now(), entry.with_metadata(about));
}

impl Handle<CancelRun> for Run {
    async fn handle(&mut self, command: &CancelRun, turn: &mut Turn<'_, Self>) -> Result<StoredRun> {
        let loaded = written(self, turn).await?;
        if loaded.run.conclusion.is_some() {
            return Err(run_completed());
        }
        let store = turn.services().services.store.clone();
        let mut deciding = loaded.deciding(&store, turn.now()).await?;
        deciding.run.is_cancel_requested = true;
        let event = match command.0 {
            How::Orderly => RunEvent::Cancelled,
            How::ByForce => RunEvent::ForceCancelled,
        };
        deciding.take(event).await?;
        audit(&mut deciding.change, turn, &loaded.run, "run.cancelled");
        self.settle(deciding.finish()?, turn).await?;
        Ok(self.loaded()?.run)
    }
}

impl Handle<RerunRun> for Run {
    async fn handle(&mut self, command: &RerunRun, turn: &mut Turn<'_, Self>) -> Result<StoredRun> {
        let mut loaded = written(self, turn).await?;
        let (store, now) = (turn.services().services.store.clone(), turn.now());
        if loaded.run.conclusion.is_none() {
            return Err(run_not_completed());
        }
        if loaded.run.attempt >= ATTEMPTS_MAX {
            return Err(Error::conflict("too_many_attempts", format!("A run has at most {ATTEMPTS_MAX} attempts.")));
        }
        if loaded.run.created_at.after(RERUN_FOR) <= now {
            return Err(Error::conflict("run_too_old", "A run can be run again for 30 days."));
        }
        let mut rows = loaded.rows(&store).await?;
        let rerun = match &command.jobs {
            RerunJobs::All => Rerun::All,
            RerunJobs::Failed => Rerun::Failed,
            RerunJobs::These(ids) => {
                let place = |id: &JobId| rows.values().find(|row| row.id == *id).map(|row| row.place);
                Rerun::Jobs(ids.iter().map(|id| place(id).ok_or_else(job_not_found)).collect::<Result<_>>()?)
            }
        };
        let nothing = || Error::conflict("nothing_to_rerun", "No job of this run would run again.");
        let next = loaded.decides_on.state.again(&loaded.plan, &rerun).ok_or_else(nothing)?;
        let by = turn.authority(loaded.run.org_id).await?.on_behalf_of()?;
        let label = store.person(by).await?.map(|person| person.name);
        let mut decides_on = RunPlan::clone(&loaded.decides_on);
        decides_on.attempts.push(EndedAttempt {
            attempt: loaded.run.attempt,
            conclusion: loaded.run.conclusion,
            started_at: loaded.run.started_at.map(|at| at.0),
            completed_at: loaded.run.completed_at.map(|at| at.0),
            rerun_by: Some(by.to_string()),
            rerun_label: label,
            rerun_debug: command.logs == RerunLogs::Debug,
        });
        decides_on.state = next;
        loaded.run = StoredRun {
            attempt: loaded.run.attempt + 1,
            status: RunStatus::Queued,
            conclusion: None,
            is_cancel_requested: false,
            started_at: None,
            completed_at: None,
            ..loaded.run
        };
        rows.retain(|place, _| decides_on.state.job(*place).is_some_and(|job| job.conclusion().is_some()));
        let plan = plan_of(&turn.services().cpu, &loaded.run, &decides_on).await?;
        let about = (loaded.run.clone(), decides_on);
        let mut deciding = Deciding::new((&store, now), about, &plan, rows);
        deciding.begin().await?;
        audit(&mut deciding.change, turn, &loaded.run, "run.rerun");
        self.settle(deciding.finish()?, turn).await?;
        Ok(self.loaded()?.run)
    }
}

impl Handle<DeleteRun> for Run {
    async fn handle(&mut self, _: &DeleteRun, turn: &mut Turn<'_, Self>) -> Result<()> {
        let loaded = written(self, turn).await?;
        if loaded.run.conclusion.is_none() {
            return Err(run_not_completed());
        }
        // What jobs left behind goes first: nothing else names it once the run is gone.
        loop {
            let batch = turn.services().services.store.run_files_next(loaded.run.org_id, loaded.run.id).await?;
            if batch.rows.is_empty() {
                break;
            }
            turn.commit(batch.change).await?;
        }
        let mut change = Change::new();
        audit(&mut change, turn, &loaded.run, "run.deleted");
        change.run_remove(&loaded.run);
        turn.commit(change).await?;
        let gone = PipelineChange::Run { run_id: loaded.run.id, version: loaded.run.version + 1 };
        tell_changes(&turn.services().services.hub, loaded.run.repository_id, [gone]);
        self.loaded = None;
        Ok(())
    }
}
