//! The area's endpoints, a line each; what a line says stands at `page!` (`http/shell/src/endpoint.rs`).

use http_shell::{endpoint::Endpoint, page};

use crate::{
    bucket, copies, deletions, download, folders, list, moves, object, parts, rules, sending, uploads, versions, whole,
};

/// The lines.
#[rustfmt::skip]
pub fn page() -> Vec<Endpoint> {
    page! {
        "Object storage" {
            GET    "/v1/orgs/{orgId}/storage"             => bucket::storage_list;
            POST   "/v1/orgs/{orgId}/storage"             => bucket::storage_create, creates();
            GET    "/v1/orgs/{orgId}/storage/{resourceId}" => bucket::storage_get;
            PATCH  "/v1/orgs/{orgId}/storage/{resourceId}" => bucket::storage_patch;
            DELETE "/v1/orgs/{orgId}/storage/{resourceId}" => bucket::storage_delete;
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/lifecycle" => rules::storage_lifecycle_get;
            PUT    "/v1/orgs/{orgId}/storage/{resourceId}/lifecycle" => rules::storage_lifecycle_put;
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/cors" => rules::storage_cors_get;
            PUT    "/v1/orgs/{orgId}/storage/{resourceId}/cors" => rules::storage_cors_put;
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/tags" => rules::storage_tags_get;
            PUT    "/v1/orgs/{orgId}/storage/{resourceId}/tags" => rules::storage_tags_put;
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/objects" => list::storage_objects_list;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/objects/move" => moves::storage_objects_move;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/objects/copy" => copies::storage_objects_copy;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/objects/delete" => deletions::storage_objects_delete;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/folders" => folders::storage_folder_create, creates();
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/object" => object::storage_object_get;
            PUT    "/v1/orgs/{orgId}/storage/{resourceId}/object" => object::storage_object_put;
            PATCH  "/v1/orgs/{orgId}/storage/{resourceId}/object" => object::storage_object_patch;
            DELETE "/v1/orgs/{orgId}/storage/{resourceId}/object" => object::storage_object_delete;
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/object/versions" => versions::storage_versions_list;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/object/versions/delete" => versions::storage_version_delete;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/object/restore" => versions::storage_object_restore;
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/download" => download::storage_download;
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/deleted" => list::storage_deleted_list;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads" => whole::storage_upload_create;
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart" => uploads::storage_uploads_list;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart" => parts::storage_multipart_create, creates();
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/parts" => uploads::storage_parts_list;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/parts" => parts::storage_multipart_parts;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/complete" => parts::storage_multipart_complete;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/abort" => parts::storage_multipart_abort;
            GET    "/v1/storage/files/{resourceId}"       => download::storage_file_get;
            PUT    "/v1/storage/files/{resourceId}"       => sending::storage_file_put;
        }
    }
}
