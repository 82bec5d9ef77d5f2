//! Spaces of issues.

use actors::issues::{ArchiveSpace, ChangeSpace, CreateSpace, SpacePatch, sight};
use domain::{
    Error,
    id::UserId,
    issues::{
        key::SpaceKey,
        limits::SPACE_KEY,
        settings::Color,
        space::{Space, SpaceRole, Template},
    },
};
use http_shell::{
    answer::{Created, Json},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    permission::{IssuesAdmin, IssuesRead, IssuesWrite},
    state::State,
    wire::nullable,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{argument::SpaceOf, config::space_json};

/// One space.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueSpaceAnswer {
    /// The space (contract B 2.3).
    #[schema(value_type = Object)]
    space: Value,
}

/// The spaces.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueSpacesAnswer {
    /// In the order of their keys.
    #[schema(value_type = Vec<Object>)]
    spaces: Vec<Value>,
}

impl IssueSpaceAnswer {
    fn new(space: &Space, role: SpaceRole) -> Self {
        Self { space: space_json(space, role) }
    }
}

/// A space that is to be made.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"key": "WEB", "name": "Website", "template": "scrum"}))]
pub(crate) struct IssueSpaceCreate {
    /// What keys of issues begin with: 2 to 10 letters and digits, a letter first.
    key: String,
    /// 1 to 80 characters.
    name: String,
    /// `basic`, `service`, `scrum`, `kanban` or `bugs`.
    #[schema(value_type = String, example = "basic")]
    template: Template,
    /// At most 1,000 characters.
    #[serde(default)]
    description: String,
    /// The lead.
    #[schema(value_type = Option<String>)]
    lead_id: Option<UserId>,
    /// The name of a picture, or an emoji; at most 40 characters.
    icon: Option<String>,
    /// A color of catalogs.
    #[schema(value_type = Option<String>)]
    color: Option<Color>,
}

impl RequestBody for IssueSpaceCreate {}

impl IssueSpaceCreate {
    fn read(self) -> domain::Result<CreateSpace> {
        let key = self.key.parse::<SpaceKey>().map_err(|_| Error::invalid("key", SPACE_KEY))?;
        let Self { name, template, description, lead_id, icon, color, .. } = self;
        Ok(CreateSpace { key, name, description, template, lead_id, icon, color })
    }
}

/// What is to be changed of a space.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"name": "Website", "version": 1}))]
#[expect(clippy::option_option, reason = "absent, null and a value are three things")]
pub(crate) struct IssueSpacePatch {
    /// 1 to 80 characters.
    name: Option<String>,
    /// At most 1,000 characters.
    description: Option<String>,
    /// The lead; null for nobody.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    lead_id: Option<Option<UserId>>,
    /// The name of a picture, or an emoji.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    icon: Option<Option<String>>,
    /// A color of catalogs.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    color: Option<Option<Color>>,
    /// How the space behaves: what isn't said stays, also of `access` and of `servicedesk`. A desk that is null is taken away.
    #[schema(value_type = Option<Object>)]
    config: Option<Value>,
    /// The version that was seen.
    version: Option<i64>,
}

impl RequestBody for IssueSpacePatch {}

/// The spaces of issues that you may browse
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/spaces")]
pub(crate) async fn issue_spaces_list(org: Org<IssuesRead>, state: State) -> Result<Json<IssueSpacesAnswer>> {
    let seen = sight(&state.store, org.authority()).await?;
    let spaces = seen.spaces.iter().map(|(space, role)| space_json(space, *role)).collect();
    Ok(Json(IssueSpacesAnswer { spaces }))
}

/// Make a space of issues
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/spaces", responses(
    (status = 400, description = "An organization has at most 500 spaces."),
    (status = 409, description = "Another space has this key."),
))]
pub(crate) async fn issue_space_create(
    org: Org<IssuesAdmin>,
    body: Body<IssueSpaceCreate>,
    state: State,
) -> Result<Created<IssueSpaceAnswer>> {
    let command = body.into_inner().read()?;
    let space = state.actors.issue_catalog.ask(&org.id(), command, org.context()).await?;
    Ok(Created(IssueSpaceAnswer::new(&space, SpaceRole::Admin)))
}

/// A space of issues
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}")]
pub(crate) async fn issue_space_get(of: SpaceOf<IssuesRead>) -> Result<Json<IssueSpaceAnswer>> {
    Ok(Json(IssueSpaceAnswer::new(&of.space, of.role)))
}

/// Change a space of issues
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}", responses(
    (status = 403, description = "Only admins of the space can do this."),
    (status = 409, description = "The space changed. Load it again."),
))]
pub(crate) async fn issue_space_patch(
    of: SpaceOf<IssuesWrite>,
    body: Body<IssueSpacePatch>,
    state: State,
) -> Result<Json<IssueSpaceAnswer>> {
    let IssueSpacePatch { name, description, lead_id, icon, color, config, version } = body.into_inner();
    let patch = SpacePatch { name, description, lead_id, icon, color, config, version };
    let command = ChangeSpace { org_id: of.org.id(), patch };
    let space = state.actors.issue_space.ask(&of.space.space_id, command, of.org.context()).await?;
    Ok(Json(IssueSpaceAnswer::new(&space, of.role)))
}

/// Archive a space of issues
///
/// Nothing changes in it any more, and searches that don't name it pass it over.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/archive", responses(
    (status = 403, description = "Only admins of the space can do this."),
))]
pub(crate) async fn issue_space_archive(of: SpaceOf<IssuesWrite>, state: State) -> Result<Json<IssueSpaceAnswer>> {
    archive(&of, &state, true).await
}

/// Bring an archived space of issues back
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/unarchive", responses(
    (status = 403, description = "Only admins of the space can do this."),
))]
pub(crate) async fn issue_space_unarchive(of: SpaceOf<IssuesWrite>, state: State) -> Result<Json<IssueSpaceAnswer>> {
    archive(&of, &state, false).await
}

async fn archive(of: &SpaceOf<IssuesWrite>, state: &State, archived: bool) -> Result<Json<IssueSpaceAnswer>> {
    let command = ArchiveSpace { org_id: of.org.id(), archived };
    let space = state.actors.issue_space.ask(&of.space.space_id, command, of.org.context()).await?;
    Ok(Json(IssueSpaceAnswer::new(&space, of.role)))
}
