//! Invitations: a token by e-mail that makes its addressee a member.

use actors_base::Services;
use domain::{
    Context, Email, Error, Result, Role, Scope, Timestamp, Token, TokenHash, TokenKind,
    account::{Invitation, invitation_gone},
    id::{InviteId, UserId},
    organization::INVITES_MAX,
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change, EmailTo, OutboxEntry, Store,
    accounts::{self, Invite, Member, Person},
    audit::{ActorKind, AuditActor, AuditEntry, AuditTarget},
};

use super::{
    Organization, changed, changed_with, current, full,
    members::{already_member, room_check},
    not_found, store_of,
};

/// Invites an address. An invitation that the address has already is replaced when it has expired.
#[derive(Clone, Debug)]
pub struct MakeInvite {
    /// Whom.
    pub email: Email,
    /// As what.
    pub role: Role,
}

/// Takes an invitation back.
#[derive(Clone, Copy, Debug)]
pub struct CancelInvite(pub InviteId);

/// Accepts an invitation; the person who asks becomes a member.
#[derive(Clone, Copy, Debug)]
pub struct AcceptInvite {
    /// The hash of the token.
    pub token: TokenHash,
    /// Who accepts.
    pub user_id: UserId,
}

impl Command for MakeInvite {
    type Reply = Invite;

    const NAME: &'static str = "make_invite";
}

impl Handle<MakeInvite> for Organization {
    async fn handle(&mut self, command: &MakeInvite, turn: &mut Turn<'_, Self>) -> Result<Invite> {
        let (organization, authority) = current(turn).await?;
        authority.require(Scope::MembersWrite)?;
        authority.assign_check(command.role)?;
        let (now, services) = (turn.now(), &turn.services().services);
        invite_check(&services.store, &organization, &command.email, now).await?;
        let token = Token::generate(TokenKind::Invite)?;
        let invite = Invite {
            id: InviteId::new(now),
            org_id: organization.id,
            invitation: Invitation {
                email: command.email.clone(),
                role: command.role,
                expires_at: now.after(services.settings.invite_lasts),
            },
            invited_by: authority.on_behalf_of().ok(),
            created_at: now,
        };
        let target = AuditTarget::new("invite", invite.id).labelled(command.email.as_str());
        let metadata = json!({ "role": command.role });
        let mut change = changed_with(turn, &organization, "invite.made", target, Some(metadata));
        change.invites_purge(organization.id, now);
        change.invite_add(&invite, token.hash());
        change.outbox_add_for(organization.id, now, &letter(services, &organization, &invite, &token));
        turn.commit(change).await?;
        Ok(invite)
    }
}

/// 409 when the address is a member's or invited, 400 when there is no room for another invitation.
async fn invite_check(
    store: &Store,
    organization: &accounts::Organization,
    email: &Email,
    now: Timestamp,
) -> Result<()> {
    if let Some(person) = store.person_by_email(email).await?
        && store.membership(organization.id, person.id).await?.is_some()
    {
        return Err(already_member());
    }
    if let Some(invite) = store.invite_by_email(organization.id, email).await?
        && invite.invitation.expires_at > now
    {
        return Err(Error::conflict("already_invited", "This address is invited already."));
    }
    if store.invites_count(organization.id, now).await? >= INVITES_MAX {
        return Err(full("open invitations", INVITES_MAX));
    }
    Ok(())
}

fn letter(services: &Services, organization: &accounts::Organization, invite: &Invite, token: &Token) -> OutboxEntry {
    let (name, role, url) = (&organization.name, invite.invitation.role, &services.settings.public_url);
    let body = format!(
        "You are invited to join {name} as {role}.\n\n\
         Your invitation: {token}\n\n\
         With an account, sign in and POST {url}/v1/invites/{token}/accept\n\
         Without one, POST {url}/v1/auth/register with {{\"invite\": \"{token}\", …}}\n\n\
         It is for you alone and lasts until {until}.\n",
        token = token.reveal(),
        until = date(invite.invitation.expires_at),
    );
    let to = EmailTo::Address(invite.invitation.email.to_string());
    OutboxEntry::Email { to, subject: format!("Join {name}"), body, calendar: None }
}

fn date(at: Timestamp) -> String {
    let since_epoch = at.since(Timestamp(0));
    humantime::format_rfc3339_seconds(std::time::UNIX_EPOCH + since_epoch).to_string()
}

impl Command for CancelInvite {
    type Reply = ();

    const NAME: &'static str = "cancel_invite";
}

impl Handle<CancelInvite> for Organization {
    async fn handle(&mut self, CancelInvite(id): &CancelInvite, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (organization, authority) = current(turn).await?;
        authority.require(Scope::MembersWrite)?;
        let invite = store_of(turn).invite(organization.id, *id).await?;
        let invite = invite.filter(|invite| invite.invitation.expires_at > turn.now());
        let invite = invite.ok_or_else(|| Error::not_found("Invitation not found."))?;
        let target = AuditTarget::new("invite", id).labelled(invite.invitation.email.as_str());
        let mut change = changed(turn, &organization, "invite.cancelled", target);
        change.invite_remove(*id);
        turn.commit(change).await
    }
}

impl Command for AcceptInvite {
    type Reply = (accounts::Organization, Member);

    const NAME: &'static str = "accept_invite";
}

impl Handle<AcceptInvite> for Organization {
    async fn handle(
        &mut self,
        command: &AcceptInvite,
        turn: &mut Turn<'_, Self>,
    ) -> Result<(accounts::Organization, Member)> {
        let (now, store) = (turn.now(), store_of(turn));
        let invite = store.invite_by_token(command.token).await?.filter(|invite| invite.org_id == *turn.key());
        let invite = invite.ok_or_else(invitation_gone)?;
        let person = store.person(command.user_id).await?.ok_or(Error::Unauthenticated)?;
        invite.invitation.accept_check(&person.email, now)?;
        let mut change = Change::new();
        let organization = accept_invite(&mut change, store, turn.context(), &invite, &person, now).await?;
        turn.commit(change).await?;
        let role = invite.invitation.role;
        let member = Member { user_id: person.id, name: person.name, email: person.email, role, created_at: now };
        Ok((organization, member))
    }
}

/// Makes the person a member by an invitation that was checked, in the commit that makes `change` durable.
pub(crate) async fn accept_invite(
    change: &mut Change,
    store: &Store,
    context: &Context,
    invite: &Invite,
    person: &Person,
    now: Timestamp,
) -> Result<accounts::Organization> {
    let organization = store.organization(invite.org_id).await?.ok_or_else(not_found)?;
    room_check(store, &organization, person.id).await?;
    change.organization_set(&organization);
    change.invite_remove(invite.id);
    change.member_add(now, organization.id, person.id, invite.invitation.role);
    let actor = AuditActor { kind: ActorKind::User, id: person.id.to_string(), label: None };
    let target = AuditTarget::new("person", person.id).labelled(&person.name);
    let entry = AuditEntry::new(context, "invite.accepted", target).in_org(organization.id).by(actor);
    let metadata = json!({ "inviteId": invite.id, "role": invite.invitation.role });
    change.audit_add(now, entry.with_metadata(metadata));
    Ok(organization)
}
