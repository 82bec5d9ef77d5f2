//! The passwords vault (contract A 2.2, 3, 4.2): what a person's devices encrypt, and the rules by which they share it.
//!
//! The server never reads what is in a vault. It keeps texts, counts revisions, and makes sure that whoever changes a
//! vault holds its key: every change is signed ([`SignedRequest`]).

mod account;
mod device;
mod event;
mod id;
mod item;
mod reset;
mod sealed;
mod signature;
mod signing_key;

pub use account::{Account, AccountId, Kdf, KeysetDraft, NewVault, VaultRecord, kdf_salt};
pub use device::{Device, DeviceDraft, DeviceName, DevicePlatform, SEEN_EVERY};
pub use event::VaultEvent;
pub use id::{DeviceId, ItemId, VaultId};
pub use item::{
    Decision, Item, ItemChange, ItemChanges, ItemContent, ItemHead, ItemHeads, ItemRoom, Outcome, Rejection,
    changed_items, decide,
};
pub use reset::Reset;
pub use sealed::Sealed;
pub use signature::{NotASignature, Proof, SignedRequest, VaultSignature, WINDOW as SIGNATURE_WINDOW};
pub use signing_key::SigningKey;

use std::ops::RangeInclusive;

use crate::error::Error;

/// Bytes of a request that creates a vault (contract A 8).
pub const CREATE_BODY_BYTES_MAX: usize = 16 * 1024;
/// Bytes of a request that changes the key set (contract A 8).
pub const KEYSET_BODY_BYTES_MAX: usize = 8 * 1024;
/// Bytes of a request that registers or renames a device (contract A 8).
pub const DEVICE_BODY_BYTES_MAX: usize = 4 * 1024;
/// Bytes of a request that changes items (contract A 8).
pub const ITEMS_BODY_BYTES_MAX: usize = 4_096 * 1024;
/// Changes in one request (contract A 8).
pub const CHANGES_PER_REQUEST: RangeInclusive<usize> = 1..=50;
/// Ids in one request for items (contract A 8).
pub const ITEM_IDS_PER_REQUEST_MAX: usize = 100;
/// Devices of one vault (contract A 8).
pub const DEVICES_MAX: usize = 20;
/// Live items of one vault, where the configuration says nothing else (`vault.max_items`).
pub const ITEMS_MAX_DEFAULT: u64 = 10_000;

/// 404 `There's no vault for this account.`
pub fn no_vault() -> Error {
    Error::not_found("There's no vault for this account.")
}

/// 404 `That vault isn't yours.`
pub fn not_your_vault() -> Error {
    Error::not_found("That vault isn't yours.")
}

/// 409 `You already have a vault.`
pub fn vault_exists() -> Error {
    Error::conflict("vault_exists", "You already have a vault.")
}

/// 409 `The vault changed on another device.`
pub fn keyset_changed() -> Error {
    Error::conflict("stale_revision", "The vault changed on another device.")
}

/// 403 `This request isn't signed by your vault.`: missing, malformed, stale, replayed or wrong.
pub fn not_signed() -> Error {
    Error::forbidden("vault_signature", "This request isn't signed by your vault.")
}

/// 403 `This device was removed from your vault.`
pub fn device_removed() -> Error {
    Error::forbidden("device_removed", "This device was removed from your vault.")
}

/// 404 `That device isn't in your vault.`
pub fn no_such_device() -> Error {
    Error::not_found("That device isn't in your vault.")
}

/// 409 `Your vault is on 20 devices already. Remove one first.`
pub fn too_many_devices() -> Error {
    Error::conflict("too_many_devices", "Your vault is on 20 devices already. Remove one first.")
}
