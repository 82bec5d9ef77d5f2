//! What pushes make of open pull requests.

use std::collections::{HashMap, HashSet};

use actors_base::RepositoryChange;
use domain::{
    Caller, Error, Result,
    git::{BranchName, ObjectId, Pull, PullEvent, PullNumber, PullState, RefMove, RefName, RefVerdict, STALE_HEAD},
    id::UserId,
};
use kernel::Turn;
use serde_json::json;
use store::{
    Change,
    audit::{AuditEntry, AuditTarget},
    git::{PushedRef, StoredRepository, Waiting},
};

use super::{Dismissing, Merge, news::News, note_end, owners::want_owners, put_head, wake};
use crate::{
    Repository,
    live::pull_changed,
    test_merges::want_test_merges,
    triggers::{closing_trigger, pull_trigger, push_triggers},
};

/// Refs that were moved, and by whom.
#[derive(Clone, Copy)]
pub(crate) struct Followed<'a> {
    /// The repository.
    pub repository: &'a StoredRepository,
    /// What was asked.
    pub moves: &'a [RefMove],
    /// What became of each.
    pub refs: &'a [PushedRef],
    /// Whoever moved them.
    pub by: UserId,
    /// The pull request that is merged by it.
    pub merge: Option<&'a Merge>,
}

/// Has pipelines look at what was moved, and the open pull requests follow their branches: heads that move, what is merged by it,
/// and branches that are gone. What changed of them.
pub(crate) async fn follow(
    change: &mut Change,
    turn: &Turn<'_, Repository>,
    moved: Followed<'_>,
) -> Result<Vec<RepositoryChange>> {
    // What a job pushes starts nothing: it would start itself.
    let is_job = matches!(turn.context().caller, Caller::Job(_));
    if !is_job {
        push_triggers(change, turn.now(), &moved);
    }
    let done = moved.moves.iter().zip(moved.refs).filter(|(_, it)| it.verdict != RefVerdict::Refused);
    let done: HashMap<BranchName, (&RefMove, RefVerdict)> =
        done.filter_map(|(asked, it)| Some((asked.name.branch()?, (asked, it.verdict)))).collect();
    let (mut told, mut into_default) = (Vec::new(), Vec::new());
    if done.is_empty() {
        return Ok(told);
    }
    let (store, now, no) = (&turn.services().store, turn.now(), moved.repository.no);
    let rules = store.branch_rules(no).await?;
    let dismissing = Dismissing { store, no, rules: &rules, by: moved.by, now };
    let all = store.open_pulls(no).await?;
    let is_moved = |branch: &BranchName| done.get(branch).is_some_and(|(asked, _)| asked.new.is_some());
    // Of a head that somebody else moved, pipelines ask for it.
    want_test_merges(change, now, (moved.repository, &all), |pull| {
        is_moved(&pull.base) || (is_job && is_moved(&pull.head))
    });
    // What comes to a base may be what a pull request into it can't be merged with.
    for base in all.iter().map(|it| &it.base).filter(|base| done.contains_key(*base)).collect::<HashSet<_>>() {
        wake(change, moved.repository, Waiting::Into(base), now);
    }
    for open in all {
        let (head, base) = (done.get(&open.head), done.get(&open.base));
        let is_forced = head.is_some_and(|(_, verdict)| *verdict == RefVerdict::Forced);
        let (head, base) = (head.map(|it| it.0), base.map(|it| it.0));
        let head_oid = head.and_then(|head| head.new).unwrap_or(open.head_oid);
        let merge = moved.merge.filter(|merge| merge.number == open.number);
        let into = base.filter(|base| merge.is_some() || base.gained_heads.contains(&head_oid));
        if head.is_none() && into.is_none() && base.is_none_or(|base| base.new.is_some()) {
            continue;
        }
        let pull = store.pull(no, open.number).await?;
        let before = pull.ok_or_else(|| Error::internal("an open pull request is gone"))?;
        let pull = before.clone().with_head(head_oid, now);
        let is_gone = |it: Option<&RefMove>| it.is_some_and(|it| it.new.is_none());
        let after = match into.and_then(|base| base.old.zip(base.new)) {
            Some(oids) => pull.merged(oids, moved.by, now),
            None if is_gone(head) || is_gone(base) => pull.closed(moved.by, now),
            None => pull,
        };
        if head_oid != open.head_oid {
            let (from, to) = (open.head_oid, head_oid);
            let event = if is_forced { PullEvent::Forced { from, to } } else { PullEvent::Pushed { from, to } };
            put_head(change, no, open.number, head_oid)?;
            change.pull_event_add((no, open.number), (moved.by, now), &event);
            if after.state == PullState::Open {
                went_on(change, dismissing, moved.repository, (&after, from)).await?;
                if !is_job {
                    pull_trigger(change, now, moved.repository, (&after, "synchronize"), moved.by);
                }
            }
        }
        note_end(change, turn, moved.repository, (&before, &after), moved.by);
        told.push(pull_changed(&after));
        change.pull_set(no, &after);
        ended(change, turn, &moved, (&after, merge)).await?;
        into_default.extend(merged_into(&after, &moved.repository.settings.default_branch));
    }
    closing_trigger(change, turn, &moved, &into_default).await?;
    Ok(told)
}

