//! Teams of an organization.

use actors::organization::{AddTeamMember, ChangeTeam, DeleteTeam, MakeTeam, RemoveTeamMember};
use domain::{
    account::{name_check, text_check},
    id::{TeamId, UserId},
    organization::DESCRIPTION_LEN_MAX,
    problems::all,
};
use http_shell::{
    answer::{Created, Json, Object},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    owned::Owned,
    paging::PageQuery,
    path::Path,
    permission::{MembersRead, MembersWrite},
    query::Query,
    state::State,
    wire::Done,
};
use serde::{Deserialize, Serialize};
use store::accounts::{Team, TeamMember};
use utoipa::ToSchema;

/// The name of the list in its cursors.
const LIST: &str = "teams";

/// A team.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "teamId": "tea_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "Support", "description": "Answers within the hour",
    "createdAt": 1_767_225_600_000_i64, "updatedAt": 1_767_225_600_000_i64
}))]
pub(crate) struct TeamBody {
    /// The team's id.
    team_id: String,
    /// What it is called.
    name: String,
    /// What it is for.
    description: String,
    /// Since when it exists.
    created_at: i64,
    /// When its name or description last changed.
    updated_at: i64,
}

impl From<Team> for TeamBody {
    fn from(team: Team) -> Self {
        Self {
            team_id: team.id.to_string(),
            name: team.name,
            description: team.description,
            created_at: team.created_at.as_millis(),
            updated_at: team.updated_at.as_millis(),
        }
    }
}

/// A member of a team.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "userId": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "Ada Lovelace", "email": "ada@example.com",
    "createdAt": 1_767_225_600_000_i64
}))]
pub(crate) struct TeamMemberBody {
    /// The person.
    user_id: String,
    /// What they are called.
    name: String,
    /// The member's address.
    email: String,
    /// Since when they are in the team.
    created_at: i64,
}

impl From<TeamMember> for TeamMemberBody {
    fn from(member: TeamMember) -> Self {
        Self {
            user_id: member.user_id.to_string(),
            name: member.name,
            email: member.email.to_string(),
            created_at: member.created_at.as_millis(),
        }
    }
}

/// One team.
#[derive(Serialize, ToSchema)]
pub(crate) struct TeamAnswer {
    /// The team.
    team: TeamBody,
}

/// One team with its members.
#[derive(Serialize, ToSchema)]
pub(crate) struct TeamDetails {
    /// The team.
    team: TeamBody,
    /// The team's members; at most 1,000.
    members: Vec<TeamMemberBody>,
}

/// A page of the teams.
#[derive(Serialize, ToSchema)]
pub(crate) struct TeamsAnswer {
    /// The oldest first.
    teams: Vec<TeamBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// The teams
#[utoipa::path(get, path = "/v1/orgs/{orgId}/teams", responses((status = 400, description = "Invalid cursor")))]
pub(crate) async fn teams_list(
    org: Org<MembersRead>,
    query: Query<PageQuery>,
    state: State,
) -> Result<Json<TeamsAnswer>> {
    let page = query.page::<TeamId>(LIST)?;
    let found = state.store.teams(org.id(), page.after, page.read_limit()).await?;
    let (found, cursor) = page.cut(found, |team| team.id);
    Ok(Json(TeamsAnswer { teams: found.into_iter().map(TeamBody::from).collect(), cursor }))
}

/// A new team.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"name": "Support", "description": "Answers within the hour"}))]
pub(crate) struct TeamCreate {
    /// What it is called: 1 to 80 characters, unique in the organization.
    name: String,
    /// What it is for: up to 256 characters.
    description: Option<String>,
}

impl RequestBody for TeamCreate {}

fn description_check(text: &str) -> domain::Result<String> {
    text_check("description", text, &(0..=DESCRIPTION_LEN_MAX))
}

/// Make a team
#[utoipa::path(post, path = "/v1/orgs/{orgId}/teams", responses(
    (status = 400, description = "An organization has at most 200 teams."),
    (status = 409, description = "A team with this name exists."),
))]
pub(crate) async fn team_create(
    org: Org<MembersWrite>,
    body: Body<TeamCreate>,
    state: State,
) -> Result<Created<TeamAnswer>> {
    let description = description_check(body.description.as_deref().unwrap_or_default());
    let (name, description) = all((name_check("name", &body.name), description))?;
    let team = state.actors.organization.ask(&org.id(), MakeTeam { name, description }, org.context()).await?;
    Ok(Created(TeamAnswer { team: team.into() }))
}

