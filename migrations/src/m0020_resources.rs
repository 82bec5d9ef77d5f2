//! Resources: what repositories, databases and buckets have in common (contract C 2.3), and each organization's book of them.
//!
//! A book's revision is counted up by every commit that makes, renames or changes a resource, so that two nodes never both
//! decide on the names of one organization.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, text, text_null},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        schema.create_table(books()).await?;
        schema.create_table(resources()).await?;
        for statement in [
            "CREATE UNIQUE INDEX resources_name ON resources (org_id, type, name_key)",
            "CREATE UNIQUE INDEX resources_physical_name ON resources (type, physical_name)",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

fn books() -> TableCreateStatement {
    Table::create().table("resource_books").col(text("org_id").primary_key()).col(big_integer("revision")).take()
}

/// `type` and `status` are the contract's names.
fn resources() -> TableCreateStatement {
    Table::create()
        .table("resources")
        .col(text("id").primary_key())
        .col(text("org_id"))
        .col(text("type"))
        .col(text("name"))
        .col(text("name_key"))
        .col(text("physical_name"))
        .col(text("status"))
        .col(text_null("status_reason"))
        .col(text("location"))
        .col(text("region"))
        .col(text_null("project_id"))
        .col(text_null("restored_from"))
        .col(text("created_by"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .col(big_integer("version"))
        .take()
}
