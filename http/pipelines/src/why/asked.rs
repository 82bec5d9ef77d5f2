//! Finding the event that somebody asks about: the push that ended at a commit, or what a pull request, a schedule or a person would
//! start now.

use actors::{
    GitSources,
    pipelines::{FoundFile, PullHappened, PushHappened, Sources, WhatHappened},
};
use domain::{
    Error,
    git::{
        ObjectId, PULL_NOT_FOUND, Pull, PullNumber, PullState, RefKind, RefName, RefVerdict, branch_among,
        commit_not_found, objects::Commit, revision_not_found, wire::Listing,
    },
    id::PushId,
    pipelines::trigger::{Missed, triggering},
};
use http_shell::{error::Result, state::AppState};
use store::git::{PushList, PushedRef, StoredPush, StoredRepository};

use super::{
    super::workflows::{named, sources},
    WhyQuery,
};

/// Pushes that are looked through, at most: the newest.
const PUSHES_LOOKED_AT: u64 = 20;
/// Branches in them of which is found out whether they brought a commit, at most: two walks each.
const BRANCHES_LOOKED_AT: usize = 10;
/// Tags at a commit whose pushes are looked for, at most.
const TAGS_LOOKED_AT: usize = 100;

/// An event that somebody asks about.
pub(super) struct Asked {
    /// The ref that it is about, whole, where there is one.
    pub full_ref: Option<String>,
    /// The commit of its runs; of a pull request, the head.
    pub commit: ObjectId,
    /// The commit whose files decide.
    pub files: ObjectId,
    /// The activity on a pull request.
    pub activity: Option<String>,
    /// The push that brought the commit, as far as it is known.
    pub push: Option<Brought>,
    what: What,
}

/// A push that brought a commit.
pub(super) struct Brought {
    pub push_id: PushId,
    /// The ref that it moved, whole.
    pub full_ref: String,
    /// Where it left the ref.
    pub head: ObjectId,
}

impl Brought {
    fn by(push: &StoredPush, moved: &PushedRef, head: ObjectId) -> Self {
        Self { push_id: push.id, full_ref: moved.name.to_string(), head }
    }
}

/// What the event is to a workflow.
enum What {
    /// The same to all.
    Same(WhatHappened),
    /// A time of each of the workflows.
    Schedule { cron: Option<String>, is_default: bool },
}

impl Asked {
    /// What it is to the workflow of a file. A time that isn't named is the first of the file.
    pub fn of_file(&self, found: &FoundFile) -> WhatHappened {
        let (cron, is_default) = match &self.what {
            What::Same(what) => return what.clone(),
            What::Schedule { cron, is_default } => (cron.as_deref(), *is_default),
        };
        let mut schedules = found.file.workflow.iter().flat_map(|it| &it.triggers.schedules);
        let schedule = schedules.find(|it| cron.is_none_or(|cron| it.cron == cron));
        WhatHappened::Schedule {
            cron: schedule.map(|it| it.cron.as_str()).or(cron).unwrap_or_default().to_owned(),
            timezone: schedule.and_then(|it| it.timezone.clone()),
            is_default,
        }
    }
}

/// A question.
#[derive(Clone, Copy)]
pub(super) struct Asking<'a> {
    pub state: &'a AppState,
    pub repository: &'a StoredRepository,
    pub query: &'a WhyQuery,
}

/// The push that left a ref at a commit.
struct Found {
    push: StoredPush,
    /// All that the push asked for.
    refs: Vec<PushedRef>,
    /// The ref.
    moved: PushedRef,
}

/// Whether a push left a ref where it was to be.
fn is_there(it: &PushedRef) -> bool {
    it.verdict != RefVerdict::Refused && it.new.is_some()
}

