//! Making, changing and deleting an organization.

use domain::{
    Error, OrgKind, Result, Role, Scope, Slug, Timestamp,
    account::step_up_check,
    id::{OrgId, UserId},
    organization::OWNED_MAX,
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change, RevocationKind, Store, accounts,
    audit::{AuditEntry, AuditTarget},
};

use super::{Organization, PEOPLE_ONLY, changed_with, current, removal, store_of};

/// Makes the organization; the person who asks owns it.
#[derive(Clone, Debug)]
pub struct CreateOrganization {
    /// What it is called.
    pub name: String,
    /// The last part of its addresses; made of the name when it isn't given.
    pub slug: Option<Slug>,
    /// Who owns it.
    pub owner: UserId,
}

/// Changes the fields that are given.
#[derive(Clone, Debug)]
pub struct ChangeOrganization {
    /// What it is called.
    pub name: Option<String>,
    /// The last part of its addresses.
    pub slug: Option<Slug>,
}

/// Deletes the organization and everything in it. For owners; one who has a second factor must have just shown it.
#[derive(Clone, Copy, Debug)]
pub struct DeleteOrganization;

impl Command for CreateOrganization {
    type Reply = accounts::Organization;

    const NAME: &'static str = "create";
}

impl Handle<CreateOrganization> for Organization {
    async fn handle(
        &mut self,
        command: &CreateOrganization,
        turn: &mut Turn<'_, Self>,
    ) -> Result<accounts::Organization> {
        let (id, now, store) = (*turn.key(), turn.now(), store_of(turn));
        // Read before the count: of two organizations that one person makes at once, one is decided again.
        let owner = store.person(command.owner).await?.ok_or(Error::Unauthenticated)?;
        if store.organizations_owned(command.owner).await? >= OWNED_MAX {
            let message = format!("One person owns at most {OWNED_MAX} organizations.");
            return Err(Error::bad_request("limit_reached", message));
        }
        let slug = match &command.slug {
            Some(slug) => slug.clone(),
            None => Slug::from_name(&command.name, &Slug::random_suffix()?),
        };
        slug_is_free(store, &slug, id).await?;
        let organization = accounts::Organization {
            id,
            name: command.name.clone(),
            slug,
            kind: OrgKind::Customer,
            version: 1,
            created_at: now,
            updated_at: now,
        };
        let mut change = Change::new();
        change.person_turn(&owner);
        change.organization_add(&organization);
        change.member_add(now, id, command.owner, Role::Owner);
        let target = AuditTarget::new("organization", id).labelled(&organization.name);
        change.audit_add(now, AuditEntry::new(turn.context(), "org.created", target).in_org(id));
        turn.commit(change).await?;
        Ok(organization)
    }
}

impl Command for ChangeOrganization {
    type Reply = accounts::Organization;

    const NAME: &'static str = "change";
}

impl Handle<ChangeOrganization> for Organization {
    async fn handle(
        &mut self,
        command: &ChangeOrganization,
        turn: &mut Turn<'_, Self>,
    ) -> Result<accounts::Organization> {
        let (before, authority) = current(turn).await?;
        authority.require(Scope::OrgWrite)?;
        let mut after = before.clone();
        if let Some(name) = &command.name {
            after.name.clone_from(name);
        }
        if let Some(slug) = &command.slug {
            after.slug = slug.clone();
            slug_is_free(store_of(turn), slug, after.id).await?;
        }
        if after == before {
            return Ok(before);
        }
        after.updated_at = turn.now();
        let target = AuditTarget::new("organization", after.id).labelled(&after.name);
        let metadata = json!({
            "from": { "name": before.name, "slug": before.slug.as_str() },
            "to": { "name": after.name, "slug": after.slug.as_str() },
        });
        let change = changed_with(turn, &after, "org.changed", target, Some(metadata));
        turn.commit(change).await?;
        after.version += 1;
        Ok(after)
    }
}

impl Command for DeleteOrganization {
    type Reply = ();

    const NAME: &'static str = "delete";
}

impl Handle<DeleteOrganization> for Organization {
    async fn handle(&mut self, _: &DeleteOrganization, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (organization, authority) = current(turn).await?;
        let (now, store) = (turn.now(), store_of(turn));
        let user_id = authority.owner(PEOPLE_ONLY, "Only an owner deletes an organization.")?;
        if organization.kind == OrgKind::Platform {
            return Err(Error::conflict("platform_organization", "The platform's own organization stays."));
        }
        fresh_factor_check(store, user_id, turn).await?;
        let mut change = Change::new();
        change.organization_remove(organization.id, organization.version);
        removal::delete_after(&mut change, turn);
        revoke_keys(&mut change, store, organization.id, now).await?;
        let target = AuditTarget::new("organization", organization.id).labelled(&organization.name);
        change.audit_add(now, AuditEntry::new(turn.context(), "org.deleted", target).in_org(organization.id));
        turn.commit(change).await
    }
}

/// 403 when the person has a second factor and has not just shown it.
async fn fresh_factor_check(store: &Store, user_id: UserId, turn: &Turn<'_, Organization>) -> Result<()> {
    let person = store.person(user_id).await?.ok_or(Error::Unauthenticated)?;
    if person.otp_secret.is_none() {
        return Ok(());
    }
    let domain::Caller::Person(caller) = &turn.context().caller else { return Err(Error::Unauthenticated) };
    let sign_in = store.sign_in(user_id, caller.sign_in_id).await?.ok_or(Error::Unauthenticated)?;
    step_up_check(sign_in.confirmed_until, turn.now())
}

/// Has every node forget the organization's keys. Those of machines open nothing without a part in the organization, which is
/// looked up with each request.
async fn revoke_keys(change: &mut Change, store: &Store, id: OrgId, now: Timestamp) -> Result<()> {
    for key_id in store.key_ids(id, domain::key::KEYS_MAX).await? {
        change.revoke(now, RevocationKind::Key, &key_id);
    }
    for key in store.access_keys(id).await? {
        change.revoke(now, RevocationKind::Key, &key.id);
    }
    Ok(())
}

/// 409 when another organization has the slug.
async fn slug_is_free(store: &Store, slug: &Slug, id: OrgId) -> Result<()> {
    match store.organization_by_slug(slug).await? {
        Some(other) if other.id != id => Err(Error::conflict("slug_taken", "Another organization has this slug.")),
        _ => Ok(()),
    }
}
