//! What runs of pull requests are of, which job pushed, and pushes by where they ended.

use sea_orm_migration::{
    prelude::*,
    schema::{blob_null, text_null},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        // The commit that merges a pull request's head into its base, where the run is of that; null else.
        schema.alter_table(Table::alter().table("runs").add_column(blob_null("merge_sha")).take()).await?;
        // The job whose credential pushed; null else.
        schema.alter_table(Table::alter().table("pushes").add_column(text_null("job_id")).take()).await?;
        let statement = "CREATE INDEX push_refs_of_commit ON push_refs (repo_no, new_oid) WHERE new_oid IS NOT NULL";
        schema.get_connection().execute_unprepared(statement).await?;
        Ok(())
    }
}
