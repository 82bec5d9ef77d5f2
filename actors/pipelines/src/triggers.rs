//! What pushes and pull requests leave for pipelines: the workflow files of the commit are read, and runs started of them.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    Context, Origin, Result,
    git::{ObjectId, Pull, PullNumber, PullState, objects::Commit},
};
use futures::future::BoxFuture;
use kernel::Registry;
use serde_json::{Value, json};
use store::{
    Change, Permits,
    git::StoredRepository,
    pipelines::{PipelineTrigger, Triggered},
};

use crate::workflows::{FoundFile, Happened, PullEnds, StartRuns, WhatHappened, Workflows};

/// What may start runs, of which a few are looked at beside each other.
pub const PIPELINE_TRIGGERS: Topic = Topic {
    permits: Permits::with_spare(2, 6),
    goes_on_because: Some("A push waits for what it starts."),
    ..Topic::new(store::pipelines::PIPELINE_TRIGGERS)
};
/// How long starting runs may take.
const TURN_MAX: Duration = Duration::from_mins(1);
/// Files of a change that filters of paths look at; with more, every filter lets the change pass.
pub const PATHS_MAX: usize = 3_000;

/// What is read of repositories.
pub trait Sources: Send + Sync + 'static {
    /// A commit.
    fn commit<'a>(&'a self, repository: &'a StoredRepository, id: ObjectId) -> BoxFuture<'a, Result<Option<Commit>>>;

    /// The workflow files of a commit, in the order of their names.
    fn files<'a>(&'a self, repository: &'a StoredRepository, id: ObjectId) -> BoxFuture<'a, Result<Vec<FoundFile>>>;

    /// The paths that two commits have differently; none where there are more than `PATHS_MAX`.
    fn paths<'a>(
        &'a self,
        repository: &'a StoredRepository,
        ends: (ObjectId, ObjectId),
    ) -> BoxFuture<'a, Result<Option<Vec<String>>>>;

    /// Where the history of a head parted from its base; whether they have conflicts is the second answer.
    fn pull<'a>(
        &'a self,
        repository: &'a StoredRepository,
        ends: (ObjectId, ObjectId),
    ) -> BoxFuture<'a, Result<(Option<ObjectId>, bool)>>;
}

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
        let happened = match &trigger.what {
            Triggered::Push { full_ref, before, after } => {
                self.pushed(&repository, (full_ref, before.as_deref(), after.as_deref())).await?
            }
            Triggered::Pull { number, activity, head } => {
                let pull = match PullNumber::new(*number) {
                    Some(number) => job.store().pull(repository.no, number).await?,
                    None => None,
                };
                // A head that moved on has an entry of its own.
                let open = pull.filter(|it| it.state == PullState::Open && it.head_oid.to_string() == *head);
                match open {
                    Some(pull) => self.pulled(&repository, &pull, activity).await?,
                    None => None,
                }
            }
        };
        let Some(mut happened) = happened else { return Ok(Change::new()) };
        happened.cause = Some(trigger.cause.clone());
        happened.by = Some(trigger.by);
        let files = self.sources.files(&repository, happened.sha).await?;
        if !files.is_empty() {
            let context = Context::system(Origin::Actor, Instant::now() + TURN_MAX);
            self.workflows.ask(&id, StartRuns { org_id, happened, files }, context).await?;
        }
        Ok(Change::new())
    }
}

impl Triggers {
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
        let what = match (branch, tag) {
            (Some(name), _) => {
                let paths = match before {
                    Some(before) => self.sources.paths(repository, (before, commit.id)).await?,
                    None => None,
                };
                WhatHappened::Branch { name: name.to_owned(), paths, message }
            }
            (None, Some(name)) => WhatHappened::Tag { name: name.to_owned(), message },
            (None, None) => return Ok(None),
        };
        let old = before.unwrap_or(ObjectId::ZERO);
        let event = json!({
            "ref": full_ref, "before": old.to_string(), "after": after.to_string(), "created": before.is_none(),
            "deleted": false, "head_commit": commit_json(&commit),
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
    async fn pulled(&self, repository: &StoredRepository, pull: &Pull, activity: &str) -> Result<Option<Happened>> {
        let Some(commit) = self.sources.commit(repository, pull.head_oid).await? else { return Ok(None) };
        let (parted, has_conflicts) = self.sources.pull(repository, (pull.base_oid, pull.head_oid)).await?;
        let paths = match parted {
            Some(parted) => self.sources.paths(repository, (parted, pull.head_oid)).await?,
            None => None,
        };
        let base = pull.base.as_str().to_owned();
        let message = commit.message.clone();
        let what = if has_conflicts {
            WhatHappened::Conflict
        } else {
            WhatHappened::Pull { activity: activity.to_owned(), base: base.clone(), paths, message }
        };
        let number = i64::from(pull.number.get());
        let head = pull.head.as_str().to_owned();
        let event = json!({
            "action": activity, "number": number,
            "pull_request": {
                "number": number, "title": pull.title, "body": pull.body, "draft": pull.is_draft, "state": "open",
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

/// A commit, as `github.event.head_commit` has it.
fn commit_json(commit: &Commit) -> Value {
    let person = |it: &domain::git::objects::Signature| json!({ "name": it.name, "email": it.email });
    json!({
        "id": commit.id.to_string(), "tree_id": commit.tree.to_string(), "message": commit.message,
        "author": person(&commit.author), "committer": person(&commit.committer),
    })
}
