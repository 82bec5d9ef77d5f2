//! The area's endpoints, a line each; what a line says stands at `page!` (`http/shell/src/endpoint.rs`).

use http_shell::{endpoint::Endpoint, page};

use crate::{availability, calendars, changes, create, events, invitation, propose, transfers};

/// The lines.
#[rustfmt::skip]
pub fn page() -> Vec<Endpoint> {
    page! {
        "Calendars" {
            GET    "/v1/orgs/{orgId}/mail/calendar/mine"                    => events::calendar_mine;
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/availability" => availability::calendar_availability;
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars" => calendars::calendars_list;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars" => calendars::calendar_create, creates();
            PATCH  "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}" => calendars::calendar_update;
            DELETE "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}" => calendars::calendar_delete;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}/import" => transfers::calendar_import;
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}/export" => transfers::calendar_export;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}/feed" => transfers::calendar_feed_create;
            DELETE "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}/feed" => transfers::calendar_feed_delete;
            GET    "/v1/hooks/calendar/{token}"                             => transfers::calendar_feed_get, per_address(600);
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/calendars/{calendarId}/events" => create::calendar_event_create, creates();
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/events" => events::calendar_events_list;
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/events/{eventId}" => events::calendar_event_get;
            PATCH  "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/events/{eventId}" => changes::calendar_event_patch;
            DELETE "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/events/{eventId}" => changes::calendar_event_delete;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/events/{eventId}/propose" => propose::calendar_event_propose;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/events/{eventId}/respond" => changes::calendar_event_respond;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/threads/{mailThreadId}/messages/{messageId}/invitation/{action}" => invitation::calendar_invitation;
        }
    }
}
