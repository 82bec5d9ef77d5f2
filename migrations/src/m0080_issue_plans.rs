//! Components and versions of spaces, and an index by which the trash of issues is listed. `folded` is a name as names are
//! compared.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for statement in [
            "CREATE TABLE issue_components (id TEXT PRIMARY KEY, org_id TEXT NOT NULL, space_id TEXT NOT NULL, \
             name TEXT NOT NULL, folded TEXT NOT NULL, description TEXT NOT NULL, lead_id TEXT, default_assignee TEXT NOT NULL, \
             version BIGINT NOT NULL, created_at BIGINT NOT NULL)",
            "CREATE TABLE issue_versions (id TEXT PRIMARY KEY, org_id TEXT NOT NULL, space_id TEXT NOT NULL, \
             name TEXT NOT NULL, folded TEXT NOT NULL, description TEXT NOT NULL, start_date TEXT, release_date TEXT, released_at BIGINT, \
             archived BIGINT NOT NULL, place BIGINT NOT NULL, version BIGINT NOT NULL, created_at BIGINT NOT NULL)",
            "CREATE UNIQUE INDEX issue_components_names ON issue_components (space_id, folded)",
            "CREATE UNIQUE INDEX issue_versions_names ON issue_versions (space_id, folded)",
            "CREATE INDEX issue_components_of ON issue_components (org_id, space_id)",
            "CREATE INDEX issue_versions_of ON issue_versions (org_id, space_id, place)",
            "CREATE INDEX issues_trash_list ON issues (org_no, deleted_at, seq) WHERE deleted_at IS NOT NULL",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}
