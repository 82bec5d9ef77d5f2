//! Who imports, behind their request.

use domain::{
    Caller, Error, KeyCaller, Result,
    pages::{author, import::PageImport},
};
use store::{
    Store,
    audit::{ActorKind, AuditActor},
};

/// Who imports, as long as they may write the organization's pages now, and the key that they began with still works.
pub(crate) async fn importer(store: &Store, import: &PageImport) -> Result<AuditActor> {
    let (org_id, person) = (import.org_id, import.created_by);
    let Some(key_id) = import.key_id else {
        author(&store.authority_of_person(org_id, person).await?)?;
        return Ok(AuditActor { kind: ActorKind::User, id: person.to_string(), label: None });
    };
    let key = store.key(org_id, key_id).await?.ok_or_else(key_gone)?;
    if key.expires_at.is_some_and(|at| at <= store.now()) {
        return Err(key_gone());
    }
    let caller = Caller::Key(KeyCaller {
        key_id,
        org_id,
        maker: key.maker,
        kind: key.kind,
        scopes: key.scopes,
        is_machine: key.machine_id.is_some(),
    });
    author(&store.authority(org_id, &caller).await?)?;
    Ok(AuditActor::from(&caller))
}

fn key_gone() -> Error {
    Error::forbidden("key_gone", "The key that this import was begun with is gone.")
}
