//! Endpoints of accounts, organizations, and what answers without either.

use crate::endpoints::row::Takes::Nothing;
use crate::endpoints::row::Who::{Anyone, Caller, Member, Person, Scope, TicketHolder};
use crate::endpoints::row::{JSON, Row};

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
    POST   "/v1/me/email/code"                              Person, Nothing;
    POST   "/v1/me/email/confirm"                           Person, JSON;
    GET    "/v1/me/sign-ins"                                Person, Nothing;
    DELETE "/v1/me/sign-ins/{signInId}"                     Person, Nothing;
    GET    "/v1/me/app-passwords"                           Person, Nothing;
    POST   "/v1/me/app-passwords"                           Person, JSON;
    DELETE "/v1/me/app-passwords/{appPasswordId}"           Person, Nothing;
    GET    "/v1/me/live"                                    Person, Nothing;

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
    GET    "/v1/orgs/{orgId}/access-keys"                   Scope("keys:read"), Nothing;
    POST   "/v1/orgs/{orgId}/access-keys"                   Scope("keys:write"), JSON;
    DELETE "/v1/orgs/{orgId}/access-keys/{accessKeyId}"     Scope("keys:write"), Nothing;
    GET    "/v1/orgs/{orgId}/audit"                         Scope("audit:read"), Nothing;

    GET    "/v1/sockets/live"                               TicketHolder, Nothing;

    GET    "/"                                              Anyone, Nothing;
    GET    "/orgs/{orgId}"                                  Anyone, Nothing;
    GET    "/docs"                                          Anyone, Nothing;
    GET    "/docs/co-editing"                               Anyone, Nothing;
    GET    "/v1/openapi.json"                               Anyone, Nothing;
};
