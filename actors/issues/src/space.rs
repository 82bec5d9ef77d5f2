//! A space: its configuration, and the issues that are made in it.

use std::collections::BTreeMap;

use actors_base::Services;
use domain::{
    Caller, Error, Result, Scope,
    id::{IssueId, OrgId, SpaceId, UserId},
    issues::{
        access::{Permission, require},
        builtin,
        issue::Issue,
        limits::SPACE_NOT_FOUND,
        rank::Rank,
        settings::{Color, Settings},
        space::Space,
    },
};
use kernel::{Command, Handle, Resource, Turn};
use store::{
    Change, Store,
    audit::{AuditEntry, AuditTarget},
    issues::{IssueChanged, StoredIssue},
};

use super::{
    access::{require_open, space_with},
    approvals,
    clocks::{Clocks, Happened},
    fields::{IssueFields, Lookup},
    parts,
    telling::{tell_assigned, tell_mentioned},
    waking,
};

/// A space.
#[derive(Debug)]
pub struct IssueSpace;

impl Resource for IssueSpace {
    type Key = SpaceId;
    type Services = Services;

    const KIND: &'static str = "issue_space";

    async fn load(_: &SpaceId, _: &Services) -> Result<Self> {
        Ok(Self)
    }
}

/// What is to be changed of a space; what isn't said stays.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "each is what the contract calls it")]
pub struct SpacePatch {
    pub name: Option<String>,
    pub description: Option<String>,
    pub lead_id: Option<Option<UserId>>,
    pub icon: Option<Option<String>>,
    pub color: Option<Option<Color>>,
    pub config: Option<serde_json::Value>,
    pub version: Option<i64>,
}

/// Changes a space.
#[derive(Clone, Debug)]
pub struct ChangeSpace {
    /// The organization.
    pub org_id: OrgId,
    /// What is to be changed.
    pub patch: SpacePatch,
}

/// Archives a space, or brings it back.
#[derive(Clone, Copy, Debug)]
pub struct ArchiveSpace {
    /// The organization.
    pub org_id: OrgId,
    /// Whether it is to be archived.
    pub archived: bool,
}

/// Makes an issue.
#[derive(Clone, Debug)]
pub struct CreateIssue {
    /// The organization.
    pub org_id: OrgId,
    /// What is said of it.
    pub fields: IssueFields,
}

impl Command for ChangeSpace {
    type Reply = Space;

    const NAME: &'static str = "change_issue_space";
}

impl Command for ArchiveSpace {
    type Reply = Space;

    const NAME: &'static str = "archive_issue_space";
}

impl Command for CreateIssue {
    type Reply = StoredIssue;

    const NAME: &'static str = "create_issue";
}

fn audit(change: &mut Change, turn: &Turn<'_, IssueSpace>, space: &Space, act: &'static str) {
    let target = AuditTarget::new("issue_space", space.space_id).labelled(&space.name);
    change.audit_add(turn.now(), AuditEntry::new(turn.context(), act, target).in_org(space.org_id));
}

impl Handle<ChangeSpace> for IssueSpace {
    async fn handle(&mut self, command: &ChangeSpace, turn: &mut Turn<'_, Self>) -> Result<Space> {
        let org_id = command.org_id;
        let authority = turn.authority(org_id).await?;
        authority.require(Scope::IssuesWrite)?;
        let store = &turn.services().store;
        let (before, _) = space_with(store, &authority, *turn.key(), Permission::Administer).await?;
        let patch = command.patch.clone();
        if patch.version.is_some_and(|version| version != before.version) {
            let now = serde_json::to_value(&before).unwrap_or_default();
            return Err(Error::conflict("stale_version", "The space changed. Load it again.").adding("space", now));
        }
        if let Some(Some(lead)) = patch.lead_id
            && store.member(org_id, lead).await?.is_none()
        {
            return Err(Error::invalid("leadId", "There is no such person."));
        }
        let mut space = Space {
            name: patch.name.map_or_else(|| before.name.clone(), |name| name.trim().to_owned()),
            description: patch.description.unwrap_or_else(|| before.description.clone()),
            lead_id: patch.lead_id.unwrap_or(before.lead_id),
            icon: patch.icon.unwrap_or_else(|| before.icon.clone()),
            color: patch.color.unwrap_or(before.color),
            config: patch.config.map_or_else(|| Ok(before.config.clone()), |said| before.config.with(&said))?,
            ..before.clone()
        };
        if space == before {
            return Ok(before);
        }
        space.check(&store.issue_catalog(org_id).await?.settings)?;
        space.version += 1;
        space.updated_at = turn.now();
        let mut change = Change::new();
        change.issue_space_set(&space);
        let timed =
            |space: &Space| space.config.servicedesk.as_ref().map(|desk| (desk.slas.clone(), desk.hours.clone()));
        if timed(&space) != timed(&before) {
            waking::wake_after(&mut change, (org_id, space.space_id), turn.now());
        }
        super::mail::follow(&mut change, turn.services(), (&before, &space), turn.now()).await?;
        audit(&mut change, turn, &space, "issue_space.changed");
        turn.commit(change).await?;
        Ok(space)
    }
}

