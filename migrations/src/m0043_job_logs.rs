//! What running jobs send: lines of logs, artifacts, caches.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, blob, text, text_null},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for table in [logs(), chunks(), artifacts(), caches()] {
            schema.create_table(table).await?;
        }
        for index in [
            "CREATE INDEX job_logs_of_repository ON job_logs (repo_no)",
            "CREATE UNIQUE INDEX artifacts_by_name ON artifacts (run_id, attempt, name)",
            "CREATE INDEX artifacts_expire ON artifacts (repo_no, expires_at)",
            "CREATE UNIQUE INDEX caches_by_key ON caches (repo_no, ref, key, version)",
            // The newest whose key begins so is found here.
            "CREATE INDEX caches_by_prefix ON caches (repo_no, version, ref, key)",
            "CREATE INDEX caches_by_use ON caches (repo_no, used_at)",
        ] {
            schema.get_connection().execute_unprepared(index).await?;
        }
        Ok(())
    }
}

/// A row for each job that has sent a line. Once the job is over, `content_id` holds the lines before `sealed_lines`, and
/// `sealed_index` says where in it each chunk is.
fn logs() -> TableCreateStatement {
    Table::create()
        .table("job_logs")
        .col(text("job_id").primary_key())
        .col(text("org_id"))
        .col(big_integer("repo_no"))
        .col(big_integer("received"))
        .col(big_integer("lines"))
        .col(big_integer("bytes"))
        .col(big_integer("dropped"))
        .col(big_integer_null("step"))
        .col(big_integer("version"))
        .col(text_null("content_id"))
        .col(big_integer("sealed_lines"))
        .col(text_null("sealed_index"))
        .take()
}

/// Lines that aren't in the log's content yet, compressed.
fn chunks() -> TableCreateStatement {
    Table::create()
        .table("job_log_chunks")
        .col(text("job_id"))
        .col(big_integer("first_line"))
        .col(big_integer("lines"))
        .col(blob("data"))
        .primary_key(Index::create().col("job_id").col("first_line"))
        .take()
}

/// `content_id` is there once the bytes were sent, `committed_at` once the job said so: only then is one listed.
fn artifacts() -> TableCreateStatement {
    Table::create()
        .table("artifacts")
        .col(text("id").primary_key())
        .col(text("org_id"))
        .col(big_integer("repo_no"))
        .col(text("run_id"))
        .col(big_integer("attempt"))
        .col(text("job_id"))
        .col(text("name"))
        .col(big_integer("size"))
        .col(big_integer_null("files"))
        .col(text_null("content_id"))
        .col(big_integer("made_at"))
        .col(big_integer_null("committed_at"))
        .col(big_integer("expires_at"))
        .take()
}

/// The same for caches, which are kept until nobody uses them.
fn caches() -> TableCreateStatement {
    Table::create()
        .table("caches")
        .col(text("id").primary_key())
        .col(text("org_id"))
        .col(big_integer("repo_no"))
        .col(text("ref"))
        .col(text("key"))
        .col(text("version"))
        .col(text("job_id"))
        .col(big_integer("size"))
        .col(text_null("content_id"))
        .col(big_integer("made_at"))
        .col(big_integer_null("committed_at"))
        .col(big_integer("used_at"))
        .take()
}
