//! Git repositories beside their resources' records, who was granted a part in them, and machines' keys.
//!
//! A repository has a number beside its id, which keeps the keys of its rows short; a number is never given twice.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, text},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        schema.create_table(repositories()).await?;
        schema.create_table(grants()).await?;
        for statement in [
            "CREATE INDEX repositories_org ON repositories (org_id)",
            "CREATE INDEX repository_grants_principal ON repository_grants (org_id, principal)",
            "ALTER TABLE api_keys ADD COLUMN machine_id text NULL",
            // Keys of no machine don't meet: a null equals none.
            "CREATE UNIQUE INDEX api_keys_machine ON api_keys (org_id, maker, machine_id)",
            "CREATE INDEX api_keys_machine_end ON api_keys (expires_at) WHERE machine_id IS NOT NULL",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// `version` counts every commit that decides on the repository, `refs_version` those that move refs. `purge_at` is there
/// while it is deleted and can be restored, and 0 once it can't.
fn repositories() -> TableCreateStatement {
    Table::create()
        .table("repositories")
        .col(big_integer("repo_no").primary_key().auto_increment())
        .col(text("id").unique_key())
        .col(text("org_id"))
        .col(text("description"))
        .col(text("default_branch"))
        .col(text("visibility"))
        .col(big_integer("version"))
        .col(big_integer("refs_version"))
        .col(big_integer_null("purge_at"))
        .take()
}

/// `principal` is the id of a person or of a team.
fn grants() -> TableCreateStatement {
    Table::create()
        .table("repository_grants")
        .col(big_integer("repo_no"))
        .col(text("principal"))
        .col(text("org_id"))
        .col(text("level"))
        .col(text("granted_by"))
        .col(big_integer("granted_at"))
        .primary_key(Index::create().col("repo_no").col("principal"))
        .take()
}
