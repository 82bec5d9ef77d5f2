//! The whole URL tree, on one page.
//!
//! A line is `METHOD "path" => module::handler`, and what applies to it beside its arguments: `creates` (honours
//! `Idempotency-Key`), `per_address(n)` (a rate limit a minute), `open()` (anyone may call it, although no argument says
//! so). Who may call an endpoint and how large its body may be stand in the handler's arguments; `docs/endpoints.md`
//! shows them all. Lines stand under the area whose name the reference page shows.

use actix_web::http::Method;

use crate::{
    audit, auth, backup, blobs,
    endpoint::{Endpoint, Rules},
    invites, keys, live, me, members, meta, organizations, otp, sign_ins, teams, vault,
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
        "Sign-in" {
            POST   "/v1/auth/register"                    => auth::auth_register, per_address(120);
            POST   "/v1/auth/sign-in"                     => auth::auth_sign_in, per_address(240);
            POST   "/v1/auth/sign-out"                    => auth::auth_sign_out;
            POST   "/v1/auth/step-up"                     => auth::auth_step_up, per_address(120);
        }
        "People" {
            GET    "/v1/me"                               => me::me_get;
            PATCH  "/v1/me"                               => me::me_patch;
            POST   "/v1/me/password"                      => me::me_password, per_address(120);
            POST   "/v1/me/otp"                           => otp::otp_enrol;
            DELETE "/v1/me/otp"                           => otp::otp_delete;
            POST   "/v1/me/otp/confirm"                   => otp::otp_confirm, per_address(120);
            GET    "/v1/me/sign-ins"                      => sign_ins::sign_ins_list;
            DELETE "/v1/me/sign-ins/{signInId}"           => sign_ins::sign_in_delete;
        }
        "Organizations" {
            GET    "/v1/orgs"                             => organizations::orgs_list;
            POST   "/v1/orgs"                             => organizations::org_create, creates();
            GET    "/v1/orgs/{orgId}"                     => organizations::org_get;
            PATCH  "/v1/orgs/{orgId}"                     => organizations::org_patch;
            DELETE "/v1/orgs/{orgId}"                     => organizations::org_delete;
            GET    "/v1/orgs/{orgId}/members"             => members::members_list;
            POST   "/v1/orgs/{orgId}/members"             => members::member_add, creates();
            PATCH  "/v1/orgs/{orgId}/members/{userId}"    => members::member_patch;
            DELETE "/v1/orgs/{orgId}/members/{userId}"    => members::member_remove;
            GET    "/v1/orgs/{orgId}/invites"             => invites::invites_list;
            POST   "/v1/orgs/{orgId}/invites"             => invites::invite_create, creates(), per_address(240);
            DELETE "/v1/orgs/{orgId}/invites/{inviteId}"  => invites::invite_cancel;
            POST   "/v1/invites/{token}/accept"           => invites::invite_accept, per_address(120);
            GET    "/v1/orgs/{orgId}/teams"               => teams::teams_list;
            POST   "/v1/orgs/{orgId}/teams"               => teams::team_create, creates();
            GET    "/v1/orgs/{orgId}/teams/{teamId}"      => teams::team_get;
            PATCH  "/v1/orgs/{orgId}/teams/{teamId}"      => teams::team_patch;
            DELETE "/v1/orgs/{orgId}/teams/{teamId}"      => teams::team_delete;
            POST   "/v1/orgs/{orgId}/teams/{teamId}/members" => teams::team_member_add, creates();
            DELETE "/v1/orgs/{orgId}/teams/{teamId}/members/{userId}" => teams::team_member_remove;
            GET    "/v1/orgs/{orgId}/keys"                => keys::keys_list;
            POST   "/v1/orgs/{orgId}/keys"                => keys::key_create;
            DELETE "/v1/orgs/{orgId}/keys/{keyId}"        => keys::key_delete;
            GET    "/v1/orgs/{orgId}/audit"               => audit::audit_list;
        }
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
            GET    "/v1/me/live"                          => live::live_get;
            GET    "/v1/sockets/live"                     => live::live_socket;
        }
        "Blobs" {
            GET    "/v1/blobs/{*key}"                     => blobs::blob_get;
            PUT    "/v1/blobs/{*key}"                     => blobs::blob_put;
        }
        "About this server" {
            GET    "/docs"                                => meta::reference_get;
            GET    "/v1/openapi.json"                     => meta::openapi_get;
        }
    }
}
