//! The area's endpoints, a line each; what a line says stands at `page!` (`http/shell/src/endpoint.rs`).

use http_shell::{endpoint::Endpoint, page};

use crate::{
    access_keys, app_passwords, audit, auth, email, invites, keys, me, members, organizations, otp, sign_ins, teams,
};

/// The lines.
#[rustfmt::skip]
pub fn page() -> Vec<Endpoint> {
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
            POST   "/v1/me/email/code"                    => email::email_code;
            POST   "/v1/me/email/confirm"                 => email::email_confirm, per_address(120);
            GET    "/v1/me/sign-ins"                      => sign_ins::sign_ins_list;
            DELETE "/v1/me/sign-ins/{signInId}"           => sign_ins::sign_in_delete;
            GET    "/v1/me/app-passwords"                 => app_passwords::app_passwords_list;
            POST   "/v1/me/app-passwords"                 => app_passwords::app_password_create;
            DELETE "/v1/me/app-passwords/{appPasswordId}" => app_passwords::app_password_revoke;
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
            GET    "/v1/orgs/{orgId}/access-keys"         => access_keys::access_keys_list;
            POST   "/v1/orgs/{orgId}/access-keys"         => access_keys::access_key_create;
            DELETE "/v1/orgs/{orgId}/access-keys/{accessKeyId}" => access_keys::access_key_delete;
            GET    "/v1/orgs/{orgId}/audit"               => audit::audit_list;
        }
    }
}
