//! Pull requests.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, blob, blob_null, boolean, text, text_null},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let mut pulls = pulls();
        if schema.get_database_backend() == DbBackend::Sqlite {
            pulls.extra("WITHOUT ROWID");
        }
        schema.create_table(pulls).await?;
        for statement in [
            "CREATE INDEX pulls_states ON pulls (repo_no, state, number DESC)",
            "CREATE INDEX pulls_heads ON pulls (repo_no, head)",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// Commits have 20 bytes. `title_key` is the title in small letters. `opened_head` and `opened_base` are what the branches named
/// when it was opened.
fn pulls() -> TableCreateStatement {
    Table::create()
        .table("pulls")
        .col(big_integer("repo_no"))
        .col(big_integer("number"))
        .col(text("title"))
        .col(text("title_key"))
        .col(text("body"))
        .col(text("head"))
        .col(text("base"))
        .col(text("state"))
        .col(boolean("draft"))
        .col(text("author"))
        .col(big_integer("version"))
        .col(blob("opened_head"))
        .col(blob("opened_base"))
        .col(blob("head_oid"))
        .col(blob("base_oid"))
        .col(blob_null("merge_commit"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .col(text_null("ended_by"))
        .col(big_integer_null("ended_at"))
        .primary_key(Index::create().col("repo_no").col("number"))
        .take()
}
