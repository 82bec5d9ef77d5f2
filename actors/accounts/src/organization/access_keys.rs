//! Access keys.

use domain::{
    Error, Result, Scope, Timestamp,
    access_key::{
        ACCESS_KEY_SALT_LEN, ACCESS_KEYS_MAX, AccessKeyGrant, AccessKeyId, AccessKeySecret, access_key_not_found,
    },
    account::SEEN_EVERY,
    id::{OrgId, ResourceId},
    problems::Problems,
    token::random_bytes,
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{Change, Store, accounts::AccessKey, audit::AuditTarget};

use super::{Organization, PEOPLE_ONLY, changed, changed_with, current, found, full, store_of};

/// Makes an access key. For people: a key makes no keys.
#[derive(Clone, Debug)]
pub struct MakeAccessKey {
    /// What it is called.
    pub name: String,
    /// What it is given; nothing that its maker may not.
    pub grant: AccessKeyGrant,
    /// When it stops working by itself.
    pub expires_at: Option<Timestamp>,
}

/// Deletes an access key. For people.
#[derive(Clone, Copy, Debug)]
pub struct DeleteAccessKey(pub AccessKeyId);

/// Notes that an access key was used. Told at most once an hour.
#[derive(Clone, Copy, Debug)]
pub struct NoteAccessKeyUse(pub AccessKeyId);

impl Command for MakeAccessKey {
    type Reply = (AccessKey, AccessKeySecret);

    const NAME: &'static str = "make_access_key";
}

impl Handle<MakeAccessKey> for Organization {
    async fn handle(
        &mut self,
        command: &MakeAccessKey,
        turn: &mut Turn<'_, Self>,
    ) -> Result<(AccessKey, AccessKeySecret)> {
        let (organization, authority) = current(turn).await?;
        authority.require(Scope::KeysWrite)?;
        let maker = authority.person(PEOPLE_ONLY)?;
        let (now, store) = (turn.now(), store_of(turn));
        let MakeAccessKey { name, grant, expires_at } = command.clone();
        grant.give_check(&authority)?;
        if expires_at.is_some_and(|at| at <= now) {
            return Err(Error::invalid("expiresAt", "Choose a time in the future."));
        }
        resources_check(store, organization.id, grant.resources.as_deref().unwrap_or_default()).await?;
        if store.access_keys_count(organization.id).await? >= ACCESS_KEYS_MAX {
            return Err(full("access keys", ACCESS_KEYS_MAX));
        }
        let id = AccessKeyId::generate()?;
        let org_id = organization.id;
        let key = AccessKey { id, org_id, name, grant, maker, created_at: now, expires_at, last_used_at: None };
        let metadata = json!({
            "access": key.grant.access,
            "resources": key.grant.resources,
            "prefix": key.grant.prefix.as_ref().map(domain::storage::KeyPrefix::as_str),
            "expiresAt": key.expires_at,
        });
        let target = AuditTarget::new("access_key", key.id).labelled(&key.name);
        let mut change = changed_with(turn, &organization, "access_key.created", target, Some(metadata));
        let secret = store.access_key_add(&mut change, &key, random_bytes::<ACCESS_KEY_SALT_LEN>()?);
        turn.commit(change).await?;
        Ok((key, secret))
    }
}

/// Passes where each of them is a bucket or a table of the organization; 400 naming the others.
async fn resources_check(store: &Store, org_id: OrgId, resources: &[ResourceId]) -> Result<()> {
    let mut problems = Problems::new();
    let known = store.resources_among(org_id, resources).await?;
    for (place, resource) in resources.iter().enumerate() {
        let message = "There is no bucket and no database with this id.";
        problems.require(known.contains(resource), format!("resources[{place}]"), message);
    }
    problems.into_result()
}

impl Command for DeleteAccessKey {
    type Reply = ();

    const NAME: &'static str = "delete_access_key";
}

impl Handle<DeleteAccessKey> for Organization {
    async fn handle(&mut self, DeleteAccessKey(id): &DeleteAccessKey, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (organization, authority) = current(turn).await?;
        authority.require(Scope::KeysWrite)?;
        authority.person(PEOPLE_ONLY)?;
        let key = store_of(turn).access_key(organization.id, *id).await?.ok_or_else(access_key_not_found)?;
        let target = AuditTarget::new("access_key", id).labelled(&key.name);
        let mut change = changed(turn, &organization, "access_key.deleted", target);
        change.access_key_remove(turn.now(), *id);
        turn.commit(change).await
    }
}

impl Command for NoteAccessKeyUse {
    type Reply = ();

    const NAME: &'static str = "note_access_key_use";
}

impl Handle<NoteAccessKeyUse> for Organization {
    async fn handle(&mut self, NoteAccessKeyUse(id): &NoteAccessKeyUse, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (organization, now) = (found(turn).await?, turn.now());
        let key = store_of(turn).access_key(organization.id, *id).await?;
        if key.is_none_or(|key| key.last_used_at.is_some_and(|at| at.after(SEEN_EVERY) > now)) {
            return Ok(());
        }
        let mut change = Change::new();
        change.access_key_used(*id, now);
        turn.commit(change).await
    }
}
