//! The configuration of issue tracking (contract B 4.2).

use actors::issues::{PutSettings, sight};
use domain::issues::{
    access::permissions_of,
    builtin::{BuiltIn, WORKFLOWS},
    settings::Settings,
    space::{Space, SpaceRole, Template},
    workflow::Definition,
};
use domain::{Caller, Scope};
use http_shell::{
    answer::{Json, Object},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    path::Path,
    permission::{IssuesAdmin, IssuesRead},
    state::State,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::argument::NamedWorkflow;

/// People and teams that the bundle lists, at most.
const LISTED_MAX: u64 = 10_000;

/// The catalogs and the version that they are in.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueSettingsAnswer {
    /// Statuses, types, priorities, resolutions and kinds of links.
    #[schema(value_type = Object)]
    settings: Settings,
    /// Counts their changes; 0 before the first.
    version: i64,
}

/// Catalogs that are to replace those that are there.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct IssueSettingsPut {
    /// Statuses, types, priorities, resolutions and kinds of links.
    #[schema(value_type = Object)]
    settings: Settings,
    /// The version that they were made from.
    #[schema(minimum = 0)]
    base_version: u32,
}

impl RequestBody for IssueSettingsPut {}

/// A workflow.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueWorkflowBody {
    workflow_id: String,
    name: String,
    description: String,
    /// Statuses, and the transitions between them.
    #[schema(value_type = Object)]
    definition: Definition,
    /// Counts its changes; those that every organization has never change.
    version: i64,
    /// The spaces that use it, as far as the caller sees them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    spaces: Option<Vec<Value>>,
}

impl From<&BuiltIn> for IssueWorkflowBody {
    fn from(workflow: &BuiltIn) -> Self {
        Self {
            workflow_id: workflow.id.to_owned(),
            name: workflow.name.to_owned(),
            description: workflow.description.to_owned(),
            definition: workflow.definition(),
            version: 1,
            spaces: None,
        }
    }
}

/// The workflows.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueWorkflowsAnswer {
    /// All that spaces may use.
    workflows: Vec<IssueWorkflowBody>,
}

/// One workflow.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueWorkflowAnswer {
    /// The workflow.
    workflow: IssueWorkflowBody,
}

/// All that a client needs to show issues.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueMetaAnswer {
    /// The catalogs.
    #[schema(value_type = Object)]
    settings: Settings,
    /// Counts their changes.
    settings_version: i64,
    /// Custom fields.
    #[schema(value_type = Vec<Object>)]
    fields: Vec<Value>,
    /// The fields that every issue has.
    #[schema(value_type = Vec<Object>)]
    system_fields: Vec<Value>,
    /// The spaces that the caller may browse.
    #[schema(value_type = Vec<Object>)]
    spaces: Vec<Value>,
    /// The people of the organization.
    #[schema(value_type = Vec<Object>)]
    people: Vec<Value>,
    /// The caller's teams.
    #[schema(value_type = Vec<Object>)]
    teams: Vec<Value>,
    /// The workflows.
    workflows: Vec<IssueWorkflowBody>,
    /// Screens.
    #[schema(value_type = Vec<Object>)]
    screens: Vec<Value>,
    /// Permission schemes.
    #[schema(value_type = Vec<Object>)]
    schemes: Vec<Value>,
    /// What spaces are made of.
    #[schema(value_type = Vec<Object>)]
    templates: Vec<Value>,
    /// The person who asks.
    #[schema(value_type = Object)]
    actor: Value,
}

/// The fields that every issue has, and their types (contract B 2.3).
const SYSTEM_FIELDS: [(&str, &str); 22] = [
    ("summary", "text"),
    ("description", "paragraph"),
    ("type", "issuetype"),
    ("status", "status"),
    ("priority", "priority"),
    ("resolution", "resolution"),
    ("assignee", "user"),
    ("reporter", "user"),
    ("labels", "labels"),
    ("components", "components"),
    ("fixVersions", "versions"),
    ("affectsVersions", "versions"),
    ("dueDate", "date"),
    ("startDate", "date"),
    ("storyPoints", "number"),
    ("originalEstimate", "duration"),
    ("remainingEstimate", "duration"),
    ("environment", "paragraph"),
    ("location", "location"),
    ("parent", "issue"),
    ("sprint", "sprint"),
    ("securityLevel", "security"),
];

/// A space with what the caller may do there. Who is listed in it, only its admins see.
pub(super) fn space_json(space: &Space, role: SpaceRole) -> Value {
    let mut value = serde_json::to_value(space).unwrap_or_default();
    let may = permissions_of(Some(role));
    if !may.contains(&"administer") {
        value["config"]["access"]["members"] = json!([]);
        without_customers(&mut value);
    }
    value["access"] = json!({
        "spaceId": space.space_id,
        "admin": may.contains(&"administer"),
        "create": may.contains(&"create"),
    });
    value
}

/// Takes the addresses of a desk's customers out.
fn without_customers(space: &mut Value) {
    if let Some(customers) = space.pointer_mut("/config/servicedesk/portal/customers") {
        *customers = json!([]);
    }
}

/// A space as it stands among all: customers are told nobody.
fn space_among(space: &Space, role: SpaceRole) -> Value {
    let mut value = space_json(space, role);
    without_customers(&mut value);
    value
}

