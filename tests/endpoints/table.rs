//! The table.

/// Whom an endpoint answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Anyone.
    Anyone,
    /// Whoever has a ticket in the query.
    TicketHolder,
    /// Whoever has an address that the server signed.
    AddressHolder,
    /// Any person and any key.
    Caller,
    /// Any person, and no key.
    Person,
    /// A person on the authenticator app's own sign-in; everybody else reads this.
    Authenticator(&'static str),
    /// Whoever has a part in the organization of the path.
    Member,
    /// Whoever has a part in the organization of the path, and this scope there.
    Scope(&'static str),
}

/// What an endpoint takes as its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    /// JSON of at most so many bytes; this is what somebody who sends more reads.
    Json(usize, &'static str),
    /// Bytes as they are.
    Bytes,
}

/// A line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub method: &'static str,
    pub path: &'static str,
    pub who: Who,
    pub takes: Takes,
}

const KB: usize = 1024;
const TOO_LARGE: &str = "The request is too large.";
/// JSON of at most 1 MB, where the contract says nothing else.
const JSON: Takes = Takes::Json(1024 * KB, TOO_LARGE);
const BACKUP: Who = Who::Authenticator("The authenticator backup opens only in the Authenticator app.");
const VAULT: Who = Who::Authenticator("Passwords opens only in the Authenticator app.");

macro_rules! rows {
    ($($method:ident $path:literal $who:expr, $takes:expr;)*) => {
        &[$(Row { method: stringify!($method), path: $path, who: $who, takes: $takes },)*]
    };
}

use Takes::{Bytes, Json, Nothing};
use Who::{AddressHolder, Anyone, Caller, Member, Person, Scope, TicketHolder};

/// Every endpoint.
#[rustfmt::skip]
pub const ROWS: &[Row] = rows! {
    POST   "/v1/auth/register"                              Anyone, JSON;
    POST   "/v1/auth/sign-in"                               Anyone, JSON;
    POST   "/v1/auth/sign-out"                              Person, Nothing;
    POST   "/v1/auth/step-up"                               Person, JSON;

    GET    "/v1/me"                                         Person, Nothing;
    PATCH  "/v1/me"                                         Person, JSON;
    POST   "/v1/me/password"                                Person, JSON;
    POST   "/v1/me/otp"                                     Person, Nothing;
    POST   "/v1/me/otp/confirm"                             Person, JSON;
    DELETE "/v1/me/otp"                                     Person, Nothing;
    GET    "/v1/me/sign-ins"                                Person, Nothing;
    DELETE "/v1/me/sign-ins/{signInId}"                     Person, Nothing;
    GET    "/v1/me/live"                                    Person, Nothing;

    GET    "/v1/me/authenticator/vault"                     BACKUP, Nothing;
    PUT    "/v1/me/authenticator/vault"                     BACKUP, Json(260 * KB, "The backup is too large.");
    DELETE "/v1/me/authenticator/vault"                     BACKUP, Nothing;

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

    GET    "/v1/orgs"                                       Caller, Nothing;
    POST   "/v1/orgs"                                       Person, JSON;
    GET    "/v1/orgs/{orgId}"                               Scope("org:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}"                               Scope("org:write"), JSON;
    DELETE "/v1/orgs/{orgId}"                               Member, Nothing;
    GET    "/v1/orgs/{orgId}/members"                       Scope("members:read"), Nothing;
    POST   "/v1/orgs/{orgId}/members"                       Scope("members:write"), JSON;
    PATCH  "/v1/orgs/{orgId}/members/{userId}"              Scope("members:write"), JSON;
    DELETE "/v1/orgs/{orgId}/members/{userId}"              Member, Nothing;
    GET    "/v1/orgs/{orgId}/invites"                       Scope("members:read"), Nothing;
    POST   "/v1/orgs/{orgId}/invites"                       Scope("members:write"), JSON;
    DELETE "/v1/orgs/{orgId}/invites/{inviteId}"            Scope("members:write"), Nothing;
    POST   "/v1/invites/{token}/accept"                     Person, Nothing;
    GET    "/v1/orgs/{orgId}/teams"                         Scope("members:read"), Nothing;
    POST   "/v1/orgs/{orgId}/teams"                         Scope("members:write"), JSON;
    GET    "/v1/orgs/{orgId}/teams/{teamId}"                Scope("members:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}/teams/{teamId}"                Scope("members:write"), JSON;
    DELETE "/v1/orgs/{orgId}/teams/{teamId}"                Scope("members:write"), Nothing;
    POST   "/v1/orgs/{orgId}/teams/{teamId}/members"             Scope("members:write"), JSON;
    DELETE "/v1/orgs/{orgId}/teams/{teamId}/members/{userId}"    Scope("members:write"), Nothing;
    GET    "/v1/orgs/{orgId}/keys"                          Scope("keys:read"), Nothing;
    POST   "/v1/orgs/{orgId}/keys"                          Scope("keys:write"), JSON;
    DELETE "/v1/orgs/{orgId}/keys/{keyId}"                  Scope("keys:write"), Nothing;
    GET    "/v1/orgs/{orgId}/audit"                         Scope("audit:read"), Nothing;

    GET    "/v1/sockets/live"                               TicketHolder, Nothing;
    GET    "/v1/blobs/{key}"                                AddressHolder, Nothing;
    PUT    "/v1/blobs/{key}"                                AddressHolder, Bytes;

    GET    "/docs"                                          Anyone, Nothing;
    GET    "/v1/openapi.json"                               Anyone, Nothing;
};
