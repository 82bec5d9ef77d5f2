//! What S3's protocol says of uploads and their parts beside what REST does.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let database = schema.get_connection();
        for statement in [
            // Headers, tags and the plan of checksums of the file, as JSON.
            "ALTER TABLE object_uploads ADD COLUMN about TEXT",
            "ALTER TABLE object_parts ADD COLUMN checksum TEXT",
        ] {
            database.execute_unprepared(statement).await?;
        }
        Ok(())
    }
}
