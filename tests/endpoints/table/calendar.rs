//! Endpoints of calendars.

use crate::endpoints::row::Takes::{Bytes, Nothing};
use crate::endpoints::row::Who::{Member, Scope, SecretHolder};
use crate::endpoints::row::{JSON, Row};

#[rustfmt::skip]
pub const ROWS: &[Row] = rows! {
    GET    "/v1/orgs/{orgId}/mail/calendar/mine" Member, Nothing;
    GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars" Member, Nothing;
    POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars" Member, JSON;
    PATCH  "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}" Member, JSON;
    DELETE "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}" Member, Nothing;
    POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}/import" Member, Bytes;
    GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}/export" Member, Nothing;
    POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}/feed" Member, Nothing;
    DELETE "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}/feed" Member, Nothing;
    GET    "/v1/hooks/calendar/{token}" SecretHolder, Nothing;
    POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}/events" Member, JSON;
    GET    "/v1/orgs/{orgId}/issues/calendar/agenda"                  Scope("issues:read"), Nothing;
    POST   "/v1/orgs/{orgId}/issues/calendar/schedule/{issueKey}"     Scope("issues:write"), JSON;
};
