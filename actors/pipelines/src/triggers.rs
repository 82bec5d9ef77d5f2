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
    happening::{PullHappened, PushHappened},
    schedules::{PlanSchedules, ScheduledFile, default_ref},
    sources::{Sources, TestMerging},
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
    /// What makes test merges.
    pub merges: Arc<dyn TestMerging>,
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
        let mut files = self.sources.files(&repository, happened.merge.unwrap_or(happened.sha)).await?;
        if let Triggered::Schedule { file, set_by, file_hash, .. } = &trigger.what {
            files.retain(|found| found.name == *file);
            // Who brought the text that was planned answers for no other.
            let is_as_planned = files.iter().all(|found| file_hash.as_ref() == Some(&found.hash()));
            happened.on_behalf_of = set_by.filter(|_| is_as_planned);
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
                self.pushed((repository, store), (full_ref, before.as_deref(), after.as_deref())).await
            }
            Triggered::Pull { number, activity, head } => {
                let pull = match PullNumber::new(*number) {
                    Some(number) => store.pull(repository.no, number).await?,
                    None => None,
                };
                let Some(about) = pull.zip(head.parse::<ObjectId>().ok()) else { return Ok(None) };
                self.pulled((repository, store), about, activity).await
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
            (!schedules.is_empty()).then(|| ScheduledFile { hash: found.hash(), name: found.name, schedules })
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
        let timezone = timezone.map(str::to_owned);
        let what = WhatHappened::Schedule { cron: cron.to_owned(), timezone, is_default: true };
        let event = json!({ "schedule": cron });
        Ok(Some(Happened { event, ..Happened::to(branch.to_string(), tip, what) }))
    }

    /// What a push to a branch or a tag is to workflows.
    async fn pushed(
        &self,
        (repository, store): (&StoredRepository, &Store),
        (full_ref, before, after): (&str, Option<&str>, Option<&str>),
    ) -> Result<Option<Happened>> {
        let Some(after) = after.and_then(|oid| oid.parse::<ObjectId>().ok()) else { return Ok(None) };
        let before = before.and_then(|oid| oid.parse::<ObjectId>().ok());
        let Some(commit) = self.sources.commit(repository, after).await? else { return Ok(None) };
        let default_tip = default_tip(store, repository).await?.map(|(_, tip)| tip);
        let push = PushHappened { full_ref, before, commit: &commit, default_tip };
        let Some((what, since)) = push.what(&*self.sources, repository).await? else { return Ok(None) };
        let commits = match &what {
            WhatHappened::Branch { .. } => self.sources.commits(repository, since, commit.id).await?,
            _ => Vec::new(),
        };
        let old = before.unwrap_or(ObjectId::ZERO);
        let event = json!({
            "ref": full_ref, "before": old.to_string(), "after": after.to_string(), "created": before.is_none(),
            "deleted": false, "head_commit": commit_json(&commit),
            // The oldest first, as GitHub has them.
            "commits": commits.iter().rev().map(commit_json).collect::<Vec<_>>(),
        });
        let title = Some(commit.subject().to_owned()).filter(|subject| !subject.is_empty());
        Ok(Some(Happened { title, event, ..Happened::to(full_ref.to_owned(), commit.id, what) }))
    }

    /// What happened to a pull request. Runs are of its test merge while it is open, and of its head once it is over.
    async fn pulled(
        &self,
        (repository, store): (&StoredRepository, &Store),
        (pull, head): (Pull, ObjectId),
        activity: &str,
    ) -> Result<Option<Happened>> {
        let base = base_of(store, repository, &pull).await?;
        let asked = PullHappened { pull: &pull, activity, head, base };
        let what = match asked.what(&*self.sources, repository).await? {
            None | Some(WhatHappened::Missed(_)) => return Ok(None),
            Some(what) => what,
        };
        let is_open = pull.state == PullState::Open;
        let pull = Pull { head_oid: head, ..pull };
        // Also where nothing starts: its ref may name what is no merge of it any more.
        let merge = self.merges.test_merge(repository, &pull, base).await?;
        let what = if is_open && merge.is_none() { WhatHappened::Conflict } else { what };
        let author = store.person(pull.author).await?.map(|author| author.name);
        let event = pull_event((&pull, author), activity, (base, merge));
        let number = i64::from(pull.number.get());
        let ends = PullEnds { number, head: pull.head.as_str().to_owned(), base: pull.base.as_str().to_owned() };
        let end = if merge.is_some() { "merge" } else { "head" };
        Ok(Some(Happened {
            branch: Some(ends.head.clone()),
            merge,
            title: Some(pull.title),
            pull: Some(ends),
            event,
            ..Happened::to(format!("refs/pull/{number}/{end}"), head, what)
        }))
    }
}

/// What the base of a pull request names; of one that is over, what it named before the end.
async fn base_of(store: &Store, repository: &StoredRepository, pull: &Pull) -> Result<ObjectId> {
    if pull.state != PullState::Open {
        return Ok(pull.base_oid);
    }
    let places = store.repository_ref_places(repository.no, &[RefName::of_branch(&pull.base)]).await?;
    Ok(places.first().and_then(|place| place.oid).unwrap_or(pull.base_oid))
}

/// A pull request, as `github.event` has it.
fn pull_event(
    (pull, author): (&Pull, Option<String>),
    activity: &str,
    (base, merge): (ObjectId, Option<ObjectId>),
) -> Value {
    let number = pull.number.get();
    let is_open = pull.state == PullState::Open;
    let merged = merge.or(pull.merge_commit).map(|oid| oid.to_string());
    json!({
        "action": activity, "number": number,
        "pull_request": {
            "number": number, "title": pull.title, "body": pull.body, "draft": pull.is_draft,
            "state": if is_open { "open" } else { "closed" }, "merged": pull.state == PullState::Merged,
            "merge_commit_sha": merged, "user": { "id": pull.author.to_string(), "login": author },
            "head": { "ref": pull.head.as_str(), "sha": pull.head_oid.to_string() },
            "base": { "ref": pull.base.as_str(), "sha": base.to_string() },
        },
    })
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
