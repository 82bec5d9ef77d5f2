//! Secrets and variables of pipelines: which repositories an organization's are for, and what jobs were given.
//!
//! The tables of both have been empty so far.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, blob, text, text_null},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for table in ["pipeline_secrets", "pipeline_variables"] {
            // SQLite adds one column at a time. `repositories` are ids, as JSON; none for all of an organization's.
            for column in [big_integer_null("repo_no"), text_null("repositories")] {
                schema.alter_table(Table::alter().table(table).add_column(column).take()).await?;
            }
        }
        let is_sqlite = schema.get_database_backend() == DbBackend::Sqlite;
        for mut table in [books(), given()] {
            if is_sqlite {
                table.extra("WITHOUT ROWID");
            }
            schema.create_table(table).await?;
        }
        for statement in [
            "CREATE INDEX pipeline_secrets_of_repository ON pipeline_secrets (repo_no) WHERE repo_no IS NOT NULL",
            "CREATE INDEX pipeline_variables_of_repository ON pipeline_variables (repo_no) WHERE repo_no IS NOT NULL",
            "CREATE INDEX job_secrets_of_repository ON job_secrets (repo_no)",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// Counts the commits that change an organization's secrets and variables, those of its repositories among them.
fn books() -> TableCreateStatement {
    Table::create().table("pipeline_value_books").col(text("org_id").primary_key()).col(big_integer("version")).take()
}

/// What a job was given when it started, as JSON, sealed: it gets the same when it asks again, and its log shows none of it.
fn given() -> TableCreateStatement {
    Table::create()
        .table("job_secrets")
        .col(text("job_id").primary_key())
        .col(big_integer("repo_no"))
        .col(blob("value"))
        .take()
}
