//! An issue: its fields and its way through the workflow.

use actors_base::Services;
use domain::{
    Authority, Error, Result, Scope, Timestamp,
    id::{IssueId, OrgId, UserId},
    issues::{
        access::{Permission, may, require},
        approval::is_awaited,
        builtin,
        issue::Issue,
        limits::ISSUE_NOT_FOUND,
        settings::Settings,
        space::{Space, SpaceRole},
        workflow::{Blocked, Category, Definition, Entered, Situation, Transition, available, blocked, entered},
    },
};
use kernel::{Command, Handle, Resource, Turn};
use store::{
    Change,
    audit::{AuditEntry, AuditTarget},
    issues::{IssueChanged, StoredIssue},
};

use super::{
    access::{issue_seen, require_open},
    approvals,
    bulk::BULK,
    clocks::{self, Clocks, Happened},
    fields::{IssueFields, Lookup, touched},
    space::cause,
    telling::{tell_assigned, tell_mentioned},
};

/// An issue.
#[derive(Debug)]
pub struct IssueOwner;

impl Resource for IssueOwner {
    type Key = IssueId;
    type Services = Services;

    const KIND: &'static str = "issue";

    async fn load(_: &IssueId, _: &Services) -> Result<Self> {
        Ok(Self)
    }
}

/// Changes an issue.
#[derive(Clone, Debug)]
pub struct ChangeIssue {
    /// The organization.
    pub org_id: OrgId,
    /// What is to be changed.
    pub fields: IssueFields,
}

/// How a transition is named.
#[derive(Clone, Debug)]
pub enum Moved {
    /// By its id.
    By(String),
    /// By the status that it leads to.
    To(String),
}

/// Makes a transition.
#[derive(Clone, Debug)]
pub struct TransitionIssue {
    /// The organization.
    pub org_id: OrgId,
    /// Which one.
    pub moved: Moved,
    /// What else is to be changed.
    pub fields: IssueFields,
}

/// Puts an issue into the trash.
#[derive(Clone, Copy, Debug)]
pub struct DeleteIssue {
    /// The organization.
    pub org_id: OrgId,
}

impl Command for ChangeIssue {
    type Reply = StoredIssue;

    const NAME: &'static str = "change_issue";
}

impl Command for TransitionIssue {
    type Reply = StoredIssue;

    const NAME: &'static str = "transition_issue";
}

impl Command for DeleteIssue {
    type Reply = ();

    const NAME: &'static str = "delete_issue";
}

/// An issue that somebody is about to change.
pub(crate) struct Opened {
    pub authority: Authority,
    pub person: UserId,
    pub stored: StoredIssue,
    pub space: Space,
    pub role: SpaceRole,
}

impl Opened {
    /// The issue, which the caller may browse and whose space isn't archived.
    pub(crate) async fn of(turn: &Turn<'_, IssueOwner>, org_id: OrgId) -> Result<Self> {
        let authority = turn.authority(org_id).await?;
        authority.require(Scope::IssuesWrite)?;
        let person = authority.on_behalf_of()?;
        let (stored, space, role) = issue_seen(&turn.services().store, &authority, (org_id, *turn.key())).await?;
        require_open(&space)?;
        Ok(Self { authority, person, stored, space, role })
    }

    /// 403 without the permission.
    pub(crate) fn require(&self, permission: Permission) -> Result<()> {
        require(Some(self.role), permission, ISSUE_NOT_FOUND)
    }

    /// 409 `stale_version` with what is there, where another version was seen.
    pub(crate) fn require_version(&self, seen: Option<i64>) -> Result<()> {
        if seen.is_none_or(|seen| seen == self.stored.issue.version) {
            return Ok(());
        }
        let now = serde_json::to_value(&self.stored.issue).unwrap_or_default();
        Err(Error::conflict("stale_version", "The issue changed. Load it again.").adding("issue", now))
    }

    /// 403 for who may not throw the issue away: reporter and creator may throw away their own.
    pub(crate) fn require_delete(&self) -> Result<()> {
        let issue = &self.stored.issue;
        let is_own = [issue.reporter_id, issue.creator_id].contains(&Some(self.person));
        self.require(if is_own { Permission::DeleteOwn } else { Permission::Delete })
    }

    /// 403 for who may not change these fields.
    pub(crate) fn require_fields(&self, fields: &IssueFields) -> Result<()> {
        let only_assigns =
            fields.assignee.is_some() && IssueFields { assignee: None, version: None, ..fields.clone() }.is_empty();
        if fields.assignee.is_some() {
            self.require(Permission::Assign)?;
        }
        if fields.sprint.is_some() {
            self.require(Permission::ManageSprints)?;
        }
        if only_assigns { Ok(()) } else { self.require_edit() }
    }

