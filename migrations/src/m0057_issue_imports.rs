//! Which rows of files became issues, and the days of the agenda.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for statement in STATEMENTS {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

const STATEMENTS: &[&str] = &[
    "CREATE TABLE issue_imports (space_id TEXT NOT NULL, content_hash TEXT NOT NULL, place BIGINT NOT NULL, \
     issue_id TEXT NOT NULL, issue_key TEXT NOT NULL, imported_at BIGINT NOT NULL, PRIMARY KEY (space_id, content_hash, place))",
    "CREATE INDEX issue_imports_times ON issue_imports (imported_at)",
    "CREATE INDEX issues_due ON issues (org_no, due) WHERE deleted_at IS NULL AND due IS NOT NULL",
    "CREATE INDEX issues_starts ON issues (org_no, start_day) WHERE deleted_at IS NULL AND start_day IS NOT NULL",
    "CREATE INDEX issues_trash ON issues (deleted_at) WHERE deleted_at IS NOT NULL",
];
