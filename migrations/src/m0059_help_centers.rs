//! Help centers: which comments are public, which issues are requests, and who takes part in them.
//!
//! `issue_requests` has a row for each issue that was raised in a help center; `public_at` is when something of it changed that its
//! people see, which is another instant than when the issue changed. `confirmed_emails` says of accounts whose addresses were shown
//! to be theirs, and of codes that are under way to do so.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for statement in [
            "ALTER TABLE issue_comments ADD COLUMN public BIGINT NOT NULL DEFAULT 0",
            "CREATE INDEX issue_comments_public ON issue_comments (issue_id, id) WHERE public = 1",
            "CREATE TABLE issue_requests (issue_id TEXT PRIMARY KEY, org_id TEXT NOT NULL, space_id TEXT NOT NULL, \
             raised_by TEXT NOT NULL, raised_at BIGINT NOT NULL, public_at BIGINT NOT NULL)",
            "CREATE INDEX issue_requests_raised ON issue_requests (raised_by, raised_at)",
            "CREATE TABLE issue_participants (issue_id TEXT NOT NULL, person_id TEXT NOT NULL, added_by TEXT NOT NULL, \
             added_at BIGINT NOT NULL, PRIMARY KEY (issue_id, person_id))",
            "CREATE INDEX issue_participants_of ON issue_participants (person_id)",
            "CREATE TABLE confirmed_emails (user_id TEXT PRIMARY KEY, email TEXT NOT NULL, confirmed_at BIGINT, code_hash TEXT, \
             code_until BIGINT, code_tries BIGINT NOT NULL, codes_sent TEXT NOT NULL, version BIGINT NOT NULL)",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}
