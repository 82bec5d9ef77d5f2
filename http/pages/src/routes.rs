//! The area's endpoints, a line each; what a line says stands at `page!` (`http/shell/src/endpoint.rs`).

use http_shell::{endpoint::Endpoint, page};

use crate::{archive, change, collab, comments, content, live, rows, search, tree, versions};

/// The lines.
#[rustfmt::skip]
pub fn page() -> Vec<Endpoint> {
    page! {
        "Notes pages" {
            GET    "/v1/orgs/{orgId}/pages"               => tree::pages_list;
            POST   "/v1/orgs/{orgId}/pages"               => tree::page_create, creates();
            GET    "/v1/orgs/{orgId}/pages/export"        => archive::pages_export;
            POST   "/v1/orgs/{orgId}/pages/import"        => archive::pages_import;
            GET    "/v1/orgs/{orgId}/pages/imports/{importId}" => archive::pages_import_get;
            DELETE "/v1/orgs/{orgId}/pages/imports/{importId}" => archive::pages_import_cancel;
            GET    "/v1/orgs/{orgId}/pages/search"        => search::pages_search;
            GET    "/v1/orgs/{orgId}/pages/{pageId}"      => tree::page_get;
            PATCH  "/v1/orgs/{orgId}/pages/{pageId}"      => change::page_patch;
            DELETE "/v1/orgs/{orgId}/pages/{pageId}"      => change::page_delete;
            GET    "/v1/orgs/{orgId}/pages/{pageId}/export" => archive::page_export;
            GET    "/v1/orgs/{orgId}/pages/{pageId}/collab" => collab::page_collab;
            GET    "/v1/sockets/pages/{pageId}"           => collab::page_collab_socket;
            PUT    "/v1/orgs/{orgId}/pages/{pageId}/content" => content::page_content_put;
            GET    "/v1/orgs/{orgId}/pages/{pageId}/versions" => versions::page_versions_list;
            GET    "/v1/orgs/{orgId}/pages/{pageId}/versions/{version}" => versions::page_version_get;
            POST   "/v1/orgs/{orgId}/pages/{pageId}/versions/{version}/restore" => versions::page_version_restore;
            GET    "/v1/orgs/{orgId}/pages/{pageId}/comments" => comments::page_comments_list;
            POST   "/v1/orgs/{orgId}/pages/{pageId}/comments" => comments::page_comment_create, creates();
            PATCH  "/v1/orgs/{orgId}/pages/{pageId}/comments/{commentId}" => comments::page_comment_patch;
            DELETE "/v1/orgs/{orgId}/pages/{pageId}/comments/{commentId}" => comments::page_comment_delete;
            GET    "/v1/orgs/{orgId}/pages/live"          => live::pages_live;
            GET    "/v1/sockets/pages-of/{orgId}"         => live::pages_live_socket;
            GET    "/v1/orgs/{orgId}/pages/{pageId}/rows" => rows::page_rows;
        }
    }
}
