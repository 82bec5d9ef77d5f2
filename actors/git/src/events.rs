//! What people are told of repositories (contract A 6, `security.repo_access`).

use std::collections::BTreeSet;

use actors_base::{Services, event::Event};
use domain::{
    Result,
    git::Principal,
    id::{OrgId, UserId},
    notify::ResourceType,
    resource::Resource,
};
use serde_json::{Map, Value, json};
use store::Change;

/// A change of who may do what in a repository.
pub(crate) struct AccessChanged<'a> {
    /// The repository's record, as it is afterwards.
    pub resource: &'a Resource,
    /// Whom it concerns, where it is one.
    pub principal: Option<Principal>,
    /// What held before: a level, a visibility or a status.
    pub before: Option<&'static str>,
    /// What holds now.
    pub after: Option<&'static str>,
}

impl AccessChanged<'_> {
    /// Tells the organization's owners, and whom it concerns.
    pub(crate) async fn emit(self, change: &mut Change, services: &Services) -> Result<()> {
        let Self { resource, principal, before, after } = self;
        let data = json!({
            "repository": { "resourceId": resource.id, "name": resource.name },
            "principal": principal.map(|it| it.to_string()),
            "before": before,
            "after": after,
        });
        let Value::Object(data) = data else { return Ok(()) };
        let now = services.store.now();
        event(resource, concerned(services, resource.org_id, principal).await?, data).emit(change, now);
        Ok(())
    }
}

fn event(resource: &Resource, user_ids: Vec<UserId>, data: Map<String, Value>) -> Event {
    let project = resource.project_id.map(|id| (ResourceType::Project, id.to_string()));
    let about = ("repository", resource.id.to_string());
    Event {
        org_id: Some(resource.org_id),
        user_ids,
        body: format!("Who may use the repository {} changed.", resource.name),
        within: project.into_iter().collect(),
        data,
        ..Event::new("security.repo_access", about, format!("Access to {} changed", resource.name))
    }
}

async fn concerned(services: &Services, org_id: OrgId, principal: Option<Principal>) -> Result<Vec<UserId>> {
    let mut people: BTreeSet<UserId> = services.store.owners(org_id).await?.into_iter().collect();
    match principal {
        Some(Principal::Person(user_id)) => people.extend([user_id]),
        Some(Principal::Team(id)) => {
            people.extend(services.store.team_members(id).await?.into_iter().map(|member| member.user_id));
        }
        None => {}
    }
    Ok(people.into_iter().collect())
}
