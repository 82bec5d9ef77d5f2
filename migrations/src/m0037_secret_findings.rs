//! Secrets that were found in what repositories were to take, and those that are allowed.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, blob, blob_null, text, text_null},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let mut findings = secret_findings();
        if schema.get_database_backend() == DbBackend::Sqlite {
            findings.extra("WITHOUT ROWID");
        }
        schema.create_table(findings).await?;
        for statement in [
            "CREATE INDEX secret_findings_by_state ON secret_findings (repo_no, state, first_seen, fingerprint)",
            // What access to the repository it takes to allow secrets in it.
            "ALTER TABLE repositories ADD COLUMN secrets_allow_by TEXT NOT NULL DEFAULT 'write'",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// `fingerprint` has 16 bytes; `blob_oid` and `commit_oid` have 20. What comes after `state` is there where that is `allowed`.
fn secret_findings() -> TableCreateStatement {
    Table::create()
        .table("secret_findings")
        .col(big_integer("repo_no"))
        .col(blob("fingerprint"))
        .col(text("rule"))
        .col(text("preview"))
        .col(text_null("path"))
        .col(big_integer("line"))
        .col(blob("blob_oid"))
        .col(blob_null("commit_oid"))
        .col(big_integer("first_seen"))
        .col(big_integer("last_seen"))
        .col(text("pushed_by"))
        .col(text("state"))
        .col(text_null("reason"))
        .col(text_null("note"))
        .col(text_null("allowed_by"))
        .col(big_integer_null("allowed_at"))
        .primary_key(Index::create().col("repo_no").col("fingerprint"))
        .take()
}
