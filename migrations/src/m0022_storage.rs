//! Object storage: buckets, the files in them with their versions, and moves that are under way.
//!
//! Keys are bytes, since texts are sorted otherwise by PostgreSQL. What has a file and what has only a delete marker on
//! top are two tables, so that lists of files never read delete markers. A bucket has a number beside its id, which
//! keeps the large tables' keys short; a number is never given twice.

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
        schema.create_table(buckets()).await?;
        for mut table in [lanes(), live(), gone(), versions(), moves()] {
            if is_sqlite {
                // Rows lie where their keys do.
                table.extra("WITHOUT ROWID");
            }
            schema.create_table(table).await?;
        }
        for statement in [
            "CREATE INDEX buckets_org ON buckets (org_id)",
            "CREATE INDEX object_versions_null ON object_versions (bucket_no, key) WHERE is_null",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// `settings` is JSON. `epoch` is counted up by every change that writers of files have to know of.
fn buckets() -> TableCreateStatement {
    Table::create()
        .table("buckets")
        .col(big_integer("bucket_no").primary_key().auto_increment())
        .col(text("id").unique_key())
        .col(text("org_id"))
        .col(text("settings"))
        .col(big_integer("epoch"))
        .take()
}

/// What each lane of a bucket has: files, other versions, and the bytes of all of them.
fn lanes() -> TableCreateStatement {
    Table::create()
        .table("bucket_lanes")
        .col(big_integer("bucket_no"))
        .col(big_integer("lane"))
        .col(big_integer("objects"))
        .col(big_integer("versions"))
        .col(big_integer("bytes"))
        .primary_key(Index::create().col("bucket_no").col("lane"))
        .take()
}

/// What every version has. `revision` is another one after each write of the row.
fn version_columns(table: &'static str) -> TableCreateStatement {
    Table::create()
        .table(table)
        .col(big_integer("bucket_no"))
        .col(blob("key"))
        .col(blob("stamp"))
        .col(boolean("is_null"))
        .col(blob("revision"))
        .col(big_integer("modified"))
        .col(text("created_by"))
        .take()
}

/// Files. `headers` and `tags` are JSON.
fn live() -> TableCreateStatement {
    version_columns("objects_live")
        .col(text("content_id"))
        .col(big_integer("size"))
        .col(text("etag"))
        .col(text("class"))
        .col(text("headers"))
        .col(text("tags"))
        .primary_key(Index::create().col("bucket_no").col("key"))
        .take()
}

/// Keys whose newest version is a delete marker.
fn gone() -> TableCreateStatement {
    version_columns("objects_gone").primary_key(Index::create().col("bucket_no").col("key")).take()
}

/// Versions that aren't the newest of their key; those without a content are delete markers.
fn versions() -> TableCreateStatement {
    version_columns("object_versions")
        .col(text_null("content_id"))
        .col(big_integer("size"))
        .col(text_null("etag"))
        .col(text("class"))
        .col(text("headers"))
        .col(text("tags"))
        .col(big_integer("ended_at"))
        .primary_key(Index::create().col("bucket_no").col("key").col("stamp"))
        .take()
}

/// The journal of moves. `moves` and `cursor` are JSON.
fn moves() -> TableCreateStatement {
    Table::create()
        .table("bucket_moves")
        .col(big_integer("bucket_no"))
        .col(blob("id"))
        .col(text("moves"))
        .col(text("cursor"))
        .col(big_integer("moved"))
        .col(text("created_by"))
        .col(big_integer("touched_at"))
        .primary_key(Index::create().col("bucket_no").col("id"))
        .take()
}
