//! What pushes and pull requests leave for pipelines: the workflow files of the commit are read, and runs started of them.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    Context, Origin, Result,
    git::{ObjectId, Pull, PullNumber, PullState, RefName, objects::Commit},
    id::UserId,
};
use kernel::Registry;
use serde_json::{Value, json};
use store::{
    Change, Permits, Store,
    git::StoredRepository,
    pipelines::{PipelineTrigger, Triggered},
};

use crate::{
    schedules::{PlanSchedules, default_ref},
    sources::Sources,
    workflows::{Happened, PullEnds, StartRuns, WhatHappened, Workflows},
};

/// What may start runs, of which a few are looked at beside each other.
pub const PIPELINE_TRIGGERS: Topic = Topic {
    permits: Permits::with_spare(2, 6),
    goes_on_because: Some("A push waits for what it starts."),
    ..Topic::new(store::pipelines::PIPELINE_TRIGGERS)
};
/// How long starting runs may take.
const TURN_MAX: Duration = Duration::from_mins(1);
/// Characters of a commit's message in `github.event`.
const MESSAGE_LEN_MAX: usize = 10_000;

/// Looks at what may start runs.
#[derive(Clone)]
pub struct Triggers {
    /// The workflows of repositories.
    pub workflows: Registry<Workflows>,
    /// What is read of repositories.
    pub sources: Arc<dyn Sources>,
}

impl Handler for Triggers {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let trigger: PipelineTrigger = job.payload()?;
        let (org_id, id) = (trigger.org_id, trigger.repository_id);
        let found = job.store().repository(org_id, id).await?.filter(|repository| repository.purge_at.is_none());
        let Some(repository) = found else { return Ok(Change::new()) };
        if is_of_default(&repository, &trigger.what) {
            self.plan(&repository, job.store(), trigger.by).await?;
        }
        let happened = self.happened(&repository, job.store(), &trigger.what).await?;
        let Some(mut happened) = happened else { return Ok(Change::new()) };
        happened.cause = Some(trigger.cause.clone());
        happened.by = trigger.by;
        let mut files = self.sources.files(&repository, happened.sha).await?;
        if let Triggered::Schedule { file, .. } = &trigger.what {
            files.retain(|found| found.name == *file);
        }
        if !files.is_empty() {
            let context = Context::system(Origin::Actor, Instant::now() + TURN_MAX);
            self.workflows.ask(&id, StartRuns { org_id, happened, files }, context).await?;
        }
        Ok(Change::new())
    }
}

/// Whether the default branch may have moved, or is another one.
fn is_of_default(repository: &StoredRepository, what: &Triggered) -> bool {
    match what {
        Triggered::Push { full_ref, .. } => default_ref(repository).is_some_and(|name| name.to_string() == *full_ref),
        Triggered::DefaultBranch => true,
        Triggered::Pull { .. } | Triggered::Schedule { .. } => false,
    }
}

/// The default branch, and the commit that it names; none where it isn't there.
async fn default_tip(store: &Store, repository: &StoredRepository) -> Result<Option<(RefName, ObjectId)>> {
    let Some(branch) = default_ref(repository) else { return Ok(None) };
    let places = store.repository_ref_places(repository.no, std::slice::from_ref(&branch)).await?;
    Ok(places.first().and_then(|place| place.oid).map(|oid| (branch, oid)))
}

impl Triggers {
    /// What an entry of the queue is to workflows; nothing, where nothing can start by it any more.
    async fn happened(
        &self,
        repository: &StoredRepository,
        store: &Store,
        what: &Triggered,
    ) -> Result<Option<Happened>> {
        match what {
            Triggered::Push { full_ref, before, after } => {
                self.pushed(repository, (full_ref, before.as_deref(), after.as_deref())).await
            }
            Triggered::Pull { number, activity, head } => {
                let pull = match PullNumber::new(*number) {
                    Some(number) => store.pull(repository.no, number).await?,
                    None => None,
                };
                let Some(pull) = pull.and_then(|pull| told(pull, activity, head)) else { return Ok(None) };
                let author = store.person(pull.author).await?.map(|author| author.name);
                self.pulled(repository, (&pull, author), activity).await
            }
            Triggered::Schedule { cron, timezone, .. } => {
                self.scheduled(repository, store, (cron, timezone.as_deref())).await
            }
            Triggered::DefaultBranch => Ok(None),
        }
    }

