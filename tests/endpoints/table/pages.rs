//! Endpoints of notes pages.

use crate::endpoints::row::Takes::{Bytes, Json, Nothing};
use crate::endpoints::row::Who::{Anyone, Scope, TicketHolder};
use crate::endpoints::row::{JSON, KB, Row};

#[rustfmt::skip]
pub const ROWS: &[Row] = rows! {
    GET    "/v1/orgs/{orgId}/pages"                         Scope("knowledge:read"), Nothing;
    POST   "/v1/orgs/{orgId}/pages"                         Scope("knowledge:write"), JSON;
    GET    "/v1/orgs/{orgId}/pages/export"                  Scope("knowledge:read"), Nothing;
    POST   "/v1/orgs/{orgId}/pages/import"                  Scope("knowledge:write"), Bytes;
    GET    "/v1/orgs/{orgId}/pages/imports/{importId}"      Scope("knowledge:write"), Nothing;
    DELETE "/v1/orgs/{orgId}/pages/imports/{importId}"      Scope("knowledge:write"), Nothing;
    GET    "/v1/orgs/{orgId}/pages/{pageId}"                Scope("knowledge:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}/pages/{pageId}"                Scope("knowledge:write"), JSON;
    DELETE "/v1/orgs/{orgId}/pages/{pageId}"                Scope("knowledge:write"), Nothing;
    GET    "/v1/orgs/{orgId}/pages/{pageId}/export"         Scope("knowledge:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/pages/{pageId}/content"        Scope("knowledge:write"), Json(1041 * KB, "Pages can be up to 1 MB.");
    GET    "/v1/orgs/{orgId}/pages/{pageId}/versions"       Scope("knowledge:read"), Nothing;
    GET    "/v1/orgs/{orgId}/pages/{pageId}/versions/{version}" Scope("knowledge:read"), Nothing;
    POST   "/v1/orgs/{orgId}/pages/{pageId}/versions/{version}/restore" Scope("knowledge:write"), Nothing;
    GET    "/v1/orgs/{orgId}/pages/{pageId}/comments"       Scope("knowledge:read"), Nothing;
    POST   "/v1/orgs/{orgId}/pages/{pageId}/comments"       Scope("knowledge:write"), JSON;
    PATCH  "/v1/orgs/{orgId}/pages/{pageId}/comments/{commentId}" Scope("knowledge:write"), JSON;
    DELETE "/v1/orgs/{orgId}/pages/{pageId}/comments/{commentId}" Scope("knowledge:write"), Nothing;
    GET    "/v1/orgs/{orgId}/pages/search"                  Scope("knowledge:read"), Nothing;
    GET    "/v1/orgs/{orgId}/pages/{pageId}/rows"           Scope("knowledge:read"), Nothing;

    GET    "/v1/orgs/{orgId}/pages/{pageId}/collab"         Scope("knowledge:read"), Nothing;
    GET    "/v1/sockets/pages/{pageId}"                     TicketHolder, Nothing;
    GET    "/v1/orgs/{orgId}/pages/live"                    Scope("knowledge:read"), Nothing;
    GET    "/v1/sockets/pages-of/{orgId}"                   TicketHolder, Nothing;

    GET    "/orgs/{orgId}/pages/{pageId}"                   Anyone, Nothing;
};