impl Asking<'_> {
    /// The newest push that ended at the commit.
    pub async fn push(self) -> Result<Asked> {
        let (name, commit) = self.named().await?;
        let found = self.pushed(name.as_ref(), commit.id).await?;
        let full_ref = found.as_ref().map(|it| &it.moved.name).or(name.as_ref()).map(ToString::to_string);
        let (what, push) = if let Some(found) = &found {
            let push = Brought::by(&found.push, &found.moved, commit.id);
            (self.what_was_pushed(found, &commit).await?, Some(push))
        } else {
            let push = self.brought(name.as_ref(), commit.id).await?;
            let missed = push.as_ref().map_or(Missed::Unpushed, |push| Missed::WithinPush { head: push.head });
            (WhatHappened::Missed(missed), push)
        };
        let what = What::Same(what);
        Ok(Asked { full_ref, commit: commit.id, files: commit.id, activity: None, push, what })
    }

    /// What an activity on the pull request comes to now.
    pub async fn pull(self) -> Result<Asked> {
        let Self { state, repository, query } = self;
        let pull = match query.pull.and_then(PullNumber::new) {
            Some(number) => state.store.pull(repository.no, number).await?,
            None => None,
        };
        let pull = pull.ok_or_else(|| Error::not_found(PULL_NOT_FOUND))?;
        let head = self.sha()?.unwrap_or(pull.head_oid);
        self.commit(head).await?;
        let activity = query.activity.clone().unwrap_or_else(|| usual_activity(&pull, head).to_owned());
        let refs = state.git.refs(repository.no).await?;
        let is_open = pull.state == PullState::Open;
        let base = branch_among(&refs, &pull.base).filter(|_| is_open).map_or(pull.base_oid, |it| it.oid);
        let asked = PullHappened { pull: &pull, activity: &activity, head, base };
        let what = asked.what(&self.sources(), repository).await?.ok_or_else(commit_not_found)?;
        let merge = self.test_merge(&refs, &pull, (base, head)).await?;
        let end = if merge.is_some() { "merge" } else { "head" };
        Ok(Asked {
            full_ref: Some(format!("refs/pull/{}/{end}", pull.number)),
            commit: head,
            files: merge.unwrap_or(head),
            activity: Some(activity),
            push: None,
            what: What::Same(what),
        })
    }

    /// What a schedule's time comes to.
    pub async fn schedule(self) -> Result<Asked> {
        let (name, commit) = self.named().await?;
        let default = &self.repository.settings.default_branch;
        let refs = self.state.git.refs(self.repository.no).await?;
        let is_tip = branch_among(&refs, default).is_some_and(|it| it.oid == commit.id);
        let is_default = is_tip && name.as_ref().is_none_or(|name| name.branch().as_ref() == Some(default));
        let what = What::Schedule { cron: self.query.cron.clone(), is_default };
        let full_ref = name.map(|name| name.to_string());
        Ok(Asked { full_ref, commit: commit.id, files: commit.id, activity: None, push: None, what })
    }

    /// What starting by hand comes to.
    pub async fn dispatch(self) -> Result<Asked> {
        let (name, commit) = self.named().await?;
        let full_ref = name.map(|name| name.to_string());
        let what = What::Same(WhatHappened::Dispatch);
        Ok(Asked { full_ref, commit: commit.id, files: commit.id, activity: None, push: None, what })
    }

    fn sources(self) -> GitSources {
        sources(self.state)
    }

    /// The commit that is named whole.
    fn sha(self) -> Result<Option<ObjectId>> {
        let read = self.query.sha.as_deref().map(str::parse::<ObjectId>).transpose();
        Ok(read.map_err(|_| commit_not_found())?)
    }

    async fn commit(self, id: ObjectId) -> Result<Commit> {
        Ok(self.sources().commit(self.repository, id).await?.ok_or_else(commit_not_found)?)
    }

    /// The ref that is named, where it is one, and the commit: the one that is named whole, or what the ref names.
    async fn named(self) -> Result<(Option<RefName>, Commit)> {
        let sha = self.sha()?;
        let text = match (&self.query.r#ref, sha) {
            (None, Some(sha)) => return Ok((None, self.commit(sha).await?)),
            (Some(text), _) => text.as_str(),
            (None, None) => self.repository.settings.default_branch.as_str(),
        };
        let (full_ref, id) = named(self.state, self.repository, text).await?;
        let name = RefName::parse(full_ref.as_bytes()).filter(|_| full_ref.starts_with("refs/"));
        let commit = self.sources().commit(self.repository, sha.unwrap_or(id)).await?;
        Ok((name, commit.ok_or_else(|| if sha.is_some() { commit_not_found() } else { revision_not_found() })?))
    }

    /// The newest push that left this branch or tag at the commit; where none is named, any branch, else any tag.
    async fn pushed(self, name: Option<&RefName>, commit: ObjectId) -> Result<Option<Found>> {
        let no = self.repository.no;
        let refs = self.state.git.refs(no).await?;
        // What was pushed of a tag may be an object of its own.
        let tags = refs.iter().filter(|it| it.peeled == Some(commit)).map(|it| it.oid);
        let ended_at: Vec<ObjectId> = std::iter::once(commit).chain(tags.take(TAGS_LOOKED_AT)).collect();
        let list = PushList {
            name: name.cloned(),
            ended_at: ended_at.clone(),
            limit: PUSHES_LOOKED_AT,
            ..PushList::default()
        };
        let found = self.state.store.pushes(no, &list).await?;
        let is_it = |it: &PushedRef| {
            let may_start = matches!(it.name.kind(), RefKind::Branch | RefKind::Tag);
            may_start
                && is_there(it)
                && it.new.is_some_and(|new| ended_at.contains(&new))
                && name.is_none_or(|name| *name == it.name)
        };
        let mut places = Vec::new();
        for (at, (_, refs)) in found.iter().enumerate() {
            let here = refs.iter().enumerate().filter(|(_, it)| is_it(it));
            places.extend(here.map(|(place, it)| (it.name.kind() == RefKind::Tag, at, place)));
        }
        let Some((_, at, place)) = places.into_iter().min() else { return Ok(None) };
        let found = found.into_iter().nth(at).and_then(|(push, refs)| {
            let moved = refs.get(place)?.clone();
            Some(Found { push, refs, moved })
        });
        Ok(found)
    }

    /// The oldest push, of the newest ones, by which the commit came to this branch, or to any, and which ended at another commit.
    async fn brought(self, name: Option<&RefName>, commit: ObjectId) -> Result<Option<Brought>> {
        let list = PushList { name: name.cloned(), limit: PUSHES_LOOKED_AT, ..PushList::default() };
        let pushes = self.state.store.pushes(self.repository.no, &list).await?;
        let moved = pushes.iter().flat_map(|(push, refs)| refs.iter().map(move |moved| (push, moved)));
        let branches = moved.filter(|(_, moved)| {
            moved.name.kind() == RefKind::Branch && name.is_none_or(|name| *name == moved.name) && is_there(moved)
        });
        let mut found = None;
        for (push, moved) in branches.take(BRANCHES_LOOKED_AT) {
            let Some(head) = moved.new else { continue };
            if self.leads_to(Some(head), commit).await? && !self.leads_to(moved.old, commit).await? {
                found = Some(Brought::by(push, moved, head));
            }
        }
        Ok(found)
    }

    /// Whether a commit is in the history of a head; of one that is gone nothing is known.
    async fn leads_to(self, head: Option<ObjectId>, commit: ObjectId) -> Result<bool> {
        let sources = self.sources();
        let Some(head) = head else { return Ok(false) };
        if sources.commit(self.repository, head).await?.is_none() {
            return Ok(false);
        }
        Ok(sources.merge_base(self.repository, (commit, head)).await? == Some(commit))
    }

    /// What the push was to workflows.
    async fn what_was_pushed(self, found: &Found, commit: &Commit) -> Result<WhatHappened> {
        let Found { push, refs, moved } = found;
        if push.job_id.is_some() {
            return Ok(WhatHappened::Missed(Missed::ByJob));
        }
        let names = refs.iter().filter(|it| is_there(it)).map(|it| &it.name);
        if !triggering(names).contains(&moved.name) {
            return Ok(WhatHappened::Missed(Missed::TooManyRefs));
        }
        let default_tip = if moved.old.is_none() { self.default_tip(found).await? } else { None };
        let full_ref = moved.name.to_string();
        let happened = PushHappened { full_ref: &full_ref, before: moved.old, commit, default_tip };
        let what = happened.what(&self.sources(), self.repository).await?;
        Ok(what.map_or(WhatHappened::Missed(Missed::Unpushed), |(what, _)| what))
    }

    /// What the default branch named once a push was done, as far as pushes say it; else what it names now.
    async fn default_tip(self, found: &Found) -> Result<Option<ObjectId>> {
        let default = &self.repository.settings.default_branch;
        let name = RefName::of_branch(default);
        let named = |refs: &[PushedRef]| {
            refs.iter().find(|it| it.name == name && it.verdict != RefVerdict::Refused).map(|it| it.new)
        };
        if let Some(tip) = named(&found.refs) {
            return Ok(tip);
        }
        let list = PushList {
            name: Some(name.clone()),
            before: Some(found.push.id),
            limit: PUSHES_LOOKED_AT,
            ..PushList::default()
        };
        let before = self.state.store.pushes(self.repository.no, &list).await?;
        if let Some(tip) = before.iter().find_map(|(_, refs)| named(refs)) {
            return Ok(tip);
        }
        let refs = self.state.git.refs(self.repository.no).await?;
        Ok(branch_among(&refs, default).map(|it| it.oid))
    }

    /// The test merge of these two, where it is there.
    async fn test_merge(
        self,
        refs: &[Listing],
        pull: &Pull,
        (base, head): (ObjectId, ObjectId),
    ) -> Result<Option<ObjectId>> {
        let Some(name) = pull.number.merge_ref().filter(|_| pull.state == PullState::Open) else { return Ok(None) };
        let Some(oid) = refs.iter().find(|it| it.name == name).map(|it| it.oid) else { return Ok(None) };
        let commit = self.sources().commit(self.repository, oid).await?;
        Ok(commit.filter(|commit| commit.parents == [base, head]).map(|commit| commit.id))
    }
}

/// The activity with which a pull request came to be as it is.
fn usual_activity(pull: &Pull, head: ObjectId) -> &'static str {
    match pull.state {
        PullState::Merged | PullState::Closed => "closed",
        PullState::Open if head == pull.opened_with.0 => "opened",
        PullState::Open => "synchronize",
    }
}
