//! Where to see what jobs deployed.

use sea_orm_migration::{prelude::*, schema::text_null};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        // Null where the job named no address.
        schema.alter_table(Table::alter().table("jobs").add_column(text_null("environment_url")).take()).await
    }
}
