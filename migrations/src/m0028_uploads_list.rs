//! Lists of the uploads of a bucket that are under way, by their keys.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let index =
            "CREATE INDEX object_uploads_open ON object_uploads (bucket_no, key, id) WHERE completed_at IS NULL";
        schema.get_connection().execute_unprepared(index).await?;
        Ok(())
    }
}
