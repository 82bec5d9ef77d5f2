//! Messages about events that came by mail: what became of each, and why.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for statement in
            ["ALTER TABLE calendar_inbox ADD COLUMN state TEXT", "ALTER TABLE calendar_inbox ADD COLUMN why TEXT"]
        {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}
