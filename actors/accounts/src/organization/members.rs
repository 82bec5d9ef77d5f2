//! Members and their roles.

use domain::{
    Error, Result, Role, Scope,
    id::UserId,
    organization::{MEMBERS_MAX, last_owner_check},
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    RevocationKind, Store,
    accounts::{self, Member},
    audit::AuditTarget,
};

use super::{Organization, changed_with, current, full, store_of};

/// Makes a person who has an account a member.
#[derive(Clone, Copy, Debug)]
pub struct AddMember {
    /// Who.
    pub user_id: UserId,
    /// As what.
    pub role: Role,
}

/// Gives a member another role. Their open invitations to what they may no longer give are taken back.
#[derive(Clone, Copy, Debug)]
pub struct ChangeRole {
    /// Who.
    pub user_id: UserId,
    /// Which role.
    pub role: Role,
}

/// Takes a member out, with the keys that they made and their open invitations. Anybody may take themselves out.
#[derive(Clone, Copy, Debug)]
pub struct RemoveMember {
    /// Who.
    pub user_id: UserId,
}

impl Command for AddMember {
    type Reply = Member;

    const NAME: &'static str = "add_member";
}

impl Handle<AddMember> for Organization {
    async fn handle(&mut self, command: &AddMember, turn: &mut Turn<'_, Self>) -> Result<Member> {
        let (organization, authority) = current(turn).await?;
        authority.require(Scope::MembersWrite)?;
        authority.assign_check(command.role)?;
        let (now, store) = (turn.now(), store_of(turn));
        let person = store.person(command.user_id).await?;
        let person = person.ok_or_else(|| Error::not_found("Person not found."))?;
        room_check(store, &organization, person.id).await?;
        let metadata = json!({ "role": command.role });
        let target = AuditTarget::new("person", person.id).labelled(&person.name);
        let mut change = changed_with(turn, &organization, "member.added", target, Some(metadata));
        change.member_add(now, organization.id, person.id, command.role);
        turn.commit(change).await?;
        Ok(Member { user_id: person.id, name: person.name, email: person.email, role: command.role, created_at: now })
    }
}

impl Command for ChangeRole {
    type Reply = Member;

    const NAME: &'static str = "change_role";
}

impl Handle<ChangeRole> for Organization {
    async fn handle(&mut self, command: &ChangeRole, turn: &mut Turn<'_, Self>) -> Result<Member> {
        let (organization, authority) = current(turn).await?;
        authority.require(Scope::MembersWrite)?;
        authority.assign_check(command.role)?;
        let (now, store) = (turn.now(), store_of(turn));
        let member = member(store, &organization, command.user_id).await?;
        let owners = owners(store, &organization).await?;
        authority.withdraw_check(member.user_id, member.role)?;
        last_owner_check(member.role, Some(command.role), owners)?;
        if member.role == command.role {
            return Ok(member);
        }
        let metadata = json!({ "from": member.role, "to": command.role });
        let target = AuditTarget::new("person", member.user_id).labelled(&member.name);
        let mut change = changed_with(turn, &organization, "member.role_changed", target, Some(metadata));
        change.member_set(now, organization.id, member.user_id, command.role);
        change.invites_withdraw(organization.id, member.user_id, command.role.beyond());
        change.revoke(now, RevocationKind::User, &member.user_id);
        for key_id in store.keys_made_by(organization.id, member.user_id).await? {
            change.revoke(now, RevocationKind::Key, &key_id);
        }
        for key_id in store.access_keys_made_by(organization.id, member.user_id).await? {
            change.revoke(now, RevocationKind::Key, &key_id);
        }
        turn.commit(change).await?;
        Ok(Member { role: command.role, ..member })
    }
}

impl Command for RemoveMember {
    type Reply = ();

    const NAME: &'static str = "remove_member";
}

impl Handle<RemoveMember> for Organization {
    async fn handle(&mut self, command: &RemoveMember, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (organization, authority) = current(turn).await?;
        if !authority.is(command.user_id) {
            authority.require(Scope::MembersWrite)?;
        }
        let (now, store) = (turn.now(), store_of(turn));
        let member = member(store, &organization, command.user_id).await?;
        let owners = owners(store, &organization).await?;
        authority.withdraw_check(member.user_id, member.role)?;
        last_owner_check(member.role, None, owners)?;
        let target = AuditTarget::new("person", member.user_id).labelled(&member.name);
        let metadata = json!({ "role": member.role });
        let mut change = changed_with(turn, &organization, "member.removed", target, Some(metadata));
        change.member_remove(organization.id, member.user_id);
        change.invites_withdraw(organization.id, member.user_id, Role::ALL.iter().copied());
        change.revoke(now, RevocationKind::User, &member.user_id);
        for key_id in store.keys_made_by(organization.id, member.user_id).await? {
            change.key_remove(now, key_id);
        }
        for key_id in store.access_keys_made_by(organization.id, member.user_id).await? {
            change.access_key_remove(now, key_id);
        }
        turn.commit(change).await
    }
}

async fn member(store: &Store, organization: &accounts::Organization, user_id: UserId) -> Result<Member> {
    let member = store.member(organization.id, user_id).await?;
    member.ok_or_else(|| Error::not_found("Member not found."))
}

async fn owners(store: &Store, organization: &accounts::Organization) -> Result<u64> {
    Ok(store.owners(organization.id).await?.len() as u64)
}

/// 409 when the person is a member, 400 when there is no room for another.
pub(super) async fn room_check(store: &Store, organization: &accounts::Organization, user_id: UserId) -> Result<()> {
    if store.membership(organization.id, user_id).await?.is_some() {
        return Err(already_member());
    }
    if store.members_count(organization.id).await? >= MEMBERS_MAX {
        return Err(full("members", MEMBERS_MAX));
    }
    Ok(())
}

/// 409: the person is a member.
pub(super) fn already_member() -> Error {
    Error::conflict("already_member", "This person is a member already.")
}
