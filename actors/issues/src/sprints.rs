//! Sprints of a space: planning, starting and closing them.
//!
//! A sprint is closed by one small commit. What becomes of its issues, a job writes afterwards, some at a time: those that aren't done
//! go on, to another sprint or to none, and all remember that they were in it.

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    Error, Result, Scope, Timestamp,
    id::{OrgId, SprintId, UserId},
    issues::{
        access::Permission,
        boards::{Sprint, SprintState},
        limits::{SPRINT_NOT_FOUND, SPRINTS_MAX},
        space::Space,
        workflow::Category,
    },
    tenant::Tenant,
};
use kernel::{Command, Handle, Turn};
use serde::{Deserialize, Serialize};
use store::{
    Change, NewWork, Permits,
    issues::{IssueChanged, PartKind},
};

use super::{
    access::{require_open, space_with},
    components::{in_use, stale},
    space::IssueSpace,
};

/// Issues of a commit of the job.
const AT_ONCE: u64 = 50;

/// The job that has issues leave a sprint that was closed.
pub(crate) const SPRINT_CLOSING: Topic = Topic {
    permits: Permits::with_spare(1, 3),
    goes_on_because: Some("The sprint is closed; its issues must leave it."),
    ..Topic::new("issues.sprints")
};

/// What is said of a sprint. What isn't said stays, or takes its default; null clears.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "each is what the sprint calls it")]
pub struct SprintPatch {
    pub name: Option<String>,
    pub goal: Option<String>,
    pub start_at: Option<Option<Timestamp>>,
    pub end_at: Option<Option<Timestamp>>,
    pub version: Option<i64>,
}

/// Makes a sprint.
#[derive(Clone, Debug)]
pub struct CreateSprint {
    /// The organization.
    pub org_id: OrgId,
    /// What is said of it.
    pub patch: SprintPatch,
}

/// Changes a sprint that isn't closed.
#[derive(Clone, Debug)]
pub struct ChangeSprint {
    /// The organization.
    pub org_id: OrgId,
    /// Which one.
    pub id: SprintId,
    /// What is to be changed.
    pub patch: SprintPatch,
}

/// Starts a sprint, where no other one of the space is active.
#[derive(Clone, Debug)]
pub struct StartSprint {
    /// The organization.
    pub org_id: OrgId,
    /// Which one.
    pub id: SprintId,
    /// What else is to be changed.
    pub patch: SprintPatch,
}

/// Closes the sprint that is active. What isn't done goes to another one, or to none.
#[derive(Clone, Copy, Debug)]
pub struct CompleteSprint {
    /// The organization.
    pub org_id: OrgId,
    /// Which one.
    pub id: SprintId,
    /// Where what isn't done goes.
    pub move_to: Option<SprintId>,
}

/// Deletes a sprint in which no issue is or was.
#[derive(Clone, Copy, Debug)]
pub struct RemoveSprint {
    /// The organization.
    pub org_id: OrgId,
    /// Which one.
    pub id: SprintId,
}

/// What a sprint came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SprintReport {
    /// The sprint.
    pub sprint: Sprint,
    /// Issues that were done.
    pub completed: i64,
    /// Issues that go on.
    pub unfinished: i64,
}

impl Command for CreateSprint {
    type Reply = Sprint;

    const NAME: &'static str = "create_issue_sprint";
}

impl Command for ChangeSprint {
    type Reply = Sprint;

    const NAME: &'static str = "change_issue_sprint";
}

impl Command for StartSprint {
    type Reply = Sprint;

    const NAME: &'static str = "start_issue_sprint";
}

impl Command for CompleteSprint {
    type Reply = SprintReport;

    const NAME: &'static str = "complete_issue_sprint";
}

impl Command for RemoveSprint {
    type Reply = ();

    const NAME: &'static str = "remove_issue_sprint";
}

/// The space of a turn, in which the caller may plan sprints, and who that is.
pub(crate) async fn planned(turn: &Turn<'_, IssueSpace>, org_id: OrgId) -> Result<(Space, UserId)> {
    let authority = turn.authority(org_id).await?;
    authority.require(Scope::IssuesWrite)?;
    let person = authority.on_behalf_of()?;
    let (space, _) = space_with(&turn.services().store, &authority, *turn.key(), Permission::ManageSprints).await?;
    require_open(&space)?;
    Ok((space, person))
}

