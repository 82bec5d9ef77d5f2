//! Moves of issues to other spaces. An issue keeps all that hangs on it, and its former key finds it; its subtasks go along.

use domain::{
    Authority, Error, Result,
    id::OrgId,
    issues::{
        access::{Permission, require, role_of},
        boards::SprintState,
        builtin,
        issue::Issue,
        limits::SPACE_NOT_FOUND,
        parts::folded,
        settings::{Catalog, Settings},
        space::{Space, SpaceRole},
    },
    problems::Problems,
};
use kernel::{Command, Handle, Turn};
use store::{Change, Store, issues::StoredIssue};

use super::{
    access::{require_open, teams_of},
    clocks,
    fields::{IssueFields, Lookup, is_assignable},
    issue::{IssueOwner, Opened, moved, written},
    space::cause,
};

/// Where an issue goes, and what it is there.
#[derive(Clone, Debug, Default)]
pub struct Destination {
    /// The space: its key or id.
    pub space: String,
    /// A type of it; the issue's own where it isn't said.
    pub kind: Option<String>,
    /// A status of the workflow there; the issue's own where it isn't said.
    pub status: Option<String>,
}

/// Moves an issue to another space.
#[derive(Clone, Debug)]
pub struct MoveIssue {
    /// The organization.
    pub org_id: OrgId,
    /// Where to.
    pub to: Destination,
    /// What else is to be changed, as the other space has it.
    pub fields: IssueFields,
}

impl Command for MoveIssue {
    type Reply = StoredIssue;

    const NAME: &'static str = "move_issue";
}

/// A space into which the caller may bring issues, and what they are there.
async fn target(store: &Store, authority: &Authority, text: &str) -> Result<(Space, SpaceRole)> {
    let gone = || Error::invalid("space", SPACE_NOT_FOUND);
    let space = store.issue_space_named(authority.org_id(), text).await?.ok_or_else(gone)?;
    open_to(store, authority, space).await.map_err(|error| match error {
        Error::NotFound { .. } => gone(),
        error => error,
    })
}

/// The space, where the caller may make issues in it.
async fn open_to(store: &Store, authority: &Authority, space: Space) -> Result<(Space, SpaceRole)> {
    let role = role_of(authority, &teams_of(store, authority).await?, &space);
    require(role, Permission::Create, SPACE_NOT_FOUND)?;
    require_open(&space)?;
    Ok((space, role.ok_or_else(|| Error::not_found(SPACE_NOT_FOUND))?))
}

/// The issue with a key of the space.
fn keyed(issue: &mut Issue, space: &Space, number: i64) {
    issue.space_id = space.space_id;
    issue.number = number;
    issue.key = format!("{}-{number}", space.key);
}

/// The issue with type and status of the other space; 400 for what has to be said.
fn placed(
    (space, settings): (&Space, &Settings),
    to: &Destination,
    issue: &mut Issue,
    now: domain::Timestamp,
) -> Result<()> {
    let mut problems = Problems::new();
    let kind = to.kind.as_ref().map_or(Some(issue.type_id.clone()), |text| settings.type_named(text));
    match kind.filter(|id| space.config.issue_type_ids.contains(id)) {
        Some(id) => issue.type_id = id,
        None => problems.add("type", "The space has no such type."),
    }
    let workflow = builtin::workflow(space.workflow_of(&issue.type_id))
        .ok_or_else(|| Error::internal("a space names a workflow that isn't there"))?;
    let named = to
        .status
        .as_ref()
        .map_or_else(|| vec![issue.status_id.clone()], |text| settings.ids_named(Catalog::Status, text));
    match named.into_iter().find(|id| workflow.has_status(id)) {
        Some(id) if id == issue.status_id => {}
        Some(id) => moved(issue, &workflow.definition(), &id, settings, now),
        None => problems.add("status", "The workflow there doesn't have the status. Say which one it gets."),
    }
    problems.into_result()
}

