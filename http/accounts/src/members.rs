//! Members of an organization.

use actors::organization::{AddMember, ChangeRole, RemoveMember};
use domain::{Role, id::UserId};
use http_shell::{
    answer::{Created, Json},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    paging::PageQuery,
    path::Path,
    permission::{MembersRead, MembersWrite, Part},
    query::Query,
    state::State,
    wire::Done,
};
use serde::{Deserialize, Serialize};
use store::{RevocationKind, accounts::Member};
use utoipa::ToSchema;

/// The name of the list in its cursors.
const LIST: &str = "members";

/// A member.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "userId": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "Ada Lovelace", "email": "ada@example.com",
    "role": "developer", "createdAt": 1_767_225_600_000_i64
}))]
pub(crate) struct MemberBody {
    /// The person.
    user_id: String,
    /// What they are called.
    name: String,
    /// The member's address.
    email: String,
    /// `viewer`, `developer`, `admin` or `owner`
    role: &'static str,
    /// Since when they belong to the organization.
    created_at: i64,
}

impl From<Member> for MemberBody {
    fn from(member: Member) -> Self {
        Self {
            user_id: member.user_id.to_string(),
            name: member.name,
            email: member.email.to_string(),
            role: member.role.as_str(),
            created_at: member.created_at.as_millis(),
        }
    }
}

/// One member.
#[derive(Serialize, ToSchema)]
pub(crate) struct MemberAnswer {
    /// The member.
    pub(crate) member: MemberBody,
}

/// A page of the members.
#[derive(Serialize, ToSchema)]
pub(crate) struct MembersAnswer {
    /// The members, those who have had an account for longest first.
    members: Vec<MemberBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// The members
#[utoipa::path(get, path = "/v1/orgs/{orgId}/members", responses((status = 400, description = "Invalid cursor")))]
pub(crate) async fn members_list(
    org: Org<MembersRead>,
    query: Query<PageQuery>,
    state: State,
) -> Result<Json<MembersAnswer>> {
    let page = query.page::<UserId>(LIST)?;
    let found = state.store.members(org.id(), page.after, page.read_limit()).await?;
    let (found, cursor) = page.cut(found, |member| member.user_id);
    Ok(Json(MembersAnswer { members: found.into_iter().map(MemberBody::from).collect(), cursor }))
}

/// The person who becomes a member, and as what.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"userId": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "role": "developer"}))]
pub(crate) struct MemberAdd {
    /// A person who has an account.
    #[schema(value_type = String)]
    user_id: UserId,
    /// `viewer`, `developer`, `admin` or `owner`
    #[schema(value_type = String)]
    role: Role,
}

impl RequestBody for MemberAdd {}

/// Add a member
///
/// A person who has an account becomes a member by their id. An address without a known account is invited instead.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/members", responses(
    (status = 400, description = "An organization has at most 5000 members."),
    (status = 403, description = "Only an owner makes, changes or removes an owner."),
    (status = 404, description = "Person not found."),
    (status = 409, description = "This person is a member already."),
))]
pub(crate) async fn member_add(
    org: Org<MembersWrite>,
    body: Body<MemberAdd>,
    state: State,
) -> Result<Created<MemberAnswer>> {
    let command = AddMember { user_id: body.user_id, role: body.role };
    let member = state.actors.organization.ask(&org.id(), command, org.context()).await?;
    Ok(Created(MemberAnswer { member: member.into() }))
}

/// The member's new role.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"role": "admin"}))]
pub(crate) struct MemberPatch {
    /// `viewer`, `developer`, `admin` or `owner`
    #[schema(value_type = String)]
    role: Role,
}

impl RequestBody for MemberPatch {}

/// Change a member's role
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/members/{userId}", responses(
    (status = 403, description = "Only an owner makes, changes or removes an owner."),
    (status = 404, description = "Member not found."),
    (status = 409, description = "An organization always keeps an owner. Make somebody else an owner first."),
))]
pub(crate) async fn member_patch(
    org: Org<MembersWrite>,
    user_id: Path<UserId>,
    body: Body<MemberPatch>,
    state: State,
) -> Result<Json<MemberAnswer>> {
    let command = ChangeRole { user_id: *user_id, role: body.role };
    let member = state.actors.organization.ask(&org.id(), command, org.context()).await?;
    state.credentials.refresh(RevocationKind::User, *user_id);
    Ok(Json(MemberAnswer { member: member.into() }))
}

/// Remove a member
///
/// With the keys that they made. Anybody may remove themselves; removing somebody else needs `members:write`.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/members/{userId}", responses(
    (status = 403, description = "This needs the members:write permission.\n\n\
        Only an owner makes, changes or removes an owner."),
    (status = 404, description = "Member not found."),
    (status = 409, description = "An organization always keeps an owner. Make somebody else an owner first."),
))]
pub(crate) async fn member_remove(org: Org<Part>, user_id: Path<UserId>, state: State) -> Result<Json<Done>> {
    let command = RemoveMember { user_id: *user_id };
    state.actors.organization.ask(&org.id(), command, org.context()).await?;
    state.credentials.refresh(RevocationKind::User, *user_id);
    Ok(Json(Done::new()))
}
