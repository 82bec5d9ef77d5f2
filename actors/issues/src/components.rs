//! Components of a space.

use domain::{
    Error, Result, Scope,
    id::{IssueComponentId, OrgId, UserId},
    issues::{
        access::Permission,
        limits::{COMPONENT_NOT_FOUND, COMPONENTS_MAX},
        parts::{Component, ComponentAssignee, folded},
        space::Space,
    },
    problems::Problems,
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{Change, issues::PartKind};

use super::{
    access::{require_open, space_with},
    space::IssueSpace,
};

/// What is said of a component. What isn't said stays, or takes its default.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "each is what the component calls it")]
pub struct ComponentPatch {
    pub name: Option<String>,
    pub description: Option<String>,
    pub lead_id: Option<Option<UserId>>,
    pub default_assignee: Option<ComponentAssignee>,
    pub version: Option<i64>,
}

/// Makes a component.
#[derive(Clone, Debug)]
pub struct CreateComponent {
    /// The organization.
    pub org_id: OrgId,
    /// What is said of it.
    pub patch: ComponentPatch,
}

/// Changes a component.
#[derive(Clone, Debug)]
pub struct ChangeComponent {
    /// The organization.
    pub org_id: OrgId,
    /// Which one.
    pub id: IssueComponentId,
    /// What is to be changed.
    pub patch: ComponentPatch,
}

/// Deletes a component that no issue has.
#[derive(Clone, Copy, Debug)]
pub struct RemoveComponent {
    /// The organization.
    pub org_id: OrgId,
    /// Which one.
    pub id: IssueComponentId,
}

impl Command for CreateComponent {
    type Reply = Component;

    const NAME: &'static str = "create_issue_component";
}

impl Command for ChangeComponent {
    type Reply = Component;

    const NAME: &'static str = "change_issue_component";
}

impl Command for RemoveComponent {
    type Reply = ();

    const NAME: &'static str = "remove_issue_component";
}

/// The space of a turn, which the caller administers and which isn't archived.
pub(crate) async fn administered(turn: &Turn<'_, IssueSpace>, org_id: OrgId) -> Result<Space> {
    let authority = turn.authority(org_id).await?;
    authority.require(Scope::IssuesWrite)?;
    let (space, _) = space_with(&turn.services().store, &authority, *turn.key(), Permission::Administer).await?;
    require_open(&space)?;
    Ok(space)
}

/// 409 `in_use` of what issues still have.
pub(crate) fn in_use((id, name): (&str, &str), uses: i64) -> Error {
    let issues = if uses == 1 { "1 issue".to_owned() } else { format!("{uses} issues") };
    let uses = json!([{ "kind": "issues", "id": id, "name": issues }]);
    Error::conflict("in_use", format!("\"{name}\" is still used.")).adding("uses", uses)
}

/// 409 `name_taken`.
pub(crate) fn name_taken(what: &str) -> Error {
    Error::conflict("name_taken", format!("Another {what} of the space has this name."))
}

/// 409 `stale_version`.
pub(crate) fn stale(what: &str) -> Error {
    Error::conflict("stale_version", format!("The {what} changed. Load it again."))
}

impl ComponentPatch {
    /// The component as it is to be, which is right, and whose lead is a member.
    async fn apply(&self, turn: &Turn<'_, IssueSpace>, org_id: OrgId, mut component: Component) -> Result<Component> {
        if let Some(name) = &self.name {
            name.trim().clone_into(&mut component.name);
        }
        if let Some(description) = &self.description {
            description.clone_into(&mut component.description);
        }
        component.lead_id = self.lead_id.unwrap_or(component.lead_id);
        component.default_assignee = self.default_assignee.unwrap_or(component.default_assignee);
        let mut problems = Problems::new();
        component.check(&mut problems);
        if let Some(Some(lead)) = self.lead_id {
            let is_member = turn.services().store.member(org_id, lead).await?.is_some();
            problems.require(is_member, "leadId", "There is no such person.");
        }
        problems.into_result()?;
        Ok(component)
    }
}

impl Handle<CreateComponent> for IssueSpace {
    async fn handle(&mut self, command: &CreateComponent, turn: &mut Turn<'_, Self>) -> Result<Component> {
        let org_id = command.org_id;
        let space = administered(turn, org_id).await?;
        let known = turn.services().store.issue_components(org_id, Some(space.space_id)).await?;
        let blank = Component {
            id: IssueComponentId::new(turn.now()),
            space_id: space.space_id,
            name: String::new(),
            description: String::new(),
            lead_id: None,
            default_assignee: ComponentAssignee::default(),
            version: 1,
            created_at: turn.now(),
        };
        let component = command.patch.apply(turn, org_id, blank).await?;
        if known.iter().any(|it| folded(&it.name) == folded(&component.name)) {
            return Err(name_taken("component"));
        }
        if known.len() >= COMPONENTS_MAX {
            let message = format!("A space has at most {COMPONENTS_MAX} components.");
            return Err(Error::bad_request("limit_reached", message));
        }
        let mut change = Change::new();
        change.issue_component_add(org_id, &component);
        turn.commit(change).await?;
        Ok(component)
    }
}

impl Handle<ChangeComponent> for IssueSpace {
    async fn handle(&mut self, command: &ChangeComponent, turn: &mut Turn<'_, Self>) -> Result<Component> {
        let org_id = command.org_id;
        let space = administered(turn, org_id).await?;
        let known = turn.services().store.issue_components(org_id, Some(space.space_id)).await?;
        let before =
            known.iter().find(|it| it.id == command.id).ok_or_else(|| Error::not_found(COMPONENT_NOT_FOUND))?;
        if command.patch.version.is_some_and(|version| version != before.version) {
            return Err(stale("component"));
        }
        let mut component = command.patch.apply(turn, org_id, before.clone()).await?;
        if component == *before {
            return Ok(component);
        }
        if known.iter().any(|it| it.id != component.id && folded(&it.name) == folded(&component.name)) {
            return Err(name_taken("component"));
        }
        component.version += 1;
        let mut change = Change::new();
        change.issue_component_set(&component);
        turn.commit(change).await?;
        Ok(component)
    }
}

impl Handle<RemoveComponent> for IssueSpace {
    async fn handle(&mut self, command: &RemoveComponent, turn: &mut Turn<'_, Self>) -> Result<()> {
        let org_id = command.org_id;
        let space = administered(turn, org_id).await?;
        let store = &turn.services().store;
        let known = store.issue_components(org_id, Some(space.space_id)).await?;
        let found = known.iter().find(|it| it.id == command.id).ok_or_else(|| Error::not_found(COMPONENT_NOT_FOUND))?;
        let id = found.id.to_string();
        let uses = store.issue_part_uses(org_id, PartKind::Component, &id).await?;
        if uses > 0 {
            return Err(in_use((&id, &found.name), uses));
        }
        let mut change = Change::new();
        change.issue_part_remove(org_id, PartKind::Component, (&id, found.version));
        turn.commit(change).await
    }
}