    /// 403 for who may not change the content: reporter and creator may change their own.
    pub(crate) fn require_edit(&self) -> Result<()> {
        let issue = &self.stored.issue;
        let is_own = [issue.reporter_id, issue.creator_id].contains(&Some(self.person));
        if is_own && may(Some(self.role), Permission::EditOwn) { Ok(()) } else { self.require(Permission::Edit) }
    }
}

/// What a change of an issue writes, which `cause` brought about: row, history, and whom it concerns.
pub(crate) async fn written(
    turn: &Turn<'_, IssueOwner>,
    opened: &Opened,
    (after, cause): (&mut StoredIssue, &'static str),
) -> Result<Change> {
    let (before, person, now) = (&opened.stored, opened.person, turn.now());
    if let Some(assignee) = after.issue.assignee_id {
        after.issue.watch(assignee);
    }
    touched(after, now);
    let mut change = Change::new();
    let happened = Happened { before: Some(&before.issue), said: None };
    let store = &turn.services().store;
    let followed = approvals::follow(store, &opened.space, (Some(&before.issue), &mut after.issue), now).await?;
    let clocks = Clocks::follow(store, &opened.space, (happened, &mut after.issue), now).await?;
    change.issue_set(after, before);
    clocks.write(&mut change, (&opened.space, &after.issue), now);
    let changed = IssueChanged { before, after, by: person, cause, at: now };
    change.issue_history_add(changed);
    followed.write(&mut change, store, (changed, &opened.space)).await?;
    if (&before.issue.request_type_id, before.issue.space_id) != (&after.issue.request_type_id, after.issue.space_id) {
        change.issue_request_follow(&after.issue, after.issue.reporter_id.unwrap_or(person));
    }
    if cause == BULK {
        return Ok(change);
    }
    super::portal::tell_changed(&mut change, store, (before, after), (person, now)).await?;
    let is_new = after.issue.assignee_id != before.issue.assignee_id;
    if let Some(assignee) = after.issue.assignee_id.filter(|it| is_new && *it != person) {
        tell_assigned(&mut change, (&opened.space, &after.issue), assignee, now);
    }
    let texts = (before.description.as_str(), after.description.as_str());
    tell_mentioned(&mut change, store, (&opened.space, &after.issue), texts, (person, now)).await?;
    Ok(change)
}

impl Handle<ChangeIssue> for IssueOwner {
    async fn handle(&mut self, command: &ChangeIssue, turn: &mut Turn<'_, Self>) -> Result<StoredIssue> {
        let opened = Opened::of(turn, command.org_id).await?;
        opened.require_fields(&command.fields)?;
        opened.require_version(command.fields.version)?;
        let store = &turn.services().store;
        let settings = store.issue_catalog(command.org_id).await?.settings;
        let mut after = opened.stored.clone();
        let lookup = Lookup { store, authority: &opened.authority, settings: &settings, space: &opened.space };
        lookup.apply(&command.fields, &mut after, false).await?;
        if after == opened.stored {
            return Ok(after);
        }
        let cause = cause(&turn.context().caller);
        let change = written(turn, &opened, (&mut after, cause)).await?;
        turn.commit(change).await?;
        Ok(after)
    }
}

/// Who looks at a transition.
struct Looking<'a> {
    authority: &'a Authority,
    role: SpaceRole,
    issue: &'a Issue,
}

impl Looking<'_> {
    fn person(&self) -> Option<UserId> {
        self.authority.on_behalf_of().ok()
    }
}

impl Situation for Looking<'_> {
    fn has_org_role(&self, role: &str) -> bool {
        self.authority.role().as_str() == role
    }

    fn has_space_role(&self, role: &str) -> bool {
        serde_json::to_value(self.role).is_ok_and(|own| own == role)
    }

    fn is_assignee(&self) -> bool {
        self.issue.assignee_id.is_some() && self.issue.assignee_id == self.person()
    }

    fn is_reporter(&self) -> bool {
        self.issue.reporter_id.is_some() && self.issue.reporter_id == self.person()
    }

    fn may(&self, permission: &str) -> bool {
        Permission::from_name(permission).is_some_and(|permission| may(Some(self.role), permission))
    }

    fn has_field(&self, field: &str) -> bool {
        !self.issue.kept(field).is_empty()
    }

    fn subtasks_are_done(&self) -> bool {
        true
    }
}

