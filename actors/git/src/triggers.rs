//! What pushes and pull requests leave for pipelines and issues, in their own commit.

use domain::{
    Result, Timestamp,
    git::{Pull, PullNumber, RefVerdict},
    id::UserId,
    issues::closing::closes_issues,
    pipelines::trigger::triggering,
};
use kernel::Turn;
use store::{
    Change,
    git::StoredRepository,
    issues::IssuesClosing,
    pipelines::{PipelineTrigger, Triggered},
};

use crate::{Repository, pulls::Followed};

/// Has pipelines look at the branches and tags that a push made or moved.
pub(crate) fn push_triggers(change: &mut Change, now: Timestamp, moved: &Followed<'_>) {
    // The refs' version tells one push from the next.
    let cause = format!("push {}", moved.repository.refs_version);
    let done = moved.moves.iter().zip(moved.refs).filter(|(_, it)| it.verdict != RefVerdict::Refused);
    let done: Vec<_> = done.map(|(asked, _)| asked).filter(|asked| asked.new.is_some()).collect();
    let first = triggering(done.iter().map(|asked| &asked.name));
    let default = &moved.repository.settings.default_branch;
    for asked in &done {
        if first.contains(&asked.name) {
            let what = Triggered::push(&asked.name.to_string(), asked.old, asked.peeled.or(asked.new));
            change.pipeline_trigger_add(now, &trigger(moved.repository, cause.clone(), moved.by, what));
        } else if asked.name.branch().as_ref() == Some(default) {
            default_branch_trigger(change, now, moved.repository, moved.by);
        }
    }
}

/// Has pipelines look at what happened to a pull request.
pub(crate) fn pull_trigger(
    change: &mut Change,
    now: Timestamp,
    repository: &StoredRepository,
    (pull, activity): (&Pull, &str),
    by: UserId,
) {
    let number = pull.number.get();
    // The version tells one opening of the same head from the next.
    let cause = format!("pull {number} {activity} {}", pull.version);
    let what = Triggered::Pull { number, activity: activity.to_owned(), head: pull.head_oid.to_string() };
    change.pipeline_trigger_add(now, &trigger(repository, cause, by, what));
}

/// Has pipelines look at the schedules of another default branch.
pub(crate) fn default_branch_trigger(change: &mut Change, now: Timestamp, repository: &StoredRepository, by: UserId) {
    let cause = format!("default {}", repository.version);
    change.pipeline_trigger_add(now, &trigger(repository, cause, by, Triggered::DefaultBranch));
}

/// Has issues be looked at that are closed by what the default branch gained, or by the pull requests that were merged into it.
pub(crate) async fn closing_trigger(
    change: &mut Change,
    turn: &Turn<'_, Repository>,
    moved: &Followed<'_>,
    merged: &[PullNumber],
) -> Result<()> {
    let default = &moved.repository.settings.default_branch;
    let done = moved.moves.iter().zip(moved.refs).filter(|(_, it)| it.verdict != RefVerdict::Refused);
    let of_default = done.map(|(asked, _)| asked).find(|asked| asked.name.branch().as_ref() == Some(default));
    let Some((asked, after)) = of_default.and_then(|asked| Some((asked, asked.new?))) else { return Ok(()) };
    let org_id = moved.repository.resource.org_id;
    if !closes_issues(&turn.context().caller, &turn.authority(org_id).await?) {
        return Ok(());
    }
    let closing = IssuesClosing {
        org_id,
        repository_id: moved.repository.id(),
        by: moved.by,
        before: asked.old.map(|oid| oid.to_string()),
        after: after.to_string(),
        pulls: merged.iter().map(|number| number.get()).collect(),
    };
    change.issues_closing_add(turn.now(), &closing);
    Ok(())
}

fn trigger(repository: &StoredRepository, cause: String, by: UserId, what: Triggered) -> PipelineTrigger {
    PipelineTrigger { org_id: repository.resource.org_id, repository_id: repository.id(), cause, by: Some(by), what }
}
