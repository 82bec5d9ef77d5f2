//! Boards and sprints of spaces; changes of many issues at once, with what became of each.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for statement in [
            "CREATE TABLE issue_boards (id TEXT PRIMARY KEY, org_id TEXT NOT NULL, space_id TEXT NOT NULL, \
             name TEXT NOT NULL, jql TEXT NOT NULL, columns_json TEXT NOT NULL, version BIGINT NOT NULL, \
             created_at BIGINT NOT NULL)",
            "CREATE TABLE issue_sprints (id TEXT PRIMARY KEY, org_id TEXT NOT NULL, space_id TEXT NOT NULL, \
             name TEXT NOT NULL, goal TEXT NOT NULL, state TEXT NOT NULL, start_at BIGINT, end_at BIGINT, \
             closed_at BIGINT, version BIGINT NOT NULL, created_at BIGINT NOT NULL)",
            "CREATE TABLE issue_jobs (id TEXT PRIMARY KEY, org_id TEXT NOT NULL, by_id TEXT NOT NULL, act TEXT NOT NULL, \
             issues TEXT NOT NULL, state TEXT NOT NULL, created_at BIGINT NOT NULL, finished_at BIGINT)",
            "CREATE TABLE issue_job_results (job_id TEXT NOT NULL, n BIGINT NOT NULL, issue_id TEXT NOT NULL, \
             key TEXT NOT NULL, error TEXT, diff TEXT NOT NULL, PRIMARY KEY (job_id, n))",
            "CREATE INDEX issue_jobs_of ON issue_jobs (org_id)",
            "CREATE INDEX issue_jobs_ended ON issue_jobs (finished_at) WHERE finished_at IS NOT NULL",
            "CREATE INDEX issue_boards_of ON issue_boards (org_id, space_id)",
            "CREATE INDEX issue_sprints_of ON issue_sprints (org_id, space_id)",
            "CREATE INDEX issues_space_ranks ON issues (space_no, rank) WHERE deleted_at IS NULL",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}
