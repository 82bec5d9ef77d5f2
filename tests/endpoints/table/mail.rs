//! Endpoints of mail and its administration.

use crate::endpoints::row::Takes::Nothing;
use crate::endpoints::row::Who::{Member, Scope};
use crate::endpoints::row::{JSON, Row};

#[rustfmt::skip]
pub const ROWS: &[Row] = rows! {
    GET    "/v1/orgs/{orgId}/mail/domains" Scope("mail:admin"), Nothing;
    POST   "/v1/orgs/{orgId}/mail/domains" Scope("mail:admin"), JSON;
    GET    "/v1/orgs/{orgId}/mail/domains/{domain}" Scope("mail:admin"), Nothing;
    PATCH  "/v1/orgs/{orgId}/mail/domains/{domain}" Scope("mail:admin"), JSON;
    DELETE "/v1/orgs/{orgId}/mail/domains/{domain}" Scope("mail:admin"), Nothing;
    GET    "/v1/orgs/{orgId}/mail/domains/{domain}/zone" Scope("mail:admin"), Nothing;
    POST   "/v1/orgs/{orgId}/mail/domains/{domain}/verify" Scope("mail:admin"), Nothing;
    POST   "/v1/orgs/{orgId}/mail/domains/{domain}/dkim/rotate" Scope("mail:admin"), Nothing;
    GET    "/v1/orgs/{orgId}/mail/members" Scope("mail:admin"), Nothing;
    POST   "/v1/orgs/{orgId}/mail/admin/mailboxes/{mailboxId}/aliases" Scope("mail:admin"), JSON;
    DELETE "/v1/orgs/{orgId}/mail/admin/aliases/{address}" Scope("mail:admin"), Nothing;
    GET    "/v1/orgs/{orgId}/mail/mailboxes" Member, Nothing;
    GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/limits" Member, Nothing;
    PATCH  "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/settings" Member, JSON;
    GET    "/v1/orgs/{orgId}/mail/threads" Member, Nothing;
    GET    "/v1/orgs/{orgId}/mail/counts" Member, Nothing;
    GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/threads" Member, Nothing;
    GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/counts" Member, Nothing;
    POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/threads/actions" Member, JSON;
    GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/threads/{mailThreadId}" Member, Nothing;
    PUT    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/senders/{sender}/category" Member, JSON;
    GET    "/v1/orgs/{orgId}/mail/preferences" Member, Nothing;
    PATCH  "/v1/orgs/{orgId}/mail/preferences" Member, JSON;
    GET    "/v1/orgs/{orgId}/mail/admin/mailboxes" Scope("mail:admin"), Nothing;
    POST   "/v1/orgs/{orgId}/mail/admin/mailboxes" Scope("mail:admin"), JSON;
    PATCH  "/v1/orgs/{orgId}/mail/admin/mailboxes/{mailboxId}" Scope("mail:admin"), JSON;
    DELETE "/v1/orgs/{orgId}/mail/admin/mailboxes/{mailboxId}" Scope("mail:admin"), Nothing;
    GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/availability" Member, Nothing;
    GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/events" Member, Nothing;
    GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/events/{eventId}" Member, Nothing;
    PATCH  "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/events/{eventId}" Member, JSON;
    DELETE "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/events/{eventId}" Member, Nothing;
    POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/events/{eventId}/respond" Member, JSON;
    POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/threads/{mailThreadId}/messages/{messageId}/invitation/{action}" Member, JSON;
};