async fn known(turn: &Turn<'_, IssueSpace>, org_id: OrgId) -> Result<(Vec<Sprint>, UserId)> {
    let (space, person) = planned(turn, org_id).await?;
    Ok((turn.services().store.issue_sprints(org_id, Some(space.space_id)).await?, person))
}

fn found(known: &[Sprint], id: SprintId) -> Result<&Sprint> {
    known.iter().find(|it| it.id == id).ok_or_else(|| Error::not_found(SPRINT_NOT_FOUND))
}

/// 409 of a sprint that isn't as it must be.
fn wrong_state(message: &'static str) -> Error {
    Error::conflict("wrong_state", message)
}

impl SprintPatch {
    fn apply(&self, mut sprint: Sprint) -> Result<Sprint> {
        if self.version.is_some_and(|version| version != sprint.version) {
            return Err(stale("sprint"));
        }
        if let Some(name) = &self.name {
            name.trim().clone_into(&mut sprint.name);
        }
        if let Some(goal) = &self.goal {
            goal.clone_into(&mut sprint.goal);
        }
        sprint.start_at = self.start_at.unwrap_or(sprint.start_at);
        sprint.end_at = self.end_at.unwrap_or(sprint.end_at);
        sprint.check()?;
        Ok(sprint)
    }
}

impl Handle<CreateSprint> for IssueSpace {
    async fn handle(&mut self, command: &CreateSprint, turn: &mut Turn<'_, Self>) -> Result<Sprint> {
        let (known, _) = known(turn, command.org_id).await?;
        let blank = Sprint {
            id: SprintId::new(turn.now()),
            space_id: *turn.key(),
            name: String::new(),
            goal: String::new(),
            state: SprintState::Future,
            start_at: None,
            end_at: None,
            closed_at: None,
            version: 1,
            created_at: turn.now(),
        };
        let sprint = command.patch.apply(blank)?;
        if known.len() >= SPRINTS_MAX {
            let message = format!("A space has at most {SPRINTS_MAX} sprints.");
            return Err(Error::bad_request("limit_reached", message));
        }
        let mut change = Change::new();
        change.issue_sprint_add(command.org_id, &sprint);
        turn.commit(change).await?;
        Ok(sprint)
    }
}

impl Handle<ChangeSprint> for IssueSpace {
    async fn handle(&mut self, command: &ChangeSprint, turn: &mut Turn<'_, Self>) -> Result<Sprint> {
        let (known, _) = known(turn, command.org_id).await?;
        let before = found(&known, command.id)?;
        let mut sprint = command.patch.apply(before.clone())?;
        if sprint == *before {
            return Ok(sprint);
        }
        if before.state == SprintState::Closed {
            return Err(wrong_state("This sprint is closed."));
        }
        sprint.version += 1;
        let mut change = Change::new();
        change.issue_sprint_set(&sprint);
        turn.commit(change).await?;
        Ok(sprint)
    }
}

impl Handle<StartSprint> for IssueSpace {
    async fn handle(&mut self, command: &StartSprint, turn: &mut Turn<'_, Self>) -> Result<Sprint> {
        let (known, _) = known(turn, command.org_id).await?;
        let before = found(&known, command.id)?;
        match before.state {
            SprintState::Future => {}
            SprintState::Active => return Ok(before.clone()),
            SprintState::Closed => return Err(wrong_state("This sprint is closed.")),
        }
        if known.iter().any(|it| it.state == SprintState::Active) {
            return Err(Error::conflict("sprint_active", "Another sprint of the space is active."));
        }
        let begun = Sprint { state: SprintState::Active, start_at: Some(turn.now()), ..before.clone() };
        let mut sprint = command.patch.apply(begun)?;
        sprint.version += 1;
        let mut change = Change::new();
        change.issue_sprint_set(&sprint);
        change.issue_sprint_alone(&sprint);
        turn.commit(change).await?;
        Ok(sprint)
    }
}

