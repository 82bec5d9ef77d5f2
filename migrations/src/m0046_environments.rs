//! Jobs that wait for an environment are found by its name; schedules say who brought them to the default branch.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for statement in [
            "CREATE INDEX approvals_of_environment ON approvals (repo_no, environment)",
            "ALTER TABLE workflow_schedules ADD COLUMN set_by TEXT",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}
