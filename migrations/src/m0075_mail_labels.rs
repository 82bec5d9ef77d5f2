//! Labels of mailboxes. Which conversations have one stands in the rows of these, and in `mail_places`.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, text},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let mut labels = labels();
        if schema.get_database_backend() == DbBackend::Sqlite {
            labels.extra("WITHOUT ROWID");
        }
        schema.create_table(labels).await?;
        for statement in [
            "CREATE UNIQUE INDEX mail_labels_named ON mail_labels (mailbox_id, folded)",
            "CREATE INDEX mail_threads_labelled ON mail_threads (mailbox_id, thread_id) WHERE labels <> '[]'",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// `folded` is the name in small letters: no two labels of a mailbox differ by case alone.
fn labels() -> TableCreateStatement {
    Table::create()
        .table("mail_labels")
        .col(text("mailbox_id"))
        .col(text("label_id"))
        .col(text("name"))
        .col(text("folded"))
        .col(text("color"))
        .col(big_integer("created_at"))
        .primary_key(Index::create().col("mailbox_id").col("label_id"))
        .take()
}
