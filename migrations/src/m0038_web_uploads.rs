//! Files that are sent before the commit of the web that takes them.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, text, text_null},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let mut uploads = web_uploads();
        if schema.get_database_backend() == DbBackend::Sqlite {
            uploads.extra("WITHOUT ROWID");
        }
        schema.create_table(uploads).await?;
        // The uploads that somebody has in a repository.
        let index = "CREATE INDEX web_uploads_made_by ON web_uploads (repo_no, made_by) WHERE file_index = 0";
        schema.get_connection().execute_unprepared(index).await?;
        Ok(())
    }
}

/// A row for each file. `upload_id` has 32 digits; `content_id` is a content of the organization, once the file was sent.
fn web_uploads() -> TableCreateStatement {
    Table::create()
        .table("web_uploads")
        .col(big_integer("repo_no"))
        .col(text("upload_id"))
        .col(big_integer("file_index"))
        .col(big_integer("size"))
        .col(text_null("content_id"))
        .col(text("made_by"))
        .col(big_integer("made_at"))
        .primary_key(Index::create().col("repo_no").col("upload_id").col("file_index"))
        .take()
}
