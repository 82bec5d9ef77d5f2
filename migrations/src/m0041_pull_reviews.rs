//! Reviews of pull requests, threads on their lines, who is asked, and what happened.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, blob, text, text_null},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let is_sqlite = schema.get_database_backend() == DbBackend::Sqlite;
        // Texts of people make rows too long for what is looked up by them alone.
        for mut table in [reviewers(), threads(), events()] {
            if is_sqlite {
                table.extra("WITHOUT ROWID");
            }
            schema.create_table(table).await?;
        }
        for table in [reviews(), comments()] {
            schema.create_table(table).await?;
        }
        for statement in [
            "CREATE INDEX pull_reviews_standing ON pull_reviews (repo_no, number) \
             WHERE state = 'current' AND verdict <> 'comment'",
            "CREATE INDEX pull_threads_open ON pull_threads (repo_no, number) WHERE resolved_at IS NULL",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// `commit_oid` is what the head was when the review was given.
fn reviews() -> TableCreateStatement {
    Table::create()
        .table("pull_reviews")
        .col(big_integer("repo_no"))
        .col(big_integer("number"))
        .col(text("id"))
        .col(text("author"))
        .col(text("verdict"))
        .col(text("body"))
        .col(blob("commit_oid"))
        .col(text("state"))
        .col(big_integer("created_at"))
        .col(text_null("dismissed_by"))
        .col(big_integer_null("dismissed_at"))
        .col(text_null("dismissed_reason"))
        .primary_key(Index::create().col("repo_no").col("number").col("id"))
        .take()
}

/// `principal` is the id of a person or of a team.
fn reviewers() -> TableCreateStatement {
    Table::create()
        .table("pull_reviewers")
        .col(big_integer("repo_no"))
        .col(big_integer("number"))
        .col(text("principal"))
        .col(text("asked_by"))
        .col(big_integer("asked_at"))
        .primary_key(Index::create().col("repo_no").col("number").col("principal"))
        .take()
}

/// `commit_oid` is the commit whose file has the line.
fn threads() -> TableCreateStatement {
    Table::create()
        .table("pull_threads")
        .col(big_integer("repo_no"))
        .col(big_integer("number"))
        .col(text("id"))
        .col(text("path"))
        .col(big_integer("line"))
        .col(text("side"))
        .col(blob("commit_oid"))
        .col(text_null("review_id"))
        .col(text("author"))
        .col(big_integer("created_at"))
        .col(text_null("resolved_by"))
        .col(big_integer_null("resolved_at"))
        .primary_key(Index::create().col("repo_no").col("number").col("id"))
        .take()
}

fn comments() -> TableCreateStatement {
    Table::create()
        .table("pull_comments")
        .col(big_integer("repo_no"))
        .col(text("thread_id"))
        .col(text("id"))
        .col(text("author"))
        .col(text("body"))
        .col(big_integer("created_at"))
        .col(big_integer_null("edited_at"))
        .primary_key(Index::create().col("repo_no").col("thread_id").col("id"))
        .take()
}

/// `event` is what happened, as JSON.
fn events() -> TableCreateStatement {
    Table::create()
        .table("pull_events")
        .col(big_integer("repo_no"))
        .col(big_integer("number"))
        .col(big_integer("seq"))
        .col(text("actor"))
        .col(big_integer("happened_at"))
        .col(text("event"))
        .primary_key(Index::create().col("repo_no").col("number").col("seq"))
        .take()
}
