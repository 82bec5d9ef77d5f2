//! Pull requests that are merged as soon as they can be, and what of repositories closed issues.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// `auto_merge` is JSON: who asked for the merge, when, and how. `cause` is a repository's id with a commit or the number of a pull
/// request behind it.
#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for statement in [
            "ALTER TABLE pulls ADD COLUMN auto_merge TEXT NULL",
            "CREATE INDEX pulls_waiting ON pulls (repo_no) WHERE auto_merge IS NOT NULL",
            "CREATE TABLE issue_closings (seq BIGINT NOT NULL, cause TEXT NOT NULL, at BIGINT NOT NULL, \
             PRIMARY KEY (seq, cause))",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}
