//! The passwords vault: account, vault, items, devices, log, and the signatures seen.
//!
//! Everything hangs on the person. One number guards it all, `vaults.version`: whoever changes anything of a vault names
//! the version that they decided on ([`VaultSeen`]), and raises it.

mod account;
mod device;
mod item;
mod log;
mod signature;

pub use account::{StoredVault, VaultHead, VaultSeen};
pub use device::StoredDevice;
pub use item::ItemState;
pub use log::{VaultLogEntry, VaultLogPage};
pub use signature::SeenSignature;
