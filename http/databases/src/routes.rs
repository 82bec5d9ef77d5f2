//! The area's endpoints, a line each; what a line says stands at `page!` (`http/shell/src/endpoint.rs`).

use http_shell::{endpoint::Endpoint, page};

use crate::{indexes, items, search, tables, updates, writes};

/// The lines.
#[rustfmt::skip]
pub fn page() -> Vec<Endpoint> {
    page! {
        "Databases" {
            GET    "/v1/orgs/{orgId}/databases"           => tables::databases_list;
            POST   "/v1/orgs/{orgId}/databases"           => tables::database_create, creates();
            GET    "/v1/orgs/{orgId}/databases/{databaseId}" => tables::database_get;
            PATCH  "/v1/orgs/{orgId}/databases/{databaseId}" => tables::database_patch;
            DELETE "/v1/orgs/{orgId}/databases/{databaseId}" => tables::database_delete;
            POST   "/v1/orgs/{orgId}/databases/{databaseId}/indexes" => indexes::database_index_create, creates();
            DELETE "/v1/orgs/{orgId}/databases/{databaseId}/indexes/{indexName}" => indexes::database_index_delete;
            POST   "/v1/orgs/{orgId}/databases/{databaseId}/scan" => search::database_scan;
            POST   "/v1/orgs/{orgId}/databases/{databaseId}/query" => search::database_query;
            PUT    "/v1/orgs/{orgId}/databases/{databaseId}/items" => writes::database_item_put;
            POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/get" => items::database_item_get;
            POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/update" => updates::database_item_update, creates();
            POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/delete" => writes::database_item_delete;
            POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/batch-delete" => writes::database_items_delete;
            POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/import" => writes::database_items_import, creates();
        }
    }
}
