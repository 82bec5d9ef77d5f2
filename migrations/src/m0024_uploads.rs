//! Uploads of files in parts.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, blob, blob_null, text, text_null},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        schema.create_table(uploads()).await?;
        schema.create_table(parts()).await?;
        let index = "CREATE INDEX object_uploads_bucket ON object_uploads (bucket_no)";
        schema.get_connection().execute_unprepared(index).await?;
        Ok(())
    }
}

/// `revision` counts the commits that concern the upload. `digest` and `version_id` are there once it is completed: what its
/// parts are recognized by, and the version that it became.
fn uploads() -> TableCreateStatement {
    Table::create()
        .table("object_uploads")
        .col(text("id").primary_key())
        .col(big_integer("bucket_no"))
        .col(blob("key"))
        .col(text_null("content_type"))
        .col(big_integer("size"))
        .col(big_integer("revision"))
        .col(text("created_by"))
        .col(big_integer("created_at"))
        .col(big_integer_null("completed_at"))
        .col(blob_null("digest"))
        .col(text_null("version_id"))
        .take()
}

fn parts() -> TableCreateStatement {
    Table::create()
        .table("object_parts")
        .col(text("upload_id"))
        .col(big_integer("number"))
        .col(text("content_id"))
        .col(big_integer("size"))
        .col(text("etag"))
        .primary_key(Index::create().col("upload_id").col("number"))
        .take()
}