/// The number of a pull request that is merged into this branch.
fn merged_into(pull: &Pull, branch: &BranchName) -> Option<PullNumber> {
    (pull.state == PullState::Merged && pull.base == *branch).then_some(pull.number)
}

/// What follows from a pull request's end: nothing while it is open.
async fn ended(
    change: &mut Change,
    turn: &Turn<'_, Repository>,
    moved: &Followed<'_>,
    (after, merge): (&Pull, Option<&Merge>),
) -> Result<()> {
    let at = (moved.repository.no, after.number);
    let event = match (after.state, after.merge_commit) {
        (PullState::Merged, Some(commit)) => {
            merged(change, turn, moved, (after, merge)).await?;
            PullEvent::Merged { commit, method: method_of(merge).to_owned() }
        }
        (PullState::Closed, _) => PullEvent::Closed,
        _ => return Ok(()),
    };
    change.pull_event_add(at, (moved.by, turn.now()), &event);
    pull_trigger(change, turn.now(), moved.repository, (after, "closed"), moved.by);
    Ok(())
}

/// What follows for the reviews of an open pull request whose head named another commit before: approvals may be dismissed, and owners
/// asked, all of them again where they are.
async fn went_on(
    change: &mut Change,
    dismissing: Dismissing<'_>,
    repository: &StoredRepository,
    (pull, before): (&Pull, ObjectId),
) -> Result<()> {
    dismissing.dismiss(change, pull, STALE_HEAD).await?;
    let is_anew = dismissing.rules.dismisses_stale(&RefName::of_branch(&pull.base));
    let since = (!is_anew).then_some(before);
    want_owners(change, (dismissing.by, dismissing.now), repository, (pull, since));
    Ok(())
}

/// What follows from a merge beside the refs: it is audited, and told to whoever opened the pull request.
async fn merged(
    change: &mut Change,
    turn: &Turn<'_, Repository>,
    moved: &Followed<'_>,
    (pull, merge): (&Pull, Option<&Merge>),
) -> Result<()> {
    audit(change, turn, moved.repository, (pull, merge));
    let Followed { repository, by, .. } = *moved;
    News { services: turn.services(), repository, pull, by, now: turn.now() }.merged(change).await
}

/// How it is merged: by a method, or by whoever pushed its commits to the base.
fn method_of(merge: Option<&Merge>) -> &'static str {
    merge.map_or("push", |merge| merge.method.as_str())
}

fn audit(
    change: &mut Change,
    turn: &Turn<'_, Repository>,
    repository: &StoredRepository,
    (pull, merge): (&Pull, Option<&Merge>),
) {
    let target = AuditTarget::new("repository", repository.id()).labelled(&repository.resource.name);
    let entry = AuditEntry::new(turn.context(), "pull.merged", target).in_org(repository.resource.org_id);
    let about = json!({
        "number": pull.number.get(), "head": pull.head.as_str(), "base": pull.base.as_str(),
        "method": method_of(merge), "headCommitId": pull.head_oid.to_string(),
        "from": pull.base_oid.to_string(), "to": pull.merge_commit.map(|oid| oid.to_string()),
    });
    change.audit_add(turn.now(), entry.with_metadata(about));
}
