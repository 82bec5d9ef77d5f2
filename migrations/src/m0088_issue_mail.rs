//! Mail of service desks: where it comes in, which message is about which request, and what of it was refused.
//!
//! A desk's letterbox has the id of a mailbox that nobody opens, so mail goes to it as it does to mailboxes; its address stands in
//! `mail_addresses` with the kind `desk`. `issue_messages` has every Message-ID that came in and went out about a request.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for statement in [
            "CREATE TABLE issue_mail_boxes (mailbox_id TEXT PRIMARY KEY, org_id TEXT NOT NULL, space_id TEXT NOT NULL UNIQUE, \
             address TEXT, created_at BIGINT NOT NULL)",
            "CREATE TABLE issue_mail_hooks (id TEXT PRIMARY KEY, org_id TEXT NOT NULL, space_id TEXT NOT NULL, name TEXT NOT NULL, \
             token_hash TEXT NOT NULL, created_by TEXT NOT NULL, created_at BIGINT NOT NULL, last_used_at BIGINT)",
            "CREATE INDEX issue_mail_hooks_of_space ON issue_mail_hooks (space_id, id)",
            "CREATE TABLE issue_mail_seen (space_id TEXT NOT NULL, message_hash TEXT NOT NULL, org_id TEXT NOT NULL, \
             at BIGINT NOT NULL, PRIMARY KEY (space_id, message_hash))",
            "CREATE INDEX issue_mail_seen_at ON issue_mail_seen (at)",
            "CREATE TABLE issue_messages (issue_id TEXT NOT NULL, message_hash TEXT NOT NULL, org_id TEXT NOT NULL, \
             space_id TEXT NOT NULL, message_id TEXT NOT NULL, address TEXT NOT NULL, is_out BIGINT NOT NULL, comment_id TEXT, \
             at BIGINT NOT NULL, PRIMARY KEY (issue_id, message_hash))",
            "CREATE INDEX issue_messages_named ON issue_messages (org_id, message_hash)",
            "CREATE INDEX issue_messages_with ON issue_messages (issue_id, address, at)",
            "CREATE INDEX issue_messages_from ON issue_messages (space_id, address, at)",
            "CREATE TABLE issue_mail_comments (comment_id TEXT PRIMARY KEY, issue_id TEXT NOT NULL, email TEXT NOT NULL, \
             unverified BIGINT NOT NULL, quoted TEXT)",
            "CREATE INDEX issue_mail_comments_of ON issue_mail_comments (issue_id)",
            "CREATE TABLE issue_mail_refused (space_id TEXT NOT NULL, reason TEXT NOT NULL, org_id TEXT NOT NULL, \
             count BIGINT NOT NULL, last_from TEXT NOT NULL, last_at BIGINT NOT NULL, PRIMARY KEY (space_id, reason))",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}
