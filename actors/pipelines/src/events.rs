//! What people are told of runs: that one failed, and that a job waits for them.

use std::collections::BTreeSet;

use actors_base::event::Event;
use domain::{
    Result, Timestamp,
    git::Principal,
    id::UserId,
    notify::ResourceType,
    pipelines::run::{JobConclusion, RunConclusion},
    resource::Resource,
};
use serde_json::{Map, Value, json};
use store::{
    Change, Store,
    pipelines::{FileOnBranch, RunPlan, StoredEnvironment, StoredRun},
};

/// Jobs that are named in an event.
const JOBS_NAMED_MAX: usize = 20;

/// Who is told that a run failed: who had it begin; of a schedule's run, in whose name it acts.
fn concerned(run: &StoredRun, decides_on: &RunPlan) -> BTreeSet<UserId> {
    decides_on.acts_for(run).and_then(|by| by.parse().ok()).into_iter().collect()
}

/// The branch, or another ref by its name.
fn branch_of(run: &StoredRun) -> &str {
    let short = run.full_ref.splitn(3, '/').nth(2).unwrap_or(&run.full_ref);
    run.branch.as_deref().unwrap_or(short)
}

fn event(
    kind: &'static str,
    (resource, run): (&Resource, &StoredRun),
    (people, title): (BTreeSet<UserId>, String),
    data: Map<String, Value>,
) -> Event {
    let project = resource.project_id.map(|id| (ResourceType::Project, id.to_string()));
    Event {
        org_id: Some(run.org_id),
        user_ids: people.into_iter().collect(),
        within: project.into_iter().collect(),
        data,
        ..Event::new(kind, ("run", run.id.to_string()), title)
    }
}

fn data(of: Value) -> Map<String, Value> {
    match of {
        Value::Object(data) => data,
        _ => Map::new(),
    }
}

/// Tells of a run that failed, or that its branch is well again: where a run of its file failed there, however it ended since, none
/// succeeded since, and none that is newer failed.
pub(crate) async fn run_ended(
    change: &mut Change,
    store: &Store,
    (run, decides_on): (&StoredRun, &RunPlan),
    now: Timestamp,
) -> Result<()> {
    let Some(conclusion) = run.conclusion else { return Ok(()) };
    let branch = branch_of(run);
    let on = FileOnBranch { no: run.no, file: &run.file, branch };
    let over = match conclusion {
        RunConclusion::Failure | RunConclusion::TimedOut | RunConclusion::StartupFailure => None,
        RunConclusion::Success => {
            let Some(told) = store.failing_told(on, run.number).await? else { return Ok(()) };
            Some(told)
        }
        RunConclusion::Skipped | RunConclusion::Cancelled => return Ok(()),
    };
    let Some(repository) = store.repository(run.org_id, run.repository_id).await? else { return Ok(()) };
    let is_resolved = over.is_some();
    let people = over.unwrap_or_else(|| concerned(run, decides_on));
    if is_resolved {
        change.failing_remove(on, run.number);
    } else {
        change.failing_put(on, (run.number, &people), now);
    }
    let has_failed = |conclusion: Option<JobConclusion>| {
        matches!(conclusion, Some(JobConclusion::Failure | JobConclusion::TimedOut))
    };
    let jobs = decides_on.state.jobs().filter(|(_, job)| has_failed(job.conclusion())).map(|(_, job)| &job.name);
    let name = &repository.resource.name;
    let data = data(json!({
        "repository": { "resourceId": repository.id(), "name": name }, "workflow": run.workflow, "branch": branch,
        "event": run.event, "conclusion": conclusion.name(), "runId": run.id.to_string(),
        "jobs": jobs.take(JOBS_NAMED_MAX).collect::<Vec<_>>(),
    }));
    let told = (people, format!("{} failed in {name}", run.workflow));
    Event {
        body: format!("Run {} on {branch}: {}", run.number, run.title),
        dedup_key: Some(format!("{}:{}:{branch}", run.repository_id, run.file)),
        resolved: is_resolved,
        ..event("pipeline.failed", (&repository.resource, run), told, data)
    }
    .emit(change, now);
    Ok(())
}

/// Whether a job begins to wait for its reviewers, or doesn't any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Now,
    NoMore,
}

/// Tells the reviewers of an environment that a job waits for them, or that none does any more.
pub(crate) async fn approval_asked(
    change: &mut Change,
    store: &Store,
    (run, environment, asked): (&StoredRun, &StoredEnvironment, Asked),
    now: Timestamp,
) -> Result<()> {
    let Some(repository) = store.repository(run.org_id, run.repository_id).await? else { return Ok(()) };
    let mut people = BTreeSet::new();
    for reviewer in &environment.protection.reviewers {
        match reviewer {
            Principal::Person(id) => people.extend([*id]),
            Principal::Team(id) => {
                people.extend(store.team_members(*id).await?.into_iter().map(|member| member.user_id));
            }
        }
    }
    let (name, place) = (&repository.resource.name, environment.name.as_str());
    let data = data(json!({
        "repository": { "resourceId": repository.id(), "name": name }, "environment": place,
        "runId": run.id.to_string(),
    }));
    let told = (people, format!("{} in {name} waits for a review", run.workflow));
    Event {
        body: format!("Run {} deploys to {place}: {}", run.number, run.title),
        dedup_key: Some(format!("{}:{}:{}", run.id, run.attempt, environment.name.key())),
        resolved: asked == Asked::NoMore,
        ..event("pipeline.approval", (&repository.resource, run), told, data)
    }
    .emit(change, now);
    Ok(())
}
