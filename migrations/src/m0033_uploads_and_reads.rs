//! What completing an upload again answers, and which contents are being read.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let database = schema.get_connection();
        for statement in [
            // The file that it became, as JSON, whatever has become of that since.
            "ALTER TABLE object_uploads ADD COLUMN file TEXT",
            // A hold without one is of all blobs. An older node takes each for such a one, and sweeps later.
            "ALTER TABLE blob_holds ADD COLUMN content_id TEXT",
            "CREATE INDEX blob_holds_contents ON blob_holds (content_id, until) WHERE content_id IS NOT NULL",
        ] {
            database.execute_unprepared(statement).await?;
        }
        Ok(())
    }
}
