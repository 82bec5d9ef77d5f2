//! Where to see what jobs deployed, and the jobs that are under way, by their runners.

use sea_orm_migration::{prelude::*, schema::text_null};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        // Null where the job named no address.
        schema.alter_table(Table::alter().table("jobs").add_column(text_null("environment_url")).take()).await?;
        let statement =
            "CREATE INDEX jobs_under_way ON jobs (org_id, runner_id) WHERE stage IN ('running', 'cancelling')";
        schema.get_connection().execute_unprepared(statement).await?;
        Ok(())
    }
}
