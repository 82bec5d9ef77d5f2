//! Endpoints of object storage.

use crate::endpoints::row::Takes::{Bytes, Json, Nothing};
use crate::endpoints::row::Who::{AddressHolder, Scope};
use crate::endpoints::row::{JSON, KB, Row, TOO_LARGE};

#[rustfmt::skip]
pub const ROWS: &[Row] = rows! {
    GET    "/v1/orgs/{orgId}/storage"                       Scope("resources:read"), Nothing;
    POST   "/v1/orgs/{orgId}/storage"                       Scope("resources:write"), JSON;
    GET    "/v1/orgs/{orgId}/storage/{resourceId}"          Scope("resources:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}/storage/{resourceId}"          Scope("resources:write"), JSON;
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/lifecycle" Scope("resources:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/storage/{resourceId}/lifecycle" Scope("resources:write"), Json(4096 * KB, TOO_LARGE);
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/cors"     Scope("resources:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/storage/{resourceId}/cors"     Scope("resources:write"), Json(4096 * KB, TOO_LARGE);
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/tags"     Scope("resources:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/storage/{resourceId}/tags"     Scope("resources:write"), JSON;
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/objects"  Scope("resources:read"), Nothing;
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/objects/move"          Scope("resources:write"), Json(4096 * KB, TOO_LARGE);
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/objects/copy"          Scope("resources:write"), Json(4096 * KB, TOO_LARGE);
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/objects/delete" Scope("resources:write"), Json(4096 * KB, TOO_LARGE);
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/folders" Scope("resources:write"), JSON;
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads" Scope("resources:write"), JSON;
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart" Scope("resources:read"), Nothing;
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/parts" Scope("resources:read"), Nothing;
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/object"   Scope("resources:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/storage/{resourceId}/object"   Scope("resources:write"), Bytes;
    PATCH  "/v1/orgs/{orgId}/storage/{resourceId}/object"   Scope("resources:write"), JSON;
    DELETE "/v1/orgs/{orgId}/storage/{resourceId}/object"   Scope("resources:write"), Nothing;
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/object/versions"       Scope("resources:read"), Nothing;
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/object/versions/delete" Scope("resources:write"), JSON;
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/object/restore"        Scope("resources:write"), JSON;
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/download" Scope("resources:read"), Nothing;
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/deleted"  Scope("resources:read"), Nothing;
    DELETE "/v1/orgs/{orgId}/storage/{resourceId}"          Scope("resources:write"), Nothing;
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart"     Scope("resources:write"), JSON;
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/parts" Scope("resources:write"), JSON;
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/complete" Scope("resources:write"), JSON;
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/abort" Scope("resources:write"), JSON;
    GET    "/v1/storage/files/{resourceId}"                 AddressHolder, Nothing;
    PUT    "/v1/storage/files/{resourceId}"                 AddressHolder, Bytes;

    GET    "/v1/blobs/{key}"                                AddressHolder, Nothing;
    PUT    "/v1/blobs/{key}"                                AddressHolder, Bytes;
};
