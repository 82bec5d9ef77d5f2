//! Indexes for runs by what they are listed by.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for statement in [
            "CREATE INDEX runs_of_commit ON runs (repo_no, sha, id DESC)",
            "CREATE INDEX runs_of_pull ON runs (repo_no, pull_number, id DESC) WHERE pull_number IS NOT NULL",
            "CREATE INDEX runs_of_actor ON runs (repo_no, actor_id, id DESC) WHERE actor_id IS NOT NULL",
            "CREATE INDEX runs_of_conclusion ON runs (repo_no, conclusion, id DESC) WHERE conclusion IS NOT NULL",
            "CREATE INDEX runs_of_event ON runs (repo_no, event, id DESC)",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}