/// A team with its members
#[utoipa::path(get, path = "/v1/orgs/{orgId}/teams/{teamId}")]
pub(crate) async fn team_get(
    _: Org<MembersRead>,
    Owned(team): Owned<Team>,
    state: State,
) -> Result<Object<TeamDetails>> {
    let members = state.store.team_members(team.id).await?;
    Ok(Object(TeamDetails { team: team.into(), members: members.into_iter().map(TeamMemberBody::from).collect() }))
}

/// What to change; what is absent stays as it is.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"name": "Customer support"}))]
pub(crate) struct TeamPatch {
    /// What it is called: 1 to 80 characters, unique in the organization.
    name: Option<String>,
    /// What it is for: up to 256 characters.
    description: Option<String>,
}

impl RequestBody for TeamPatch {}

/// Change a team
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/teams/{teamId}", responses(
    (status = 409, description = "A team with this name exists.")
))]
pub(crate) async fn team_patch(
    org: Org<MembersWrite>,
    id: Path<TeamId>,
    body: Body<TeamPatch>,
    state: State,
) -> Result<Json<TeamAnswer>> {
    let (name, description) = all((
        body.name.as_deref().map(|text| name_check("name", text)).transpose(),
        body.description.as_deref().map(description_check).transpose(),
    ))?;
    let command = ChangeTeam { team_id: *id, name, description };
    let team = state.actors.organization.ask(&org.id(), command, org.context()).await?;
    Ok(Json(TeamAnswer { team: team.into() }))
}

/// Delete a team
///
/// The team's members stay in the organization.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/teams/{teamId}")]
pub(crate) async fn team_delete(org: Org<MembersWrite>, id: Path<TeamId>, state: State) -> Result<Json<Done>> {
    state.actors.organization.ask(&org.id(), DeleteTeam(*id), org.context()).await?;
    Ok(Json(Done::new()))
}

/// The person who joins a team.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"userId": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz"}))]
pub(crate) struct TeamMemberAdd {
    /// A member of the organization.
    #[schema(value_type = String)]
    user_id: UserId,
}

impl RequestBody for TeamMemberAdd {}

/// One member of a team.
#[derive(Serialize, ToSchema)]
pub(crate) struct TeamMemberAnswer {
    /// The member.
    member: TeamMemberBody,
}

/// Put a member into a team
#[utoipa::path(post, path = "/v1/orgs/{orgId}/teams/{teamId}/members", responses(
    (status = 400, description = "A team has at most 1000 members."),
    (status = 404, description = "Member not found."),
    (status = 409, description = "This person is in the team already."),
))]
pub(crate) async fn team_member_add(
    org: Org<MembersWrite>,
    id: Path<TeamId>,
    body: Body<TeamMemberAdd>,
    state: State,
) -> Result<Created<TeamMemberAnswer>> {
    let command = AddTeamMember { team_id: *id, user_id: body.user_id };
    let member = state.actors.organization.ask(&org.id(), command, org.context()).await?;
    Ok(Created(TeamMemberAnswer { member: member.into() }))
}

/// Take a member out of a team
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/teams/{teamId}/members/{userId}", responses(
    (status = 404, description = "Member not found.")
))]
pub(crate) async fn team_member_remove(
    org: Org<MembersWrite>,
    id: Path<TeamId>,
    user_id: Path<UserId>,
    state: State,
) -> Result<Json<Done>> {
    let command = RemoveTeamMember { team_id: *id, user_id: *user_id };
    state.actors.organization.ask(&org.id(), command, org.context()).await?;
    Ok(Json(Done::new()))
}
