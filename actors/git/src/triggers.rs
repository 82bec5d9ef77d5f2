//! What pushes and pull requests leave for pipelines, in their own commit.

use domain::{
    Timestamp,
    git::{Pull, RefKind, RefVerdict},
    id::UserId,
};
use store::{
    Change,
    git::StoredRepository,
    pipelines::{PipelineTrigger, Triggered},
};

use crate::pulls::Followed;

/// Refs of one push that start runs, at most.
const TRIGGERING_REFS_MAX: usize = 100;

/// Has pipelines look at the branches and tags that a push made or moved.
pub(crate) fn push_triggers(change: &mut Change, now: Timestamp, moved: &Followed<'_>) {
    // The refs' version tells one push from the next.
    let cause = format!("push {}", moved.repository.refs_version);
    let done = moved.moves.iter().zip(moved.refs).filter(|(asked, it)| {
        it.verdict != RefVerdict::Refused
            && asked.new.is_some()
            && matches!(asked.name.kind(), RefKind::Branch | RefKind::Tag)
    });
    let default = &moved.repository.settings.default_branch;
    for (at, (asked, _)) in done.enumerate() {
        if at < TRIGGERING_REFS_MAX {
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

fn trigger(repository: &StoredRepository, cause: String, by: UserId, what: Triggered) -> PipelineTrigger {
    PipelineTrigger { org_id: repository.resource.org_id, repository_id: repository.id(), cause, by: Some(by), what }
}
