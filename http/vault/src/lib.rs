//! The passwords vault (contract A 2.2, 4.2).
//!
//! Two arguments guard it: [`VaultPerson`], the authenticator app's own sign-in, and [`VaultProof`](proof::VaultProof), the
//! signature of the vault's key over the request. Whether the signature holds is the owner's to say, which knows the key; so
//! that a refusal tells nothing of a vault to somebody who could not open it.

mod account;
mod changes;
mod create;
mod devices;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod items;
mod keyset;
mod log;
mod overview;
mod proof;
mod removal;
mod routes;
mod sealed;

pub use self::routes::page;

use domain::{
    App, PersonCaller,
    vault::{VaultId, not_your_vault},
};
use http_shell::{
    argument::Argument,
    call::Call,
    caller::{Door, Person},
    error::Result,
    facts::Facts,
    path::Path,
};
use store::vault::VaultHead;

/// The vault opens to the authenticator app's own sign-in (contract A 4.2, 5.5).
pub(crate) struct VaultDoor;

impl Door for VaultDoor {
    const WHO: &'static str = "the Authenticator app";
    const CODE: &'static str = "authenticator_only";
    const REFUSAL: &'static str = "Passwords opens only in the Authenticator app.";

    fn admits(person: &PersonCaller) -> bool {
        person.app == App::Authenticator && person.platform.is_mobile()
    }
}

/// A person in the authenticator app.
pub(crate) type VaultPerson = Person<VaultDoor>;

/// The vault of the path, which is the caller's own.
pub(crate) struct OwnVault {
    person: VaultPerson,
    head: VaultHead,
}

impl Argument for OwnVault {
    fn describe(facts: &mut Facts) {
        VaultPerson::describe(facts);
        Path::<VaultId>::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let person = VaultPerson::take(call).await?;
        let Path(vault_id) = Path::<VaultId>::take(call).await?;
        let head = call.state.store.vault_head(person.user_id()).await?;
        match head.filter(|head| head.vault_id == vault_id) {
            Some(head) => Ok(Self { person, head }),
            None => Err(not_your_vault().into()),
        }
    }
}
