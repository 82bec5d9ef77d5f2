//! Rules of branches and tags, and what checks say of commits.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, blob, boolean, text, text_null},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let is_sqlite = schema.get_database_backend() == DbBackend::Sqlite;
        for mut table in [branch_rules(), commit_statuses()] {
            if is_sqlite {
                table.extra("WITHOUT ROWID");
            }
            schema.create_table(table).await?;
        }
        Ok(())
    }
}

/// `patterns`, `requires` and `bypass` are JSON.
fn branch_rules() -> TableCreateStatement {
    Table::create()
        .table("branch_rules")
        .col(big_integer("repo_no"))
        .col(text("id"))
        .col(text("name"))
        .col(text("target"))
        .col(text("patterns"))
        .col(boolean("enabled"))
        .col(text("requires"))
        .col(text("bypass"))
        .col(text("created_by"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .primary_key(Index::create().col("repo_no").col("id"))
        .take()
}

/// `sha` has 20 bytes.
fn commit_statuses() -> TableCreateStatement {
    Table::create()
        .table("commit_statuses")
        .col(big_integer("repo_no"))
        .col(blob("sha"))
        .col(text("context"))
        .col(text("state"))
        .col(text("description"))
        .col(text_null("url"))
        .col(text("set_by"))
        .col(text_null("key_id"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .primary_key(Index::create().col("repo_no").col("sha").col("context"))
        .take()
}
