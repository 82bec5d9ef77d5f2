//! Imports of pages, which go on after the request that began them.
//!
//! A row says how far an import is and what came of it, for a few days after its end. What it stages names it in
//! `page_remains`, so that it is deleted when the import comes to nothing.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, integer, text, text_null},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        schema.create_table(imports()).await?;
        for statement in [
            "CREATE INDEX page_imports_running ON page_imports (org_id) WHERE ended_at IS NULL",
            "CREATE INDEX page_imports_ended ON page_imports (ended_at) WHERE ended_at IS NOT NULL",
            "ALTER TABLE page_remains ADD COLUMN import_id TEXT",
            "CREATE INDEX page_remains_import ON page_remains (import_id) WHERE import_id IS NOT NULL",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// `skipped`, `made` and `error` are JSON.
fn imports() -> TableCreateStatement {
    Table::create()
        .table("page_imports")
        .col(text("id").primary_key())
        .col(text("org_id"))
        .col(text("created_by"))
        .col(text_null("key_id"))
        .col(text_null("parent_id"))
        .col(text("state"))
        .col(integer("pages"))
        .col(integer("pages_done").default(0))
        .col(text("skipped"))
        .col(text("made").default("[]"))
        .col(text_null("error"))
        .col(big_integer("created_at"))
        .col(big_integer_null("ended_at"))
        .take()
}