    /// Has the schedules planned that the default branch has now.
    async fn plan(&self, repository: &StoredRepository, store: &Store, by: Option<UserId>) -> Result<()> {
        let Some((branch, tip)) = default_tip(store, repository).await? else { return Ok(()) };
        let files = self.sources.files(repository, tip).await?.into_iter().filter_map(|found| {
            let schedules = found.file.workflow.as_ref()?.triggers.schedules.clone();
            (!schedules.is_empty()).then_some((found.name, schedules))
        });
        let command = PlanSchedules { org_id: repository.resource.org_id, branch, tip, files: files.collect(), by };
        let context = Context::system(Origin::Actor, Instant::now() + TURN_MAX);
        self.workflows.ask(&repository.id(), command, context).await
    }

    /// What a schedule's time is to workflows.
    async fn scheduled(
        &self,
        repository: &StoredRepository,
        store: &Store,
        (cron, timezone): (&str, Option<&str>),
    ) -> Result<Option<Happened>> {
        let Some((branch, tip)) = default_tip(store, repository).await? else { return Ok(None) };
        Ok(Some(Happened {
            cause: None,
            by: None,
            what: WhatHappened::Schedule { cron: cron.to_owned(), timezone: timezone.map(str::to_owned) },
            full_ref: branch.to_string(),
            branch: Some(repository.settings.default_branch.as_str().to_owned()),
            sha: tip,
            title: None,
            pull: None,
            event: json!({ "schedule": cron }),
            inputs: "{}".to_owned(),
        }))
    }

    /// What a push to a branch or a tag is to workflows.
    async fn pushed(
        &self,
        repository: &StoredRepository,
        (full_ref, before, after): (&str, Option<&str>, Option<&str>),
    ) -> Result<Option<Happened>> {
        let Some(after) = after.and_then(|oid| oid.parse::<ObjectId>().ok()) else { return Ok(None) };
        let before = before.and_then(|oid| oid.parse::<ObjectId>().ok());
        let Some(commit) = self.sources.commit(repository, after).await? else { return Ok(None) };
        let message = commit.message.clone();
        let (branch, tag) = (full_ref.strip_prefix("refs/heads/"), full_ref.strip_prefix("refs/tags/"));
        let mut commits = Vec::new();
        let what = match (branch, tag) {
            (Some(name), _) => {
                // A branch that is new is compared with where it left the default branch.
                let since = match before {
                    Some(before) => Some(before),
                    None => self.sources.parted(repository, name, commit.id).await?,
                };
                let paths = match since {
                    Some(since) => self.sources.paths(repository, (since, commit.id)).await?,
                    None => None,
                };
                commits = self.sources.commits(repository, since, commit.id).await?;
                WhatHappened::Branch { name: name.to_owned(), paths, message }
            }
            (None, Some(name)) => WhatHappened::Tag { name: name.to_owned(), message },
            (None, None) => return Ok(None),
        };
        let old = before.unwrap_or(ObjectId::ZERO);
        let event = json!({
            "ref": full_ref, "before": old.to_string(), "after": after.to_string(), "created": before.is_none(),
            "deleted": false, "head_commit": commit_json(&commit),
            // The oldest first, as GitHub has them.
            "commits": commits.iter().rev().map(commit_json).collect::<Vec<_>>(),
        });
        Ok(Some(Happened {
            cause: None,
            by: None,
            what,
            full_ref: full_ref.to_owned(),
            branch: branch.map(str::to_owned),
            sha: commit.id,
            title: Some(commit.subject().to_owned()).filter(|subject| !subject.is_empty()),
            pull: None,
            event,
            inputs: "{}".to_owned(),
        }))
    }

