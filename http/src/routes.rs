//! The whole URL tree, on one page.
//!
//! A line is `METHOD "path" => module::handler`, and what applies to it beside its arguments: `creates` (honours
//! `Idempotency-Key`), `per_address(n)` (a rate limit a minute), `open()` (anyone may call it, although no argument says
//! so). Who may call an endpoint and how large its body may be stand in the handler's arguments; `docs/endpoints.md`
//! shows them all. Lines stand under the area whose name the reference page shows.

use actix_web::http::Method;

use crate::{
    backup,
    endpoint::{Endpoint, Rules},
    live, meta, vault,
};

macro_rules! page {
    ($($area:literal { $($method:ident $path:literal => $module:ident :: $handler:ident $(, $rule:ident ( $($value:expr),* ))* ;)* })*) => {
        pastey::paste! {
            vec![$($(
                Endpoint::new::<$module::[<__path_ $handler>], _, _>(
                    Method::$method,
                    $path,
                    $area,
                    $module::$handler,
                    Rules::default()$(.$rule($($value),*))*,
                ),
            )*)*]
        }
    };
}

/// The lines.
#[rustfmt::skip]
pub(crate) fn page() -> Vec<Endpoint> {
    page! {
        "Authenticator backup" {
            GET    "/v1/me/authenticator/vault"           => backup::backup_get;
            PUT    "/v1/me/authenticator/vault"           => backup::backup_put;
            DELETE "/v1/me/authenticator/vault"           => backup::backup_delete;
        }
        "Passwords vault" {
            GET    "/v1/me/vault"                         => vault::vault_get;
            POST   "/v1/me/vault"                         => vault::vault_create, creates();
            DELETE "/v1/me/vault"                         => vault::vault_delete;
            GET    "/v1/me/vault/log"                     => vault::vault_log;
            PUT    "/v1/me/vault/keyset"                  => vault::vault_keyset_put;
            POST   "/v1/me/vault/reset/cancel"            => vault::vault_reset_cancel;
            GET    "/v1/me/vault/vaults/{vaultId}/index"  => vault::vault_index;
            GET    "/v1/me/vault/vaults/{vaultId}/items"  => vault::vault_items_get;
            POST   "/v1/me/vault/vaults/{vaultId}/items"  => vault::vault_items_change;
            PUT    "/v1/me/vault/devices/{deviceId}"      => vault::vault_device_put;
            DELETE "/v1/me/vault/devices/{deviceId}"      => vault::vault_device_delete;
        }
        "Live" {
            GET    "/v1/me/live"                => live::live_view;
            GET    "/v1/sockets/live"           => live::live_socket;
        }
        "About this server" {
            GET    "/v1/openapi.json"           => meta::openapi_view;
        }
    }
}
