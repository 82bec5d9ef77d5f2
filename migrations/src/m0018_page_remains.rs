//! What is left of pages that are gone, and what there is of pages that are to come.
//!
//! What hangs on a page (what it says, its versions, comments and words) is read only where the page's row is. So a page
//! comes and goes with its row, in one small commit, and the rest is written before or deleted after it, a batch at a time.
//! `page_remains` names the pages without a row on which something may hang, and from when on that may be deleted.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, text},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        schema.create_table(remains()).await?;
        let due = Index::create()
            .name("page_remains_due")
            .table("page_remains")
            .col("org_id")
            .col("due")
            .col("page_id")
            .take();
        schema.create_index(due).await
    }
}

fn remains() -> TableCreateStatement {
    Table::create()
        .table("page_remains")
        .col(text("page_id").primary_key())
        .col(text("org_id"))
        .col(big_integer("due"))
        .take()
}