    /// What happened to a pull request.
    async fn pulled(
        &self,
        repository: &StoredRepository,
        (pull, author): (&Pull, Option<String>),
        activity: &str,
    ) -> Result<Option<Happened>> {
        let Some(commit) = self.sources.commit(repository, pull.head_oid).await? else { return Ok(None) };
        let (parted, has_conflicts) = self.sources.pull(repository, (pull.base_oid, pull.head_oid)).await?;
        let paths = match parted {
            Some(parted) => self.sources.paths(repository, (parted, pull.head_oid)).await?,
            None => None,
        };
        let base = pull.base.as_str().to_owned();
        let message = commit.message.clone();
        let is_open = pull.state == PullState::Open;
        let what = if has_conflicts && is_open {
            WhatHappened::Conflict
        } else {
            WhatHappened::Pull { activity: activity.to_owned(), base: base.clone(), paths, message }
        };
        let number = i64::from(pull.number.get());
        let head = pull.head.as_str().to_owned();
        let event = json!({
            "action": activity, "number": number,
            "pull_request": {
                "number": number, "title": pull.title, "body": pull.body, "draft": pull.is_draft,
                "state": if is_open { "open" } else { "closed" }, "merged": pull.state == PullState::Merged,
                "user": { "id": pull.author.to_string(), "login": author },
                "head": { "ref": head, "sha": pull.head_oid.to_string() },
                "base": { "ref": base, "sha": pull.base_oid.to_string() },
            },
        });
        Ok(Some(Happened {
            cause: None,
            by: None,
            what,
            full_ref: format!("refs/pull/{number}/head"),
            branch: Some(head.clone()),
            sha: pull.head_oid,
            title: Some(pull.title.clone()),
            pull: Some(PullEnds { number, head, base }),
            event,
            inputs: "{}".to_owned(),
        }))
    }
}

/// The pull request as workflows are told of it, where they are. An opening that is worked off late is told with the head that it
/// had; a head that moved on once more has an entry of its own.
fn told(pull: Pull, activity: &str, head: &str) -> Option<Pull> {
    let is_superseded = activity == "synchronize" && pull.head_oid.to_string() != *head;
    let is_due = (pull.state == PullState::Open) != (activity == "closed");
    let head_oid = head.parse::<ObjectId>().ok().filter(|_| is_due && !is_superseded)?;
    Some(Pull { head_oid, ..pull })
}

/// A commit, as `github.event.head_commit` has it.
fn commit_json(commit: &Commit) -> Value {
    let message: String = commit.message.chars().take(MESSAGE_LEN_MAX).collect();
    let person = |it: &domain::git::objects::Signature| json!({ "name": it.name, "email": it.email });
    json!({
        "id": commit.id.to_string(), "tree_id": commit.tree.to_string(), "message": message,
        "author": person(&commit.author), "committer": person(&commit.committer),
    })
}

#[cfg(test)]
mod tests {
    use domain::{Timestamp, git::BranchName, id::UserId};

    use super::*;

    fn pull(state: PullState) -> Pull {
        let (now, oid) = (Timestamp(1_767_225_600_000), ObjectId::of_bytes([2; 20]));
        let branch = |name: &str| BranchName::parse("name", name).unwrap();
        Pull {
            number: PullNumber::new(1).unwrap(),
            title: "Add one".to_owned(),
            body: String::new(),
            head: branch("feature"),
            base: branch("main"),
            state,
            is_draft: false,
            author: UserId::new(now),
            version: 1,
            opened_with: (oid, oid),
            head_oid: oid,
            base_oid: oid,
            merge_commit: None,
            created_at: now,
            updated_at: now,
            ended: None,
        }
    }

    #[test]
    fn only_a_head_that_moved_on_is_left_to_a_later_entry() {
        let (old, new) = (ObjectId::of_bytes([1; 20]), ObjectId::of_bytes([2; 20]));
        for (state, activity, head, expected) in [
            (PullState::Open, "opened", new, Some(new)),
            (PullState::Open, "opened", old, Some(old)),
            (PullState::Open, "synchronize", new, Some(new)),
            (PullState::Open, "synchronize", old, None),
            (PullState::Closed, "closed", new, Some(new)),
            (PullState::Merged, "closed", new, Some(new)),
            (PullState::Open, "closed", new, None),
            (PullState::Closed, "opened", new, None),
        ] {
            let found = told(pull(state), activity, &head.to_string()).map(|pull| pull.head_oid);
            assert_eq!(found, expected, "{activity} {head}");
        }
    }
}
