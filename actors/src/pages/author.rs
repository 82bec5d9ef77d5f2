//! Who writes.

use domain::{
    Caller, Context, Error, Result, Scope,
    id::{OrgId, UserId},
};
use store::Store;

/// The person who asks, or who made the key that asks, as long as they may write the organization's pages now: their role
/// may have changed since the request came in.
pub(super) async fn author(store: &Store, org_id: OrgId, context: &Context) -> Result<UserId> {
    let (user_id, granted) = match &context.caller {
        Caller::Person(person) => (person.user_id, None),
        Caller::Key(key) if key.org_id == org_id => (key.maker, Some(key.scopes)),
        Caller::Key(_) => return Err(not_found()),
        Caller::Nobody | Caller::System => return Err(Error::Unauthenticated),
    };
    let part = store.membership(org_id, user_id).await?.ok_or_else(not_found)?;
    let scopes = granted.map_or(part.scopes(), |granted| granted.intersection(part.scopes()));
    if !scopes.contains(Scope::KnowledgeWrite) {
        return Err(Error::MissingScope(Scope::KnowledgeWrite));
    }
    Ok(user_id)
}

fn not_found() -> Error {
    Error::not_found("Organization not found.")
}
