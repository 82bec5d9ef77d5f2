//! Endpoints of key-value databases.

use crate::endpoints::row::Takes::{Json, Nothing};
use crate::endpoints::row::Who::Scope;
use crate::endpoints::row::{JSON, KB, Row, TOO_LARGE};

#[rustfmt::skip]
pub const ROWS: &[Row] = rows! {
    GET    "/v1/orgs/{orgId}/databases"                      Scope("resources:read"), Nothing;
    POST   "/v1/orgs/{orgId}/databases"                      Scope("resources:write"), JSON;
    GET    "/v1/orgs/{orgId}/databases/{databaseId}"         Scope("resources:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}/databases/{databaseId}"         Scope("resources:write"), JSON;
    DELETE "/v1/orgs/{orgId}/databases/{databaseId}"         Scope("resources:write"), Nothing;
    POST   "/v1/orgs/{orgId}/databases/{databaseId}/indexes" Scope("resources:write"), JSON;
    DELETE "/v1/orgs/{orgId}/databases/{databaseId}/indexes/{indexName}" Scope("resources:write"), Nothing;
    POST   "/v1/orgs/{orgId}/databases/{databaseId}/scan"    Scope("resources:read"), JSON;
    POST   "/v1/orgs/{orgId}/databases/{databaseId}/query"   Scope("resources:read"), JSON;
    PUT    "/v1/orgs/{orgId}/databases/{databaseId}/items"   Scope("resources:write"), Json(800 * KB, "The item is larger than DynamoDB's 400 KB limit.");
    POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/get" Scope("resources:read"), JSON;
    POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/update" Scope("resources:write"), Json(800 * KB, TOO_LARGE);
    POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/delete" Scope("resources:write"), JSON;
    POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/batch-delete" Scope("resources:write"), JSON;
    POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/import" Scope("resources:write"), Json(6144 * KB, TOO_LARGE);
};