impl Handle<CompleteSprint> for IssueSpace {
    async fn handle(&mut self, command: &CompleteSprint, turn: &mut Turn<'_, Self>) -> Result<SprintReport> {
        let (org_id, now) = (command.org_id, turn.now());
        let (known, by) = known(turn, org_id).await?;
        let before = found(&known, command.id)?;
        if before.state != SprintState::Active {
            return Err(wrong_state("Only the sprint that is active can be closed."));
        }
        if let Some(next) = command.move_to {
            let is_open = known.iter().any(|it| it.id == next && it.state == SprintState::Future);
            if !is_open {
                return Err(Error::invalid("moveTo", "Choose a sprint of the space that hasn't begun."));
            }
        }
        let id = before.id.to_string();
        let (completed, all) = turn.services().store.issue_sprint_counts(org_id, &id).await?;
        let sprint =
            Sprint { state: SprintState::Closed, closed_at: Some(now), version: before.version + 1, ..before.clone() };
        let mut change = Change::new();
        change.issue_sprint_set(&sprint);
        let closing = Closing { sprint_id: command.id, move_to: command.move_to, by };
        change.work_add(now, NewWork::new(SPRINT_CLOSING.name, org_id, &closing));
        turn.commit(change).await?;
        Ok(SprintReport { sprint, completed, unfinished: all - completed })
    }
}

impl Handle<RemoveSprint> for IssueSpace {
    async fn handle(&mut self, command: &RemoveSprint, turn: &mut Turn<'_, Self>) -> Result<()> {
        let org_id = command.org_id;
        let (known, _) = known(turn, org_id).await?;
        let sprint = found(&known, command.id)?;
        let id = sprint.id.to_string();
        let uses = turn.services().store.issue_part_uses(org_id, PartKind::Sprint, &id).await?;
        if uses > 0 {
            return Err(in_use((&id, &sprint.name), uses));
        }
        let mut change = Change::new();
        change.issue_part_remove(org_id, PartKind::Sprint, (&id, sprint.version));
        turn.commit(change).await
    }
}

/// What the job is to do.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Closing {
    sprint_id: SprintId,
    move_to: Option<SprintId>,
    /// Whoever closed the sprint.
    by: UserId,
}

/// How far it is: the number of the last issue that was looked at.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Left {
    seq: i64,
}

/// Has issues leave sprints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SprintClosing;

impl Handler for SprintClosing {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let Tenant::Org(org_id) = job.tenant() else {
            return Err(Halt::Refused("it names no organization".to_owned()));
        };
        let closing: Closing = job.payload()?;
        let mut left: Left = job.progress()?.unwrap_or_default();
        let sprint = closing.sprint_id.to_string();
        loop {
            let seqs = job.store().issue_sprint_next(org_id, (&sprint, left.seq), AT_ONCE).await?;
            let Some(last) = seqs.last().copied() else { return Ok(Change::new()) };
            let change = closing.change(job, org_id, &seqs).await?;
            left.seq = last;
            job.step(change, &left).await?;
        }
    }
}

impl Closing {
    /// What some issues become. Those in the trash leave the sprint when they come back.
    async fn change(&self, job: &Job, org_id: OrgId, seqs: &[i64]) -> Result<Change, Halt> {
        let (store, at) = (job.store(), job.store().now());
        let sprints = store.issue_sprints(org_id, None).await?;
        let is_open = |id: &SprintId| sprints.iter().any(|it| it.id == *id && it.state != SprintState::Closed);
        let next = self.move_to.filter(is_open).map(|id| id.to_string());
        let ended = self.sprint_id.to_string();
        let mut change = Change::new();
        for before in store.issues_whole(seqs).await? {
            if before.issue.sprint_id.as_ref() != Some(&ended) {
                continue;
            }
            let mut after = before.clone();
            let is_done = after.issue.status_category == Category::Done;
            after.issue.leave_sprint(if is_done { None } else { next.clone() });
            super::fields::touched(&mut after, at);
            change.issue_set(&after, &before);
            let changed = IssueChanged { before: &before, after: &after, by: self.by, cause: "person", at };
            change.issue_history_add(changed);
        }
        Ok(change)
    }
}