/// All that a client needs to show issues
///
/// E-mail addresses are told whom `members:read` is given to.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/config/meta")]
pub(crate) async fn issue_config_meta(org: Org<IssuesRead>, state: State) -> Result<Object<IssueMetaAnswer>> {
    let (store, authority) = (&state.store, org.authority());
    let catalog = store.issue_catalog(org.id()).await?;
    let seen = sight(store, authority).await?;
    let has_addresses = authority.has(Scope::MembersRead);
    let mut teams = Vec::new();
    let mut memberships: Vec<(domain::id::UserId, String)> = Vec::new();
    for team in store.teams(org.id(), None, LISTED_MAX).await? {
        let members: Vec<_> = store.team_members(team.id).await?.iter().map(|it| it.user_id).collect();
        memberships.extend(members.iter().map(|it| (*it, team.id.to_string())));
        teams.push(json!({"teamId": team.id, "slug": slug(&team.name), "name": team.name, "members": members}));
    }
    let people = store.members(org.id(), None, LISTED_MAX).await?.into_iter().map(|member| {
        let own = memberships.iter().filter(|(person, _)| *person == member.user_id);
        let mut person = json!({
            "userId": member.user_id,
            "name": member.name,
            "role": member.role.as_str(),
            "teams": own.map(|(_, team)| team.clone()).collect::<Vec<_>>(),
        });
        if has_addresses {
            person["email"] = json!(member.email.to_string());
        }
        person
    });
    let people = people.collect();
    let templates = Template::ALL.iter();
    let templates = templates.map(|(id, name, about)| json!({"id": id.as_str(), "name": name, "description": about}));
    Ok(Object(IssueMetaAnswer {
        settings: catalog.settings,
        settings_version: catalog.settings_version,
        fields: Vec::new(),
        system_fields: SYSTEM_FIELDS.iter().map(|(id, kind)| json!({"id": id, "type": kind})).collect(),
        spaces: seen.spaces.iter().map(|(space, role)| space_among(space, *role)).collect(),
        people,
        teams,
        workflows: WORKFLOWS.iter().map(IssueWorkflowBody::from).collect(),
        screens: Vec::new(),
        schemes: Vec::new(),
        templates: templates.collect(),
        actor: actor(&org),
    }))
}

/// A name as a part of an address.
fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    let parts = lower.split(|it: char| !it.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-")
}

/// Who asks, and the scopes that matter here.
fn actor(org: &Org<IssuesRead>) -> Value {
    let (kind, id) = match org.context().caller {
        Caller::Key(key) => ("key", key.key_id.to_string()),
        Caller::AccessKey(key) => ("key", key.id.to_string()),
        Caller::Person(person) => ("user", person.user_id.to_string()),
        Caller::Job(_) | Caller::AppPassword(_) | Caller::Nobody | Caller::System => ("system", String::new()),
    };
    let scopes = [Scope::IssuesRead, Scope::IssuesWrite, Scope::IssuesAdmin];
    let has: Vec<String> = scopes.into_iter().filter(|it| org.authority().has(*it)).map(|it| it.to_string()).collect();
    json!({"id": id, "type": kind, "scopes": has})
}

/// The catalogs of issue tracking
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/config/settings")]
pub(crate) async fn issue_settings_get(org: Org<IssuesRead>, state: State) -> Result<Object<IssueSettingsAnswer>> {
    let catalog = state.store.issue_catalog(org.id()).await?;
    Ok(Object(IssueSettingsAnswer { settings: catalog.settings, version: catalog.settings_version }))
}

/// Replace the catalogs of issue tracking
///
/// Ids never change. What workflows, spaces or issues still use can't be removed.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/issues/config/settings", responses(
    (status = 409, description = "The settings changed. Load them again.\n\n\"Blocked\" is still used."),
))]
pub(crate) async fn issue_settings_put(
    org: Org<IssuesAdmin>,
    body: Body<IssueSettingsPut>,
    state: State,
) -> Result<Json<IssueSettingsAnswer>> {
    let IssueSettingsPut { settings, base_version } = body.into_inner();
    let command = PutSettings { settings, base_version: base_version.into() };
    let put = state.actors.issue_catalog.ask(&org.id(), command, org.context()).await?;
    Ok(Json(IssueSettingsAnswer { settings: put.settings, version: put.settings_version }))
}

/// The workflows of issues
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/config/workflows")]
pub(crate) async fn issue_workflows_list(_: Org<IssuesRead>) -> Result<Json<IssueWorkflowsAnswer>> {
    Ok(Json(IssueWorkflowsAnswer { workflows: WORKFLOWS.iter().map(IssueWorkflowBody::from).collect() }))
}

/// A workflow of issues
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/config/workflows/{workflowId}")]
pub(crate) async fn issue_workflow_get(
    org: Org<IssuesRead>,
    Path(NamedWorkflow(workflow)): Path<NamedWorkflow>,
    state: State,
) -> Result<Json<IssueWorkflowAnswer>> {
    let seen = sight(&state.store, org.authority()).await?;
    let uses = seen.spaces.iter().map(|(space, _)| space);
    let uses = uses.filter(|space| space.config.workflows.values().any(|id| id == workflow.id));
    let spaces = uses.map(|it| json!({"spaceId": it.space_id, "key": it.key, "name": it.name})).collect();
    Ok(Json(IssueWorkflowAnswer { workflow: IssueWorkflowBody { spaces: Some(spaces), ..workflow.into() } }))
}
