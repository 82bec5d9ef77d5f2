//! Endpoints of the passwords vault.

use crate::endpoints::row::Takes::{Json, Nothing};
use crate::endpoints::row::{KB, Row, TOO_LARGE, VAULT};

#[rustfmt::skip]
pub const ROWS: &[Row] = rows! {
    GET    "/v1/me/vault"                                   VAULT, Nothing;
    POST   "/v1/me/vault"                                   VAULT, Json(16 * KB, TOO_LARGE);
    DELETE "/v1/me/vault"                                   VAULT, Nothing;
    GET    "/v1/me/vault/log"                               VAULT, Nothing;
    PUT    "/v1/me/vault/keyset"                            VAULT, Json(8 * KB, TOO_LARGE);
    POST   "/v1/me/vault/reset/cancel"                      VAULT, Nothing;
    GET    "/v1/me/vault/vaults/{vaultId}/index"            VAULT, Nothing;
    GET    "/v1/me/vault/vaults/{vaultId}/items"            VAULT, Nothing;
    POST   "/v1/me/vault/vaults/{vaultId}/items"            VAULT, Json(4096 * KB, "Send fewer changes at once.");
    PUT    "/v1/me/vault/devices/{deviceId}"                VAULT, Json(4 * KB, TOO_LARGE);
    DELETE "/v1/me/vault/devices/{deviceId}"                VAULT, Nothing;
};
