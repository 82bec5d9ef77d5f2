//! The passwords vault (contract A 2.2).

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, _schema: &SchemaManager) -> Result<(), DbErr> {
        Ok(())
    }
}