impl Handle<ArchiveSpace> for IssueSpace {
    async fn handle(&mut self, command: &ArchiveSpace, turn: &mut Turn<'_, Self>) -> Result<Space> {
        let authority = turn.authority(command.org_id).await?;
        authority.require(Scope::IssuesWrite)?;
        let store = &turn.services().store;
        let (mut space, _) = space_with(store, &authority, *turn.key(), Permission::Administer).await?;
        if space.archived == command.archived {
            return Ok(space);
        }
        space.archived = command.archived;
        space.archived_at = command.archived.then(|| turn.now());
        space.version += 1;
        space.updated_at = turn.now();
        let mut change = Change::new();
        change.issue_space_set(&space);
        let act = if command.archived { "issue_space.archived" } else { "issue_space.unarchived" };
        audit(&mut change, turn, &space, act);
        turn.commit(change).await?;
        Ok(space)
    }
}

/// A new issue of a space before anything is said of it.
pub(crate) fn blank(space: &Space, settings: &Settings, maker: UserId, now: domain::Timestamp) -> StoredIssue {
    let issue = Issue {
        org_id: space.org_id,
        issue_id: IssueId::new(now),
        space_id: space.space_id,
        number: space.seq + 1,
        key: format!("{}-{}", space.key, space.seq + 1),
        type_id: space.config.default_type_id.clone(),
        summary: String::new(),
        status_id: String::new(),
        status_category: domain::issues::workflow::Category::Todo,
        status_changed_at: None,
        resolution_id: None,
        resolved_at: None,
        priority_id: Some(settings.default_priority_id.clone()),
        assignee_id: None,
        reporter_id: Some(maker),
        creator_id: Some(maker),
        labels: Vec::new(),
        component_ids: Vec::new(),
        fix_version_ids: Vec::new(),
        affects_version_ids: Vec::new(),
        due_date: None,
        start_date: None,
        story_points: None,
        original_estimate: None,
        remaining_estimate: None,
        environment: None,
        location: None,
        parent_id: None,
        sprint_id: None,
        closed_sprint_ids: Vec::new(),
        rank: Rank::of_new(now).as_str().to_owned(),
        watchers: Vec::new(),
        voters: Vec::new(),
        fields: BTreeMap::new(),
        excerpt: String::new(),
        status_log: Vec::new(),
        comment_count: 0,
        attachment_count: 0,
        request_type_id: None,
        channel: None,
        participants: Vec::new(),
        requester_email: None,
        requester_unverified: false,
        email_participants: Vec::new(),
        approvals: Vec::new(),
        satisfaction: None,
        satisfaction_comment: None,
        sla: BTreeMap::new(),
        version: 1,
        created_at: now,
        updated_at: now,
    };
    StoredIssue { issue, description: String::new() }
}

