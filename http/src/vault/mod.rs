//! The passwords vault (contract A 2.2, 4.2).
//!
//! Two arguments guard it: [`VaultPerson`], the authenticator app's own sign-in, and [`VaultProof`], the signature of the
//! vault's key over the request. Whether the signature holds is the owner's to say, which knows the key; so that a
//! refusal tells nothing of a vault to somebody who could not open it.

mod account;
mod changes;
mod create;
mod devices;
mod items;
mod keyset;
mod log;
mod overview;
mod proof;
mod removal;
mod sealed;

pub(crate) use changes::*;
pub(crate) use create::*;
pub(crate) use devices::*;
pub(crate) use items::*;
pub(crate) use keyset::*;
pub(crate) use log::*;
pub(crate) use overview::*;
pub(crate) use removal::*;

use domain::{
    App, PersonCaller,
    vault::{VaultId, not_your_vault},
};
use store::vault::VaultHead;

use self::{
    account::{AccountBody, KdfBody, VaultRecordBody},
    proof::{VaultProof, VaultProofIfAny},
    sealed::AnyJson,
};
use crate::{
    argument::Argument,
    call::Call,
    caller::{Door, Person},
    error::Result,
    facts::Facts,
    path::{Path, PathParameter},
};

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

impl PathParameter for VaultId {
    const NAME: &'static str = "vaultId";
    const DESCRIPTION: &'static str = "A vault: 22 base64url characters.";
    const EXAMPLE: &'static str = "Zm9vYmFyYmF6cXV4cXV1eA";
    const NOT_FOUND: &'static str = "That vault isn't yours.";

    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

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
