//! The area's endpoints, a line each; what a line says stands at `page!` (`http/shell/src/endpoint.rs`).

use http_shell::{endpoint::Endpoint, page};

use crate::{changes, create, devices, items, keyset, log, overview, removal};

/// The lines.
#[rustfmt::skip]
pub fn page() -> Vec<Endpoint> {
    page! {
        "Passwords vault" {
            GET    "/v1/me/vault"                         => overview::vault_get;
            POST   "/v1/me/vault"                         => create::vault_create, creates();
            DELETE "/v1/me/vault"                         => removal::vault_delete;
            GET    "/v1/me/vault/log"                     => log::vault_log;
            PUT    "/v1/me/vault/keyset"                  => keyset::vault_keyset_put;
            POST   "/v1/me/vault/reset/cancel"            => removal::vault_reset_cancel;
            GET    "/v1/me/vault/vaults/{vaultId}/index"  => items::vault_index;
            GET    "/v1/me/vault/vaults/{vaultId}/items"  => items::vault_items_get;
            POST   "/v1/me/vault/vaults/{vaultId}/items"  => changes::vault_items_change;
            PUT    "/v1/me/vault/devices/{deviceId}"      => devices::vault_device_put;
            DELETE "/v1/me/vault/devices/{deviceId}"      => devices::vault_device_delete;
        }
    }
}
