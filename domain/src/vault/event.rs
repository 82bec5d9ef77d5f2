//! What the vault's log tells.

use crate::app::names;

names! {
    /// Something that happened to a vault and is kept in its log, which outlives the vault.
    VaultEvent {
        Created = "vault.created",
        Replaced = "vault.replaced",
        Deleted = "vault.deleted",
        KeysetChanged = "vault.keyset_changed",
        ResetRequested = "vault.reset_requested",
        ResetCancelled = "vault.reset_cancelled",
        DeviceAdded = "vault.device_added",
        DeviceRemoved = "vault.device_removed",
    }
}
