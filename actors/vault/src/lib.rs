//! A person's passwords vault (contract A 3, 4.2).
//!
//! The actor holds what decisions need: the account's keys, the devices, where every item stands, and the signatures
//! seen in the last minutes. Ciphertexts stay in the store.
//!
//! Two nodes may each have an actor for one vault. They stay of one mind because every commit names the version it was
//! decided on, even one that changes no item; and because a refusal is given only after the store has confirmed that
//! version ([`Vault::answer`]). A signature is remembered in the commit of what it signed. Two nodes that accept the same
//! one collide there; the loser loads again, finds it among those seen, and refuses it.

mod create;
mod devices;
mod items;
mod keyset;
mod reminder;
mod removal;
mod signatures;
mod state;
mod tell;

pub use create::CreateVault;
pub use devices::{DeviceSeen, PutDevice, RemoveDevice};
pub use items::{ChangeItems, ItemResult, ItemsChanged};
pub use keyset::PutKeyset;
pub use removal::{CancelReset, DeleteVault, VaultDeleted};

use std::time::Duration;

use actors_base::{Area, Services};
use domain::{
    Caller, Context, Error, Result, Timestamp,
    id::{SignInId, UserId},
    vault::{DeviceId, Proof, no_vault, not_signed},
};
use kernel::{Resource, Turn};
use store::{Change, Purge, Store, vault::SeenSignature};

use self::{signatures::Signatures, state::OpenVault};

/// How long a used signature is kept; one of that age is refused for its age (decisions, "Passwords vault").
const SIGNATURES_KEPT: Duration = Duration::from_mins(10);

/// What goes over all areas knows of vaults.
pub const AREA: Area = Area { purges, ..Area::named("vault") };

fn purges(now: Timestamp) -> Vec<Purge> {
    vec![Purge::vault_signatures(now.before(SIGNATURES_KEPT))]
}

/// One person's passwords vault, or the place where it will be.
pub struct Vault {
    open: Option<OpenVault>,
    signatures: Signatures,
}

impl Resource for Vault {
    type Key = UserId;
    type Services = Services;

    const KIND: &'static str = "vault";

    async fn load(key: &UserId, services: &Services) -> Result<Self> {
        let open = OpenVault::load(&services.store, *key).await?;
        let signatures = Signatures::load(&services.store, *key).await?;
        Ok(Self { open, signatures })
    }
}

/// A signature that holds, and the device that gave it.
#[derive(Clone, Copy)]
struct Signed {
    signature: SeenSignature,
    by: DeviceId,
}

/// The sign-in that asks, where a person does.
fn sign_in_of(context: &Context) -> Option<SignInId> {
    match &context.caller {
        Caller::Person(person) => Some(person.sign_in_id),
        _ => None,
    }
}

/// Which device may have signed a request.
#[derive(Clone, Copy)]
enum Signer {
    /// Any that holds the vault's key.
    Any,
    /// One that is registered.
    Registered,
    /// This one.
    Only(DeviceId),
}

impl Vault {
    /// The vault; 404 where the person has none.
    fn open(&self) -> Result<&OpenVault> {
        self.open.as_ref().ok_or_else(no_vault)
    }

    fn open_mut(&mut self) -> Result<&mut OpenVault> {
        self.open.as_mut().ok_or_else(no_vault)
    }

    /// The signature, where it is the vault's, by a device that may sign this, fresh, and never seen before.
    fn signed(&self, proof: &Proof, signer: Signer, now: Timestamp) -> Result<Signed> {
        let open = self.open()?;
        let request = proof.signed()?;
        request.verify(&open.account.signing_key, now)?;
        let by = request.signature.device_id;
        let may_sign = match signer {
            Signer::Any => true,
            Signer::Registered => open.devices.contains_key(&by),
            Signer::Only(device_id) => by == device_id,
        };
        if may_sign { Ok(Signed { signature: self.signatures.fresh(request)?, by }) } else { Err(not_signed()) }
    }

    /// Commits what a signature stood under, and remembers the signature with it. The device that gave it syncs over the
    /// sign-in that asks, from now on.
    async fn commit(&mut self, mut change: Change, signed: Signed, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (user_id, now) = (*turn.key(), turn.now());
        let Signed { signature, by } = signed;
        self.signatures.write(&mut change, user_id, signature, now);
        let moved_to = self.moved_to(by, turn.context());
        if let Some(sign_in_id) = moved_to {
            change.vault_device_bind(user_id, by, sign_in_id);
        }
        turn.commit(change).await?;
        self.signatures.remember(signature, now);
        if let (Some(sign_in_id), Some(open)) = (moved_to, &mut self.open) {
            open.bind(by, sign_in_id);
        }
        Ok(())
    }

    /// The sign-in that asks, where the registered device `by` is not known to sync over it.
    fn moved_to(&self, by: DeviceId, context: &Context) -> Option<SignInId> {
        let known = self.open.as_ref()?.devices.get(&by)?.sign_in_id;
        sign_in_of(context).filter(|asking| known != Some(*asking))
    }

    /// Passes an outcome on; a refusal only when it rests on what the store holds now.
    async fn answer<T>(&self, outcome: Result<T>, turn: &Turn<'_, Self>) -> Result<T> {
        match outcome {
            Err(refusal) if refusal.status() < 500 => {
                self.confirm(&turn.services().store, *turn.key()).await?;
                Err(refusal)
            }
            other => other,
        }
    }

    /// Passes when the store holds the version that this actor knows.
    async fn confirm(&self, store: &Store, user_id: UserId) -> Result<()> {
        let stored = store.vault_head(user_id).await?.map(|head| head.seen);
        let known = self.open.as_ref().map(|open| open.seen);
        if stored == known { Ok(()) } else { Err(Error::Stale) }
    }
}
