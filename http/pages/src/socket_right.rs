//! What a socket of the notes needs of who opened it.

use domain::{
    Authority, Error, Result, Scope,
    id::{OrgId, UserId},
};
use store::Store;

/// The permissions that a person needs in an organization for as long as their socket is open.
#[derive(Clone, Copy)]
pub(super) struct SocketRight {
    pub(super) org_id: OrgId,
    pub(super) user_id: UserId,
    pub(super) scopes: &'static [Scope],
}

impl SocketRight {
    /// 403 for who lacks one of them now, with a part in the organization or without.
    pub(super) async fn check(&self, store: &Store) -> Result<()> {
        let found = store.authority_of_person(self.org_id, self.user_id).await;
        Authority::admit(found, self.scopes).map(drop)
    }

    /// Whether they have all of them now.
    pub(super) async fn holds(&self, store: &Store) -> Result<bool> {
        match self.check(store).await {
            Ok(()) => Ok(true),
            Err(Error::MissingScope(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
