//! The whole URL tree: the areas' pages, in the order in which they are described, and the lines that belong to no area.

use http_shell::{
    endpoint::Endpoint,
    page,
    router::{Router, Unroutable},
};

use crate::{blobs, co_editing, home, issue_schedule, live, meta};

/// The URL tree. Two paths that stand in each other's way are a defect of the pages.
pub fn router() -> Result<Router, Unroutable> {
    Router::new(page())
}

/// The lines.
pub(crate) fn page() -> Vec<Endpoint> {
    let pages = [
        http_accounts::page(),
        http_mail::page(),
        http_calendar::page(),
        http_backup::page(),
        http_vault::page(),
        http_notify::page(),
        http_issues::page(),
        issue_calendar_page(),
        http_helpcenter::page(),
        http_pages::page(),
        http_databases::page(),
        http_storage::page(),
        http_git::page(),
        http_pipelines::page(),
        live_page(),
        http_platform::page(),
        own_page(),
    ];
    pages.into_iter().flatten().collect()
}

#[rustfmt::skip]
fn live_page() -> Vec<Endpoint> {
    page! {
        "Live" {
            GET    "/v1/me/live"                          => live::live_get;
            GET    "/v1/sockets/live"                     => live::live_socket;
        }
    }
}

#[rustfmt::skip]
fn issue_calendar_page() -> Vec<Endpoint> {
    page! {
        "Issues" {
            POST   "/v1/orgs/{orgId}/issues/calendar/schedule/{issueKey}" => issue_schedule::issue_schedule, creates();
        }
    }
}

#[rustfmt::skip]
fn own_page() -> Vec<Endpoint> {
    page! {
        "Blobs" {
            GET    "/v1/blobs/{*key}"                     => blobs::blob_get;
            PUT    "/v1/blobs/{*key}"                     => blobs::blob_put;
        }
        "About this server" {
            GET    "/"                                    => home::home_get;
            GET    "/orgs/{orgId}"                        => home::org_link;
            GET    "/orgs/{orgId}/pages/{pageId}"         => home::page_link;
            GET    "/orgs/{orgId}/issues/{issueKey}"      => home::issue_link;
            GET    "/orgs/{orgId}/notify/escalations/{escalationId}" => home::escalation_link;
            GET    "/orgs/{orgId}/notify/protocols/{protocolId}" => home::protocol_link;
            GET    "/docs"                                => meta::reference_get;
            GET    "/docs/co-editing"                     => co_editing::co_editing_get;
            GET    "/v1/openapi.json"                     => meta::openapi_get;
        }
    }
}
