//! The order in which revocations were committed, and the keys that secrets are sealed under.
//!
//! On PostgreSQL a revocation carries the transaction that wrote it: `seq` is given out before the commit, so that a row may become
//! visible after one with a higher number, but whatever began before the oldest transaction that still runs is decided. On
//! SQLite, which has one writer, `seq` is the order of the commits.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, boolean, text},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        if schema.get_database_backend() == DbBackend::Postgres {
            for statement in REVOCATIONS_ON_POSTGRES {
                schema.get_connection().execute_unprepared(statement).await?;
            }
        }
        schema.create_table(secret_keys()).await
    }
}

/// The ids of keys; `is_complete` once nothing is plain that was written before the key was noted.
fn secret_keys() -> TableCreateStatement {
    Table::create()
        .table("secret_keys")
        .col(text("id").primary_key())
        .col(boolean("is_complete"))
        .col(big_integer("created_at"))
        .take()
}

const REVOCATIONS_ON_POSTGRES: &[&str] = &[
    "ALTER TABLE revocations ADD COLUMN tx BIGINT NOT NULL DEFAULT pg_current_xact_id()::text::bigint",
    "CREATE INDEX revocations_tx ON revocations (tx)",
];