/// A transition, and what stands in its way.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockedTransition {
    /// The transition.
    pub transition: Transition,
    /// What stands in its way.
    pub blocked: Vec<Blocked>,
}

pub(crate) fn definition_of(space: &Space, issue: &Issue) -> Option<Definition> {
    builtin::workflow(space.workflow_of(&issue.type_id)).map(builtin::BuiltIn::definition)
}

/// The transitions that leave an issue's status, for who looks at it.
pub fn transitions_of(
    authority: &Authority,
    (space, role): (&Space, SpaceRole),
    issue: &Issue,
) -> Vec<BlockedTransition> {
    let Some(definition) = definition_of(space, issue) else { return Vec::new() };
    let looking = Looking { authority, role, issue };
    let all = available(&definition, &issue.status_id);
    let blocked = |way: &Transition| {
        let mut all = blocked(way, &looking);
        if is_awaited(space, issue, &way.to) {
            all.push(Blocked { kind: "approval", why: "This waits for an approval.".to_owned() });
        }
        all
    };
    all.map(|it| BlockedTransition { transition: it.clone(), blocked: blocked(it) }).collect()
}

/// The issue in the status that a transition leads to.
pub(crate) fn moved(issue: &mut Issue, definition: &Definition, to: &str, settings: &Settings, now: Timestamp) {
    let was = issue.status_category;
    let is = settings.status(to).map_or(Category::Todo, |status| status.category);
    let before = Entered { resolved_at: issue.resolved_at, resolution: issue.resolution_id.clone() };
    let after = entered(definition, was, is, before, now);
    issue.resolved_at = after.resolved_at;
    issue.resolution_id = after.resolution;
    issue.enter(to, is, now);
}

impl Handle<TransitionIssue> for IssueOwner {
    async fn handle(&mut self, command: &TransitionIssue, turn: &mut Turn<'_, Self>) -> Result<StoredIssue> {
        let opened = Opened::of(turn, command.org_id).await?;
        opened.require(Permission::Transition)?;
        opened.require_version(command.fields.version)?;
        let open = transitions_of(&opened.authority, (&opened.space, opened.role), &opened.stored.issue);
        let is_meant = |it: &&BlockedTransition| match &command.moved {
            Moved::By(id) => it.transition.id == *id,
            Moved::To(status) => it.transition.to == *status,
        };
        let Some(way) = open.iter().find(is_meant) else {
            return Err(Error::conflict("wrong_status", "This transition doesn't leave the issue's status."));
        };
        if !way.blocked.is_empty() {
            let blocked = serde_json::to_value(&way.blocked).unwrap_or_default();
            return Err(
                Error::conflict("transition_blocked", "Something stands in the way.").adding("blocked", blocked)
            );
        }
        let store = &turn.services().store;
        let settings = store.issue_catalog(command.org_id).await?.settings;
        let mut after = opened.stored.clone();
        let definition = definition_of(&opened.space, &after.issue)
            .ok_or_else(|| Error::internal("a space names a workflow that isn't there"))?;
        moved(&mut after.issue, &definition, &way.transition.to, &settings, turn.now());
        if !command.fields.is_empty() {
            opened.require_edit()?;
            if command.fields.sprint.is_some() {
                opened.require(Permission::ManageSprints)?;
            }
            let lookup = Lookup { store, authority: &opened.authority, settings: &settings, space: &opened.space };
            lookup.apply(&command.fields, &mut after, false).await?;
        }
        let cause = cause(&turn.context().caller);
        let change = written(turn, &opened, (&mut after, cause)).await?;
        turn.commit(change).await?;
        Ok(after)
    }
}

impl Handle<DeleteIssue> for IssueOwner {
    async fn handle(&mut self, command: &DeleteIssue, turn: &mut Turn<'_, Self>) -> Result<()> {
        let opened = Opened::of(turn, command.org_id).await?;
        let issue = &opened.stored.issue;
        opened.require_delete()?;
        if turn.services().store.issue_children_count(issue.issue_id).await? > 0 {
            return Err(Error::conflict("has_subtasks", "Other issues stand below this one."));
        }
        let mut change = Change::new();
        change.issue_trash(issue, turn.now());
        clocks::leave(&mut change, &turn.services().store, (&opened.space, issue), turn.now()).await?;
        let target = AuditTarget::new("issue", issue.issue_id).labelled(&issue.key);
        change.audit_add(turn.now(), AuditEntry::new(turn.context(), "issue.deleted", target).in_org(command.org_id));
        turn.commit(change).await
    }
}
