//! Invitations into an organization.

use actors::organization::{AcceptInvite, CancelInvite, MakeInvite};
use domain::{Email, Role, Token, account::invitation_gone, id::InviteId};
use http_shell::{
    answer::{Created, Json},
    body::{Body, RequestBody},
    caller::Person,
    error::Result,
    org::Org,
    paging::PageQuery,
    path::{Path, PathParameter},
    permission::{MembersRead, MembersWrite},
    query::Query,
    state::State,
    wire::Done,
};
use serde::{Deserialize, Serialize};
use store::accounts::Invite;
use utoipa::ToSchema;

use crate::{auth::invite_token, members::MemberBody, organizations::OrgBody};

/// The name of the list in its cursors.
const LIST: &str = "invites";

/// An invitation that waits for an answer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "inviteId": "inv_01jd7rt4m5e9fv2w8x3c6k0hqz", "email": "grace@example.com", "role": "developer",
    "invitedBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "createdAt": 1_767_225_600_000_i64,
    "expiresAt": 1_767_830_400_000_i64
}))]
pub(crate) struct InviteBody {
    /// The invitation's id.
    invite_id: String,
    /// The address that the invitation was sent to.
    email: String,
    /// What accepting it makes of them.
    role: &'static str,
    /// The person who invited, or made the key that did.
    invited_by: Option<String>,
    /// When.
    created_at: i64,
    /// When it can no longer be accepted.
    expires_at: i64,
}

impl From<Invite> for InviteBody {
    fn from(invite: Invite) -> Self {
        Self {
            invite_id: invite.id.to_string(),
            email: invite.invitation.email.to_string(),
            role: invite.invitation.role.as_str(),
            invited_by: invite.invited_by.map(|by| by.to_string()),
            created_at: invite.created_at.as_millis(),
            expires_at: invite.invitation.expires_at.as_millis(),
        }
    }
}

/// One invitation.
#[derive(Serialize, ToSchema)]
pub(crate) struct InviteAnswer {
    /// The invitation.
    invite: InviteBody,
}

/// A page of the open invitations.
#[derive(Serialize, ToSchema)]
pub(crate) struct InvitesAnswer {
    /// The oldest first.
    invites: Vec<InviteBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// The open invitations
#[utoipa::path(get, path = "/v1/orgs/{orgId}/invites", responses((status = 400, description = "Invalid cursor")))]
pub(crate) async fn invites_list(
    org: Org<MembersRead>,
    query: Query<PageQuery>,
    state: State,
) -> Result<Json<InvitesAnswer>> {
    let page = query.page::<InviteId>(LIST)?;
    let found = state.store.invites(org.id(), state.store.now(), page.after, page.read_limit()).await?;
    let (found, cursor) = page.cut(found, |invite| invite.id);
    Ok(Json(InvitesAnswer { invites: found.into_iter().map(InviteBody::from).collect(), cursor }))
}

/// The address to invite, and as what.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"email": "grace@example.com", "role": "developer"}))]
pub(crate) struct InviteCreate {
    /// The address.
    email: String,
    /// `viewer`, `developer`, `admin` or `owner`
    #[schema(value_type = String)]
    role: Role,
}

impl RequestBody for InviteCreate {}

/// Invite an address
///
/// The invitation itself goes out by e-mail only: whoever accepts it has shown that the address is theirs.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/invites", responses(
    (status = 400, description = "An organization has at most 200 open invitations."),
    (status = 403, description = "Only an owner makes, changes or removes an owner."),
    (status = 409, description = "This person is a member already.\n\nThis address is invited already."),
))]
pub(crate) async fn invite_create(
    org: Org<MembersWrite>,
    body: Body<InviteCreate>,
    state: State,
) -> Result<Created<InviteAnswer>> {
    let command = MakeInvite { email: Email::parse("email", &body.email)?, role: body.role };
    let invite = state.actors.organization.ask(&org.id(), command, org.context()).await?;
    Ok(Created(InviteAnswer { invite: invite.into() }))
}

/// Take an invitation back
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/invites/{inviteId}")]
pub(crate) async fn invite_cancel(org: Org<MembersWrite>, id: Path<InviteId>, state: State) -> Result<Json<Done>> {
    state.actors.organization.ask(&org.id(), CancelInvite(*id), org.context()).await?;
    Ok(Json(Done::new()))
}

/// The token of an invitation, as a part of the path.
pub(crate) struct InviteToken(Token);

impl PathParameter for InviteToken {
    const NAME: &'static str = "token";
    const DESCRIPTION: &'static str = "The invitation, as it stands in the e-mail.";
    const EXAMPLE: &'static str = "trp_i_0iZ3qkV9xTg2mB7sYcN5wLhRj8DfAeUo4PvXu1KtQ6rWnBd3Fy2";
    const NOT_FOUND: &'static str = "This invitation doesn't exist or has expired.";

    fn read(text: &str) -> Option<Self> {
        invite_token(text).map(Self)
    }
}

/// What an accepted invitation led to.
#[derive(Serialize, ToSchema)]
pub(crate) struct InviteAccepted {
    /// The organization.
    org: OrgBody,
    /// The person's part in it.
    member: MemberBody,
}

/// Accept an invitation
///
/// For the person with the address that it was sent to.
#[utoipa::path(post, path = "/v1/invites/{token}/accept", responses(
    (status = 403, description = "This invitation was sent to another e-mail address."),
    (status = 409, description = "This person is a member already."),
))]
pub(crate) async fn invite_accept(
    person: Person,
    token: Path<InviteToken>,
    state: State,
) -> Result<Json<InviteAccepted>> {
    let token = token.0.0.hash();
    let invite = state.store.invite_by_token(token).await?.ok_or_else(invitation_gone)?;
    let command = AcceptInvite { token, user_id: person.user_id() };
    let (organization, member) = state.actors.organization.ask(&invite.org_id, command, person.context()).await?;
    Ok(Json(InviteAccepted { org: OrgBody::new(organization, member.role), member: member.into() }))
}
