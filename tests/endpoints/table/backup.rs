//! Endpoints of the authenticator backup.

use crate::endpoints::row::Takes::{Json, Nothing};
use crate::endpoints::row::{BACKUP, KB, Row};

#[rustfmt::skip]
pub const ROWS: &[Row] = rows! {
    GET    "/v1/me/authenticator/vault"                     BACKUP, Nothing;
    PUT    "/v1/me/authenticator/vault"                     BACKUP, Json(260 * KB, "The backup is too large.");
    DELETE "/v1/me/authenticator/vault"                     BACKUP, Nothing;
};
