//! Aliases of mailboxes, and who may be a mailbox's member (contract B 4.7).

use actors::mail::{AliasAdd, AliasRemove};
use domain::{id::MailboxId, organization::MEMBERS_MAX};
use http_shell::{
    answer::{Created, Json},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    path::{AliasAddress, Path},
    permission::MailAdmin,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::accounts::Member;
use utoipa::ToSchema;

use crate::mailboxes::AdminMailboxAnswer;

/// A new alias.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"address": "sales@acme.example"}))]
pub(crate) struct AliasCreate {
    /// An address of a domain of the organization.
    address: String,
}

impl RequestBody for AliasCreate {}

/// Give a mailbox an alias
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/admin/mailboxes/{mailboxId}/aliases", responses(
    (status = 400, description = "Enter a valid address.\n\nA mailbox has at most 100 aliases."),
    (status = 404, description = "Domain not found"),
    (status = 409, description = "This address is already in use.")))]
pub(crate) async fn mail_alias_create(
    org: Org<MailAdmin>,
    id: Path<MailboxId>,
    body: Body<AliasCreate>,
    state: State,
) -> Result<Created<AdminMailboxAnswer>> {
    let command = AliasAdd { mailbox_id: *id, address: body.into_inner().address };
    let changed = state.actors.mail_directory.ask(&org.id(), command, org.context()).await?;
    Ok(Created(changed.into()))
}

/// Delete an alias
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/mail/admin/aliases/{address}")]
pub(crate) async fn mail_alias_delete(
    org: Org<MailAdmin>,
    address: Path<AliasAddress>,
    state: State,
) -> Result<Json<AdminMailboxAnswer>> {
    let Path(AliasAddress(alias)) = address;
    let changed = state.actors.mail_directory.ask(&org.id(), AliasRemove(alias), org.context()).await?;
    Ok(Json(changed.into()))
}

/// A person who may be a mailbox's member.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MailMemberBody {
    /// The person.
    user_id: String,
    /// The address of their account.
    email: String,
    /// What they are called, where they say so.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schema(value_type = Option<String>)]
    name: String,
}

impl From<Member> for MailMemberBody {
    fn from(member: Member) -> Self {
        Self { user_id: member.user_id.to_string(), email: member.email.to_string(), name: member.name }
    }
}

/// People who may be mailboxes' members.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MailMembersAnswer {
    /// The members of the organization, those who have had an account for longest first.
    members: Vec<MailMemberBody>,
}

/// People who may be mailboxes' members
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/members")]
pub(crate) async fn mail_members_list(org: Org<MailAdmin>, state: State) -> Result<Json<MailMembersAnswer>> {
    let members = state.store.members(org.id(), None, MEMBERS_MAX).await?;
    Ok(Json(MailMembersAnswer { members: members.into_iter().map(MailMemberBody::from).collect() }))
}
