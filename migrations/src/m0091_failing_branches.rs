//! Branches on which workflows fail, with who was told (`failing_branches`), and in whose name a schedule's runs act.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// A branch that fails and of which nobody is told has a row whose `user_id` is empty. What people were told before and isn't over yet is
/// read off their alerts.
#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for statement in [
            "ALTER TABLE runs ADD COLUMN on_behalf_of TEXT NULL",
            "UPDATE runs SET on_behalf_of = (SELECT MIN(s.set_by) FROM workflow_schedules s \
             WHERE s.repo_no = runs.repo_no AND s.file = runs.file) WHERE event = 'schedule' AND actor_id IS NULL",
            "CREATE TABLE failing_branches (repo_no BIGINT NOT NULL, file TEXT NOT NULL, branch TEXT NOT NULL, \
             user_id TEXT NOT NULL, failed_at BIGINT NOT NULL, PRIMARY KEY (repo_no, file, branch, user_id))",
            "CREATE INDEX failing_branches_by_time ON failing_branches (failed_at)",
            "INSERT INTO failing_branches (repo_no, file, branch, user_id, failed_at) \
             SELECT r.repo_no, r.file, r.branch, COALESCE(r.actor_id, r.on_behalf_of, ''), MAX(r.completed_at) FROM runs r \
             WHERE r.conclusion IN ('failure', 'timed_out', 'startup_failure') AND r.branch IS NOT NULL \
             AND r.completed_at IS NOT NULL AND EXISTS (SELECT 1 FROM alerts a WHERE a.org_id = r.org_id \
             AND a.dedup_key = r.repo_id || ':' || r.file || ':' || r.branch) \
             GROUP BY r.repo_no, r.file, r.branch, COALESCE(r.actor_id, r.on_behalf_of, '')",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}
