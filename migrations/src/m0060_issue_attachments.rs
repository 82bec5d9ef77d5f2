//! Files of issues. One without a `completed_at` is listed nowhere; one without a `content_id` has no bytes yet.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for statement in [
            "CREATE TABLE issue_attachments (id TEXT PRIMARY KEY, issue_id TEXT NOT NULL, org_id TEXT NOT NULL, \
             name TEXT NOT NULL, size BIGINT NOT NULL, content_type TEXT NOT NULL, public BIGINT NOT NULL, \
             content_id TEXT, added_by TEXT NOT NULL, created_at BIGINT NOT NULL, completed_at BIGINT)",
            "CREATE INDEX issue_attachments_of ON issue_attachments (issue_id, id)",
            "CREATE INDEX issue_attachments_by ON issue_attachments (added_by, created_at)",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}
