//! Contents: what areas keep as bytes, by reference count.
//!
//! A small one has its bytes in its row. A larger one has them in blobs, one for each of its segments; a segment that was a small
//! content before it was joined with others has its bytes in its row, too. `md5` and `sha256` are null where a content was
//! joined of several. What nobody refers to any more, and is not small, is `doomed` and goes some minutes later.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, blob, blob_null, text, text_null},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for table in [contents(), segments(), pending(), doomed(), holds()] {
            schema.create_table(table).await?;
        }
        for statement in [
            "CREATE INDEX contents_doomed ON contents (doomed_at) WHERE doomed_at IS NOT NULL",
            "CREATE INDEX content_segments_scrub ON content_segments (scrub_due) WHERE scrub_due IS NOT NULL",
            "CREATE INDEX blob_pending_since ON blob_pending (since)",
            "CREATE INDEX blob_doomed_due ON blob_doomed (due)",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// `bytes` last: what a read doesn't ask for is not read.
fn contents() -> TableCreateStatement {
    Table::create()
        .table("contents")
        .col(text("id").primary_key())
        .col(text("org_id"))
        .col(big_integer("size"))
        .col(big_integer("refs"))
        .col(big_integer("created_at"))
        .col(big_integer_null("doomed_at"))
        .col(blob_null("md5"))
        .col(blob_null("sha256"))
        .col(blob_null("bytes"))
        .take()
}

/// Either `blob` or `bytes` is there. `fault` is what the last scrub found: `lost` or `changed`.
fn segments() -> TableCreateStatement {
    Table::create()
        .table("content_segments")
        .col(text("content_id"))
        .col(big_integer("start"))
        .col(big_integer("size"))
        .col(text_null("blob"))
        .col(big_integer_null("scrub_due"))
        .col(big_integer_null("scrubbed_at"))
        .col(text_null("fault"))
        .col(blob("sha256"))
        .col(blob_null("bytes"))
        .primary_key(Index::create().col("content_id").col("start"))
        .take()
}

/// Blobs that are being written, or that no commit has named yet.
fn pending() -> TableCreateStatement {
    Table::create()
        .table("blob_pending")
        .col(text("blob").primary_key())
        .col(text("org_id"))
        .col(big_integer("since"))
        .take()
}

/// Blobs that nothing names any more, and from when on they may be deleted.
fn doomed() -> TableCreateStatement {
    Table::create().table("blob_doomed").col(text("blob").primary_key()).col(big_integer("due")).take()
}

/// Who copies blobs, and until when none may be deleted for that.
fn holds() -> TableCreateStatement {
    Table::create().table("blob_holds").col(text("id").primary_key()).col(big_integer("until")).take()
}