/// Puts a new issue into the first status of its workflow.
pub(crate) fn begin(space: &Space, settings: &Settings, issue: &mut Issue, now: domain::Timestamp) -> Result<()> {
    let workflow = builtin::workflow(space.workflow_of(&issue.type_id))
        .ok_or_else(|| Error::internal("a space names a workflow that isn't there"))?;
    let first = workflow.definition().initial_status_id;
    let category = settings.status(&first).map_or(domain::issues::workflow::Category::Todo, |it| it.category);
    issue.enter(&first, category, now);
    Ok(())
}

/// An issue that has begun, and is not stored yet.
pub(crate) struct Begun<'b> {
    pub space: &'b Space,
    pub by: UserId,
    /// What did it, as its history says.
    pub cause: &'static str,
    /// Whose request it is, where it is one.
    pub requester: Option<UserId>,
}

impl Begun<'_> {
    /// Adds the issue, with its clocks and approvals, and tells whom it is assigned to.
    pub async fn change(&self, store: &Store, stored: &mut StoredIssue, now: domain::Timestamp) -> Result<Change> {
        let Self { space, by, cause, requester } = *self;
        let followed = approvals::follow(store, space, (None, &mut stored.issue), now).await?;
        let happened = Happened { before: None, said: None };
        let clocks = Clocks::follow(store, space, (happened, &mut stored.issue), now).await?;
        let issue = &stored.issue;
        let mut change = Change::new();
        change.issue_numbers_take(space, 1);
        change.issue_add(stored);
        clocks.write(&mut change, (space, issue), now);
        change.issue_history_begin(issue, by);
        if let Some(requester) = requester {
            change.issue_request_add(issue, requester);
        }
        let changed = IssueChanged { before: stored, after: stored, by, cause, at: now };
        followed.write(&mut change, store, (changed, space)).await?;
        if let Some(assignee) = issue.assignee_id.filter(|it| *it != by) {
            tell_assigned(&mut change, (space, issue), assignee, now);
        }
        Ok(change)
    }
}

/// What did a change: `person` or `key`.
pub(crate) const fn cause(caller: &Caller) -> &'static str {
    match caller {
        Caller::Key(_) | Caller::AccessKey(_) => "key",
        Caller::Person(_) | Caller::Job(_) | Caller::AppPassword(_) | Caller::Nobody | Caller::System => "person",
    }
}

impl Handle<CreateIssue> for IssueSpace {
    async fn handle(&mut self, command: &CreateIssue, turn: &mut Turn<'_, Self>) -> Result<StoredIssue> {
        let org_id = command.org_id;
        let authority = turn.authority(org_id).await?;
        authority.require(Scope::IssuesWrite)?;
        let maker = authority.on_behalf_of()?;
        let (store, now) = (&turn.services().store, turn.now());
        let (space, role) = space_with(store, &authority, *turn.key(), Permission::Create).await?;
        require_open(&space)?;
        if command.fields.sprint.is_some() {
            require(Some(role), Permission::ManageSprints, SPACE_NOT_FOUND)?;
        }
        let settings = store.issue_catalog(org_id).await?.settings;
        let mut stored = blank(&space, &settings, maker, now);
        let mut fields = command.fields.clone();
        fields.summary = Some(fields.summary.unwrap_or_default());
        let lookup = Lookup { store, authority: &authority, settings: &settings, space: &space };
        lookup.apply(&fields, &mut stored, true).await?;
        if command.fields.assignee.is_none()
            && let Some(person) = parts::default_assignee(store, &space, &stored.issue).await?
            && lookup.is_assignable(person).await?
        {
            stored.issue.assignee_id = Some(person);
        }
        let issue = &mut stored.issue;
        begin(&space, &settings, issue, now)?;
        for person in [issue.reporter_id, issue.assignee_id].into_iter().flatten() {
            issue.watch(person);
        }
        let is_request = stored.issue.request_type_id.is_some();
        let requester = is_request.then(|| stored.issue.reporter_id.unwrap_or(maker));
        let begun = Begun { space: &space, by: maker, cause: "person", requester };
        let mut change = begun.change(store, &mut stored, now).await?;
        let of = (&space, &stored.issue);
        tell_mentioned(&mut change, store, of, ("", &stored.description), (maker, now)).await?;
        turn.commit(change).await?;
        Ok(stored)
    }
}