/// A subtask as it goes along: with its type and status where the other space has them, else with the first ones that it has.
fn along((space, settings): (&Space, &Settings), issue: &mut Issue, now: domain::Timestamp) -> Result<()> {
    let types = &space.config.issue_type_ids;
    let is_subtask = |id: &&String| settings.issue_type(id).is_some_and(|kind| kind.level < 0);
    if !types.contains(&issue.type_id) {
        let first = types.iter().find(is_subtask).cloned();
        issue.type_id = first.ok_or_else(|| Error::invalid("type", "The space has no type for the subtasks."))?;
    }
    let workflow = builtin::workflow(space.workflow_of(&issue.type_id))
        .ok_or_else(|| Error::internal("a space names a workflow that isn't there"))?;
    if !workflow.has_status(&issue.status_id) {
        let definition = workflow.definition();
        moved(issue, &definition, &definition.initial_status_id, settings, now);
    }
    Ok(())
}

/// Ids, with the names by which parts of another space are found.
type Named = Vec<(String, String)>;

async fn components(store: &Store, space: &Space) -> Result<Named> {
    let all = store.issue_components(space.org_id, Some(space.space_id)).await?;
    Ok(all.iter().map(|it| (it.id.to_string(), folded(&it.name))).collect())
}

async fn versions(store: &Store, space: &Space) -> Result<Named> {
    let all = store.issue_versions(space.org_id, Some(space.space_id)).await?;
    Ok(all.iter().map(|it| (it.id.to_string(), folded(&it.name))).collect())
}

/// The parts of the other space that bear the names of these.
fn mapped(ids: &mut Vec<String>, (old, new): (&Named, &Named)) {
    let names = ids.iter().filter_map(|id| old.iter().find(|(known, _)| known == id)).map(|(_, name)| name);
    let found = names.filter_map(|name| new.iter().find(|(_, known)| known == name)).map(|(id, _)| id.clone());
    *ids = found.collect();
}

/// What an issue has in the other space of what it had: components and versions of the same names, the assignee where they may have
/// issues there, the request type where the desk there has it.
async fn carried(store: &Store, (from, to): (&Space, &Space), issue: &mut Issue) -> Result<()> {
    if !issue.component_ids.is_empty() {
        let (old, new) = (components(store, from).await?, components(store, to).await?);
        mapped(&mut issue.component_ids, (&old, &new));
    }
    if !issue.fix_version_ids.is_empty() || !issue.affects_version_ids.is_empty() {
        let (old, new) = (versions(store, from).await?, versions(store, to).await?);
        mapped(&mut issue.fix_version_ids, (&old, &new));
        mapped(&mut issue.affects_version_ids, (&old, &new));
    }
    issue.sprint_id = None;
    if let Some(assignee) = issue.assignee_id
        && !is_assignable(store, to, assignee).await?
    {
        issue.assignee_id = None;
    }
    let has_kind = |id: &String| to.config.servicedesk.as_ref().is_some_and(|desk| desk.request_type(id).is_some());
    issue.request_type_id = issue.request_type_id.take().filter(has_kind);
    Ok(())
}

/// An issue as a move leaves it, without its key.
pub(crate) async fn brought(
    turn: &Turn<'_, IssueOwner>,
    opened: &Opened,
    (to, fields): (&Destination, &IssueFields),
) -> Result<((Space, SpaceRole), StoredIssue)> {
    opened.require(Permission::Move)?;
    let (store, authority) = (&turn.services().store, &opened.authority);
    let (space, role) = target(store, authority, &to.space).await?;
    if space.space_id == opened.space.space_id {
        return Err(Error::invalid("space", "The issue is in this space."));
    }
    let settings = store.issue_catalog(space.org_id).await?.settings;
    let mut after = opened.stored.clone();
    placed((&space, &settings), to, &mut after.issue, turn.now())?;
    carried(store, (&opened.space, &space), &mut after.issue).await?;
    let number = space.seq + 1;
    keyed(&mut after.issue, &space, number);
    let lookup = Lookup { store, authority, settings: &settings, space: &space };
    if !fields.is_empty() {
        let there = Opened { stored: after.clone(), space: space.clone(), role, ..*opened };
        there.require_fields(fields)?;
        lookup.apply(fields, &mut after, false).await?;
    }
    lookup.family(&after, false).await?;
    Ok(((space, role), after))
}

