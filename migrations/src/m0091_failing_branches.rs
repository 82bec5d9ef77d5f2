//! Branches on which workflows fail, with who was told (`failing_branches`), in whose name a schedule's runs act, and of which text a
//! schedule was planned.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// A branch that fails and of which nobody is told has a row whose `user_id` is empty; `number` is that of the newest run that failed.
/// What people were told before and isn't over yet is read off their alerts. Of a schedule's run that says only who hears that it is
/// over: several people may have brought a file's schedules, so that runs of before act for nobody.
#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for statement in [
            "ALTER TABLE runs ADD COLUMN on_behalf_of TEXT NULL",
            "ALTER TABLE workflow_schedules ADD COLUMN file_hash TEXT NULL",
            "CREATE TABLE failing_branches (repo_no BIGINT NOT NULL, file TEXT NOT NULL, branch TEXT NOT NULL, \
             user_id TEXT NOT NULL, failed_at BIGINT NOT NULL, number BIGINT NOT NULL, \
             PRIMARY KEY (repo_no, file, branch, user_id))",
            "CREATE INDEX failing_branches_by_time ON failing_branches (failed_at)",
            "INSERT INTO failing_branches (repo_no, file, branch, user_id, failed_at, number) \
             SELECT f.repo_no, f.file, f.branch, f.user_id, MAX(f.completed_at), MAX(f.number) FROM (\
             SELECT r.repo_no, r.file, r.branch, r.completed_at, r.number, COALESCE(r.actor_id, \
             CASE WHEN r.event = 'schedule' THEN (SELECT MIN(s.set_by) FROM workflow_schedules s \
             WHERE s.repo_no = r.repo_no AND s.file = r.file) END, '') AS user_id FROM runs r \
             WHERE r.conclusion IN ('failure', 'timed_out', 'startup_failure') AND r.branch IS NOT NULL \
             AND r.completed_at IS NOT NULL AND EXISTS (SELECT 1 FROM alerts a WHERE a.org_id = r.org_id \
             AND a.dedup_key = r.repo_id || ':' || r.file || ':' || r.branch)) f \
             GROUP BY f.repo_no, f.file, f.branch, f.user_id",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}
