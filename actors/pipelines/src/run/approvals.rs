//! What reviewers say of jobs that wait for their environments, and what follows where nobody says anything.

use std::collections::BTreeSet;

use domain::{
    Caller, Result,
    id::JobId,
    pipelines::{
        environments::{
            APPROVAL_OVER, ApprovalDecision, EnvironmentName, Verdict, environment_not_found, not_a_reviewer,
            nothing_to_review, rejected_by, self_review,
        },
        run::{Gate, RunEvent},
        run_completed,
    },
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::pipelines::{StoredApproval, StoredEnvironment, StoredRun};

use super::{
    Loaded, Run,
    deciding::Deciding,
    people::{audit_with, written},
    timers,
};

/// Says what a reviewer says of all jobs of a run that wait for one of these environments.
#[derive(Clone, Debug)]
pub struct ReviewRun {
    /// The environments.
    pub environments: Vec<EnvironmentName>,
    /// Whether their jobs go on.
    pub verdict: Verdict,
    /// What else is said.
    pub comment: Option<String>,
}

impl Command for ReviewRun {
    type Reply = StoredRun;

    const NAME: &'static str = "review_run";
}

/// The person who says so, as far as they are asked.
struct Reviewer {
    id: domain::id::UserId,
    name: String,
}

impl Reviewer {
    /// The caller, in person: no key decides for its maker.
    async fn of(turn: &Turn<'_, Run>) -> Result<Self> {
        let Caller::Person(person) = &turn.context().caller else { return Err(not_a_reviewer()) };
        let found = turn.services().services.store.person(person.user_id).await?.ok_or_else(not_a_reviewer)?;
        Ok(Self { id: person.user_id, name: found.name })
    }

    async fn check(
        &self,
        turn: &Turn<'_, Run>,
        loaded: &Loaded,
        (environment, verdict): (&StoredEnvironment, Verdict),
    ) -> Result<()> {
        let store = &turn.services().services.store;
        let teams: BTreeSet<_> = store.teams_with(loaded.run.org_id, self.id).await?.into_iter().collect();
        let protection = &environment.protection;
        if !protection.is_reviewed_by(self.id, |team| teams.contains(&team)) {
            return Err(not_a_reviewer());
        }
        let is_own = loaded.decides_on.acts_for(&loaded.run) == Some(self.id.to_string().as_str());
        if protection.prevents_self_review && is_own && verdict == Verdict::Approve {
            return Err(self_review());
        }
        Ok(())
    }
}

impl Handle<ReviewRun> for Run {
    async fn handle(&mut self, command: &ReviewRun, turn: &mut Turn<'_, Self>) -> Result<StoredRun> {
        let loaded = written(self, turn).await?;
        if loaded.run.conclusion.is_some() {
            return Err(run_completed());
        }
        let (store, now) = (turn.services().services.store.clone(), turn.now());
        let reviewer = Reviewer::of(turn).await?;
        let open: Vec<_> =
            store.approvals(loaded.run.id).await?.into_iter().filter(|it| it.decision.is_none()).collect();
        let mut deciding = loaded.deciding(&store, now).await?;
        let mut named = BTreeSet::new();
        for name in command.environments.iter().filter(|name| named.insert(name.key())) {
            let environment = store.environment(loaded.run.no, name).await?;
            let environment = environment.ok_or_else(environment_not_found)?;
            let asked: Vec<_> = open.iter().filter(|it| it.environment == name.key()).collect();
            if !asked.iter().any(|it| deciding.job_row(it.job_id).is_some()) {
                return Err(nothing_to_review(name.as_str()));
            }
            reviewer.check(turn, &loaded, (&environment, command.verdict)).await?;
            for approval in asked {
                decide(&mut deciding, approval, command, &reviewer).await?;
            }
        }
        let action = match command.verdict {
            Verdict::Approve => "run.approved",
            Verdict::Reject => "run.rejected",
        };
        let all: Vec<_> = command.environments.iter().map(EnvironmentName::as_str).collect();
        let about = json!({ "environments": all, "comment": command.comment });
        audit_with(&mut deciding.change, turn, &loaded.run, (action, about));
        self.settle(deciding.finish()?, turn).await?;
        Ok(self.loaded()?.run)
    }
}

/// Writes what the reviewer says of one job, and has it go on, wait for the timer, or fail.
async fn decide(
    deciding: &mut Deciding<'_>,
    approval: &StoredApproval,
    command: &ReviewRun,
    reviewer: &Reviewer,
) -> Result<()> {
    let Some(job) = deciding.job_row(approval.job_id) else { return Ok(()) };
    let decision = match command.verdict {
        Verdict::Approve => ApprovalDecision::Approved,
        Verdict::Reject => ApprovalDecision::Rejected,
    };
    let decided = StoredApproval {
        decision: Some(decision),
        decided_by: Some(reviewer.id.to_string()),
        comment: command.comment.clone(),
        decided_at: Some(deciding.now),
        ..approval.clone()
    };
    deciding.change.approval_decide(&decided);
    timers::reviewed(&mut deciding.change, &deciding.run, approval.job_id);
    if decision == ApprovalDecision::Rejected {
        return deciding.fail_at_environment(job.place, rejected_by(&reviewer.name)).await;
    }
    if decided.admits(deciding.now) {
        return deciding.take(RunEvent::Passed { job: job.place, gate: Gate::Environment }).await;
    }
    Ok(())
}

impl Run {
    /// Lets a job go on whose environment's timer has run out, unless a reviewer is still waited for.
    pub(super) async fn wait_over(&mut self, id: JobId, turn: &mut Turn<'_, Self>) -> Result<()> {
        let Some(loaded) = self.loaded.clone() else { return Ok(()) };
        let (store, now) = (turn.services().services.store.clone(), turn.now());
        let admitted = store.approval(loaded.run.no, id).await?.filter(|approval| approval.admits(now));
        let Some(job) = store.job(loaded.run.no, id).await?.filter(|_| admitted.is_some()) else { return Ok(()) };
        let mut deciding = loaded.deciding(&store, now).await?;
        deciding.take(RunEvent::Passed { job: job.place, gate: Gate::Environment }).await?;
        self.settle(deciding.finish()?, turn).await
    }

    /// Has a job fail that nobody reviewed.
    pub(super) async fn approval_over(&mut self, id: JobId, turn: &mut Turn<'_, Self>) -> Result<()> {
        let Some(loaded) = self.loaded.clone() else { return Ok(()) };
        let (store, now) = (turn.services().services.store.clone(), turn.now());
        let open = store.approval(loaded.run.no, id).await?.filter(|approval| approval.decision.is_none());
        let Some(approval) = open else { return Ok(()) };
        let Some(job) = store.job(loaded.run.no, id).await? else { return Ok(()) };
        let mut deciding = loaded.deciding(&store, now).await?;
        let decision = Some(ApprovalDecision::Expired);
        deciding.change.approval_decide(&StoredApproval { decision, decided_at: Some(now), ..approval });
        deciding.fail_at_environment(job.place, APPROVAL_OVER.to_owned()).await?;
        self.settle(deciding.finish()?, turn).await
    }
}