/// What bringing an issue to another space writes, under the key that it has in `after`, and its subtasks with it under new ones.
pub(crate) async fn relocated(
    turn: &Turn<'_, IssueOwner>,
    (opened, cause): (&Opened, &'static str),
    ((space, role), after): ((Space, SpaceRole), &mut StoredIssue),
) -> Result<Change> {
    let (store, now) = (&turn.services().store, turn.now());
    let settings = store.issue_catalog(space.org_id).await?.settings;
    let mut change = Change::new();
    let mut last = space.seq.max(after.issue.number);
    for before in store.issues_below(space.org_id, opened.stored.issue.issue_id).await? {
        if settings.issue_type(&before.issue.type_id).is_none_or(|kind| kind.level >= 0) {
            continue;
        }
        let mut below = before.clone();
        along((&space, &settings), &mut below.issue, now)?;
        carried(store, (&opened.space, &space), &mut below.issue).await?;
        last += 1;
        keyed(&mut below.issue, &space, last);
        let of = Opened { stored: before, space: opened.space.clone(), ..*opened };
        change.append(Box::pin(gone_over(turn, (&of, cause), ((&space, role), &mut below))).await?);
    }
    let mut all = Box::pin(gone_over(turn, (opened, cause), ((&space, role), after))).await?;
    all.append(change);
    if last > space.seq {
        all.issue_numbers_take(&space, last - space.seq);
    }
    Ok(all)
}

/// What one issue writes that goes over to another space: its clocks there are let go, and its key is kept as a former one.
async fn gone_over(
    turn: &Turn<'_, IssueOwner>,
    (opened, cause): (&Opened, &'static str),
    ((space, role), after): ((&Space, SpaceRole), &mut StoredIssue),
) -> Result<Change> {
    let (store, before) = (&turn.services().store, &opened.stored);
    let mut change = Change::new();
    if !before.issue.sla.is_empty() {
        clocks::leave(&mut change, store, (&opened.space, &before.issue), turn.now()).await?;
    }
    let there = Opened { stored: before.clone(), space: space.clone(), role, ..*opened };
    change.append(written(turn, &there, (&mut *after, cause)).await?);
    change.issue_key_leave(&before.issue, &after.issue);
    Ok(change)
}

/// What a move that is undone writes: the issue is again where, and under the key which, it has in `after`. What is gone there
/// meanwhile is left out.
pub(crate) async fn back(
    turn: &Turn<'_, IssueOwner>,
    (opened, cause): (&Opened, &'static str),
    after: &mut StoredIssue,
) -> Result<Change> {
    opened.require(Permission::Move)?;
    let (store, authority, org_id) = (&turn.services().store, &opened.authority, opened.space.org_id);
    let gone = || Error::not_found(SPACE_NOT_FOUND);
    let space = store.issue_space(org_id, after.issue.space_id).await?.ok_or_else(gone)?;
    let (space, role) = open_to(store, authority, space).await?;
    let settings = store.issue_catalog(org_id).await?.settings;
    let issue = &mut after.issue;
    if !space.config.issue_type_ids.contains(&issue.type_id) {
        return Err(Error::invalid("type", "The space has no such type."));
    }
    along((&space, &settings), issue, turn.now())?;
    let known = components(store, &space).await?;
    issue.component_ids.retain(|id| known.iter().any(|(known, _)| known == id));
    let known = versions(store, &space).await?;
    issue.fix_version_ids.retain(|id| known.iter().any(|(known, _)| known == id));
    issue.affects_version_ids.retain(|id| known.iter().any(|(known, _)| known == id));
    let sprints = store.issue_sprints(org_id, Some(space.space_id)).await?;
    let is_open = |id: &String| sprints.iter().any(|it| it.id.to_string() == *id && it.state != SprintState::Closed);
    issue.sprint_id = issue.sprint_id.take().filter(is_open);
    Lookup { store, authority, settings: &settings, space: &space }.family(after, false).await?;
    Box::pin(relocated(turn, (opened, cause), ((space, role), after))).await
}

impl Handle<MoveIssue> for IssueOwner {
    async fn handle(&mut self, command: &MoveIssue, turn: &mut Turn<'_, Self>) -> Result<StoredIssue> {
        let opened = Opened::of(turn, command.org_id).await?;
        opened.require_version(command.fields.version)?;
        let (there, mut after) = brought(turn, &opened, (&command.to, &command.fields)).await?;
        let cause = cause(&turn.context().caller);
        let change = Box::pin(relocated(turn, (&opened, cause), (there, &mut after))).await?;
        turn.commit(change).await?;
        Ok(after)
    }
}
