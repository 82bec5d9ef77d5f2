//! Components of a space.

use actors::issues::{ChangeComponent, ComponentPatch, CreateComponent, RemoveComponent};
use domain::{
    id::{IssueComponentId, UserId},
    issues::parts::{Component, ComponentAssignee},
};
use http_shell::{
    answer::{Created, Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    path::Path,
    permission::{IssuesRead, IssuesWrite},
    state::State,
    wire::nullable,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::argument::SpaceOf;

/// A component of a space.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueComponentBody {
    component_id: String,
    space_id: String,
    name: String,
    description: String,
    /// The lead.
    #[serde(skip_serializing_if = "Option::is_none")]
    lead_id: Option<String>,
    /// Responsible for new issues that aren't given anybody: `space` (as the space says), `lead` or `unassigned`.
    default_assignee: &'static str,
    /// Counts its changes.
    version: i64,
    created_at: i64,
}

impl From<Component> for IssueComponentBody {
    fn from(component: Component) -> Self {
        Self {
            component_id: component.id.to_string(),
            space_id: component.space_id.to_string(),
            name: component.name,
            description: component.description,
            lead_id: component.lead_id.map(|id| id.to_string()),
            default_assignee: component.default_assignee.as_str(),
            version: component.version,
            created_at: component.created_at.as_millis(),
        }
    }
}

/// One component.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueComponentAnswer {
    /// The component.
    component: IssueComponentBody,
}

/// The components of a space.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueComponentsAnswer {
    /// By the alphabet.
    components: Vec<IssueComponentBody>,
}

/// A component that is to be made.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"name": "Checkout", "defaultAssignee": "space"}))]
pub(crate) struct IssueComponentCreate {
    /// 1 to 100 characters; no two of a space differ by case only.
    name: String,
    /// At most 1,000 characters.
    description: Option<String>,
    /// The lead.
    #[schema(value_type = Option<String>)]
    lead_id: Option<UserId>,
    /// Responsible for new issues that aren't given anybody: `space`, `lead` or `unassigned`.
    #[schema(value_type = Option<String>, example = "space")]
    default_assignee: Option<ComponentAssignee>,
}

impl RequestBody for IssueComponentCreate {}

/// What is to be changed of a component.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"name": "Checkout", "version": 1}))]
#[expect(clippy::option_option, reason = "absent, null and a value are three things")]
pub(crate) struct IssueComponentPatchBody {
    /// 1 to 100 characters; no two of a space differ by case only.
    name: Option<String>,
    /// At most 1,000 characters.
    description: Option<String>,
    /// The lead; null for nobody.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    lead_id: Option<Option<UserId>>,
    /// Responsible for new issues that aren't given anybody: `space`, `lead` or `unassigned`.
    #[schema(value_type = Option<String>, example = "space")]
    default_assignee: Option<ComponentAssignee>,
    /// The version that was seen.
    version: Option<i64>,
}

impl RequestBody for IssueComponentPatchBody {}

/// The components of a space of issues
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/components")]
pub(crate) async fn issue_components_list(
    of: SpaceOf<IssuesRead>,
    state: State,
) -> Result<Json<IssueComponentsAnswer>> {
    let found = state.store.issue_components(of.org.id(), Some(of.space.space_id)).await?;
    Ok(Json(IssueComponentsAnswer { components: found.into_iter().map(IssueComponentBody::from).collect() }))
}

/// Make a component of a space of issues
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/components", responses(
    (status = 400, description = "A space has at most 200 components."),
    (status = 403, description = "Only admins of the space can do this."),
    (status = 409, description = "Another component of the space has this name.\n\nThis space is archived."),
))]
pub(crate) async fn issue_component_create(
    of: SpaceOf<IssuesWrite>,
    body: Body<IssueComponentCreate>,
    state: State,
) -> Result<Created<IssueComponentAnswer>> {
    let IssueComponentCreate { name, description, lead_id, default_assignee } = body.into_inner();
    let lead_id = lead_id.map(Some);
    let patch = ComponentPatch { name: Some(name), description, lead_id, default_assignee, version: None };
    let command = CreateComponent { org_id: of.org.id(), patch };
    let made = state.actors.issue_space.ask(&of.space.space_id, command, of.org.context()).await?;
    Ok(Created(IssueComponentAnswer { component: made.into() }))
}

/// Change a component of a space of issues
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/components/{componentId}", responses(
    (status = 403, description = "Only admins of the space can do this."),
    (status = 409, description = "Another component of the space has this name.\n\nThe component changed. Load it again.\n\n\
     This space is archived."),
))]
pub(crate) async fn issue_component_patch(
    of: SpaceOf<IssuesWrite>,
    body: Body<IssueComponentPatchBody>,
    Path(id): Path<IssueComponentId>,
    state: State,
) -> Result<Json<IssueComponentAnswer>> {
    let IssueComponentPatchBody { name, description, lead_id, default_assignee, version } = body.into_inner();
    let patch = ComponentPatch { name, description, lead_id, default_assignee, version };
    let command = ChangeComponent { org_id: of.org.id(), id, patch };
    let changed = state.actors.issue_space.ask(&of.space.space_id, command, of.org.context()).await?;
    Ok(Json(IssueComponentAnswer { component: changed.into() }))
}

/// Delete a component of a space of issues
///
/// Nothing that an issue has can be deleted, also where that issue is in the trash.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/components/{componentId}", responses(
    (status = 403, description = "Only admins of the space can do this."),
    (status = 409, description = "\"Checkout\" is still used.\n\nThis space is archived."),
))]
pub(crate) async fn issue_component_delete(
    of: SpaceOf<IssuesWrite>,
    Path(id): Path<IssueComponentId>,
    state: State,
) -> Result<NoContent> {
    let command = RemoveComponent { org_id: of.org.id(), id };
    state.actors.issue_space.ask(&of.space.space_id, command, of.org.context()).await?;
    Ok(NoContent)
}
